use super::ModernBertConfig;
use crate::backend::{Backend, Tape};
use crate::dims::{Dim, MaybeSharded, Product, axis};
use crate::mask::AttentionMask;
use crate::models::llama::FeedForward;
use crate::nn::{Precision, Weight, init};
use crate::ops::{
    AttentionOptions, Gelu, OpError, Real, Rotary, layer_norm, multi_head_attention, residual, rotary_positions,
};
use crate::{module, rearrange};
use dfdx::tensor::Tensor;

type HeadDim<Config> = <Config as ModernBertConfig>::HeadDim;
type NumHeads<Config> = <Config as ModernBertConfig>::NumHeads;
/// The columns of all heads.
type Columns<Config> = Product<NumHeads<Config>, HeadDim<Config>>;

/// Self-attention with rotary positions, without biases.
#[module(output = Config::EmbedDim)]
pub struct Attention<Config: ModernBertConfig, E, D, P: Precision> {
    /// To the queries of all heads.
    #[param(|weight| init::normal(weight, 0.02))]
    pub query: Weight<(Columns<Config>, Config::EmbedDim), E, D, P>,
    /// To the keys of all heads.
    #[param(|weight| init::normal(weight, 0.02))]
    pub key: Weight<(Columns<Config>, Config::EmbedDim), E, D, P>,
    /// To the values of all heads.
    #[param(|weight| init::normal(weight, 0.02))]
    pub value: Weight<(Columns<Config>, Config::EmbedDim), E, D, P>,
    /// Mixes the outputs of the heads.
    #[param(|weight| init::normal(weight, 0.02))]
    pub output: Weight<(Config::EmbedDim, Columns<Config>), E, D, P>,
}

impl<Config: ModernBertConfig, E: Real, D: Backend<E>, P: Precision> Attention<Config, E, D, P> {
    /// `(B, S, EmbedDim), mask (B, S, S) -> (B, S, EmbedDim)`
    fn forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, Config::EmbedDim), E, D, T>,
        mask: &AttentionMask<B, S, S>,
        rotary: Rotary,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let rotate = |columns: Tensor<(B, S, Columns<Config>), E, D, T>| {
            let heads = rearrange!(columns: (B, S, Product<NumHeads<Config>, HeadDim<Config>>) -> (B, S, NumHeads<Config>, HeadDim<Config>))?;
            let rotated = rotary_positions(heads, axis::<S>(), 0, rotary)?;
            rearrange!(rotated: (B, S, NumHeads<Config>, HeadDim<Config>) -> (B, S, Product<NumHeads<Config>, HeadDim<Config>>))
        };
        let query = rotate(P::linear(x.clone(), &self.query, None)?)?;
        let key = rotate(P::linear(x.clone(), &self.key, None)?)?;
        let value = P::linear(x, &self.value, None)?;
        let attended = multi_head_attention(query, key, value, mask, AttentionOptions::default())?;
        P::linear(attended, &self.output, None)
    }
}

/// Attention and feed-forward layer, each with a norm before it and a residual around it. The model holds the norms
/// before the attentions, because the first layer has none.
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct Layer<Config: ModernBertConfig, E, D, P: Precision> {
    /// Each position attends to all, or to its neighbours.
    pub attention: Attention<Config, E, D, P>,
    /// The weight of the norm before the feed-forward layer.
    #[param(init::ones)]
    pub feed_forward_norm: Tensor<(Config::EmbedDim,), E, D>,
    /// Transforms each position on its own: GeGLU.
    pub feed_forward: FeedForward<Config::EmbedDim, Config::HiddenDim, Gelu, E, D, P>,
}

impl<Config: ModernBertConfig, E: Real, D: Backend<E>, P: Precision> Layer<Config, E, D, P> {
    /// `(B, S, EmbedDim), norm (EmbedDim), mask (B, S, S) -> (B, S, EmbedDim)`
    pub(super) fn forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, Config::EmbedDim), E, D, T>,
        attention_norm: Option<&Tensor<(Config::EmbedDim,), E, D>>,
        mask: &AttentionMask<B, S, S>,
        rotary: Rotary,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let read = match attention_norm {
            Some(weight) => layer_norm(x.clone(), weight, None, Config::NORM_EPSILON)?,
            None => x.clone(),
        };
        let x = residual(x, self.attention.forward(read, mask, rotary)?)?;
        let normalized = layer_norm(x.clone(), &self.feed_forward_norm, None, Config::NORM_EPSILON)?;
        residual(x, self.feed_forward.forward(normalized)?)
    }
}
