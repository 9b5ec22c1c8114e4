//! The choice of the next token, and the distribution that it is drawn from.

use crate::backend::elements_of;
use crate::dims::{ConstDim, DataDim};
use crate::ops::{OpError, Real};
use crate::tokens::Fin;
use dfdx::{shapes::HasShape, tensor::Tensor, tensor_ops::Device};
use itertools::Either;
use rand::distributions::{Distribution as _, WeightedIndex};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// The error of an invalid [`Sampler`] setting.
///
/// ```
/// use typed_transformer::{doctest::VocabSize, generate::{Sampler, SamplingError}};
/// let error = Sampler::<VocabSize>::greedy().top_p(1.5).unwrap_err();
/// assert_eq!(error, SamplingError::TopP(1.5));
/// assert_eq!(error.to_string(), "top-p must be above 0 and at most 1, but it is 1.5");
/// ```
#[derive(Clone, Copy, PartialEq, thiserror::Error)]
pub enum SamplingError {
    /// The temperature is not positive or not finite.
    #[error("a temperature must be above 0 and finite, but it is {0}")]
    Temperature(f64),
    /// Top-k sampling would keep no token.
    #[error("top-k must keep at least 1 token, but it is 0")]
    TopK,
    /// The probability of top-p sampling is not in `(0, 1]`.
    #[error("top-p must be above 0 and at most 1, but it is {0}")]
    TopP(f64),
    /// The factor of min-p sampling is not in `[0, 1]`.
    #[error("min-p must be at least 0 and at most 1, but it is {0}")]
    MinP(f64),
    /// A setting chooses among tokens that a greedy sampler does not draw.
    #[error("{0} chooses among drawn tokens, and a greedy sampler draws none: begin with `with_temperature`")]
    Greedy(&'static str),
    /// The repetition penalty is not positive or not finite.
    #[error("a repetition penalty must be above 0 and finite, but it is {0}")]
    RepetitionPenalty(f64),
}
crate::error::debug_by_sentence!(SamplingError);

/// Chooses a token of the vocabulary `V` from its logits: the most likely one, or a random one.
///
/// The probability of a random token is `softmax(logits / temperature)` over the tokens that remain after
/// [`restrict_to`](Self::restrict_to), [`top_k`](Self::top_k), [`top_p`](Self::top_p) and [`min_p`](Self::min_p), in
/// this order, after a [`repetition_penalty`](Self::repetition_penalty). Equal seeds make equal choices.
///
/// ```
/// use typed_transformer::{generate::Sampler, prelude::*};
/// dims! { pub Batch = 2; pub VocabSize = 4; }
/// let logits: Tensor<(VocabSize,), f32, Cpu> = Cpu::default().tensor(vec![0.0, 3.0, 2.9, f32::NEG_INFINITY]);
/// let best: Fin<VocabSize> = Sampler::greedy().choose(&logits)?;
/// assert_eq!(best.value(), 1);
///
/// let mut sampler = Sampler::with_temperature(0.8, 7)?.top_k(2)?;
/// let choices: Vec<_> = (0..100).map(|_| sampler.choose(&logits)).collect::<Result<_, _>>()?;
/// assert!(choices.iter().all(|token| [1, 2].contains(&token.value())));
/// // Token 1 has half of the probability alone.
/// assert_eq!(Sampler::with_temperature(0.8, 7)?.top_p(0.5)?.choose(&logits)?, best);
///
/// let mut sampler = Sampler::greedy().restrict_to([Fin::literal::<0>(), Fin::literal::<2>()]);
/// let logits: Tensor<(Batch, VocabSize), f32, Cpu> =
///     Cpu::default().tensor(vec![0.5, 2.0, 1.9, 0.0, 7.0, 0.0, 1.0, 0.0]);
/// assert_eq!(sampler.choose_each(&logits)?, [Fin::literal::<2>(), Fin::literal::<0>()]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sampler<V> {
    /// Temperature and random numbers; `None` chooses the most likely token.
    random: Option<(f64, StdRng)>,
    top_k: usize,
    top_p: f64,
    min_p: f64,
    repetition_penalty: f64,
    /// The tokens to choose from; `None` allows the whole vocabulary.
    tokens: Option<Vec<Fin<V>>>,
}

