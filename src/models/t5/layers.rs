use super::{CachedHeadsOf, Columns, PositionBias, T5Config};
use crate::nn::{CacheUpdate, KeysAndValues, Precision, Weight, init};
use crate::ops::{Activation, Relu};
use crate::prelude::*;

/// Attention without a scale, with a norm of the queries' input before it and a residual around it.
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct Attention<Config: T5Config, E, D, P: Precision> {
    /// The weight of the norm.
    #[param(init::ones)]
    pub norm: Tensor<(Config::EmbedDim,), E, D>,
    /// To the queries of all heads. The scores are not divided by `√HeadDim`; the initial weights are instead.
    #[param(|weight| init::normal(weight, 1.0 / ((Config::EmbedDim::SIZE * Config::HeadDim::SIZE) as f64).sqrt()))]
    pub query: Weight<(Columns<Config>, Config::EmbedDim), E, D, P>,
    /// To the keys of all heads.
    #[param(|weight| init::normal(weight, 1.0 / (Config::EmbedDim::SIZE as f64).sqrt()))]
    pub key: Weight<(Columns<Config>, Config::EmbedDim), E, D, P>,
    /// To the values of all heads.
    #[param(|weight| init::normal(weight, 1.0 / (Config::EmbedDim::SIZE as f64).sqrt()))]
    pub value: Weight<(Columns<Config>, Config::EmbedDim), E, D, P>,
    /// Mixes the outputs of the heads.
    #[param(|weight| init::normal(weight, 1.0 / (Columns::<Config>::SIZE as f64).sqrt()))]
    pub output: Weight<(Config::EmbedDim, Columns<Config>), E, D, P>,
}

impl<Config: T5Config, E: Real, D: Backend<E>, P: Precision> Attention<Config, E, D, P> {
    /// `(B, K, EmbedDim) -> (B, K, Columns), (B, K, Columns)`
    pub(super) fn keys_and_values<B: DataDim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, K, Config::EmbedDim), E, D, T>,
    ) -> Result<KeysAndValues<B, K, CachedHeadsOf<Config>, E, D, T>, OpError> {
        Ok((P::linear(x.clone(), &self.key, None)?, P::linear(x, &self.value, None)?))
    }

    /// `x + output(softmax(q kᵀ + position_bias) v)`:
    /// `(B, Q, EmbedDim), position bias (NumHeads, Q, K), mask (B, Q, K) -> (B, Q, EmbedDim)`. `keys_and_values` gets the
    /// normalized `x`. Self-attention projects it. Cross-attention ignores it and returns the keys and values of the
    /// source.
    fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, Config::EmbedDim), E, D, T>,
        keys_and_values: impl FnOnce(
            Tensor<(B, Q, Config::EmbedDim), E, D, T>,
        ) -> Result<KeysAndValues<B, K, CachedHeadsOf<Config>, E, D, T>, OpError>,
        position_bias: Option<PositionBias<Q, K, Config, E, D, T>>,
        mask: &AttentionMask<B, Q, K>,
    ) -> Result<Tensor<(B, Q, Config::EmbedDim), E, D, T>, OpError> {
        let normalized = rms_norm(x.clone(), &self.norm, Config::NORM_EPSILON)?;
        let (key, value) = keys_and_values(normalized.clone())?;
        let query = P::linear(normalized, &self.query, None)?;
        let options =
            AttentionOptions { scale: AttentionScale::One, bias: position_bias, ..AttentionOptions::default() };
        let attended = multi_head_attention(query, key, value, mask, options)?;
        residual(x, P::linear(attended, &self.output, None)?)
    }
}

/// `x + output(relu(hidden(norm(x))))`
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct FeedForward<Config: T5Config, E, D, P: Precision> {
    /// The weight of the norm.
    #[param(init::ones)]
    pub norm: Tensor<(Config::EmbedDim,), E, D>,
    /// From `EmbedDim` to `HiddenDim`.
    #[param(|weight| init::normal(weight, 1.0 / (Config::EmbedDim::SIZE as f64).sqrt()))]
    pub hidden: Weight<(Config::HiddenDim, Config::EmbedDim), E, D, P>,
    /// From `HiddenDim` back to `EmbedDim`.
    #[param(|weight| init::normal(weight, 1.0 / (Config::HiddenDim::SIZE as f64).sqrt()))]
    pub output: Weight<(Config::EmbedDim, Config::HiddenDim), E, D, P>,
}

impl<Config: T5Config, E: Real, D: Backend<E>, P: Precision> FeedForward<Config, E, D, P> {
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`
    fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, Config::EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let normalized = rms_norm(x.clone(), &self.norm, Config::NORM_EPSILON)?;
        let hidden = Relu::apply(P::linear(normalized, &self.hidden, None)?)?;
        residual(x, P::linear(hidden, &self.output, None)?)
    }
}

/// Self-attention, then feed-forward layer.
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct EncoderLayer<Config: T5Config, E, D, P: Precision> {
    /// Each position attends to all that are not padding.
    pub self_attention: Attention<Config, E, D, P>,
    /// Transforms each position on its own.
    pub feed_forward: FeedForward<Config, E, D, P>,
}

impl<Config: T5Config, E: Real, D: Backend<E>, P: Precision> EncoderLayer<Config, E, D, P> {
    /// `(B, S, EmbedDim), position bias (NumHeads, S, S), mask (B, S, S) -> (B, S, EmbedDim)`
    pub(super) fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, Config::EmbedDim), E, D, T>,
        position_bias: PositionBias<S, S, Config, E, D, T>,
        mask: &AttentionMask<B, S, S>,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let attention = &self.self_attention;
        let x = attention.forward(x, |x| attention.keys_and_values(x), Some(position_bias), mask)?;
        self.feed_forward.forward(x)
    }
}

/// Self-attention, attention to the source, then feed-forward layer.
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct DecoderLayer<Config: T5Config, E, D, P: Precision> {
    /// Each position attends to itself and the ones before it.
    pub self_attention: Attention<Config, E, D, P>,
    /// Each position attends to the source.
    pub cross_attention: Attention<Config, E, D, P>,
    /// Transforms each position on its own.
    pub feed_forward: FeedForward<Config, E, D, P>,
}

impl<Config: T5Config, E: Real, D: Backend<E>, P: Precision> DecoderLayer<Config, E, D, P> {
    /// `(B, Q, EmbedDim), position bias (NumHeads, Q, K), mask (B, Q, K), source (B, Src), mask (B, Q, Src) -> (B, Q, EmbedDim)`.
    /// `update_cache` prepends the cached keys and values.
    pub(super) fn forward<B: DataDim, Q: Dim, K: Dim, Src: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, Config::EmbedDim), E, D, T>,
        update_cache: impl CacheUpdate<B, Q, K, CachedHeadsOf<Config>, E, D, T>,
        (position_bias, mask): (PositionBias<Q, K, Config, E, D, T>, &AttentionMask<B, Q, K>),
        source: KeysAndValues<B, Src, CachedHeadsOf<Config>, E, D, T>,
        source_mask: &AttentionMask<B, Q, Src>,
    ) -> Result<Tensor<(B, Q, Config::EmbedDim), E, D, T>, OpError> {
        let attention = &self.self_attention;
        let keys_and_values = |x| update_cache(attention.keys_and_values(x)?);
        let x = attention.forward(x, keys_and_values, Some(position_bias), mask)?;
        let x = self.cross_attention.forward(x, |_| Ok(source), None, source_mask)?;
        self.feed_forward.forward(x)
    }
}
