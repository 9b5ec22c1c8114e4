//! [`rearrange!`](crate::rearrange!) and a rearrangement that has a name: the patches of an image.

use super::contraction::{Label, or_unit_axis};
use super::einsum::{Over, TensorAndTape};
use super::operand::OperandTape;
use super::unnamed::reshape_to;
use super::views::{NamedAxes, Sizes};
use super::{OpError, Real, device_error, ensure_not_empty};
use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, DataDim, Divides, Product, Quotient};
use crate::internal::Internal;
use dfdx::shapes::{Axes6, HasShape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::PermuteTo;

/// The same elements with their axes in another order, split or merged: a rearrangement, by name.
///
/// ```text
/// rearrange!(x: (Batch, SrcLen, Product<NumHeads, HeadDim>) -> (Batch, NumHeads, SrcLen, HeadDim))
/// ```
///
/// The operand is an expression and the dimensions of its tensor, which the compiler compares with the tensor's type. A
/// [`Product`](crate::dims::Product) is two axes: if the result has them elsewhere, or in another `Product`, they
/// are split or merged. The result has all axes of the operand and no others, and no tensor has an axis twice.
/// Otherwise there is an error at the axis. Run-time axes move, but they have no `Product`:
/// [`flatten`](crate::ops::flatten) merges them.
///
/// The macro compares axes by their spelling in this call, so spell an axis the same way everywhere. The operand is a
/// tensor, or a reference to a tensor without a tape ([`TensorOrRef`](crate::ops::TensorOrRef)). Operand and result
/// have up to 6 axes, with products split. A product that operand and result both have stays whole and counts as one
/// axis.
///
/// Merging copies unless all axes of the result are in the order of memory, and splitting an axis copies a tensor that
/// is not contiguous. Other results are views. The idea is that of
/// [einops](https://openreview.net/forum?id=oapKSVM2bcj).
///
/// # Errors
/// [`OpError::Empty`](crate::ops::OpError::Empty) if there are no elements.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub Batch; pub Rows = 1; pub Columns = 2; pub Height = 2; pub Width = 2; pub Channels = 1; }
/// type Image = (Batch, Product<Rows, Height>, Product<Columns, Width>, Channels);
/// type Patches = (Batch, Product<Rows, Columns>, Product<Height, Product<Width, Channels>>);
///
/// let shape = (Batch::new(1), Product::default(), Product::default(), Channels);
/// let image: Tensor<Image, f32, Cpu> = Cpu::default().tensor((vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], shape));
/// let patches: Tensor<Patches, f32, Cpu> = rearrange!(
///     image: (Batch, Product<Rows, Height>, Product<Columns, Width>, Channels)
///     -> (Batch, Product<Rows, Columns>, Product<Height, Product<Width, Channels>>)
/// )?;
/// assert_eq!(patches.as_vec(), [1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0]);
/// # Ok::<(), OpError>(())
/// ```
#[doc(inline)]
pub use typed_transformer_macros::rearrange;

/// The patches that tile a `Height` by `Width` image, row by row from the top left ([Dosovitskiy et al.,
/// 2020](https://arxiv.org/abs/2010.11929), 3.1).
///
/// `(B, Channels, Height, Width) -> (B, PatchGrid<Height, Width, PatchHeight, PatchWidth>, Product<Channels,
/// Product<PatchHeight, PatchWidth>>)`, for patches that divide the image by type. A linear map of the result is a
/// convolution whose stride is the size of its kernel.
///
/// ```
/// use typed_transformer::{ops::{PatchGrid, patches}, prelude::*};
/// dims! { pub Channels = 1; pub Height = 2; pub Width = 4; pub PatchHeight = 2; pub PatchWidth = 2; pub Batch = 1; }
/// let image: Tensor<(Batch, Channels, Height, Width), f32, Cpu> =
///     Cpu::default().tensor(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
/// let patches: Tensor<
///     (Batch, PatchGrid<Height, Width, PatchHeight, PatchWidth>, Product<Channels, Product<PatchHeight, PatchWidth>>),
///     f32,
///     Cpu,
/// > = patches(image)?;
/// assert_eq!(patches.as_vec(), [1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn patches<
    B: DataDim,
    Channels: ConstDim,
    Height: ConstDim,
    Width: ConstDim,
    PatchHeight: Divides<Height>,
    PatchWidth: Divides<Width>,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    image: Tensor<(B, Channels, Height, Width), E, D, T>,
) -> Result<
    Tensor<
        (B, PatchGrid<Height, Width, PatchHeight, PatchWidth>, Product<Channels, Product<PatchHeight, PatchWidth>>),
        E,
        D,
        T,
    >,
    OpError,