impl<V: ConstDim> Sampler<V> {
    /// Chooses the most likely token, and the first of several equally likely ones.
    #[must_use]
    pub fn greedy() -> Self {
        Self { random: None, top_k: usize::MAX, top_p: 1.0, min_p: 0.0, repetition_penalty: 1.0, tokens: None }
    }

    /// Chooses random tokens with `softmax(logits / temperature)`.
    ///
    /// A temperature below 1 sharpens the model's distribution, and one above 1 flattens it.
    ///
    /// # Errors
    /// [`SamplingError::Temperature`] unless the temperature is positive and finite.
    pub fn with_temperature(temperature: f64, seed: u64) -> Result<Self, SamplingError> {
        let sampler = Self { random: Some((temperature, StdRng::seed_from_u64(seed))), ..Self::greedy() };
        (temperature.is_finite() && temperature > 0.0).then_some(sampler).ok_or(SamplingError::Temperature(temperature))
    }

    /// Keeps the `k` most likely tokens ([Fan et al., 2018](https://arxiv.org/abs/1805.04833)).
    ///
    /// # Errors
    /// [`SamplingError::TopK`] if `k` is 0; [`SamplingError::Greedy`] if this sampler is greedy.
    pub fn top_k(self, k: usize) -> Result<Self, SamplingError> {
        (k > 0).then_some(Self { top_k: k, ..self }).ok_or(SamplingError::TopK)?.if_random("top-k")
    }

    /// Keeps the most likely tokens until their probabilities add up to at least `p`
    /// ([Holtzman et al., 2019](https://arxiv.org/abs/1904.09751)).
    ///
    /// # Errors
    /// [`SamplingError::TopP`] unless `0 < p <= 1`; [`SamplingError::Greedy`] if this sampler is greedy.
    pub fn top_p(self, p: f64) -> Result<Self, SamplingError> {
        (p > 0.0 && p <= 1.0).then_some(Self { top_p: p, ..self }).ok_or(SamplingError::TopP(p))?.if_random("top-p")
    }

    /// Keeps the tokens that are at least `p` times as likely as the most likely one ([Nguyen et al.,
    /// 2024](https://arxiv.org/abs/2407.01082)).
    ///
    /// # Errors
    /// [`SamplingError::MinP`] unless `0 <= p <= 1`; [`SamplingError::Greedy`] if this sampler is greedy.
    pub fn min_p(self, p: f64) -> Result<Self, SamplingError> {
        (0.0..=1.0).contains(&p).then_some(Self { min_p: p, ..self }).ok_or(SamplingError::MinP(p))?.if_random("min-p")
    }

    /// The sampler itself, or an error if it is greedy.
    fn if_random(self, setting: &'static str) -> Result<Self, SamplingError> {
        if self.random.is_some() { Ok(self) } else { Err(SamplingError::Greedy(setting)) }
    }

