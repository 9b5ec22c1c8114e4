use super::Ends;
use super::generation::{Unread, tokens_of_prompts};
use crate::backend::{Backend, elements_of};
use crate::dims::{Const, ConstDim, Dim};
use crate::nn::{Autoregressive, EditableCache};
use crate::ops::{OpError, Real};
use crate::tokens::{Fin, Indices, TokenIds};
use dfdx::shapes::ConstDim as _;
use itertools::Itertools;
use std::iter::repeat_n;

const OP: &str = "beam search";

/// How [`beam_search`] scores a text, and when it ends.
///
/// ```
/// use typed_transformer::generate::{BeamOptions, EarlyStopping};
/// let options = BeamOptions { length_penalty: 2.0, ..BeamOptions::default() };
/// assert_eq!(options, BeamOptions { length_penalty: 2.0, early_stopping: EarlyStopping::Heuristic });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamOptions {
    /// The score of a text of `n` new tokens is the sum of their log-probabilities divided by `n` to this power: above
    /// 0 it favours long texts, below 0 short ones.
    pub length_penalty: f64,
    /// When the search ends.
    pub early_stopping: EarlyStopping,
}

impl Default for BeamOptions {
    /// A length penalty of 1, and [`EarlyStopping::Heuristic`].
    fn default() -> Self {
        Self { length_penalty: 1.0, early_stopping: EarlyStopping::Heuristic }
    }
}

/// When a [`beam_search`] ends: the `early_stopping` of `transformers`.
///
/// ```
/// use typed_transformer::generate::{BeamOptions, EarlyStopping};
/// let options = BeamOptions { early_stopping: EarlyStopping::Never, ..BeamOptions::default() };
/// assert_eq!(options.length_penalty, 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlyStopping {
    /// When as many texts have ended as there are beams (`True`).
    WhenFull,
    /// When the best beam, scored at its present length, is no better than the worst text that has ended (`False`).
    Heuristic,
    /// When the best beam can become no better than the worst text that has ended (`"never"`).
    Never,
}

/// A text that [`beam_search`] found.
///
/// ```
/// use typed_transformer::{doctest::VocabSize, generate::Beam, tokens::Fin};
/// let beam: Beam<VocabSize> = Beam { tokens: vec![Fin::literal::<7>(), Fin::literal::<4>()], score: -1.5 };
/// assert_eq!(beam.tokens.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Beam<V> {
    /// The tokens after the prompt, the one that ends the text included.
    pub tokens: Vec<Fin<V>>,
    /// The sum of their log-probabilities, divided by their number to the power of the length penalty.
    pub score: f64,
}

/// Looks for the most likely continuations of a prompt, and returns up to `Beams` of them, the best first.
///
/// `(1, Prompt) ids of VocabSize -> Beams texts`
///
/// Each step extends the `Beams` best texts so far by every token, and keeps the best. A text ends with one of `ends`,
/// after `max_new_tokens` tokens, or when the model can read no more. The result is that of
/// `generate(num_beams=.., do_sample=False)` of `transformers` 5.
///
/// The batch of the model is `Beams`. An encoder-decoder reads its source once for each beam. If the
/// vocabulary has more ids than the tokenizer, the search may choose one that the tokenizer does not know.
///
/// # Errors
/// [`OpError::Range`] if the prompt is longer than [`MaxSeqLen`](Autoregressive::MaxSeqLen); [`OpError::Padding`] if it
/// has padding before a token, or no token; [`OpError::NotANumber`] if all logits of a position are NaN or −∞;
/// [`OpError::Setting`] unless the length penalty is finite.
///
/// ```
/// use typed_transformer::{doctest::*, generate::{Beam, BeamOptions, beam_search}, prelude::*};
/// dims! { pub Beams = 4; }
/// const END: Fin<VocabSize> = Fin::literal::<27>();
/// let model = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::default());
/// let prompt = TokenIds::from_ids(&[7, 4, 11], None, (Const::<1>, TgtLen))?;
/// let texts: Vec<Beam<VocabSize>> = beam_search(&model, &prompt, Beams, Some(END), 8, BeamOptions::default())?;
/// assert!(texts[0].score >= texts[1].score);
///
/// let model = LM::<Model, f32, Cpu>::build(&Cpu::default());
/// let source = [7, 4, 24, 0].map(Fin::new).into_iter().collect::<Result<Vec<_>, _>>()?;
/// let encoded = model.encode(&TokenIds::from_rows(&[&source; 4], (Beams, SrcLen))?)?;
/// let start = TokenIds::from_ids(&[26], None, (Const::<1>, Const::<1>))?;
/// let texts: Vec<Beam<VocabSize>> = beam_search(&encoded, &start, Beams, Some(END), 8, BeamOptions::default())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn beam_search<Beams: Dim, Prompt: Dim, Model: Autoregressive<Beams, E, D>, E: Real, D: Backend<E>>(
    model: &Model,
    prompt: &TokenIds<Const<1>, Prompt, Model::VocabSize>,
    beams: Beams,
    ends: impl Ends<Model::VocabSize>,
    max_new_tokens: usize,
    options: BeamOptions,
) -> Result<Vec<Beam<Model::VocabSize>>, OpError>
where
    Model::Cache: EditableCache<Beams>,
{
    beam_search_by(model, prompt, beams, ends, max_new_tokens, options, |_, _| {})
}