> {
    const OP: &str = "patches";
    let (batch, channels, _, _) = *image.shape();
    let (rows, columns) = (Quotient::<Height, PatchHeight>::default(), Quotient::<Width, PatchWidth>::default());
    let (height, width) = (PatchHeight::default(), PatchWidth::default());
    let tiles = reshape_to(OP, image, (batch, channels, rows, height, columns, width))?;
    let tiles = tiles.try_permute::<_, Axes6<0, 2, 4, 1, 3, 5>>().map_err(device_error(OP))?;
    reshape_to(OP, tiles, (batch, Product::default(), Product::default()))
}

/// The patches of `PatchHeight` by `PatchWidth` in an image of `Height` by `Width`: its rows of patches by its columns.
///
/// ```
/// use typed_transformer::{ops::PatchGrid, prelude::*};
/// dims! { pub Height = 4; pub Width = 6; pub PatchHeight = 2; pub PatchWidth = 3; }
/// assert_eq!(PatchGrid::<Height, Width, PatchHeight, PatchWidth>::SIZE, 4);
/// ```
pub type PatchGrid<Height, Width, PatchHeight, PatchWidth> =
    Product<Quotient<Height, PatchHeight>, Quotient<Width, PatchWidth>>;

const OP: &str = "rearrange";

/// The arguments of a rearrangement, as [`rearrange!`](crate::rearrange!) writes them.
#[doc(hidden)]
pub struct Rearrangement<'a> {
    /// For each axis of the operand, the sizes of its factors; empty if it is not split.
    pub factors: &'a [&'a [usize]],
    /// The labels of the operand's axes; products that the result lacks are split.
    pub from: &'a [Label],
    /// The labels of the result's axes; products that the operand lacks are split.
    pub to: &'a [Label],
    /// How many axes of `to` each axis of the result merges.
    pub merge_counts: &'a [usize],
}

impl Rearrangement<'_> {
    /// The steps for an operand of these sizes: its shape with these products split, the order of the axes in the
    /// result, and the shape of the result. A tensor without axes has one of size 1.
    fn steps<Split: Sizes, To: Sizes>(&self, sizes: &[usize]) -> (Split, Split, To) {
        let split = self.factors.iter().zip(sizes).flat_map(|(factors, size)| match factors {
            [] => vec![*size],
            factors => factors.to_vec(),
        });
        let split: Vec<usize> = split.collect();
        let (from, to) = (or_unit_axis(self.from), or_unit_axis(self.to));
        let order = Split::from_fn(|axis| from.iter().position(|other| *other == to[axis]).unwrap_or(0));
        let size = |axis: usize| split.get(axis).copied().unwrap_or(1);
        let mut rest = order.as_ref().iter().map(|axis| size(*axis));
        let merged: Vec<usize> = self.merge_counts.iter().map(|count| rest.by_ref().take(*count).product()).collect();
        (Split::from_fn(size), order, To::from_fn(|axis| merged.get(axis).copied().unwrap_or(1)))
    }
}

impl<To> Over<To> {
    /// The operand split, permuted and merged.
    pub fn rearrange<From, Split, Tape, E, D>(
        (x, tape): TensorAndTape<From, E, D, Tape>,
        _: Split,
        rearrangement: Rearrangement,
    ) -> Result<Tensor<To, E, D, Tape::Tape>, OpError>
    where
        From: NamedAxes,
        Split: Sizes,
        To: NamedAxes,
        Tape: OperandTape<E, D>,
        E: Real,
        D: Backend<E>,
    {
        ensure_not_empty(OP, x.shape())?;
        let (split, order, merged) = rearrangement.steps::<Split, _>(x.shape().concrete().as_ref());
        let x = From::into_sizes(OP, tape.put_on(x), Internal(()))?;
        let compute = || {
            let axes = into_shape(x, split)?;
            into_shape(Split::permuted(axes, order)?, merged)
        };
        To::from_sizes(OP, compute().map_err(device_error(OP))?, Internal(()))
    }
}

/// A view if the number of axes stays the same (then so do the sizes), otherwise a reshape.
fn into_shape<From: Sizes, To: Sizes, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<From, E, D, T>,
    shape: To,
) -> Result<Tensor<To, E, D, T>, D::Err> {
    match From::NUM_DIMS == To::NUM_DIMS {
        // A reshape would copy a tensor that is itself a view.
        true => From::repeated(x, shape),
        false => D::reshape(x, shape),
    }
}
