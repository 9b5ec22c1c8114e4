use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, Dim, Divides, MaybeSharded, Product, Quotient};
use crate::mask::AttentionMask;
use crate::module;
use crate::nn::{CacheUpdate, Heads, LayerNorm, Linear, Precision};
use crate::ops::{Activation, AttentionOptions, OpError, Real, multi_head_attention, residual};
use dfdx::tensor::Tensor;

/// The columns of all heads.
type Columns<EmbedDim, NumHeads> = Product<NumHeads, Quotient<EmbedDim, NumHeads>>;

/// The heads of keys and values, each of `EmbedDim / NumHeads` columns.
type KeyValueHeads<EmbedDim, NumHeads> = Heads<NumHeads, Quotient<EmbedDim, NumHeads>, Quotient<EmbedDim, NumHeads>>;

/// Self-attention, with biases.
#[module(output = EmbedDim)]
pub struct Attention<EmbedDim: ConstDim, NumHeads: Divides<EmbedDim>, E, D, P: Precision> {
    /// To the queries of all heads.
    pub query: Linear<EmbedDim, Columns<EmbedDim, NumHeads>, E, D, P>,
    /// To the keys of all heads.
    pub key: Linear<EmbedDim, Columns<EmbedDim, NumHeads>, E, D, P>,
    /// To the values of all heads.
    pub value: Linear<EmbedDim, Columns<EmbedDim, NumHeads>, E, D, P>,
    /// Mixes the outputs of the heads.
    pub output: Linear<Columns<EmbedDim, NumHeads>, EmbedDim, E, D, P>,
}

impl<EmbedDim: ConstDim, NumHeads: Divides<EmbedDim>, E: Real, D: Backend<E>, P: Precision>
    Attention<EmbedDim, NumHeads, E, D, P>
{
    /// `(B, Q, EmbedDim), mask (B, Q, K) -> (B, Q, EmbedDim)`. `update_cache` prepends the cached keys and values.
    pub(crate) fn forward<B: MaybeSharded, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, EmbedDim), E, D, T>,
        mask: &AttentionMask<B, Q, K>,
        update_cache: impl CacheUpdate<B, Q, K, KeyValueHeads<EmbedDim, NumHeads>, E, D, T>,
    ) -> Result<Tensor<(B, Q, EmbedDim), E, D, T>, OpError> {
        let query = self.query.forward(x.clone())?;
        let (key, value) = update_cache((self.key.forward(x.clone())?, self.value.forward(x)?))?;
        self.output.forward(multi_head_attention(query, key, value, mask, AttentionOptions::default())?)
    }
}

/// `output(f(hidden(x)))` with the activation `Function`.
#[module(output = EmbedDim)]
pub struct FeedForward<EmbedDim: ConstDim, HiddenDim: ConstDim, Function: Activation, E, D, P: Precision> {
    /// From `EmbedDim` to `HiddenDim`.
    pub hidden: Linear<EmbedDim, HiddenDim, E, D, P>,
    /// From `HiddenDim` back to `EmbedDim`.
    pub output: Linear<HiddenDim, EmbedDim, E, D, P>,
}

impl<EmbedDim: ConstDim, HiddenDim: ConstDim, Function: Activation, E: Real, D: Backend<E>, P: Precision>
    FeedForward<EmbedDim, HiddenDim, Function, E, D, P>
{
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`
    pub(crate) fn forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        self.output.forward(Function::apply(self.hidden.forward(x)?)?)
    }
}

/// Attention and feed-forward layer with the activation `Function`, each with a norm before it and a residual around
/// it.
#[module(output = EmbedDim)]
pub struct Layer<
    EmbedDim: ConstDim,
    NumHeads: Divides<EmbedDim>,
    HiddenDim: ConstDim,
    Function: Activation,
    E,
    D,
    P: Precision,
> {
    /// The norm before the attention.
    pub attention_norm: LayerNorm<EmbedDim, E, D>,
    /// Each position attends to those that the mask shows.
    pub attention: Attention<EmbedDim, NumHeads, E, D, P>,
    /// The norm before the feed-forward layer.
    pub feed_forward_norm: LayerNorm<EmbedDim, E, D>,
    /// Transforms each position on its own.
    pub feed_forward: FeedForward<EmbedDim, HiddenDim, Function, E, D, P>,
}

impl<EmbedDim: ConstDim, NumHeads: Divides<EmbedDim>, HiddenDim: ConstDim, Function: Activation, E, D, P>
    Layer<EmbedDim, NumHeads, HiddenDim, Function, E, D, P>
where
    E: Real,
    D: Backend<E>,
    P: Precision,
{
    /// `(B, Q, EmbedDim) -> (B, Q, EmbedDim)`, with the arguments of the attention. The norms add `epsilon` to the
    /// variance.
    pub(crate) fn forward<B: MaybeSharded, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, EmbedDim), E, D, T>,
        epsilon: f64,
        mask: &AttentionMask<B, Q, K>,
        update_cache: impl CacheUpdate<B, Q, K, KeyValueHeads<EmbedDim, NumHeads>, E, D, T>,
    ) -> Result<Tensor<(B, Q, EmbedDim), E, D, T>, OpError> {
        let normalized = self.attention_norm.forward(x.clone(), epsilon)?;
        let x = residual(x, self.attention.forward(normalized, mask, update_cache)?)?;
        let normalized = self.feed_forward_norm.forward(x.clone(), epsilon)?;
        residual(x, self.feed_forward.forward(normalized)?)
    }
}