/// [`beam_search`] by rules: `adjust(text, log_probabilities)` changes the log-probabilities of the next token of a
/// text, as a `LogitsProcessor` of `transformers` does.
///
/// The text is without the prompt. A log-probability of −∞ or NaN forbids its token.
///
/// # Errors
/// Those of [`beam_search`].
///
/// ```
/// use typed_transformer::{doctest::*, generate::{BeamOptions, beam_search_by}, prelude::*};
/// dims! { pub Beams = 4; }
/// const END: Fin<VocabSize> = Fin::literal::<27>();
/// let model = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::default());
/// let prompt = TokenIds::from_ids(&[7, 4, 11], None, (Const::<1>, TgtLen))?;
/// let at_least_three = |text: &[Fin<VocabSize>], log_probabilities: &mut [f64]| {
///     if text.len() < 3 {
///         log_probabilities[END.value()] = f64::NEG_INFINITY;
///     }
/// };
/// let options = BeamOptions::default();
/// let texts = beam_search_by(&model, &prompt, Beams, Some(END), 8, options, at_least_three)?;
/// assert!(texts.iter().all(|text| !text.tokens[..3].contains(&END)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn beam_search_by<Beams: Dim, Prompt: Dim, Model: Autoregressive<Beams, E, D>, E: Real, D: Backend<E>>(
    model: &Model,
    prompt: &TokenIds<Const<1>, Prompt, Model::VocabSize>,
    beams: Beams,
    ends: impl Ends<Model::VocabSize>,
    max_new_tokens: usize,
    options: BeamOptions,
    mut adjust: impl FnMut(&[Fin<Model::VocabSize>], &mut [f64]),
) -> Result<Vec<Beam<Model::VocabSize>>, OpError>
where
    Model::Cache: EditableCache<Beams>,
{
    let length_penalty = options.length_penalty;
    if !length_penalty.is_finite() {
        let (name, expected) = ("the length penalty", "finite");
        return Err(OpError::Setting { op: OP, name, expected, found: length_penalty });
    }
    let prompt = tokens_of_prompts::<_, _, _, Model::MaxSeqLen>(prompt)?.concat();
    let max_new_tokens = max_new_tokens.min(Model::MaxSeqLen::SIZE + 1 - prompt.len());
    let mut search = Search::new(beams.size(), ends.into_vec(), max_new_tokens, options);
    let mut cache = model.cache(beams)?;
    let mut unread = TokenIds::from_fn((beams, Unread::new(prompt.len())), |_, position| prompt[position]);
    while !search.has_ended() {
        let rows = search.step(&elements_of(&model.next_logits(&unread, &mut cache)?), &mut adjust)?;
        if !search.has_ended() {
            cache.reorder(&Indices::new(&rows, (beams,), beams)?)?;
            let last = |row: usize| search.running[row].tokens[search.len - 1];
            unread = TokenIds::from_fn((beams, Unread::new(1)), |row, _| last(row));
        }
    }
    Ok(search.finished)
}

/// A beam and a token after it. Its score is the sum of the log-probabilities.
struct Continuation<V> {
    beam: usize,
    token: Fin<V>,
    score: f64,
    has_ended: bool,
}

/// The texts of a search, by the rules of `GenerationMixin._beam_search` of `transformers`.
struct Search<V> {
    num_beams: usize,
    /// The texts that go on, the best first, one for each beam. Their scores are sums of log-probabilities; one
    /// with a score of −∞ is no text, but fills a beam.
    running: Vec<Beam<V>>,
    /// The texts that have ended, the best first, at most as many as beams.
    finished: Vec<Beam<V>>,
    /// The number of new tokens of the running texts.
    len: usize,
    ends: Vec<Fin<V>>,
    max_new_tokens: usize,
    options: BeamOptions,
}

impl<V: ConstDim> Search<V> {
    fn new(num_beams: usize, ends: Vec<Fin<V>>, max_new_tokens: usize, options: BeamOptions) -> Self {
        // All beams begin with the same text, so only the first one is extended at first.
        let score = |beam| if beam == 0 { 0.0 } else { f64::NEG_INFINITY };
        let running = (0..num_beams).map(|beam| Beam { tokens: Vec::new(), score: score(beam) }).collect();
        Self { num_beams, running, finished: Vec::new(), len: 0, ends, max_new_tokens, options }
    }

