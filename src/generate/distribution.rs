use crate::tokens::Fin;
use rand::Rng;
use rand::distributions::{Distribution as _, WeightedIndex};

/// The tokens that a [`Sampler`](super::Sampler) may choose, at least one, and the weight of each.
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

    /// `max(0, p - q)`: the distribution of the token that replaces a rejected one of the distribution `q`.
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
