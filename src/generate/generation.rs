use super::{Ends, Sampler};
use crate::backend::{Backend, elements_of};
use crate::dims::{ConstDim, DataDim, Dim};
use crate::nn::Autoregressive;
use crate::ops::{OpError, Real, range_error};
use crate::tokens::{Fin, TokenIds};
use dfdx::shapes::ConstDim as _;
use dfdx::tensor::{Cpu, Tensor};
use itertools::Either;

crate::dims! {
    /// The tokens that a model reads next.
    pub(super) Unread;
}

/// Texts that are being generated: an iterator over their next tokens, one for each of the `B` texts.
///
/// An item has the next token of each text that this step continues, and `None` for the others: they have ended, or the
/// model still reads their prompts. A text ends with one of the tokens `ends`, which is part of it. With its prompt, it
/// has at most [`MaxSeqLen`](Autoregressive::MaxSeqLen)` + 1` tokens. The iterator ends when no text goes on, and after
/// an error.
///
/// Prompts may have different lengths. First the model reads as many tokens of each as the shortest one has. Then it
/// reads the rest of the longer ones, token by token, while it writes the shorter texts. So column `i` of a batch is
/// position `i` of every text, and no position is padding. Greedy decoding gives each prompt the text that it gets
/// alone. A drawn text depends on its batch: the sampler draws for the rows in turn, from one stream of random numbers.
///
/// ```
/// use typed_transformer::{doctest::*, generate::{Generation, Sampler}, prelude::*};
/// const PAD: Fin<VocabSize> = Fin::literal::<26>();
/// const END: Fin<VocabSize> = Fin::literal::<27>();
/// let model = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::seed_from_u64(2));
/// let prompts = TokenIds::from_ids(&[7, 4, 11, 14, 26, 26], Some(PAD), (Const::<2>, TgtLen))?; // of 3 tokens and of 1
/// let mut sampler = Sampler::with_temperature(0.8, 1)?;
/// let mut texts = [vec![], vec![]];
/// for tokens in Generation::new(&model, &prompts, Some(END), &mut sampler)?.max_new_tokens(8) {
///     for (text, token) in texts.iter_mut().zip(tokens?) {
///         text.extend(token);
///     }
/// }
/// assert!(texts.iter().all(|text| text.last() == Some(&END) || text.len() == 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Generation<'a, B: DataDim, Model: Autoregressive<B, E, D>, E: Real = f32, D: Backend<E> = Cpu> {
    model: &'a Model,
    sampler: Either<Box<Sampler<Model::VocabSize>>, &'a mut Sampler<Model::VocabSize>>,
    ends: Vec<Fin<Model::VocabSize>>,
    max_new_tokens: usize,
    /// The most tokens of a text, its prompt included.
    pub(super) max_len: usize,
    batch: B,
    cache: Model::Cache,
    /// The number of tokens of each text that the model has read.
    num_read: usize,
    /// The logits of the token after the `num_read` ones.
    logits: Option<Tensor<(B, Model::VocabSize), E, D>>,
    pub(super) texts: Vec<Text<Model::VocabSize>>,
}

/// Changes the logits of the next token of a row, by its text so far.
type Adjust<'a, V> = &'a mut dyn FnMut(usize, &[Fin<V>], &mut [f64]);

/// A prompt and its continuation so far. A user gets the continuation alone.
pub(super) struct Text<V> {
    pub tokens: Vec<Fin<V>>,
    prompt_len: usize,
    pub has_ended: bool,
    /// Which tokens the text has.
    pub occurs: Vec<bool>,
}

impl<'a, B: DataDim, Model: Autoregressive<B, E, D>, E: Real, D: Backend<E>> Generation<'a, B, Model, E, D> {
    /// Reads as many tokens of each of the prompts `(B, Prompt)` as the shortest one has. Padding stands only behind
    /// the tokens of a prompt. `ends` is `Some(end)`, `None`, or a list.
    ///
    /// # Errors
    /// [`OpError::Range`] if the prompts are longer than [`MaxSeqLen`](Autoregressive::MaxSeqLen); [`OpError::Padding`]
    /// if one has padding before a token, or no token.
    pub fn new<Prompt: Dim>(
        model: &'a Model,
        prompts: &TokenIds<B, Prompt, Model::VocabSize>,
        ends: impl Ends<Model::VocabSize>,
        sampler: &'a mut Sampler<Model::VocabSize>,
    ) -> Result<Self, OpError> {
        let generation = Self::with_own_sampler(model, prompts, ends, Sampler::greedy())?;
        Ok(Self { sampler: Either::Right(sampler), ..generation })
    }

