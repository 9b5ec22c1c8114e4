//! The Vision Transformer ([Dosovitskiy et al., 2020](https://arxiv.org/abs/2010.11929)): an encoder of the patches of
//! an image, with norms before its sublayers.
//!
//! | in the paper | in `modeling_vit.py` | here |
//! | --- | --- | --- |
//! | 3.1, patches and their linear projection | `ViTPatchEmbeddings` | [`patches`], [`Embeddings::patch`] |
//! | 3.1, class token, positions; equation 1 | `ViTEmbeddings` | [`Embeddings`] |
//! | equation 2, self-attention | `ViTSelfAttention`, `ViTSelfOutput` | [`Attention`](super::gpt2::Attention) of GPT-2 |
//! | equation 3, MLP with GELU | `ViTIntermediate`, `ViTOutput` | [`FeedForward`](super::gpt2::FeedForward) of GPT-2, [`Gelu`] |
//! | equations 2 and 3 | `ViTLayer` | [`Layer`] |
//! | equation 4, the state of the class token | `ViTPooler` | [`Vit::pooled`], [`Tanh`] |
//! | | `ViTModel` | [`Vit`] |

use super::gpt2::Layer;
use crate::nn::{LayerNorm, Precision, Weight, init};
use crate::ops::{Activation, Gelu, PatchGrid, Tanh, patches, select};
use crate::prelude::*;

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
/// let embeddings = model.embeddings.forward(images.clone())?;
/// let states: Tensor<(Batch, ClassAndPatches<Small>, EmbedDim), f32, Cpu> = model.forward(images)?;
/// assert_eq!(model.vectors_of(embeddings)?.as_vec(), states.as_vec());
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
    /// From the vector of the class token to that of the image, if the configuration has a pooler.
    #[some_if(Config::POOLER)]
    pub pooler: Option<Linear<Config::EmbedDim, Config::EmbedDim, E, D, P>>,
}

impl<Config: VitConfig, E: Real, D: Backend<E>, P: Precision> Vit<Config, E, D, P> {
    /// The normalized output of the last layer: `(B, Channels, Height, Width) -> (B, ClassAndPatches, EmbedDim)`. The
    /// images carry the tape: `images.put_tape(model.recording())`.
    pub fn forward<B: DataDim, T: Tape<E, D>>(
        &self,
        images: Tensor<(B, Config::Channels, Config::Height, Config::Width), E, D, T>,
    ) -> Result<Tensor<(B, ClassAndPatches<Config>, Config::EmbedDim), E, D, T>, OpError> {
        self.vectors_of(self.embeddings.forward(images)?)
    }

    /// [`forward`](Self::forward) of embeddings in place of images, such as those of the class token and of some patches:
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`.
    pub fn vectors_of<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        embeddings: Tensor<(B, S, Config::EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let (batch, len, _) = *embeddings.shape();
        let mask = AttentionMask::all_visible((batch, len, len));
        let x =
            self.layers.iter().try_fold(embeddings, |x, layer| layer.forward(x, Config::NORM_EPSILON, &mask, Ok))?;
        self.norm.forward(x, Config::NORM_EPSILON)
    }

    /// The vector of each image, `tanh(pooler(x))` of its class token:
    /// `(B, ClassAndPatches, EmbedDim) -> (B, EmbedDim)`.
    pub fn pooled<B: DataDim, T: Tape<E, D>>(
        &self,
        states: Tensor<(B, ClassAndPatches<Config>, Config::EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, Config::EmbedDim), E, D, T>, OpError> {
        const { assert!(Config::POOLER, "`POOLER` of the configuration is false: the model has no pooler") }
        let pooler = self.pooler.as_ref().expect("the type says that it is `Some`");
        Tanh::apply(pooler.forward(select(states, axis::<ClassAndPatches<Config>>(), 0)?)?)
    }
}

/// The numbers of a patch.
type PatchDim<Config> = Product<
    <Config as VitConfig>::Channels,
    Product<<Config as VitConfig>::PatchHeight, <Config as VitConfig>::PatchWidth>,
>;

/// The number of patches of an image: its rows of patches times its columns of patches.
type NumPatches<Config> = PatchGrid<
    <Config as VitConfig>::Height,
    <Config as VitConfig>::Width,
    <Config as VitConfig>::PatchHeight,
    <Config as VitConfig>::PatchWidth,
>;

/// The positions of a [`Vit`]: the class token, then the patches.
///
/// ```
/// use typed_transformer::{doctest::*, models::vit::ClassAndPatches, prelude::*};
/// assert_eq!(ClassAndPatches::<Small>::SIZE, 5);
/// ```
pub type ClassAndPatches<Config> = Sum<Const<1>, NumPatches<Config>>;

/// The class token and a linear map of each patch, with a vector for each position added.
#[module(output = Config::EmbedDim)]
pub struct Embeddings<Config: VitConfig, E, D, P: Precision> {
    /// The vector of the class token.
    #[param(|token| init::normal(token, 0.02))]
    pub class_token: Tensor<(Config::EmbedDim,), E, D>,
    /// From the numbers of a patch to its vector.
    #[param(init::linear)]
    pub patch: Weight<(Config::EmbedDim, PatchDim<Config>), E, D, P>,
    /// Added to the vector of a patch, if the configuration has a bias of patches.
    #[some_if(Config::PATCH_BIAS)]
    #[param(init::uniform::<PatchDim<Config>, _, _, _>)]
    pub patch_bias: Option<Tensor<(Config::EmbedDim,), E, D>>,
    /// A vector for each position.
    #[param(|table| init::normal(table, 0.02))]
    pub position: Tensor<(ClassAndPatches<Config>, Config::EmbedDim), E, D>,
}

impl<Config: VitConfig, E: Real, D: Backend<E>, P: Precision> Embeddings<Config, E, D, P> {
    /// `(B, Channels, Height, Width) -> (B, ClassAndPatches, EmbedDim)`
    pub fn forward<B: DataDim, T: Tape<E, D>>(
        &self,
        images: Tensor<(B, Config::Channels, Config::Height, Config::Width), E, D, T>,
    ) -> Result<Tensor<(B, ClassAndPatches<Config>, Config::EmbedDim), E, D, T>, OpError> {
        let (batch, width) = (images.shape().0, Config::EmbedDim::default());
        let patches = patches::<_, _, _, _, Config::PatchHeight, Config::PatchWidth, _, _, _>(images)?;
        let patches = P::linear(patches, &self.patch, self.patch_bias.as_ref())?;
        let class: Tensor<(Const<1>, Config::EmbedDim), E, D, T> =
            broadcast(self.class_token.retaped::<T>(), (Const, width), axis::<Const<1>>())?;
        let class: Tensor<(B, Const<1>, Config::EmbedDim), E, D, T> =
            broadcast(class, (batch, Const, width), axis::<B>())?;
        let x = concat(class, patches, along::<Const<1>, NumPatches<Config>>())?;
        add(x, &self.position)
    }
}
