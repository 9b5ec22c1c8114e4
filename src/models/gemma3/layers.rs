use super::{CachedHeadsOf, Gemma3Config, norm};
use crate::models::llama::FeedForward;
use crate::nn::{CacheUpdate, Precision, Weight, init};
use crate::ops::{GeluTanh, Rotary, grouped_query_attention, rotary_positions};
use crate::prelude::*;

type HeadDim<Config> = <Config as Gemma3Config>::HeadDim;
type NumKeyValueHeads<Config> = <Config as Gemma3Config>::NumKeyValueHeads;
/// The number of query heads that share one head of the keys.
type GroupSize<Config> = Quotient<<Config as Gemma3Config>::NumHeads, NumKeyValueHeads<Config>>;
/// The columns of the queries.
type QueryDim<Config> = Product<Product<NumKeyValueHeads<Config>, GroupSize<Config>>, HeadDim<Config>>;
/// The columns of the keys, and those of the values.
type KeyValueDim<Config> = Product<NumKeyValueHeads<Config>, HeadDim<Config>>;

/// Causal self-attention with rotary positions, in which groups of heads share keys and values. The queries and keys of
/// each head are normalized.
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct Attention<Config: Gemma3Config, E, D, P: Precision> {
    /// To the queries of all heads.
    #[param(|weight| init::normal(weight, 0.02))]
    pub query: Weight<(QueryDim<Config>, Config::EmbedDim), E, D, P>,
    /// To the keys.
    #[param(|weight| init::normal(weight, 0.02))]
    pub key: Weight<(KeyValueDim<Config>, Config::EmbedDim), E, D, P>,
    /// To the values.
    #[param(|weight| init::normal(weight, 0.02))]
    pub value: Weight<(KeyValueDim<Config>, Config::EmbedDim), E, D, P>,
    /// Mixes the outputs of the heads.
    #[param(|weight| init::normal(weight, 0.02))]
    pub output: Weight<(Config::EmbedDim, QueryDim<Config>), E, D, P>,
    /// The weight of the norm of each head's query.
    #[param(init::zeros)]
    pub query_norm: Tensor<(HeadDim<Config>,), E, D>,
    /// The weight of the norm of each head's key.
    #[param(init::zeros)]
    pub key_norm: Tensor<(HeadDim<Config>,), E, D>,
}

impl<Config: Gemma3Config, E: Real, D: Backend<E>, P: Precision> Attention<Config, E, D, P> {
    /// `(B, Q, EmbedDim), mask (B, Q, K) -> (B, Q, EmbedDim)`. `positions` are the number of the first position and the
    /// rotation. `update_cache` prepends the cached keys and values.
    fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, Config::EmbedDim), E, D, T>,
        positions: (usize, Rotary),
        mask: &AttentionMask<B, Q, K>,
        update_cache: impl CacheUpdate<B, Q, K, CachedHeadsOf<Config>, E, D, T>,
    ) -> Result<Tensor<(B, Q, Config::EmbedDim), E, D, T>, OpError> {
        let query = self.normalize_and_rotate(P::linear(x.clone(), &self.query, None)?, &self.query_norm, positions)?;
        let key = self.normalize_and_rotate(P::linear(x.clone(), &self.key, None)?, &self.key_norm, positions)?;
        let value = P::linear(x, &self.value, None)?;
        let (key, value) = update_cache((key, value))?;
        let scale = AttentionScale::Constant(1.0 / Config::QUERY_PRE_ATTN_SCALAR.sqrt());
        let options = AttentionOptions { scale, ..AttentionOptions::default() };
        P::linear(grouped_query_attention(query, key, value, mask, options)?, &self.output, None)
    }

    /// Each head, normalized and then rotated by its position:
    /// `(B, S, Product<H, HeadDim>) -> (B, S, Product<H, HeadDim>)`.
    fn normalize_and_rotate<B: DataDim, S: Dim, H: ConstDim, T: Tape<E, D>>(
        &self,
        heads: Tensor<(B, S, Product<H, HeadDim<Config>>), E, D, T>,
        weight: &Tensor<(HeadDim<Config>,), E, D>,
        (start, rotary): (usize, Rotary),
    ) -> Result<Tensor<(B, S, Product<H, HeadDim<Config>>), E, D, T>, OpError> {
        let heads = rearrange!(heads: (B, S, Product<H, HeadDim<Config>>) -> (B, S, H, HeadDim<Config>))?;
        let heads = norm(heads, weight, Config::NORM_EPSILON)?;
        let rotated = rotary_positions(heads, axis::<S>(), start, rotary)?;
        rearrange!(rotated: (B, S, H, HeadDim<Config>) -> (B, S, Product<H, HeadDim<Config>>))
    }
}

/// Attention and feed-forward layer, each with a norm before it, a norm after it, and a residual around all three.
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct Layer<Config: Gemma3Config, E, D, P: Precision> {
    /// The weight of the norm before the attention.
    #[param(init::zeros)]
    pub attention_norm: Tensor<(Config::EmbedDim,), E, D>,
    /// Each position attends to itself and to ones before it.
    pub attention: Attention<Config, E, D, P>,
    /// The weight of the norm after the attention.
    #[param(init::zeros)]
    pub attended_norm: Tensor<(Config::EmbedDim,), E, D>,
    /// The weight of the norm before the feed-forward layer.
    #[param(init::zeros)]
    pub feed_forward_norm: Tensor<(Config::EmbedDim,), E, D>,
    /// Transforms each position on its own: GeGLU.
    pub feed_forward: FeedForward<Config::EmbedDim, Config::HiddenDim, GeluTanh, E, D, P>,
    /// The weight of the norm after the feed-forward layer.
    #[param(init::zeros)]
    pub transformed_norm: Tensor<(Config::EmbedDim,), E, D>,
}

impl<Config: Gemma3Config, E: Real, D: Backend<E>, P: Precision> Layer<Config, E, D, P> {
    /// `(B, Q, EmbedDim) -> (B, Q, EmbedDim)`, with the arguments of the attention.
    pub(super) fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, Config::EmbedDim), E, D, T>,
        positions: (usize, Rotary),
        mask: &AttentionMask<B, Q, K>,
        update_cache: impl CacheUpdate<B, Q, K, CachedHeadsOf<Config>, E, D, T>,
    ) -> Result<Tensor<(B, Q, Config::EmbedDim), E, D, T>, OpError> {
        let normalized = norm(x.clone(), &self.attention_norm, Config::NORM_EPSILON)?;
        let attended = self.attention.forward(normalized, positions, mask, update_cache)?;
        let x = residual(x, norm(attended, &self.attended_norm, Config::NORM_EPSILON)?)?;
        let normalized = norm(x.clone(), &self.feed_forward_norm, Config::NORM_EPSILON)?;
        let transformed = self.feed_forward.forward(normalized)?;
        residual(x, norm(transformed, &self.transformed_norm, Config::NORM_EPSILON)?)
    }
}
