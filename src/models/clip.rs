//! CLIP ([Radford et al., 2021](https://arxiv.org/abs/2103.00020)): an encoder of texts and one of images, trained so that
//! the vectors of an image and of its text are close.
//!
//! | in the paper | in `modeling_clip.py` | here |
//! | --- | --- | --- |
//! | 2.4, Vision Transformer with one more norm | `CLIPVisionEmbeddings`, `CLIPVisionTransformer` | [`VisionEncoder`], [`Embeddings`] |
//! | 2.4, text Transformer with masked self-attention | `CLIPTextEmbeddings`, `CLIPTextTransformer` | [`TextEncoder`] |
//! | GPT-2's layers | `CLIPEncoderLayer`, `CLIPAttention`, `CLIPMLP` | [`Layer`] of GPT-2, [`QuickGelu`] |
//! | 2.4, linear projection into the embedding space | `text_projection`, `visual_projection` | [`TextEncoder::projection`], [`VisionEncoder::projection`] |
//! | figure 3, scaled cosines, temperature `τ` | `CLIPModel`, `logit_scale` | [`Clip::logits`], [`Clip::logit_scale`] |
//! | figure 3, symmetric loss | `clip_loss` | [`Clip::loss`] |

use super::gpt2::Layer;
use super::vit::{ClassAndPatches, Embeddings, LayerOf, VitConfig};
use crate::dims::NamedShape;
use crate::nn::{LayerNorm, Precision, Weight, init};
use crate::ops::{Activation, Exp, Silu, Sqrt, div, gather, learned_positions_from, rename, select};
use crate::prelude::*;

/// The dimensions of a [`Clip`], beside those of its images: `CLIPConfig` of HuggingFace. [`VitConfig`] has the
/// dimensions of the images' encoder, and the epsilon of the norms of both encoders. The patches of a CLIP have no
/// bias.
///
/// ```
/// use typed_transformer::{doctest::*, models::{clip::{Clip, ClipConfig}, vit::VitConfig}, prelude::*};
/// pub struct Tiny;
/// impl VitConfig for Tiny {
///     type Channels = Channels;
///     type Height = Height;
///     type Width = Width;
///     type PatchHeight = PatchHeight;
///     type PatchWidth = PatchWidth;
///     type EmbedDim = EmbedDim;
///     type NumHeads = EvenHeads;
///     type HiddenDim = HiddenDim;
///     type NumLayers = NumLayers;
///     const NORM_EPSILON: f64 = 1e-5;
///     const PATCH_BIAS: bool = false;
/// }
/// impl ClipConfig for Tiny {
///     type VocabSize = VocabSize;
///     type MaxSeqLen = MaxSeqLen;
///     type TextEmbedDim = EmbedDim;
///     type NumTextHeads = EvenHeads;
///     type TextHiddenDim = HiddenDim;
///     type NumTextLayers = NumLayers;
///     type ProjectionDim = HeadDim;
/// }
/// let model = Clip::<Tiny, f32, Cpu>::build(&Cpu::default());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the configuration of a CLIP",
    label = "`{Self}` does not implement `ClipConfig`",
    note = "implement `VitConfig` and `ClipConfig` for an empty struct of your own, with one line per dimension"
)]
pub trait ClipConfig: VitConfig {
    /// The tokens that the model reads. The last one ends a text.
    type VocabSize: ConstDim;
    /// The longest text.
    type MaxSeqLen: ConstDim;
    /// The width of the vector of a token. The heads divide it among themselves.
    type TextEmbedDim: ConstDim;
    /// The number of heads of the texts' encoder.
    type NumTextHeads: Divides<Self::TextEmbedDim>;
    /// The width inside the feed-forward layer of the texts' encoder.
    type TextHiddenDim: ConstDim;
    /// The number of layers of the texts' encoder.
    type NumTextLayers: ConstDim;
    /// The width of the vectors of texts and of images.
    type ProjectionDim: ConstDim;
}

dims! {
    /// The second axis of the loss's logits: the images beside the texts of a batch, or the texts beside the images.
    Paired;
}

/// A CLIP: vectors of length 1 for texts and for images, and logits of which text belongs to which image.
///
/// ```
/// use typed_transformer::{doctest::*, models::{clip::Clip, vit::Images}, prelude::*};
/// dims! { pub Captions = 2; }
/// let model = Clip::<Small, f32, Cpu>::build(&Cpu::default());
/// let ids = TokenIds::from_ids(&[26, 7, 4, 27, 26, 3, 27, 27], None, (Captions, SeqLen))?;
/// let images: Images<Batch, Small, f32, Cpu> = Cpu::default().zeros();
/// let texts: Tensor<(Captions, HeadDim), f32, Cpu> = model.texts(&ids, NoneTape)?;
/// let images: Tensor<(Batch, HeadDim), f32, Cpu> = model.images(images)?;
/// let logits: Tensor<(Captions, Batch), f32, Cpu> = model.logits(texts, images)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(conventions = Config, output = Config::ProjectionDim)]
pub struct Clip<Config: ClipConfig, E, D, P: Precision> {
    /// From a text to its vector.
    pub text: TextEncoder<Config, E, D, P>,
    /// From an image to its vector.
    pub vision: VisionEncoder<Config, E, D, P>,
    /// The logarithm of the factor by which logits are larger than cosines: `ln(1 / τ)`.
    #[param(|logarithm| init::constant(logarithm, (1f64 / 0.07).ln()))]
    pub logit_scale: Tensor<(), E, D>,
}

