use super::generation::{Text, Unread, tokens_of_prompts};
use super::{Ends, Sampler};
use crate::backend::{Backend, elements_of};
use crate::dims::{Const, ConstDim, Dim, Unchecked};
use crate::nn::{Autoregressive, EditableCache};
use crate::ops::{OpError, Real};
use crate::tokens::{Fin, TokenIds};
use dfdx::{shapes::ConstDim as _, tensor::Cpu};
use itertools::Either;
use std::{collections::VecDeque, fmt};

/// Speculative decoding ([Leviathan et al., 2023](https://arxiv.org/abs/2211.17192)): an iterator over the tokens of a text
/// that `Target` writes with the help of `Draft`, a smaller model of the same vocabulary.
///
/// The draft proposes up to `max_proposed` tokens, and the target reads them at once. A proposed token of probability
/// `q` is accepted with probability `min(1, p / q)`, if the target gives it `p`. The first token that is not accepted
/// is replaced by one of the distribution `max(0, p - q)`; if all are accepted, the target adds one. So texts have the
/// distribution of the target alone. A greedy text is the one that the target alone writes, after fewer passes of the
/// target.
///
/// The text ends as one of a [`Generation`](super::Generation) does.
///
/// ```
/// use typed_transformer::{doctest::*, generate::{Sampler, Speculation}, prelude::*};
/// let target = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::seed_from_u64(0));
/// let draft = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::seed_from_u64(1)); // of any smaller configuration
/// let prompt = TokenIds::from_ids(&[7, 4, 11], None, (Const::<1>, TgtLen))?;
/// let mut sampler = Sampler::greedy();
/// let text = Speculation::new(&target, &draft, &prompt, None, 4, &mut sampler)?.take(8);
/// let text: Vec<Fin<VocabSize>> = text.collect::<Result<_, _>>()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Speculation<
    'a,
    Target: Autoregressive<Const<1>, E, D>,
    Draft: Autoregressive<Const<1>, E, D>,
    E: Real = f32,
    D: Backend<E> = Cpu,
> {
    target: Reader<'a, Target, E, D>,
    draft: Reader<'a, Draft, E, D>,
    sampler: Either<Box<Sampler<Target::VocabSize>>, &'a mut Sampler<Target::VocabSize>>,
    ends: Vec<Fin<Target::VocabSize>>,
    /// The most tokens that the draft proposes at once.
    max_proposed: usize,
    text: Text<Target::VocabSize>,
    /// The tokens at the end of the text that were not handed out.
    chosen: VecDeque<Fin<Target::VocabSize>>,
    /// The error that ended the text. It is handed out after the tokens that were chosen before.
    error: Option<OpError>,
    num_proposed: usize,
    num_accepted: usize,
}

