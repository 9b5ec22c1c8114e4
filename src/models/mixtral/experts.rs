use super::{ChosenFrom, MixtralConfig};
use crate::models::llama::{FeedForwardOf, LlamaConfig};
use crate::nn::{Precision, init};
use crate::ops::{flatten, linear, one_hot, select, take, top_k, unflatten, zeros};
use crate::prelude::*;

/// The best experts for each token, weighted by the softmax of the router's logits for them.
///
/// An expert that no token of a batch chose has no gradient. So call
/// `gradients = gradients.allow_unused(&layer.mixture.experts)` for each layer, and then
/// [`Trainer::update`](crate::train::Trainer::update), which takes gradients, in place of `learn`.
///
/// ```
/// use typed_transformer::{doctest::*, models::mixtral::MixtureOfExperts, prelude::*};
/// let layer = MixtureOfExperts::<Small, f32, Cpu>::build(&Cpu::default());
/// let router: &Tensor<(NumExperts, EmbedDim), f32, Cpu> = &layer.router;
/// assert_eq!(layer.experts.len(), 4);
/// ```
#[module(conventions = Config::ExpertsPerToken, output = Config::EmbedDim)]
pub struct MixtureOfExperts<Config: MixtralConfig, E, D, P: Precision> {
    /// To a logit for each expert.
    #[param(|weight| init::normal(weight, 0.02))]
    pub router: Tensor<(Config::NumExperts, Config::EmbedDim), E, D>,
    /// The experts.
    pub experts: Layers<Config::NumExperts, FeedForwardOf<Config, E, D, P>>,
}

dims! {
    Tokens; // all positions of a batch
    Routed; // the tokens that chose an expert
    One = 1; // the number of sequences that hold the tokens of an expert
    Zeros = 1; // a row of zeros, the output of an expert for a token that did not choose it
}

/// The output, and the router's logits.
pub(super) type WithRouterLogits<B, S, Config, E, D, T> = (
    Tensor<(B, S, <Config as LlamaConfig>::EmbedDim), E, D, T>,
    Tensor<(B, S, <Config as MixtralConfig>::NumExperts), E, D, T>,
);

/// The number of experts that each token chooses.
type ExpertsPerToken<Config> =
    <<Config as MixtralConfig>::ExpertsPerToken as ChosenFrom<<Config as MixtralConfig>::NumExperts>>::Number;

impl<Config: MixtralConfig, E: Real, D: Backend<E>, P: Precision> MixtureOfExperts<Config, E, D, P> {
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`, and the router's logits. An expert runs on the tokens that chose it.
    pub(super) fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, Config::EmbedDim), E, D, T>,
    ) -> Result<WithRouterLogits<B, S, Config, E, D, T>, OpError> {
        let shape @ (batch, len, _) = *x.shape();
        let router_logits = linear(x.clone(), &self.router, None)?; // (B, S, NumExperts)
        let tokens = Tokens::new(batch.size() * len.size());
        let x = flatten(x, tokens)?; // (Tokens, EmbedDim)
        let logits = flatten(router_logits.clone(), tokens)?; // (Tokens, NumExperts)
        let (logits, chosen) = top_k(logits, axis::<Config::NumExperts>(), ExpertsPerToken::<Config>::default())?;
        let chosen: Indices<(Tokens, ExpertsPerToken<Config>), Config::NumExperts> = chosen;
        let weights: Tensor<(Tokens, ExpertsPerToken<Config>), E, D, T> =
            softmax_over(logits, axis::<ExpertsPerToken<Config>>())?;
        let is_chosen: Tensor<(Tokens, ExpertsPerToken<Config>, Config::NumExperts), E, D> =
            one_hot(x.device(), &chosen)?;
        let weights = einsum!(
            weights: (Tokens, ExpertsPerToken<Config>),
            &is_chosen: (Tokens, ExpertsPerToken<Config>, Config::NumExperts) -> (Tokens, Config::NumExperts)
        )?;

        let mut output = zeros(x.device(), *x.shape())?.retaped::<T>();
        for (index, expert) in Fin::<Config::NumExperts>::all().zip(&self.experts) {
            let choices = chosen.as_slice().chunks(ExpertsPerToken::<Config>::SIZE).enumerate();
            let tokens_of_expert: Vec<usize> =
                choices.filter(|(_, choices)| choices.contains(&index.value())).map(|(token, _)| token).collect();
            if !tokens_of_expert.is_empty() {
                let weight = select(weights.clone(), axis::<Config::NumExperts>(), index)?; // (Tokens)
                let part = output_of_expert::<Config, _, _, _, _>(expert, x.clone(), weight, tokens_of_expert)?;
                output = residual(output, part)?;
            }
        }
        Ok((unflatten(output, shape)?, router_logits))
    }
}

/// The weighted output of an expert for its tokens, and 0 for all others:
/// `(Tokens, EmbedDim), (Tokens) -> (Tokens, EmbedDim)`.
fn output_of_expert<Config: MixtralConfig, E: Real, D: Backend<E>, T: Tape<E, D>, P: Precision>(
    expert: &FeedForwardOf<Config, E, D, P>,
    x: Tensor<(Tokens, Config::EmbedDim), E, D, T>,
    weight: Tensor<(Tokens,), E, D, T>,
    tokens_of_expert: Vec<usize>,
) -> Result<Tensor<(Tokens, Config::EmbedDim), E, D, T>, OpError> {
    let ((tokens, width), count) = (*x.shape(), Routed::new(tokens_of_expert.len()));
    let mut place = vec![count.size(); tokens.size()]; // The zeros are row `count`.
    tokens_of_expert.iter().enumerate().for_each(|(row, &token)| place[token] = row);
    let routed = Indices::new(&tokens_of_expert, (count,), tokens)?;
    let place = Indices::new(&place, (tokens,), Sum::of(count, Zeros))?;
    let x: Tensor<(Routed, Config::EmbedDim), E, D, T> = take(x, axis::<Tokens>(), &routed)?;
    let weight: Tensor<(Routed,), E, D, T> = take(weight, axis::<Tokens>(), &routed)?;
    let transformed = expert.forward(unflatten(x, (One, count, width))?)?; // (One, Routed, EmbedDim)
    let transformed = mul(flatten(transformed, count)?, weight)?; // (Routed, EmbedDim)
    let zeros = zeros(transformed.device(), (Zeros, width))?.retaped::<T>();
    let rows = concat(transformed, zeros, along::<Routed, Zeros>())?; // (Sum<Routed, Zeros>, EmbedDim)
    take(rows, axis::<Sum<Routed, Zeros>>(), &place)
}
