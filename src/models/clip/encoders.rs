use super::ClipConfig;
use crate::backend::{Backend, Tape};
use crate::dims::{AtMost, Const, MaybeSharded, axis};
use crate::mask::{AttentionMask, CausalMask, PadSourceKeys, PaddingMask, mk_mask};
use crate::models::gpt2::Layer;
use crate::models::vit::{ClassAndPatches, Embeddings, LayerOf};
use crate::module;
use crate::nn::{LayerNorm, Layers, Precision, Weight, init};
use crate::ops::{Activation, OpError, Real, Silu, add_positions, gather, learned_positions_from, scale, select};
use crate::tokens::{Indices, TokenIds};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::Tensor;

/// `x · σ(1.702 x)`: an approximation of the GELU ([Hendrycks and Gimpel,
/// 2016](https://arxiv.org/abs/1606.08415), 2).
///
/// ```
/// use typed_transformer::{models::clip::QuickGelu, ops::Activation, prelude::*};
/// let x: Tensor<(Const<2>,), f64, Cpu> = Cpu::default().tensor([0.0, 1.0]);
/// let y = QuickGelu::apply(x)?.array();
/// assert!(y[0] == 0.0 && (y[1] - 1.0 / (1.0 + (-1.702f64).exp())).abs() < 1e-12);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct QuickGelu;

#[diagnostic::do_not_recommend]
impl Activation for QuickGelu {
    fn apply<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        // `silu(x) = x · σ(x)`
        scale(Silu::apply(scale(input, 1.702)?)?, 1.0 / 1.702)
    }
}

/// Tokens and positions, causal layers, and the vector at the end of the text.
#[module(conventions = Config, output = Config::ProjectionDim)]
pub struct TextEncoder<Config: ClipConfig, E, D, P: Precision> {
    /// A vector for each token.
    #[param(|table| init::normal(table, 0.02))]
    pub token: Weight<(Config::VocabSize, Config::TextEmbedDim), E, D, P>,
    /// A vector for each position.
    #[param(|table| init::normal(table, 0.02))]
    pub position: Tensor<(Config::MaxSeqLen, Config::TextEmbedDim), E, D>,
    /// The layers.
    pub layers: Layers<
        Config::NumTextLayers,
        Layer<Config::TextEmbedDim, Config::NumTextHeads, Config::TextHiddenDim, QuickGelu, E, D, P>,
    >,
    /// The norm after the last layer.
    pub norm: LayerNorm<Config::TextEmbedDim, E, D>,
    /// From the vector at the end of a text to that of the text.
    #[param(init::uniform::<Config::TextEmbedDim, _, _, _>)]
    pub projection: Weight<(Config::ProjectionDim, Config::TextEmbedDim), E, D, P>,
}

impl<Config: ClipConfig, E: Real, D: Backend<E>, P: Precision> TextEncoder<Config, E, D, P> {
    /// `(B, S) ids of VocabSize -> (B, ProjectionDim)`
    pub(super) fn forward<B: MaybeSharded, S: AtMost<Config::MaxSeqLen>, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, Config::VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, Config::ProjectionDim), E, D, T>, OpError> {
        let (batch, len) = token_ids.shape();
        let mask = mk_mask::<CausalMask, PadSourceKeys, B, S>(&PaddingMask::without_padding((batch, len)));
        let tokens = P::embed(&self.token, token_ids, tape)?;
        let x = add_positions(tokens, learned_positions_from(&self.position, 0, len)?)?;
        let x = self.layers.iter().try_fold(x, |x, layer| layer.forward(x, Config::NORM_EPSILON, &mask, Ok))?;

        let first_largest = |ids: &[usize]| (0..ids.len()).rev().max_by_key(|&position| ids[position]).unwrap_or(0);
        let ends: Vec<usize> = token_ids.as_slice().chunks(len.size().max(1)).map(first_largest).collect();
        let ends = gather(x, axis::<S>(), &Indices::new(&ends, (batch, Const::<1>), len)?)?;
        let end = self.norm.forward(select(ends, axis::<Const<1>>(), 0)?, Config::NORM_EPSILON)?;
        P::linear(end, &self.projection, None)
    }
}

/// Patches of an image, a norm, the layers of a [Vision Transformer](crate::models::vit), and the vector of the class
/// token.
#[module(conventions = Config, output = Config::ProjectionDim)]
pub struct VisionEncoder<Config: ClipConfig, E, D, P: Precision> {
    /// From images to vectors.
    pub embeddings: Embeddings<Config, E, D, P>,
    /// The norm before the first layer.
    pub first_norm: LayerNorm<Config::EmbedDim, E, D>,
    /// The layers.
    pub layers: Layers<Config::NumLayers, LayerOf<Config, QuickGelu, E, D, P>>,
    /// The norm after the last layer.
    pub norm: LayerNorm<Config::EmbedDim, E, D>,
    /// From the vector of the class token to that of the image.
    #[param(init::uniform::<Config::EmbedDim, _, _, _>)]
    pub projection: Weight<(Config::ProjectionDim, Config::EmbedDim), E, D, P>,
}

impl<Config: ClipConfig, E: Real, D: Backend<E>, P: Precision> VisionEncoder<Config, E, D, P> {
    /// `(B, Channels, Height, Width) -> (B, ProjectionDim)`
    pub(super) fn forward<B: MaybeSharded, T: Tape<E, D>>(
        &self,
        images: Tensor<(B, Config::Channels, Config::Height, Config::Width), E, D, T>,
    ) -> Result<Tensor<(B, Config::ProjectionDim), E, D, T>, OpError> {
        let x = self.first_norm.forward(self.embeddings.forward(images)?, Config::NORM_EPSILON)?;
        let (batch, len, _) = *x.shape();
        let mask = AttentionMask::all_visible((batch, len, len));
        let x = self.layers.iter().try_fold(x, |x, layer| layer.forward(x, Config::NORM_EPSILON, &mask, Ok))?;
        let class = select(x, axis::<ClassAndPatches<Config>>(), 0)?;
        P::linear(self.norm.forward(class, Config::NORM_EPSILON)?, &self.projection, None)
    }
}
