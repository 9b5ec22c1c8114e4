use super::VitConfig;
use crate::backend::{Backend, Tape};
use crate::dims::{Const, MaybeSharded, Product, Sum, along, axis};
use crate::module;
use crate::nn::{Precision, Weight, init};
use crate::ops::{OpError, PatchGrid, Real, add, broadcast, concat, patches};
use dfdx::{shapes::HasShape, tensor::Tensor};

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

/// The positions of a [`Vit`](super::Vit): the class token, then the patches.
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
    #[param(init::uniform::<PatchDim<Config>, _, _, _>)]
    pub patch: Weight<(Config::EmbedDim, PatchDim<Config>), E, D, P>,
    /// Added to the vector of a patch, if the configuration has it.
    #[some_if(Config::PATCH_BIAS)]
    #[param(init::uniform::<PatchDim<Config>, _, _, _>)]
    pub patch_bias: Option<Tensor<(Config::EmbedDim,), E, D>>,
    /// A vector for each position.
    #[param(|table| init::normal(table, 0.02))]
    pub position: Tensor<(ClassAndPatches<Config>, Config::EmbedDim), E, D>,
}

impl<Config: VitConfig, E: Real, D: Backend<E>, P: Precision> Embeddings<Config, E, D, P> {
    /// `(B, Channels, Height, Width) -> (B, ClassAndPatches, EmbedDim)`
    pub(crate) fn forward<B: MaybeSharded, T: Tape<E, D>>(
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
