use super::{ChosenFrom, FeedForwardOf, MixtralConfig};
use crate::backend::{Backend, Tape};
use crate::dims::{Dim, MaybeSharded, Sum, along, axis};
use crate::nn::{Layers, Precision, init};
use crate::ops::{
    OpError, Real, concat, flatten, linear, mul, one_hot, residual, select, softmax_over, take, top_k, unflatten, zeros,
};
use crate::tokens::{Fin, Indices};
use crate::{dims, einsum, module};
use dfdx::shapes::{ConstDim as _, HasShape};
use dfdx::tensor::Tensor;

/// The best experts for each token, weighted by the softmax of the router's logits for them.
///
/// An expert that no token of a batch chose has no gradient. So before the update `gradients =
/// gradients.allow_unused(&layer.mixture.experts)` lets the experts of each layer be unused, and
/// [`Trainer::update`](crate::train::Trainer::update) takes these gradients, in place of `learn`.
///
/// ```
/// use typed_transformer::{doctest::*, models::mixtral::MixtureOfExperts, prelude::*};
/// let layer = MixtureOfExperts::<Small, f32, Cpu>::build(&Cpu::default());
/// let router: &Tensor<(NumExperts, EmbedDim), f32, Cpu> = &layer.router;
/// assert_eq!(layer.experts.len(), 4);
/// ```
#[module(output = Config::EmbedDim)]
pub struct MixtureOfExperts<Config: MixtralConfig, E, D, P: Precision> {
    /// To a logit for each expert.
    #[param(|weight| init::normal(weight, 0.02))]
    pub router: Tensor<(Config::NumExperts, Config::EmbedDim), E, D>,
    /// The experts.
    pub experts: Layers<Config::NumExperts, FeedForwardOf<Config, E, D, P>>,
}

dims! {
    /// All positions of a batch.
    Tokens;
    /// The tokens that chose an expert.
    Routed;
    /// The number of sequences that hold the tokens of an expert.
    One = 1;
    /// A row of zeros, the output of an expert for a token that did not choose it.
    Zeros = 1;
}

/// The experts that compute a token.
type ExpertsPerToken<Config> =
    <<Config as MixtralConfig>::ExpertsPerToken as ChosenFrom<<Config as MixtralConfig>::NumExperts>>::Number;

impl<Config: MixtralConfig, E: Real, D: Backend<E>, P: Precision> MixtureOfExperts<Config, E, D, P> {
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`. An expert runs on the tokens that chose it.
    pub(super) fn forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, Config::EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let shape @ (batch, len, _) = *x.shape();
        let x = flatten(x, Tokens::new(batch.size() * len.size()))?; // (Tokens, EmbedDim)
        let logits = linear(x.clone(), &self.router, None)?; // (Tokens, NumExperts)
        let (logits, chosen) = top_k(logits, axis::<Config::NumExperts>(), ExpertsPerToken::<Config>::default())?;
        let chosen: Indices<(Tokens, ExpertsPerToken<Config>), Config::NumExperts> = chosen;
        let weights: Tensor<(Tokens, ExpertsPerToken<Config>), E, D, T> =
            softmax_over(logits, axis::<ExpertsPerToken<Config>>())?;
        let is_chosen: Tensor<(Tokens, ExpertsPerToken<Config>, Config::NumExperts), E, D> =
            one_hot(x.device(), &chosen)?;
        let weights = einsum!(
            weights: (Tokens, ExpertsPerToken<Config>),
            &is_chosen: (Tokens, ExpertsPerToken<Config>, Config::NumExperts)
            -> (Tokens, Config::NumExperts)
        )?;

        let mut output = zeros(x.device(), *x.shape())?.retaped::<T>();
        for (index, expert) in Fin::<Config::NumExperts>::all().zip(&self.experts) {
            let choices = chosen.as_slice().chunks(ExpertsPerToken::<Config>::SIZE).enumerate();
            let tokens_of_expert: Vec<usize> =
                choices.filter(|(_, choices)| choices.contains(&index.value())).map(|(token, _)| token).collect();
            if !tokens_of_expert.is_empty() {
                // (Tokens)
                let weight = select(weights.clone(), axis::<Config::NumExperts>(), index)?;
                output = residual(output, routed::<Config, _, _, _, _>(expert, x.clone(), weight, tokens_of_expert)?)?;
            }
        }
        unflatten(output, shape)
    }
}

/// The weighted output of an expert for the tokens `routed`, and 0 for all others:
/// `(Tokens, EmbedDim), (Tokens) -> (Tokens, EmbedDim)`.
fn routed<Config: MixtralConfig, E: Real, D: Backend<E>, T: Tape<E, D>, P: Precision>(
    expert: &FeedForwardOf<Config, E, D, P>,
    x: Tensor<(Tokens, Config::EmbedDim), E, D, T>,
    weight: Tensor<(Tokens,), E, D, T>,
    routed: Vec<usize>,
) -> Result<Tensor<(Tokens, Config::EmbedDim), E, D, T>, OpError> {
    let ((tokens, width), count) = (*x.shape(), Routed::new(routed.len()));
    let mut place = vec![count.size(); tokens.size()]; // The last row is that of zeros.
    routed.iter().enumerate().for_each(|(row, &token)| place[token] = row);
    let routed = Indices::new(&routed, (count,), tokens)?;
    let place = Indices::new(&place, (tokens,), Sum::of(count, Zeros))?;

    let x: Tensor<(Routed, Config::EmbedDim), E, D, T> = take(x, axis::<Tokens>(), &routed)?;
    let weight: Tensor<(Routed,), E, D, T> = take(weight, axis::<Tokens>(), &routed)?;
    let transformed = expert.forward(unflatten(x, (One, count, width))?)?; // (One, Routed, EmbedDim)
    let transformed = mul(flatten(transformed, count)?, weight)?; // (Routed, EmbedDim)
    let zeros = zeros(transformed.device(), (Zeros, width))?.retaped::<T>();
    let rows = concat(transformed, zeros, along::<Routed, Zeros>())?; // (Sum<Routed, Zeros>, EmbedDim)
    take(rows, axis::<Sum<Routed, Zeros>>(), &place)
}
