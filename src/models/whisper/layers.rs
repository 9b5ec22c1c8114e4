use super::{CachedHeadsOf, Columns, WhisperConfig};
use crate::nn::{CacheUpdate, KeysAndValues, LayerNorm, Precision, Weight, init};
use crate::ops::{Activation, Gelu, conv1d, flatten, rename, unflatten};
use crate::prelude::*;

dims! {
    /// The places along which a convolution runs. Their number is a run-time size, because types do not show that a
    /// stride of two halves it.
    Places;
}

/// A convolution of three neighbours, with zeros before the first place and after the last one.
#[module(output = OutDim)]
pub struct Convolution<InDim: ConstDim, OutDim: ConstDim, E, D> {
    /// A factor for each column of each neighbour.
    #[param(init::uniform::<Product<InDim, Const<3>>, _, _, _>)]
    pub weight: Tensor<(OutDim, InDim, Const<3>), E, D>,
    /// Added to each column.
    #[param(init::uniform::<Product<InDim, Const<3>>, _, _, _>)]
    pub bias: Tensor<(OutDim,), E, D>,
}

impl<InDim: ConstDim, OutDim: ConstDim, E: Real, D: Backend<E>> Convolution<InDim, OutDim, E, D> {
    /// `(B, Len, InDim) -> (B, To, OutDim)`, where `To` is `Len` divided by the stride.
    pub(super) fn forward<B: DataDim, Len: Dim, Stride: ConstDim, To: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Len, InDim), E, D, T>,
        stride: Stride,
        to: To,
    ) -> Result<Tensor<(B, To, OutDim), E, D, T>, OpError> {
        let (batch, len, _) = *x.shape();
        let x: Tensor<(B, Places, InDim), E, D, T> = rename(x, axis::<Len>(), Places::new(len.size()))?;
        let x = conv1d(x, &self.weight, Some(&self.bias), stride, Const::<1>)?;
        let places = flatten(x, Places::new(batch.size() * to.size()))?;
        unflatten(places, (batch, to, OutDim::default()))
    }
}

/// Attention with a norm of the queries' input before it and a residual around it. Keys have no bias.
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct Attention<Config: WhisperConfig, E, D, P: Precision> {
    /// The norm of the queries' input.
    pub norm: LayerNorm<Config::EmbedDim, E, D>,
    /// To the queries of all heads.
    pub query: Linear<Config::EmbedDim, Columns<Config>, E, D, P>,
    /// To the keys of all heads.
    #[param(init::linear)]
    pub key: Weight<(Columns<Config>, Config::EmbedDim), E, D, P>,
    /// To the values of all heads.
    pub value: Linear<Config::EmbedDim, Columns<Config>, E, D, P>,
    /// Mixes the outputs of the heads.
    pub output: Linear<Columns<Config>, Config::EmbedDim, E, D, P>,
}

impl<Config: WhisperConfig, E: Real, D: Backend<E>, P: Precision> Attention<Config, E, D, P> {
    /// `(B, K, EmbedDim) -> (B, K, Columns), (B, K, Columns)`
    pub(super) fn keys_and_values<B: DataDim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, K, Config::EmbedDim), E, D, T>,
    ) -> Result<KeysAndValues<B, K, CachedHeadsOf<Config>, E, D, T>, OpError> {
        Ok((P::linear(x.clone(), &self.key, None)?, self.value.forward(x)?))
    }

    /// `x + output(softmax(q kᵀ / √HeadDim) v)`: `(B, Q, EmbedDim), mask (B, Q, K) -> (B, Q, EmbedDim)`. `keys_and_values`
    /// gets the normalized `x`. Self-attention projects it. Cross-attention ignores it and returns the keys and values
    /// of the sound.
    fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, Config::EmbedDim), E, D, T>,
        keys_and_values: impl FnOnce(
            Tensor<(B, Q, Config::EmbedDim), E, D, T>,
        ) -> Result<KeysAndValues<B, K, CachedHeadsOf<Config>, E, D, T>, OpError>,
        mask: &AttentionMask<B, Q, K>,
    ) -> Result<Tensor<(B, Q, Config::EmbedDim), E, D, T>, OpError> {
        let normalized = self.norm.forward(x.clone(), Config::NORM_EPSILON)?;
        let (key, value) = keys_and_values(normalized.clone())?;
        let query = self.query.forward(normalized)?;
        let attended = multi_head_attention(query, key, value, mask, AttentionOptions::default())?;
        residual(x, self.output.forward(attended)?)
    }
}

