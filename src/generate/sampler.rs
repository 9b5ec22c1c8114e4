use crate::{
    dims::ConstDim,
    ops::{OpError, Real},
    tokens::Fin,
};
use rand::{
    SeedableRng,
    distributions::{Distribution, WeightedIndex},
    rngs::StdRng,
};

/// What can be wrong with the settings of a [`Sampler`].
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SamplingError {
    /// The temperature is not a positive number.
    #[error("a temperature must be above 0 and finite, but it is {0}")]
    Temperature(f64),
    /// No token would be left.
    #[error("top-k must keep at least 1 token, but it is 0")]
    TopK,
    /// The probability to keep is not one.
    #[error("top-p must be above 0 and at most 1, but it is {0}")]
    TopP(f64),
}

/// Chooses a token of the vocabulary `V` from its logits: the most likely one, or one at random.
///
/// At random, the chance of a token is `softmax(logits / temperature)`, of the tokens that
/// [`top_k`](Self::top_k) and then [`top_p`](Self::top_p) leave. The same seed makes the same choices.
///
/// ```
/// use typed_transformer::{generate::Sampler, prelude::*};
/// dims! { pub VocabSize = 4; }
/// let logits = [0.0f32, 3.0, 2.9, f32::NEG_INFINITY];
/// let best: Fin<VocabSize> = Sampler::greedy().choose(&logits)?;
/// assert_eq!(best.value(), 1);
///
/// let mut sampler = Sampler::<VocabSize>::with_temperature(0.8, 7)?.top_k(2)?;
/// let choices: Vec<_> = (0..100).map(|_| sampler.choose(&logits)).collect::<Result<_, _>>()?;
/// assert!(choices.iter().all(|token| [1, 2].contains(&token.value())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sampler<V> {
    /// Temperature and random numbers; without them the most likely token is chosen.
    random: Option<(f64, StdRng)>,
    top_k: usize,
    top_p: f64,
    /// The tokens to choose from; all, if there is no list.
    tokens: Option<Vec<Fin<V>>>,
}

impl<V: ConstDim> Sampler<V> {
    /// Chooses the most likely token; of several, the first.
    #[must_use]
    pub fn greedy() -> Self {
        Self { random: None, top_k: usize::MAX, top_p: 1.0, tokens: None }
    }

    /// Chooses at random: sharper than the model's own distribution below a temperature of 1, flatter above.
    ///
    /// # Errors
    /// [`SamplingError::Temperature`] unless it is positive and finite.
    pub fn with_temperature(temperature: f64, seed: u64) -> Result<Self, SamplingError> {
        if !(temperature.is_finite() && temperature > 0.0) {
            return Err(SamplingError::Temperature(temperature));
        }
        Ok(Self { random: Some((temperature, StdRng::seed_from_u64(seed))), ..Self::greedy() })
    }

    /// Leaves the `k` most likely tokens.
    ///
    /// # Errors
    /// [`SamplingError::TopK`] if `k` is 0.
    pub fn top_k(self, k: usize) -> Result<Self, SamplingError> {
        if k == 0 {
            return Err(SamplingError::TopK);
        }
        Ok(Self { top_k: k, ..self })
    }

    /// Leaves the most likely tokens whose probabilities add up to `p`, the last of them included
    /// ([Holtzman et al., 2019](https://arxiv.org/abs/1904.09751)).
    ///
    /// # Errors
    /// [`SamplingError::TopP`] unless `0 < p <= 1`.
    pub fn top_p(self, p: f64) -> Result<Self, SamplingError> {
        if !(p > 0.0 && p <= 1.0) {
            return Err(SamplingError::TopP(p));
        }
        Ok(Self { top_p: p, ..self })
    }

    /// Leaves only these tokens, as when a text does not use the whole vocabulary of a model.
    #[must_use]
    pub fn among(self, tokens: impl IntoIterator<Item = Fin<V>>) -> Self {
        Self { tokens: Some(tokens.into_iter().collect()), ..self }
    }

    /// A token, from one logit for each of the vocabulary.
    ///
    /// # Errors
    /// [`OpError::NotANumber`] if no token that may be chosen has a logit above −∞ that is a number.
    pub fn choose<E: Real>(&mut self, logits: &[E]) -> Result<Fin<V>, OpError> {
        let possible = |token: Fin<V>| {
            let logit = num_traits::ToPrimitive::to_f64(logits.get(token.value())?)?;
            (logit > f64::NEG_INFINITY).then_some((token, logit))
        };
        let mut tokens: Vec<(Fin<V>, f64)> = match &self.tokens {
            Some(tokens) => tokens.iter().copied().filter_map(possible).collect(),
            None => Fin::all().filter_map(possible).collect(),
        };
        let likelier = |one: &(_, f64), other: &(_, f64)| other.1.total_cmp(&one.1);
        let best = tokens.iter().copied().min_by(likelier);
        let (best, highest) = best.ok_or(OpError::NotANumber { op: "choose" })?;
        let Some((temperature, rng)) = &mut self.random else {
            return Ok(best);
        };
        // Stable, so that of equally likely tokens the first are kept.
        tokens.sort_by(likelier);
        tokens.truncate(self.top_k);
        // Two infinite logits are equal, though their difference is no number.
        let weight = |logit: f64| {
            if logit == highest { 1.0 } else { ((logit - highest) / *temperature).exp() }
        };
        let mut weights: Vec<f64> = tokens.iter().map(|&(_, logit)| weight(logit)).collect();
        let enough = self.top_p * weights.iter().sum::<f64>();
        let mut sum = 0.0;
        let kept = weights.iter().take_while(|&&weight| {
            let before = sum;
            sum += weight;
            before < enough
        });
        let kept = kept.count();
        weights.truncate(kept.max(1));
        // The highest weight is 1, so there is always something to choose from.
        let index = WeightedIndex::new(&weights).map_or(0, |weights| weights.sample(rng));
        Ok(tokens[index].0)
    }
}
