use super::{LlamaConfig, Norms};
use crate::dims::{DataShape, EndsIn};
use crate::nn::{CacheUpdate, Heads, Precision, Weight, init};
use crate::ops::{grouped_query_attention, rotary_positions};
use crate::prelude::*;

type HeadDim<Config> = <Config as LlamaConfig>::HeadDim;
type NumKeyValueHeads<Config> = <Config as LlamaConfig>::NumKeyValueHeads;
/// The number of query heads that share one head of the keys.
type GroupSize<Config> = Quotient<<Config as LlamaConfig>::NumHeads, NumKeyValueHeads<Config>>;
/// The columns of the queries.
type QueryDim<Config> = Product<Product<NumKeyValueHeads<Config>, GroupSize<Config>>, HeadDim<Config>>;
/// The columns of the keys, and those of the values.
type KeyValueDim<Config> = Product<NumKeyValueHeads<Config>, HeadDim<Config>>;
/// The heads whose keys and values a cache holds: the `NumKeyValueHeads` heads.
pub(crate) type CachedHeadsOf<Config> = Heads<NumKeyValueHeads<Config>, HeadDim<Config>, HeadDim<Config>, Config>;

/// Causal self-attention with rotary positions, in which groups of heads share keys and values.
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct Attention<Config: LlamaConfig, E, D, P: Precision> {
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
    /// The weight of the norm of each head's query, if the model has one.
    #[some_if(matches!(Config::NORMS, Norms::BeforeAndInHeads))]
    #[param(init::ones)]
    pub query_norm: Option<Tensor<(HeadDim<Config>,), E, D>>,
    /// The weight of the norm of each head's key, if the model has one.
    #[some_if(matches!(Config::NORMS, Norms::BeforeAndInHeads))]
    #[param(init::ones)]
    pub key_norm: Option<Tensor<(HeadDim<Config>,), E, D>>,
    /// The weight of the norm of all heads' queries together, if the model has one.
    #[some_if(matches!(Config::NORMS, Norms::After))]
    #[param(init::ones)]
    pub joint_query_norm: Option<Tensor<(QueryDim<Config>,), E, D>>,
    /// The weight of the norm of all heads' keys together, if the model has one.
    #[some_if(matches!(Config::NORMS, Norms::After))]
    #[param(init::ones)]
    pub joint_key_norm: Option<Tensor<(KeyValueDim<Config>,), E, D>>,
}

impl<Config: LlamaConfig, E: Real, D: Backend<E>, P: Precision> Attention<Config, E, D, P> {
    /// `(B, Q, EmbedDim), mask (B, Q, K) -> (B, Q, EmbedDim)` for positions from `start` on. `update_cache` prepends
    /// the cached keys and values.
    pub(crate) fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, Config::EmbedDim), E, D, T>,
        start: usize,
        mask: &AttentionMask<B, Q, K>,
        update_cache: impl CacheUpdate<B, Q, K, CachedHeadsOf<Config>, E, D, T>,
    ) -> Result<Tensor<(B, Q, Config::EmbedDim), E, D, T>, OpError> {
        let query =
            norm_if_any(P::linear(x.clone(), &self.query, None)?, &self.joint_query_norm, Config::NORM_EPSILON)?;
        let key = norm_if_any(P::linear(x.clone(), &self.key, None)?, &self.joint_key_norm, Config::NORM_EPSILON)?;
        let query = self.normalize_and_rotate(query, start, &self.query_norm)?;
        let key = self.normalize_and_rotate(key, start, &self.key_norm)?;
        let value = P::linear(x, &self.value, None)?;
        let (key, value) = update_cache((key, value))?;
        let attended = grouped_query_attention(query, key, value, mask, AttentionOptions::default())?;
        P::linear(attended, &self.output, None)
    }

    /// Each head, normalized if there is a norm, rotated by its position:
    /// `(B, S, Product<H, HeadDim>) -> (B, S, Product<H, HeadDim>)`.
    fn normalize_and_rotate<B: DataDim, S: Dim, H: ConstDim, T: Tape<E, D>>(
        &self,
        heads: Tensor<(B, S, Product<H, HeadDim<Config>>), E, D, T>,
        start: usize,
        norm: &Option<Tensor<(HeadDim<Config>,), E, D>>,
    ) -> Result<Tensor<(B, S, Product<H, HeadDim<Config>>), E, D, T>, OpError> {
        let heads = rearrange!(heads: (B, S, Product<H, HeadDim<Config>>) -> (B, S, H, HeadDim<Config>))?;
        let heads = norm_if_any(heads, norm, Config::NORM_EPSILON)?;
        let rotated = rotary_positions(heads, axis::<S>(), start, Config::ROTARY)?;
        rearrange!(rotated: (B, S, H, HeadDim<Config>) -> (B, S, Product<H, HeadDim<Config>>))
    }
}

/// The RMS norm of the last axis, if there is a weight: `(.., M) -> (.., M)`.
fn norm_if_any<Dims: EndsIn<M, Before: DataShape>, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<Dims, E, D, T>,
    weight: &Option<Tensor<(M,), E, D>>,
    epsilon: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    match weight {
        Some(weight) => rms_norm(x, weight, epsilon),
        None => Ok(x),
    }
}