    /// Makes the tokens of a text less likely in the rest of it: a positive logit is divided by the penalty, and a
    /// negative one multiplied ([Keskar et al., 2019](https://arxiv.org/abs/1909.05858), 4.1). A
    /// [`Generation`](super::Generation) knows its texts, prompts included; [`choose`](Self::choose) and
    /// [`choose_each`](Self::choose_each) know none.
    ///
    /// # Errors
    /// [`SamplingError::RepetitionPenalty`] unless the penalty is positive and finite.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, generate::{Sampler, generate_from_prompt}, prelude::*};
    /// let model = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::default());
    /// let prompt = TokenIds::from_ids(&[7, 4, 11], None, (Batch, TgtLen))?;
    /// // So large a penalty lets no token occur twice while others are left.
    /// let mut sampler = Sampler::greedy().repetition_penalty(1e9)?;
    /// let text: TokenIds<Batch, MaxSeqLen, VocabSize> =
    ///     generate_from_prompt(&model, &prompt, None, MaxSeqLen, &mut sampler)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn repetition_penalty(self, penalty: f64) -> Result<Self, SamplingError> {
        let sampler = Self { repetition_penalty: penalty, ..self };
        (penalty.is_finite() && penalty > 0.0).then_some(sampler).ok_or(SamplingError::RepetitionPenalty(penalty))
    }

    /// Keeps only these tokens, in place of those of an earlier call. Write `sampler = sampler.restrict_to(..)`: a clone
    /// would draw the same numbers again. In a generation, [`next_by`](super::Generation::next_by) forbids tokens.
    #[must_use]
    pub fn restrict_to(self, tokens: impl IntoIterator<Item = Fin<V>>) -> Self {
        let mut tokens: Vec<_> = tokens.into_iter().collect();
        tokens.sort_by_key(|token| token.value());
        tokens.dedup();
        Self { tokens: Some(tokens), ..self }
    }

    /// Chooses a token from its logits `(V,)`.
    ///
    /// # Errors
    /// [`OpError::NotANumber`] if the logits of all allowed tokens are NaN or −∞; [`OpError::Empty`] if no token is
    /// allowed.
    pub fn choose<E: Real, D: Device<E>>(&mut self, logits: &Tensor<(V,), E, D>) -> Result<Fin<V>, OpError> {
        self.choose_from(&elements_of(logits), &[])
    }

    /// Chooses a token for each row of the logits `(B, V)`, one after the other.
    ///
    /// # Errors
    /// [`OpError::NotANumber`] if the logits of all allowed tokens of a row are NaN or −∞; [`OpError::Empty`] if no
    /// token is allowed.
    pub fn choose_each<B: DataDim, E: Real, D: Device<E>>(
        &mut self,
        logits: &Tensor<(B, V), E, D>,
    ) -> Result<Vec<Fin<V>>, OpError> {
        let ((batch, _), logits) = (*logits.shape(), elements_of(logits));
        (0..batch.size()).map(|row| self.choose_from(&logits[row * V::SIZE..][..V::SIZE], &[])).collect()
    }

    /// `occurs` says of each token whether the text has it; if it is empty, the text has none.
    pub(super) fn choose_from<E: Real>(&mut self, logits: &[E], occurs: &[bool]) -> Result<Fin<V>, OpError> {
        let distribution = self.distribution(logits, occurs)?;
        Ok(self.draw(&distribution))
    }

    /// The most likely token, or a random one.
    pub(super) fn draw(&mut self, distribution: &Distribution<V>) -> Fin<V> {
        match &mut self.random {
            None => distribution.most_likely(),
            Some((_, rng)) => distribution.draw(rng),
        }
    }

    /// Whether a token drawn from `proposed` is accepted as one of `wanted`: with probability `min(1, p / q)`, if
    /// `wanted` gives it `p` and `proposed` `q` ([Leviathan et al., 2023](https://arxiv.org/abs/2211.17192), 2.3).
    pub(super) fn accepts(&mut self, wanted: &Distribution<V>, proposed: &Distribution<V>, token: Fin<V>) -> bool {
        // A greedy sampler accepts what it would choose itself.
        let uniform = self.random.as_mut().map_or(0.0, |(_, rng)| rng.r#gen::<f64>());
        uniform * proposed.probability(token) < wanted.probability(token)
    }

    /// The tokens to choose from, and their weights. A greedy sampler has one token to choose from.
    pub(super) fn distribution<E: Real>(&self, logits: &[E], occurs: &[bool]) -> Result<Distribution<V>, OpError> {
        let penalty = self.repetition_penalty;
        let with_logit = |token: Fin<V>| {
            let logit = num_traits::ToPrimitive::to_f64(logits.get(token.value())?)?;
            let logit = match occurs.get(token.value()) {
                Some(true) if logit < 0.0 => logit * penalty,
                Some(true) => logit / penalty,
                _ => logit,
            };
            // Adding 0 makes 0 of -0, so that the two are equal.
            (logit > f64::NEG_INFINITY).then_some((token, logit + 0.0))
        };
        let tokens = match &self.tokens {
            Some(tokens) => Either::Left(tokens.iter().copied()),
            None => Either::Right(Fin::all()),
        };
        if self.tokens.as_ref().is_some_and(Vec::is_empty) {
            return Err(OpError::Empty { op: "choose", dims: "the list of allowed tokens".into() });
        }
        let tokens = tokens.filter_map(with_logit);
        let by_logit_desc = |left: &(_, f64), right: &(_, f64)| right.1.total_cmp(&left.1);
        let no_token = OpError::NotANumber { op: "choose" };
        let Some((temperature, _)) = &self.random else {
            let (best, _) = tokens.min_by(by_logit_desc).ok_or(no_token)?;
            return Ok(Distribution { weights: vec![(best, 1.0)] });
        };
        let mut tokens: Vec<(Fin<V>, f64)> = tokens.collect();
        // Only the tokens that are at least as likely as the last of the `top_k` are sorted.
        if (1..tokens.len()).contains(&self.top_k) {
            let mut logits = Vec::from_iter(tokens.iter().map(|(_, logit)| *logit));
            let (_, lowest, _) = logits.select_nth_unstable_by(self.top_k - 1, |left, right| right.total_cmp(left));
            tokens.retain(|(_, logit)| *logit >= *lowest);
        }
        // The sort is stable, so the first of equally likely tokens are kept.
        tokens.sort_by(by_logit_desc);
        let (_, highest) = *tokens.first().ok_or(no_token)?;
        tokens.truncate(self.top_k);
        // If the highest logit is infinite, the difference to itself is NaN.
        let weight = |logit: f64| {
            if logit == highest { 1.0 } else { ((logit - highest) / *temperature).exp() }
        };
        let mut weights: Vec<_> = tokens.into_iter().map(|(token, logit)| (token, weight(logit))).collect();
        let cutoff = self.top_p * weights.iter().map(|(_, weight)| weight).sum::<f64>();
        let mut sum = 0.0;
        let num_kept = weights.iter().take_while(|(_, weight)| {
            let sum_before = sum;
            sum += weight;
            sum_before < cutoff
        });
        let num_kept = num_kept.count();
        weights.truncate(num_kept.max(1));
        weights.truncate(weights.partition_point(|(_, weight)| *weight >= self.min_p));
        Ok(Distribution { weights })
    }
}