impl<Config: ClipConfig, E: Real, D: Backend<E>, P: Precision> Clip<Config, E, D, P> {
    /// A vector of length 1 for each text, from the token that ends the text, the first one with the largest id:
    /// `(B, S) ids of VocabSize -> (B, ProjectionDim)`; `tape` records the operations for gradients. No token sees
    /// later ones, so padding needs no mask.
    pub fn texts<B: DataDim, S: AtMost<Config::MaxSeqLen>, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, Config::VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, Config::ProjectionDim), E, D, T>, OpError> {
        of_length_1(self.text.forward(token_ids, tape)?)
    }

    /// A vector of length 1 for each image: `(B, Channels, Height, Width) -> (B, ProjectionDim)`. The images carry the
    /// tape: `images.put_tape(model.recording())`.
    pub fn images<B: DataDim, T: Tape<E, D>>(
        &self,
        images: Tensor<(B, Config::Channels, Config::Height, Config::Width), E, D, T>,
    ) -> Result<Tensor<(B, Config::ProjectionDim), E, D, T>, OpError> {
        of_length_1(self.vision.forward(images)?)
    }

    /// `exp(logit_scale) · texts imagesᵀ`: `(Texts, ProjectionDim), (Images, ProjectionDim) -> (Texts, Images)`, for
    /// vectors of length 1.
    pub fn logits<Texts: Dim, Images: Dim, T: Tape<E, D>>(
        &self,
        texts: Tensor<(Texts, Config::ProjectionDim), E, D, T>,
        images: Tensor<(Images, Config::ProjectionDim), E, D, T>,
    ) -> Result<Tensor<(Texts, Images), E, D, T>, OpError> {
        let factor = Exp::apply(self.logit_scale.retaped::<T>())?;
        let cosines = einsum!(
            texts: (Texts, Config::ProjectionDim), images: (Images, Config::ProjectionDim) -> (Texts, Images)
        )?;
        mul(cosines, factor)
    }

    /// The mean of two cross-entropies: that of each text over all images, and that of each image over all texts. The
    /// labels are the pairs of the batch: text `i` belongs to image `i`.
    /// `(B, ProjectionDim), (B, ProjectionDim) -> ()`, for vectors of length 1.
    ///
    /// # Errors
    /// [`OpError::Dim`] if there is another number of texts than of images.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, models::{clip::Clip, vit::Images}, prelude::*};
    /// let model = Clip::<Small, f32, Cpu>::build(&Cpu::default());
    /// let ids = TokenIds::from_ids(&[26, 7, 4, 27], None, (Batch, SeqLen))?;
    /// let images: Images<Batch, Small, f32, Cpu> = Cpu::default().zeros();
    /// let texts = model.texts(&ids, model.recording())?;
    /// let images = model.images(images.put_tape(model.recording()))?;
    /// let gradients = model.loss(texts, images)?.backward()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn loss<B: Dim, T: Tape<E, D>>(
        &self,
        texts: Tensor<(B, Config::ProjectionDim), E, D, T>,
        images: Tensor<(B, Config::ProjectionDim), E, D, T>,
    ) -> Result<Tensor<(), E, D, T>, OpError> {
        let batch = texts.shape().0;
        (batch,).check_same_sizes("the texts", (images.shape().0,), "the images")?;
        let pairs = Paired::new(batch.size());
        let labels = Indices::new(&(0..batch.size()).collect::<Vec<_>>(), (batch,), pairs)?;
        let loss = |of: Tensor<_, E, D, T>, among: Tensor<_, E, D, T>| {
            let logits = self.logits(of, rename(among, axis::<B>(), pairs)?)?;
            cross_entropy(logits, &labels, Reduction::MeanAll)
        };
        scale(add(loss(texts.clone(), images.clone())?, loss(images, texts)?)?, 0.5)
    }
}

/// `x / √(Σ x²)`: `(B, M) -> (B, M)`
fn of_length_1<B: DataDim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, M), E, D, T>,
) -> Result<Tensor<(B, M), E, D, T>, OpError> {
    let squares = sum_over(mul(x.clone(), x.clone())?, axis::<M>())?;
    div(x, Sqrt::apply(squares)?)
}

/// `x · σ(1.702 x)`: an approximation of the GELU ([Hendrycks and Gimpel, 2016](https://arxiv.org/abs/1606.08415), 2).
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
    #[param(init::linear)]
    pub projection: Weight<(Config::ProjectionDim, Config::TextEmbedDim), E, D, P>,
}

impl<Config: ClipConfig, E: Real, D: Backend<E>, P: Precision> TextEncoder<Config, E, D, P> {
    /// `(B, S) ids of VocabSize -> (B, ProjectionDim)`
    fn forward<B: DataDim, S: AtMost<Config::MaxSeqLen>, T: Tape<E, D>>(
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
    #[param(init::linear)]
    pub projection: Weight<(Config::ProjectionDim, Config::EmbedDim), E, D, P>,
}

impl<Config: ClipConfig, E: Real, D: Backend<E>, P: Precision> VisionEncoder<Config, E, D, P> {
    /// `(B, Channels, Height, Width) -> (B, ProjectionDim)`
    fn forward<B: DataDim, T: Tape<E, D>>(
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
