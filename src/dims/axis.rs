//! Axes found by their names instead of their numbers.

use super::Dim;
use dfdx::shapes::{Axis, PermuteShapeTo, ReduceShape, Shape};
use std::marker::PhantomData;

/// The shape has an axis of dimension `Name`; `Index` is where, and is inferred.
///
/// A shape with two axes of one name has no single place for it, and rustc then asks for one.
///
/// ```
/// use typed_transformer::{dims, dims::HasAxis};
/// dims! { pub Batch; pub SeqLen = 3; pub EmbedDim = 8; }
/// fn index<Name: dfdx::shapes::Dim, Index, Dims: HasAxis<Name, Index>>() -> usize {
///     Dims::INDEX
/// }
/// assert_eq!(index::<SeqLen, _, (Batch, SeqLen, EmbedDim)>(), 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no axis `{Name}`",
    label = "`{Name}` is not a dimension of `{Self}`",
    note = "an axis is named by its own dimension, one of `{Self}`"
)]
pub trait HasAxis<Name: Dim, Index>:
    Shape + ReduceShape<Index, Reduced = <Self as HasAxis<Name, Index>>::Remaining>
{
    /// The place of the axis, from 0.
    const INDEX: usize;
    /// The shape without the axis.
    type Remaining: Shape;
    /// The shape with another dimension in its place.
    type Replaced<Other: Dim>: Shape;

    /// The dimension of the axis.
    fn axis(self) -> Name;
    /// Puts another dimension in its place.
    fn replace_axis<Other: Dim>(self, other: Other) -> Self::Replaced<Other>;
}

macro_rules! has_axis {
    ($index:literal: $($before:ident)* [$axis:ident] $($after:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<$($before: Dim,)* $axis: Dim, $($after: Dim,)*> HasAxis<$axis, Axis<$index>>
            for ($($before,)* $axis, $($after,)*)
        {
            const INDEX: usize = $index;
            type Remaining = ($($before,)* $($after,)*);
            type Replaced<Other: Dim> = ($($before,)* Other, $($after,)*);

            #[allow(non_snake_case, unused_variables)]
            fn axis(self) -> $axis {
                let ($($before,)* $axis, $($after,)*) = self;
                $axis
            }
            #[allow(non_snake_case)]
            fn replace_axis<Other: Dim>(self, other: Other) -> Self::Replaced<Other> {
                let ($($before,)* _, $($after,)*) = self;
                ($($before,)* other, $($after,)*)
            }
        }
    };
}
has_axis!(0: [A]);
has_axis!(0: [A] B);
has_axis!(1: A [B]);
has_axis!(0: [A] B C);
has_axis!(1: A [B] C);
has_axis!(2: A B [C]);
has_axis!(0: [A] B C F);
has_axis!(1: A [B] C F);
has_axis!(2: A B [C] F);
has_axis!(3: A B C [F]);

/// The name of an axis, as an argument: `mean_over(x, axis::<SeqLen>())`.
///
/// ```
/// use typed_transformer::{dims, dims::{AxisOf, axis}};
/// dims! { pub SeqLen = 3; }
/// let positions: AxisOf<SeqLen> = axis();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AxisOf<Name>(PhantomData<fn() -> Name>);

/// The axis `Name`.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub QLen = 2; pub KLen = 3; }
/// let x: Tensor<(QLen, KLen), f32, Cpu> =
///     Cpu::default().tensor(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// assert_eq!(sum_over(x.clone(), axis::<QLen>()).as_vec(), [5.0, 7.0, 9.0]);
/// assert_eq!(sum_over(x, axis::<KLen>()).as_vec(), [6.0, 15.0]);
/// ```
#[must_use]
pub fn axis<Name: Dim>() -> AxisOf<Name> {
    AxisOf(PhantomData)
}

/// The names of two parts of an axis, as an argument: `concat(past, present, along::<Past, Present>())`.
///
/// ```
/// use typed_transformer::{dims, dims::{ConcatAxis, along}};
/// dims! { pub Past; pub Present = 1; }
/// let steps: ConcatAxis<Past, Present> = along();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ConcatAxis<One, Other>(PhantomData<fn() -> (One, Other)>);

/// The axis on which `Other` follows `One`.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub Past = 2; pub Present = 1; }
/// let device = Cpu::default();
/// let past: Tensor<(Past,), f32, Cpu> = device.tensor(vec![1.0, 2.0]);
/// let present: Tensor<(Present,), f32, Cpu> = device.tensor(vec![3.0]);
/// let both: Tensor<(Sum<Past, Present>,), f32, Cpu> =
///     concat(past, present, along::<Past, Present>());
/// assert_eq!(both.as_vec(), [1.0, 2.0, 3.0]);
/// ```
#[must_use]
pub fn along<One: Dim, Other: Dim>() -> ConcatAxis<One, Other> {
    ConcatAxis(PhantomData)
}

/// The shape is `Less` once more for each `Name`: an axis is added and the others stay as they are.
/// `Index` is where, and is inferred.
///
/// ```
/// use typed_transformer::{dims, dims::{Dim, BroadcastFrom}};
/// dims! { pub Batch; pub SeqLen = 3; pub EmbedDim = 8; }
/// fn can_be_broadcast<Less, Name: Dim, Index, Dims: BroadcastFrom<Less, Name, Index>>() {}
/// can_be_broadcast::<(SeqLen, EmbedDim), Batch, _, (Batch, SeqLen, EmbedDim)>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Less}` is not `{Self}` without `{Name}`",
    label = "`{Less}` and `{Name}` do not make `{Self}`",
    note = "only `{Name}` is added; every other axis stays as it is"
)]
pub trait BroadcastFrom<Less, Name: Dim, Index>: HasAxis<Name, Index, Remaining = Less> {}

#[diagnostic::do_not_recommend]
impl<Less, Name: Dim, Index, Dims> BroadcastFrom<Less, Name, Index> for Dims where
    Dims: HasAxis<Name, Index, Remaining = Less>
{
}

/// The shape has the axes of `Rest` and no others, in the same order.
///
/// ```
/// use typed_transformer::{dims, dims::SameAxes};
/// dims! { pub Batch; pub EmbedDim = 8; }
/// fn agree<Rest, Dims: SameAxes<Rest>>() {}
/// agree::<(Batch, EmbedDim), (Batch, EmbedDim)>();
/// ```
#[diagnostic::on_unimplemented(
    message = "the other axes differ: `{Rest}` and `{Self}`",
    label = "`{Rest}` does not agree with `{Self}`",
    note = "tensors that are joined along one axis have all other axes in common"
)]
pub trait SameAxes<Rest> {}

#[diagnostic::do_not_recommend]
impl<Dims> SameAxes<Dims> for Dims {}

/// The shape has the axes of `To` in an order of its own; `Order` is which, and is inferred.
///
/// ```
/// use typed_transformer::{dims, dims::PermutationOf};
/// dims! { pub Batch; pub NumHeads = 2; pub SeqLen = 3; }
/// fn is_permutation<Dims: PermutationOf<To, Order>, To, Order>() {}
/// is_permutation::<(Batch, NumHeads, SeqLen), (NumHeads, SeqLen, Batch), _>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not have the axes of `{To}`",
    label = "`{Self}` is no order of the axes of `{To}`",
    note = "a permutation has the same dimensions, each as often"
)]
pub trait PermutationOf<To, Order>: Shape + PermuteShapeTo<To, Order> {}

#[diagnostic::do_not_recommend]
impl<Dims: Shape + PermuteShapeTo<To, Order>, To, Order> PermutationOf<To, Order> for Dims {}