impl<'a, Target, Draft, E: Real, D: Backend<E>> Speculation<'a, Target, Draft, E, D>
where
    Target: Autoregressive<Const<1>, E, D, Cache: EditableCache<Const<1>>>,
    Draft: Autoregressive<Const<1>, E, D, VocabSize: SameVocabulary<Target::VocabSize>, Cache: EditableCache<Const<1>>>,
{
    /// Begins with a prompt. `ends` is `Some(end)`, `None`, or a list. The models read the prompt when the first token
    /// is asked for.
    ///
    /// # Errors
    /// [`OpError::Range`] if the prompt is longer than the target's [`MaxSeqLen`](Autoregressive::MaxSeqLen);
    /// [`OpError::Padding`] if it has padding before a token, or no token.
    pub fn new<Prompt: Dim>(
        target: &'a Target,
        draft: &'a Draft,
        prompt: &TokenIds<Const<1>, Prompt, Target::VocabSize>,
        ends: impl Ends<Target::VocabSize>,
        max_proposed: usize,
        sampler: &'a mut Sampler<Target::VocabSize>,
    ) -> Result<Self, OpError> {
        let speculation = Self::with_own_sampler(target, draft, prompt, ends, max_proposed, Sampler::greedy())?;
        Ok(Self { sampler: Either::Right(sampler), ..speculation })
    }

    /// [`new`](Self::new), with its errors, and a sampler of its own, as
    /// [`Generation::with_own_sampler`](super::Generation::with_own_sampler).
    ///
    /// ```
    /// # use typed_transformer::{doctest::*, generate::{Sampler, Speculation}, prelude::*};
    /// # let target = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::default());
    /// # let prompt = TokenIds::from_ids(&[7, 4, 11], None, (Const::<1>, TgtLen))?;
    /// let text = Speculation::with_own_sampler(&target, &target, &prompt, None, 4, Sampler::greedy())?.take(8);
    /// assert_eq!(text.collect::<Result<Vec<_>, _>>()?.len(), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_own_sampler<Prompt: Dim>(
        target: &'a Target,
        draft: &'a Draft,
        prompt: &TokenIds<Const<1>, Prompt, Target::VocabSize>,
        ends: impl Ends<Target::VocabSize>,
        max_proposed: usize,
        sampler: Sampler<Target::VocabSize>,
    ) -> Result<Self, OpError> {
        let prompt = tokens_of_prompts::<_, _, _, Target::MaxSeqLen>(prompt)?.concat();
        Ok(Self {
            target: Reader::new(target)?,
            draft: Reader::new(draft)?,
            sampler: Either::Left(Box::new(sampler)),
            ends: ends.into_vec(),
            max_proposed,
            text: Text::new(prompt),
            chosen: VecDeque::new(),
            error: None,
            num_proposed: 0,
            num_accepted: 0,
        })
    }

    /// The share of the proposed tokens that was accepted; `None` if none was proposed.
    #[must_use]
    pub fn acceptance(&self) -> Option<f64> {
        (self.num_proposed > 0).then(|| self.num_accepted as f64 / self.num_proposed as f64)
    }

    /// Lets the draft propose tokens, and the target check them.
    fn choose_next(&mut self) -> Result<(), OpError> {
        let len = self.text.tokens.len();
        let Some(target_room) = Target::MaxSeqLen::SIZE.checked_sub(len) else {
            self.text.has_ended = true;
            return Ok(());
        };
        // The draft never reads its last proposal, so its text may be one token longer than its maximum.
        let draft_room = (Draft::MaxSeqLen::SIZE + 1).saturating_sub(len);
        let count = self.max_proposed.min(target_room).min(draft_room);
        let (mut draft_distributions, mut occurs) = (Vec::new(), self.text.occurs.clone());
        for _ in 0..count {
            let distribution = self.sampler.distribution(&self.draft.next_logits(&self.text.tokens)?, &occurs)?;
            let token = self.sampler.draw(&distribution);
            self.text.tokens.push(token);
            occurs[token.value()] = true;
            draft_distributions.push(distribution);
            if self.ends.contains(&token) {
                break;
            }
        }
        let logits = self.target.logits_from(len - 1, &self.text.tokens)?;
        let proposed = self.text.tokens.split_off(len);
        for (place, logits) in logits.chunks(Target::VocabSize::SIZE).enumerate() {
            let wanted = self.sampler.distribution(logits, &self.text.occurs)?;
            let (token, is_accepted) = match (proposed.get(place), draft_distributions.get(place)) {
                (Some(&token), Some(proposal)) if self.sampler.accepts(&wanted, proposal, token) => (token, true),
                (_, Some(proposal)) => {
                    (self.sampler.draw(&wanted.in_excess_of(proposal, Target::VocabSize::SIZE)), false)
                }
                (_, None) => (self.sampler.draw(&wanted), false),
            };
            self.text.push(token);
            self.chosen.push_back(token);
            self.num_accepted += usize::from(is_accepted);
            self.text.has_ended = self.ends.contains(&token);
            if self.text.has_ended || !is_accepted {
                break;
            }
        }
        self.num_proposed += proposed.len();
        // No model has read the last token: the target chose it, or the draft proposed it last.
        let num_kept = self.text.tokens.len() - 1;
        self.target.keep(num_kept)?;
        self.draft.keep(num_kept)
    }
}

impl<Target, Draft, E: Real, D: Backend<E>> Iterator for Speculation<'_, Target, Draft, E, D>
where
    Target: Autoregressive<Const<1>, E, D, Cache: EditableCache<Const<1>>>,
    Draft: Autoregressive<Const<1>, E, D, VocabSize: SameVocabulary<Target::VocabSize>, Cache: EditableCache<Const<1>>>,
{
    type Item = Result<Fin<Target::VocabSize>, OpError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.chosen.is_empty()
            && !self.text.has_ended
            && let Err(error) = self.choose_next()
        {
            self.text.has_ended = true;
            self.error = Some(error);
        }
        self.chosen.pop_front().map(Ok).or_else(|| self.error.take().map(Err))
    }
}