/// The tokens that a [`Sampler`] may choose, at least one, and the weight of each.
pub(super) struct Distribution<V> {
    pub weights: Vec<(Fin<V>, f64)>,
}

impl<V> Distribution<V> {
    pub fn probability(&self, token: Fin<V>) -> f64 {
        let weight = self.weights.iter().find(|(other, _)| *other == token).map_or(0.0, |(_, weight)| *weight);
        weight / self.sum()
    }

    /// The token of the highest weight, the first of several.
    pub fn most_likely(&self) -> Fin<V> {
        let highest = |best: (Fin<V>, f64), other: &(Fin<V>, f64)| if other.1 > best.1 { *other } else { best };
        self.weights.iter().fold(self.weights[0], highest).0
    }

    /// A random token. If no weight is above 0, it is the first one.
    pub fn draw(&self, rng: &mut impl Rng) -> Fin<V> {
        let index = WeightedIndex::new(self.weights.iter().map(|(_, weight)| weight));
        self.weights[index.map_or(0, |index| index.sample(rng))].0
    }

    /// `max(0, p - q)`, where `other` has `q`: the distribution of the token that replaces a rejected one.
    pub fn in_excess_of(&self, other: &Self, vocab_size: usize) -> Self {
        let mut probabilities = vec![0.0; vocab_size];
        let sum = other.sum();
        other.weights.iter().for_each(|(token, weight)| probabilities[token.value()] = weight / sum);
        let sum = self.sum();
        let excess = |&(token, weight): &(Fin<V>, f64)| (token, (weight / sum - probabilities[token.value()]).max(0.0));
        Self { weights: self.weights.iter().map(excess).collect() }
    }

    fn sum(&self) -> f64 {
        self.weights.iter().map(|(_, weight)| weight).sum()
    }
}