    /// [`new`](Self::new), with its errors, and a sampler of its own: for requests that arrive while other texts are
    /// written.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, generate::{Generation, Sampler}, prelude::*};
    /// let model = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::default());
    /// let mut running = vec![];
    /// for request in 0..3 {
    ///     let prompt = TokenIds::from_ids(&[7, 4, 11], None, (Batch, TgtLen))?;
    ///     let sampler = Sampler::with_temperature(0.8, request)?;
    ///     running.push(Generation::with_own_sampler(&model, &prompt, None, sampler)?.max_new_tokens(2));
    ///     running.retain_mut(|text| matches!(text.next(), Some(Ok(_token))));
    /// }
    /// assert_eq!(running.len(), 2); // The first text has its two tokens.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_own_sampler<Prompt: Dim>(
        model: &'a Model,
        prompts: &TokenIds<B, Prompt, Model::VocabSize>,
        ends: impl Ends<Model::VocabSize>,
        sampler: Sampler<Model::VocabSize>,
    ) -> Result<Self, OpError> {
        let (batch, _) = prompts.shape();
        let prompts = tokens_of_prompts::<_, _, _, Model::MaxSeqLen>(prompts)?;
        let mut generation = Self {
            model,
            sampler: Either::Left(Box::new(sampler)),
            ends: ends.into_vec(),
            max_new_tokens: usize::MAX,
            max_len: Model::MaxSeqLen::SIZE + 1,
            batch,
            cache: model.cache(batch)?,
            num_read: 0,
            logits: None,
            texts: prompts.into_iter().map(Text::new).collect(),
        };
        generation.read()?;
        Ok(generation)
    }

    /// Ends each text `count` tokens after its prompt.
    #[must_use]
    pub fn max_new_tokens(mut self, count: usize) -> Self {
        self.max_new_tokens = count;
        self.texts.iter_mut().for_each(|text| text.has_ended |= text.num_new() >= count);
        self
    }

    /// The next item, by rules: `adjust(row, text, logits)` changes the logits of the next token of a text before the
    /// sampler sees them, as a `LogitsProcessor` of `transformers` does.
    ///
    /// The text is without its prompt. A logit of −∞ or NaN forbids its token. If all are forbidden, the item is
    /// [`OpError::NotANumber`]. [`beam_search_by`](super::beam_search_by) has such rules for beams.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, generate::{Generation, Sampler}, prelude::*};
    /// let model = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::default());
    /// let prompt = TokenIds::from_ids(&[7, 4, 11], None, (Batch, TgtLen))?;
    /// let mut sampler = Sampler::with_temperature(0.8, 1)?;
    /// let mut generation = Generation::new(&model, &prompt, None, &mut sampler)?;
    /// let mut text = vec![];
    /// let no_token_follows_itself = |_row: usize, text: &[Fin<_>], logits: &mut [f64]| {
    ///     if let Some(last) = text.last() {
    ///         logits[last.value()] = f64::NEG_INFINITY;
    ///     }
    /// };
    /// while let Some(tokens) = generation.next_by(no_token_follows_itself) {
    ///     text.extend(tokens?[0]);
    /// }
    /// assert!(text.windows(2).all(|pair| pair[0] != pair[1]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn next_by(
        &mut self,
        mut adjust: impl FnMut(usize, &[Fin<Model::VocabSize>], &mut [f64]),
    ) -> Option<<Self as Iterator>::Item> {
        self.next_item(Some(&mut adjust))
    }

    fn next_item(&mut self, adjust: Option<Adjust<Model::VocabSize>>) -> Option<<Self as Iterator>::Item> {
        let next = self.choose_next(adjust).transpose();
        if !matches!(next, Some(Ok(_))) {
            self.texts.iter_mut().for_each(|text| text.has_ended = true);
        }
        next
    }

    /// Ends the text of a row for a reason other than its last token, such as a stop string.
    ///
    /// # Errors
    /// [`OpError::Index`] if there is no such row.
    pub fn end_text(&mut self, row: usize) -> Result<(), OpError> {
        let axis = || format!("{:?}", self.batch);
        let text =
            self.texts.get_mut(row).ok_or_else(|| OpError::Index { op: "generate", index: row, axis: axis() })?;
        text.has_ended = true;
        Ok(())
    }

    /// The length of the shortest text that goes on; `None` if all have ended.
    fn common_len(&self) -> Option<usize> {
        self.texts.iter().filter(|text| !text.has_ended).map(|text| text.tokens.len()).min()
    }

    /// Reads what is unread up to the length of the shortest text that goes on.
    fn read(&mut self) -> Result<(), OpError> {
        let start = self.num_read;
        let unread = self.common_len().map_or(0, |len| len - start);
        if unread > 0 {
            // A text that has ended goes on with a token that nobody sees.
            let token = |row: usize, position: usize| {
                let tokens = &self.texts[row].tokens;
                tokens[(start + position).min(tokens.len() - 1)]
            };
            let tokens = TokenIds::from_fn((self.batch, Unread::new(unread)), token);
            self.logits = Some(self.model.next_logits(&tokens, &mut self.cache)?);
            self.num_read += unread;
        }
        Ok(())
    }

    fn choose_next(
        &mut self,
        mut adjust: Option<Adjust<Model::VocabSize>>,
    ) -> Result<Option<Vec<Option<Fin<Model::VocabSize>>>>, OpError> {
        if self.common_len().is_none_or(|len| len >= self.max_len) {
            return Ok(None);
        }
        self.read()?;
        let Some(logits) = &self.logits else { return Ok(None) };
        let logits = elements_of(logits);
        let mut written = Vec::new();
        for (row, (logits, text)) in logits.chunks(Model::VocabSize::SIZE).zip(&mut self.texts).enumerate() {
            let is_written = !text.has_ended && text.tokens.len() == self.num_read;
            let choose = || match &mut adjust {
                None => self.sampler.choose_from(logits, &text.occurs),
                Some(adjust) => {
                    let numbers = logits.iter().map(|logit| logit.to_f64().unwrap_or(f64::NAN));
                    let mut logits: Vec<f64> = numbers.collect();
                    adjust(row, &text.tokens[text.prompt_len..], &mut logits);
                    self.sampler.choose_from(&logits, &text.occurs)
                }
            };
            let token = is_written.then(choose).transpose()?;
            if let Some(token) = token {
                text.push(token);
                text.has_ended = self.ends.contains(&token) || text.num_new() >= self.max_new_tokens;
            }
            written.push(token);
        }
        Ok(Some(written))
    }
}

