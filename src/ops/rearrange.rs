use super::contraction::{Label, label_array};
use super::einsum::{NumAxes, Over, TensorAndTape};
use super::operand::OperandTape;
use super::views::{NamedAxes, Sizes, permuted, with_leading_axes};
use super::{OpError, Real, device_error, ensure_not_empty};
use crate::backend::{Backend, Tape};
use crate::internal::Internal;
use dfdx::shapes::HasShape;
use dfdx::tensor::Tensor;
use std::array;

/// The same elements with their axes in another order, split or merged: a rearrangement, by name.
///
/// ```text
/// rearrange!(x: (Batch, SrcLen, Product<NumHeads, HeadDim>) -> (Batch, NumHeads, SrcLen, HeadDim))
/// ```
///
/// The operand is an expression and the dimensions of its tensor. The compiler compares them with its type. A
/// [`Product`](crate::dims::Product) is two axes: if the result has them elsewhere, or in another `Product`, they
/// are split or merged. The result has all axes of the operand and no others, and no tensor has an axis twice.
/// Otherwise there is an error at the axis. Run-time axes move, but they have no `Product`.
///
/// The macro compares axes by their spelling in this call, so spell an axis the same way everywhere. The operand is a
/// tensor, or a reference to a tensor without a tape ([`TensorOrRef`](crate::ops::TensorOrRef)). Operand and result
/// have up to 6 axes, with products split.
///
/// Merging axes copies, and so does splitting an axis of a view. Other results are views. The idea is that of
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
/// let image: Tensor<Image, f32, Cpu> =
///     Cpu::default().tensor((vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], shape));
/// let patches: Tensor<Patches, f32, Cpu> = rearrange!(
///     image: (Batch, Product<Rows, Height>, Product<Columns, Width>, Channels)
///     -> (Batch, Product<Rows, Columns>, Product<Height, Product<Width, Channels>>)
/// )?;
/// assert_eq!(patches.as_vec(), [1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0]);
/// # Ok::<(), OpError>(())
/// ```
#[doc(inline)]
pub use typed_transformer_macros::rearrange;

const OP: &str = "rearrange";

/// The arguments of a rearrangement, as [`rearrange!`](crate::rearrange!) writes them.
#[doc(hidden)]
pub struct Rearrangement<'a> {
    /// For each axis of the operand, the sizes of its factors; empty if it is no product.
    pub factors: &'a [&'a [usize]],
    /// The labels of the operand's axes, with products split.
    pub from: &'a [Label],
    /// The labels of the result's axes, with products split.
    pub to: &'a [Label],
    /// The number of axes in each axis of the result.
    pub merged: &'a [usize],
}

impl Rearrangement<'_> {
    /// The steps for an operand of these sizes: its shape of `N` axes, their order in the result, and its shape of `T`
    /// axes. An axis without a factor is an axis of one element.
    fn steps<const N: usize, const T: usize>(&self, sizes: &[usize]) -> ([usize; N], [usize; N], [usize; T]) {
        let split = self.factors.iter().zip(sizes).flat_map(|(factors, size)| match factors {
            [] => vec![*size],
            factors => factors.to_vec(),
        });
        let split: Vec<usize> = split.collect();
        let (from, to): ([Label; N], [Label; N]) = (label_array(self.from), label_array(self.to));
        let order = to.map(|label| from.iter().position(|other| *other == label).unwrap_or(0));
        let size = |axis: usize| split.get(axis).copied().unwrap_or(1);
        let mut rest = order.into_iter().map(size);
        let merged: Vec<usize> = self.merged.iter().map(|count| rest.by_ref().take(*count).product()).collect();
        let merged = array::from_fn(|axis| merged.get(axis).copied().unwrap_or(1));
        (array::from_fn(size), order, merged)
    }
}

impl<To> Over<To> {
    /// The operand split, permuted and merged. Split, it has `N` axes.
    pub fn rearrange<From, Tape, E, D, const F: usize, const N: usize, const T: usize>(
        (x, tape): TensorAndTape<From, E, D, Tape>,
        _: NumAxes<N>,
        rearrangement: Rearrangement,
    ) -> Result<Tensor<To, E, D, Tape::Tape>, OpError>
    where
        From: NamedAxes<F>,
        To: NamedAxes<T>,
        Tape: OperandTape<E, D>,
        E: Real,
        D: Backend<E>,
        [usize; F]: Sizes,
        [usize; N]: Sizes,
        [usize; T]: Sizes,
    {
        ensure_not_empty(OP, x.shape())?;
        let (split, order, merged) = rearrangement.steps::<N, T>(x.shape().concrete().as_ref());
        let x = From::into_sizes(OP, tape.put_on(x), Internal(()))?;
        let compute = || {
            let axes = into_shape::<F, N, E, D, _>(x, split)?;
            into_shape::<N, T, E, D, _>(permuted(axes, order)?, merged)
        };
        To::from_sizes(OP, compute().map_err(device_error(OP))?, Internal(()))
    }
}

/// A view if the number of axes stays the same (then so do the sizes), otherwise a reshape.
fn into_shape<const F: usize, const N: usize, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<[usize; F], E, D, T>,
    shape: [usize; N],
) -> Result<Tensor<[usize; N], E, D, T>, D::Err>
where
    [usize; F]: Sizes,
    [usize; N]: Sizes,
{
    match F == N {
        // A reshape would copy a tensor that is itself a view.
        true => with_leading_axes(x, shape),
        false => D::reshape(x, shape),
    }
}
