use super::Sampler;
use crate::backend::Backend;
use crate::dims::{Const, Dim, MaybeSharded};
use crate::nn::Autoregressive;
use crate::ops::{OpError, Real};
use crate::tokens::{Fin, TokenIds};
use dfdx::shapes::{ConstDim as _, HasShape};
use dfdx::tensor::{Cpu, Tensor};
use std::fmt;

/// Texts that are being generated: an iterator over their next tokens, one for each of the `B` texts.
///
/// An item has a token for each text that has not ended, and `None` for the others. A text ends with one of the
/// tokens `ends`, which is part of it. The iterator ends when all texts have ended. It also ends when the model
/// has read [`MaxSeqLen`](Autoregressive::MaxSeqLen) tokens and one more has been chosen, and after an error.
///
/// ```
/// use typed_transformer::{doctest::*, generate::{Generation, Sampler}, prelude::*};
/// const END: Fin<VocabSize> = Fin::literal::<27>();
/// let model = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::seed_from_u64(2));
/// let prompts = TokenIds::from_ids(&[7, 4, 11, 14, 8, 3], None, (Const::<2>, TgtLen))?;
/// let mut sampler = Sampler::with_temperature(0.8, 1)?;
/// let mut texts = [vec![], vec![]];
/// for tokens in Generation::new(&model, &prompts, Some(END), &mut sampler)? {
///     for (text, token) in texts.iter_mut().zip(tokens?) {
///         text.extend(token); // nothing, if the text has ended
///     }
/// }
/// // The model reads 15 tokens. The last one of a text that does not end is written after these.
/// assert!(texts.iter().all(|text| text.last() == Some(&END) || text.len() == 15 - 3 + 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Generation<'a, B: MaybeSharded, Model: Autoregressive<B, E, D>, E: Real = f32, D: Backend<E> = Cpu> {
    model: &'a Model,
    sampler: &'a mut Sampler<Model::VocabSize>,
    ends: Vec<Fin<Model::VocabSize>>,
    cache: Model::Cache,
    /// The logits of the next token of each text.
    logits: Tensor<(B, Model::VocabSize), E, D>,
    /// The tokens that were chosen last, until the model reads them.
    unread: Option<TokenIds<B, Const<1>, Model::VocabSize>>,
    num_read: usize,
    has_ended: Vec<bool>,
    /// Of each text, which tokens it has.
    occurs: Vec<Vec<bool>>,
}

impl<'a, B: MaybeSharded, Model: Autoregressive<B, E, D>, E: Real, D: Backend<E>> Generation<'a, B, Model, E, D> {
    /// Reads the prompts, `(B, Prompt)`. All prompts have the same length, up to the model's maximum; none has padding.
    /// `ends` is `Some(end)`, `None`, or a list.
    ///
    /// # Errors
    /// [`OpError::Range`] if the prompts are longer than [`MaxSeqLen`](Autoregressive::MaxSeqLen); [`OpError::Padding`]
    /// if one has padding.
    pub fn new<Prompt: Dim>(
        model: &'a Model,
        prompts: &TokenIds<B, Prompt, Model::VocabSize>,
        ends: impl IntoIterator<Item = Fin<Model::VocabSize>>,
        sampler: &'a mut Sampler<Model::VocabSize>,
    ) -> Result<Self, OpError> {
        let (batch, len) = prompts.shape();
        if len.size() > Model::MaxSeqLen::SIZE {
            let (part, whole) = (format!("{len:?}"), format!("{:?}", Model::MaxSeqLen::default()));
            return Err(OpError::Range { op: "generate", part, start: 0, whole });
        }
        if let Some(place) = prompts.padding_mask().as_slice().iter().position(|&is_token| !is_token) {
            let (row, position) = (place / len.size(), place % len.size());
            return Err(OpError::Padding { op: "generate", row, position });
        }
        let mut cache = model.cache(batch)?;
        let logits = model.next_logits(prompts, &mut cache)?;
        let has_ended = vec![false; batch.size()];
        let mut occurs = vec![vec![false; Model::VocabSize::SIZE]; batch.size()];
        for (row, occurs) in occurs.iter_mut().enumerate() {
            prompts.row(row).into_iter().flatten().for_each(|token| occurs[token.value()] = true);
        }
        Ok(Self {
            model,
            sampler,
            ends: ends.into_iter().collect(),
            cache,
            logits,
            unread: None,
            num_read: len.size(),
            has_ended,
            occurs,
        })
    }

    fn choose_next(&mut self) -> Result<Option<Vec<Option<Fin<Model::VocabSize>>>>, OpError> {
        if self.has_ended.iter().all(|&has_ended| has_ended) {
            return Ok(None);
        }
        if let Some(tokens) = &self.unread {
            if self.num_read == Model::MaxSeqLen::SIZE {
                return Ok(None);
            }
            self.logits = self.model.next_logits(tokens, &mut self.cache)?;
            self.num_read += 1;
        }
        let logits = self.logits.as_vec();
        let (mut written, mut read_next) = (Vec::new(), Vec::new());
        let texts = self.has_ended.iter_mut().zip(&mut self.occurs);
        for (logits, (has_ended, occurs)) in logits.chunks(Model::VocabSize::SIZE).zip(texts) {
            // A text that has ended goes on with a token that nobody sees.
            let token = match self.ends.first() {
                Some(&end) if *has_ended => end,
                _ => self.sampler.choose_from(logits, occurs)?,
            };
            written.push((!*has_ended).then_some(token));
            read_next.push(token);
            occurs[token.value()] = true;
            *has_ended |= self.ends.contains(&token);
        }
        let (batch, _) = *self.logits.shape();
        self.unread = Some(TokenIds::from_fn((batch, Const), |row, _| read_next[row]));
        Ok(Some(written))
    }
}

impl<B: MaybeSharded, Model: Autoregressive<B, E, D>, E: Real, D: Backend<E>> fmt::Debug
    for Generation<'_, B, Model, E, D>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (batch, max) = (self.logits.shape().0, Model::MaxSeqLen::default());
        let ended = self.has_ended.iter().filter(|&&has_ended| has_ended).count();
        write!(f, "Generation ({batch:?}, {} of {max:?} read, {ended} ended)", self.num_read)
    }
}

impl<B: MaybeSharded, Model: Autoregressive<B, E, D>, E: Real, D: Backend<E>> Iterator
    for Generation<'_, B, Model, E, D>
{
    type Item = Result<Vec<Option<Fin<Model::VocabSize>>>, OpError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.choose_next().transpose();
        if !matches!(next, Some(Ok(_))) {
            self.has_ended.fill(true);
        }
        next
    }
}