impl<Target: Autoregressive<Const<1>, E, D>, Draft: Autoregressive<Const<1>, E, D>, E: Real, D: Backend<E>> fmt::Debug
    for Speculation<'_, Target, Draft, E, D>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, proposed, accepted) = (self.text.tokens.len(), self.num_proposed, self.num_accepted);
        write!(f, "Speculation ({len} tokens, {accepted} of {proposed} proposals accepted)")
    }
}

/// The tokens of this vocabulary are those of `Vocab`: both are one dimension.
///
/// ```
/// use typed_transformer::{generate::SameVocabulary, models::published::{gpt2, gpt2_medium}};
/// fn can_draft<Draft: SameVocabulary<Target>, Target>() {}
/// can_draft::<gpt2::VocabSize, gpt2_medium::VocabSize>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the vocabulary `{Vocab}`",
    label = "this draft writes tokens of `{Self}`, not of `{Vocab}`",
    note = "the tokens that a draft proposes are those of its target: both models have one dimension of tokens"
)]
pub trait SameVocabulary<Vocab>: ConstDim {
    /// A token of `Vocab`.
    #[doc(hidden)]
    fn token(token: Fin<Vocab>) -> Fin<Self>;
}

#[diagnostic::do_not_recommend]
impl<Vocab: ConstDim> SameVocabulary<Vocab> for Vocab {
    fn token(token: Fin<Vocab>) -> Fin<Vocab> {
        token
    }
}

/// A model, and what it has read of a text.
struct Reader<'a, Model: Autoregressive<Const<1>, E, D>, E: Real, D: Backend<E>> {
    model: &'a Model,
    cache: Model::Cache,
    /// The number of positions before the text.
    prefix_len: usize,
    num_read: usize,
}

impl<'a, Model, E: Real, D: Backend<E>> Reader<'a, Model, E, D>
where
    Model: Autoregressive<Const<1>, E, D, Cache: EditableCache<Const<1>>>,
{
    fn new(model: &'a Model) -> Result<Self, OpError> {
        let cache = model.cache(Const)?;
        Ok(Self { model, prefix_len: cache.num_positions(), cache, num_read: 0 })
    }

    /// Reads a text to its end, and returns the logits of the token after it.
    fn next_logits<Vocab>(&mut self, text: &[Fin<Vocab>]) -> Result<Vec<E>, OpError>
    where
        Model::VocabSize: SameVocabulary<Vocab>,
    {
        let unread = self.unread(text);
        Ok(elements_of(&self.model.next_logits(&unread, &mut self.cache)?))
    }

    /// Reads a text to its end, and returns the logits of the token after each position from `start` on.
    fn logits_from(&mut self, start: usize, text: &[Fin<Model::VocabSize>]) -> Result<Vec<E>, OpError> {
        let (unread, last) = (self.unread(text), Unchecked(text.len() - start));
        Ok(elements_of(&self.model.last_logits(&unread, &mut self.cache, last)?))
    }

    /// The rest of a text, which the model is about to read.
    fn unread<Vocab>(&mut self, text: &[Fin<Vocab>]) -> TokenIds<Const<1>, Unread, Model::VocabSize>
    where
        Model::VocabSize: SameVocabulary<Vocab>,
    {
        let unread = &text[self.num_read..];
        self.num_read = text.len();
        TokenIds::from_fn((Const, Unread::new(unread.len())), |_, position| Model::VocabSize::token(unread[position]))
    }

    /// Takes back what was read after the first `len` tokens.
    fn keep(&mut self, len: usize) -> Result<(), OpError> {
        if self.num_read > len {
            self.num_read = len;
            match self.cache.truncate(self.prefix_len + len) {
                // The cache, such as a sliding window, no longer has what position `len` sees: the model reads it again.
                Err(OpError::Range { .. }) => *self = Self::new(self.model)?,
                result => return result,
            }
        }
        Ok(())
    }
}