/// The tokens of each prompt, without the padding behind them.
pub(super) fn tokens_of_prompts<B: DataDim, Prompt: Dim, V: ConstDim, MaxSeqLen: ConstDim>(
    prompts: &TokenIds<B, Prompt, V>,
) -> Result<Vec<Vec<Fin<V>>>, OpError> {
    const OP: &str = "generate";
    let (batch, len) = prompts.shape();
    if len.size() > MaxSeqLen::SIZE {
        return Err(range_error(OP, &len, 0, &MaxSeqLen::default()));
    }
    let is_padding = |token: &Fin<V>| prompts.pad_token_id() == Some(*token);
    let of_row = |row: usize| {
        let mut tokens = prompts.row(row).unwrap_or_default();
        tokens.truncate(tokens.iter().rposition(|token| !is_padding(token)).map_or(0, |last| last + 1));
        match tokens.iter().position(is_padding).or(tokens.is_empty().then_some(0)) {
            Some(position) => Err(OpError::Padding { op: OP, row, position }),
            None => Ok(tokens),
        }
    };
    (0..batch.size()).map(of_row).collect()
}

impl<V: ConstDim> Text<V> {
    pub fn new(prompt: Vec<Fin<V>>) -> Self {
        let mut text =
            Self { tokens: Vec::new(), prompt_len: prompt.len(), has_ended: false, occurs: vec![false; V::SIZE] };
        prompt.into_iter().for_each(|token| text.push(token));
        text
    }

    pub fn push(&mut self, token: Fin<V>) {
        self.tokens.push(token);
        self.occurs[token.value()] = true;
    }

    /// The number of tokens after the prompt.
    fn num_new(&self) -> usize {
        self.tokens.len() - self.prompt_len
    }
}

crate::error::debug_as!(
    [B: DataDim, Model: Autoregressive<B, E, D>, E: Real, D: Backend<E>] Generation<'_, B, Model, E, D>,
    |this, f| {
        let max = Model::MaxSeqLen::default();
        let ended = this.texts.iter().filter(|text| text.has_ended).count();
        write!(f, "Generation ({:?}, {} of {max:?} read, {ended} ended)", this.batch, this.num_read)
    }
);

impl<B: DataDim, Model: Autoregressive<B, E, D>, E: Real, D: Backend<E>> Iterator for Generation<'_, B, Model, E, D> {
    type Item = Result<Vec<Option<Fin<Model::VocabSize>>>, OpError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_item(None)
    }
}