    fn has_ended(&self) -> bool {
        // No text goes on after `max_new_tokens`, or if every continuation ends.
        if self.running.len() < self.num_beams || self.num_beams == 0 || self.len == self.max_new_tokens {
            return true;
        }
        // Each running text ends in a forbidden token.
        if self.running[0].score == f64::NEG_INFINITY {
            return true;
        }
        let is_full = self.finished.len() == self.num_beams;
        // The length at which the best running text is compared with the worst that has ended.
        let len = match self.options.early_stopping {
            EarlyStopping::WhenFull => return is_full,
            EarlyStopping::Never if self.options.length_penalty > 0.0 => self.max_new_tokens,
            EarlyStopping::Heuristic | EarlyStopping::Never => self.len,
        };
        is_full && self.finished.last().is_some_and(|worst| self.score(self.running[0].score, len) <= worst.score)
    }

    /// The score of a text of this length whose log-probabilities add up to `sum`.
    fn score(&self, sum: f64, len: usize) -> f64 {
        sum / (len as f64).powf(self.options.length_penalty)
    }

    /// Extends the running texts by a token. Returns the row that each had in the batch.
    fn step<E: Real>(
        &mut self,
        logits: &[E],
        adjust: &mut dyn FnMut(&[Fin<V>], &mut [f64]),
    ) -> Result<Vec<usize>, OpError> {
        let continuations = self.best_continuations(logits, adjust)?;
        self.len += 1;
        let extended = |continuation: &Continuation<V>, score: f64| {
            let mut tokens = self.running[continuation.beam].tokens.clone();
            tokens.push(continuation.token);
            Beam { tokens, score }
        };
        // A score of −∞ is that of a forbidden token, or of a beam without a text.
        let is_finished = |continuation: &&Continuation<V>| continuation.has_ended && continuation.score.is_finite();
        let best = continuations.iter().take(self.num_beams).filter(is_finished);
        let finished: Vec<_> =
            best.map(|continuation| extended(continuation, self.score(continuation.score, self.len))).collect();
        let going_on = continuations.iter().filter(|continuation| !continuation.has_ended).take(self.num_beams);
        let (running, rows) =
            going_on.map(|continuation| (extended(continuation, continuation.score), continuation.beam)).unzip();
        self.running = running;
        self.finished.extend(finished);
        self.finished.sort_by(|left, right| right.score.total_cmp(&left.score));
        self.finished.truncate(self.num_beams);
        Ok(rows)
    }

    /// The best texts with one more token: so many that `num_beams` of them do not end.
    fn best_continuations<E: Real>(
        &self,
        logits: &[E],
        adjust: &mut dyn FnMut(&[Fin<V>], &mut [f64]),
    ) -> Result<Vec<Continuation<V>>, OpError> {
        let is_last = self.len + 1 == self.max_new_tokens;
        let count = self.num_beams * (1 + self.ends.len()).max(2);
        let mut scores = Vec::with_capacity(logits.len());
        for (text, logits) in self.running.iter().zip(logits.chunks(V::SIZE)) {
            if text.score == f64::NEG_INFINITY {
                scores.extend(repeat_n(f64::NEG_INFINITY, V::SIZE));
                continue;
            }
            let mut log_probabilities: Vec<f64> = log_softmax(logits)?.collect();
            adjust(&text.tokens, &mut log_probabilities);
            // `max` returns the one that is a number.
            scores.extend(log_probabilities.into_iter().map(|log| (text.score + log).max(f64::NEG_INFINITY)));
        }
        let by_score_desc = |left: &usize, right: &usize| scores[*right].total_cmp(&scores[*left]);
        let continuation = |place: usize| {
            let (beam, token) = (place / V::SIZE, Fin::new(place % V::SIZE)?);
            let has_ended = is_last || self.ends.contains(&token);
            Ok(Continuation { beam, token, score: scores[place], has_ended })
        };
        (0..scores.len()).k_smallest_by(count, by_score_desc).map(continuation).collect()
    }
}

/// The logarithms of `softmax(logits)`; −∞ for a logit that is no number.
fn log_softmax<E: Real>(logits: &[E]) -> Result<impl Iterator<Item = f64>, OpError> {
    let logit =
        |logit: &E| num_traits::ToPrimitive::to_f64(logit).filter(|logit| !logit.is_nan()).unwrap_or(f64::NEG_INFINITY);
    let highest = logits.iter().map(logit).fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return Err(OpError::NotANumber { op: OP });
    }
    // An infinite number minus itself is not a number.
    let below_highest = move |x: &E| if logit(x) == highest { 0.0 } else { logit(x) - highest };
    let log_sum = logits.iter().map(|x| below_highest(x).exp()).sum::<f64>().ln();
    Ok(logits.iter().map(move |x| below_highest(x) - log_sum))
}