/// `x + output(gelu(hidden(norm(x))))`
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct FeedForward<Config: WhisperConfig, E, D, P: Precision> {
    /// The norm.
    pub norm: LayerNorm<Config::EmbedDim, E, D>,
    /// From `EmbedDim` to `HiddenDim`.
    pub hidden: Linear<Config::EmbedDim, Config::HiddenDim, E, D, P>,
    /// From `HiddenDim` back to `EmbedDim`.
    pub output: Linear<Config::HiddenDim, Config::EmbedDim, E, D, P>,
}

impl<Config: WhisperConfig, E: Real, D: Backend<E>, P: Precision> FeedForward<Config, E, D, P> {
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`
    fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, Config::EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let normalized = self.norm.forward(x.clone(), Config::NORM_EPSILON)?;
        let hidden = Gelu::apply(self.hidden.forward(normalized)?)?;
        residual(x, self.output.forward(hidden)?)
    }
}

/// Self-attention, then feed-forward layer.
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct EncoderLayer<Config: WhisperConfig, E, D, P: Precision> {
    /// Each position attends to all.
    pub self_attention: Attention<Config, E, D, P>,
    /// Transforms each position on its own.
    pub feed_forward: FeedForward<Config, E, D, P>,
}

impl<Config: WhisperConfig, E: Real, D: Backend<E>, P: Precision> EncoderLayer<Config, E, D, P> {
    /// `(B, S, EmbedDim), mask (B, S, S) -> (B, S, EmbedDim)`
    pub(super) fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, Config::EmbedDim), E, D, T>,
        mask: &AttentionMask<B, S, S>,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let x = self.self_attention.forward(x, |x| self.self_attention.keys_and_values(x), mask)?;
        self.feed_forward.forward(x)
    }
}

/// Self-attention, attention to the sound, then feed-forward layer.
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct DecoderLayer<Config: WhisperConfig, E, D, P: Precision> {
    /// Each position attends to itself and the ones before it.
    pub self_attention: Attention<Config, E, D, P>,
    /// Each position attends to all of the sound.
    pub cross_attention: Attention<Config, E, D, P>,
    /// Transforms each position on its own.
    pub feed_forward: FeedForward<Config, E, D, P>,
}

impl<Config: WhisperConfig, E: Real, D: Backend<E>, P: Precision> DecoderLayer<Config, E, D, P> {
    /// `(B, Q, EmbedDim), mask (B, Q, K), source (B, SrcLen) -> (B, Q, EmbedDim)`. `update_cache` prepends the cached keys and
    /// values.
    pub(super) fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, Config::EmbedDim), E, D, T>,
        update_cache: impl CacheUpdate<B, Q, K, CachedHeadsOf<Config>, E, D, T>,
        mask: &AttentionMask<B, Q, K>,
        source: KeysAndValues<B, Config::SrcLen, CachedHeadsOf<Config>, E, D, T>,
    ) -> Result<Tensor<(B, Q, Config::EmbedDim), E, D, T>, OpError> {
        let (batch, len, _) = *x.shape();
        let source_mask = AttentionMask::all_visible((batch, len, Config::SrcLen::default()));
        let keys_and_values = |x| update_cache(self.self_attention.keys_and_values(x)?);
        let x = self.self_attention.forward(x, keys_and_values, mask)?;
        let x = self.cross_attention.forward(x, |_| Ok(source), &source_mask)?;
        self.feed_forward.forward(x)
    }
}
