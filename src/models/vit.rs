//! The Vision Transformer ([Dosovitskiy et al., 2020](https://arxiv.org/abs/2010.11929)): an encoder of the patches of
//! an image, with norms before its sublayers.
//!
//! | in the paper | in `modeling_vit.py` | here |
//! | --- | --- | --- |
//! | 3.1, patches and their linear projection | `ViTPatchEmbeddings` | [`patches`](crate::ops::patches), [`Embeddings::patch`] |
//! | 3.1, class token, positions; equation 1 | `ViTEmbeddings` | [`Embeddings`] |
//! | equation 2, self-attention | `ViTSelfAttention`, `ViTSelfOutput` | [`Attention`](super::gpt2::Attention) of GPT-2 |
//! | equation 3, MLP with GELU | `ViTIntermediate`, `ViTOutput` | [`FeedForward`](super::gpt2::FeedForward) of GPT-2, [`Gelu`] |
//! | equations 2 and 3 | `ViTLayer` | [`Layer`] |
//! | equation 4, the state of the class token | `ViTPooler` | [`Vit::pooled`], [`Tanh`] |
//! | | `ViTModel` | [`Vit`] |

mod embeddings;

pub use embeddings::{ClassAndPatches, Embeddings};

use super::gpt2::Layer;
use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, Divides, MaybeSharded, axis};
use crate::mask::AttentionMask;
use crate::module;
use crate::nn::{LayerNorm, Layers, Linear, Precision};
use crate::ops::{Activation, Gelu, OpError, Real, Tanh, select};
use dfdx::shapes::HasShape;
use dfdx::tensor::{Cpu, Tensor};

/// The dimensions and the constants of a [`Vit`]: `ViTConfig` of HuggingFace.
///
/// ```
/// use typed_transformer::{doctest::*, models::vit::{Vit, VitConfig}, prelude::*};
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
///     const NORM_EPSILON: f64 = 1e-12;
/// }
/// let model = Vit::<Tiny, f32, Cpu>::build(&Cpu::default());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the configuration of a Vision Transformer",
    label = "`{Self}` does not implement `VitConfig`",
    note = "implement `VitConfig` for an empty struct of your own, with one line per dimension"
)]
pub trait VitConfig: 'static {
    /// The channels of a pixel.
    type Channels: ConstDim;
    /// The rows of an image, in pixels.
    type Height: ConstDim;
    /// The columns of an image, in pixels.
    type Width: ConstDim;
    /// The rows of a patch, in pixels. Patches divide the image.
    type PatchHeight: Divides<Self::Height>;
    /// The columns of a patch, in pixels.
    type PatchWidth: Divides<Self::Width>;
    /// The width of the vector of a patch. The heads divide it among themselves.
    type EmbedDim: ConstDim;
    /// The number of heads.
    type NumHeads: Divides<Self::EmbedDim>;
    /// The width inside the feed-forward layer.
    type HiddenDim: ConstDim;
    /// The number of layers.
    type NumLayers: ConstDim;
    /// The number that a norm adds to the variance.
    const NORM_EPSILON: f64;
    /// Whether the linear map of the patches has a bias.
    const PATCH_BIAS: bool = true;
    /// Whether a [`Vit`] has a pooler. Files with a classifier, and those of DINO, have none, and [`Vit::pooled`] does
    /// not compile without one.
    const POOLER: bool = true;

    /// The constants that saved parameters do not show, as names and values; files of weights store them.
    fn conventions() -> Vec<(&'static str, String)> {
        vec![("norm epsilon", Self::NORM_EPSILON.to_string())]
    }
}

/// A batch of images.
///
/// ```
/// use typed_transformer::{doctest::*, models::vit::{Images, Vit}, prelude::*};
/// let images: Images<Batch, Small, f32, Cpu> = Cpu::default().zeros();
/// let x = Vit::<Small, f32, Cpu>::build(&Cpu::default()).forward(images)?;
/// # Ok::<(), OpError>(())
/// ```
pub type Images<B, Config, E = f32, D = Cpu> =
    Tensor<(B, <Config as VitConfig>::Channels, <Config as VitConfig>::Height, <Config as VitConfig>::Width), E, D>;

/// A layer of the widths of a configuration.
pub(super) type LayerOf<Config, Function, E, D, P> = Layer<
    <Config as VitConfig>::EmbedDim,
    <Config as VitConfig>::NumHeads,
    <Config as VitConfig>::HiddenDim,
    Function,
    E,
    D,
    P,
>;

/// A Vision Transformer: a vector for the class token and for each patch of an image, and one for the image.
///
/// ```
/// use typed_transformer::{doctest::*, models::vit::{ClassAndPatches, Images, Vit}, prelude::*};
/// let model = Vit::<Small, f32, Cpu>::build(&Cpu::default());
/// let images: Images<Batch, Small, f32, Cpu> = Cpu::default().zeros();
/// let states: Tensor<(Batch, ClassAndPatches<Small>, EmbedDim), f32, Cpu> = model.forward(images)?;
/// let pooled: Tensor<(Batch, EmbedDim), f32, Cpu> = model.pooled(states)?;
/// # Ok::<(), OpError>(())
/// ```
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct Vit<Config: VitConfig, E, D, P: Precision> {
    /// From images to vectors.
    pub embeddings: Embeddings<Config, E, D, P>,
    /// The layers.
    pub layers: Layers<Config::NumLayers, LayerOf<Config, Gelu, E, D, P>>,
    /// The norm after the last layer.
    pub norm: LayerNorm<Config::EmbedDim, E, D>,
    /// From the vector of the class token to that of the image, if the configuration has it.
    #[some_if(Config::POOLER)]
    pub pooler: Option<Linear<Config::EmbedDim, Config::EmbedDim, E, D, P>>,
}

impl<Config: VitConfig, E: Real, D: Backend<E>, P: Precision> Vit<Config, E, D, P> {
    /// The normalized output of the last layer: `(B, Channels, Height, Width) -> (B, ClassAndPatches, EmbedDim)`. The
    /// images carry the tape: `images.put_tape(model.recording())`.
    pub fn forward<B: MaybeSharded, T: Tape<E, D>>(
        &self,
        images: Tensor<(B, Config::Channels, Config::Height, Config::Width), E, D, T>,
    ) -> Result<Tensor<(B, ClassAndPatches<Config>, Config::EmbedDim), E, D, T>, OpError> {
        let x = self.embeddings.forward(images)?;
        let (batch, len, _) = *x.shape();
        let mask = AttentionMask::all_visible((batch, len, len));
        let x = self.layers.iter().try_fold(x, |x, layer| layer.forward(x, Config::NORM_EPSILON, &mask, Ok))?;
        self.norm.forward(x, Config::NORM_EPSILON)
    }

    /// The vector of each image, `tanh(pooler(x))` of its class token:
    /// `(B, ClassAndPatches, EmbedDim) -> (B, EmbedDim)`.
    pub fn pooled<B: MaybeSharded, T: Tape<E, D>>(
        &self,
        states: Tensor<(B, ClassAndPatches<Config>, Config::EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, Config::EmbedDim), E, D, T>, OpError> {
        const { assert!(Config::POOLER, "`POOLER` of the configuration is false: the model has no pooler") }
        let pooler = self.pooler.as_ref().expect("the type says that it is `Some`");
        Tanh::apply(pooler.forward(select(states, axis::<ClassAndPatches<Config>>(), 0)?)?)
    }
}
