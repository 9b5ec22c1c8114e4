//! Axes are found by name, not by number.

use super::{AnyDim, AxesAmong, DataDim, Dim};
use dfdx::shapes::{Axes, Axis, ReduceShape, Shape};
use std::marker::PhantomData;

/// The shape has an axis of dimension `Name`. `WhichAxis` is its position, which rustc infers.
///
/// rustc cannot infer `WhichAxis` if a shape has an axis twice, as scores of `(SeqLen, SeqLen)`: "type annotations
/// needed" (E0283). [`rename`](crate::ops::rename()) gives one of the two another name before they meet in one tensor,
/// such as one of [`local_dims!`](crate::local_dims!).
///
/// A function that is generic in its shape needs this bound for each operation that names an axis:
///
/// ```
/// use typed_transformer::{dims::HasAxis, ops::select, prelude::*};
/// fn first<Dims: HasAxis<Name, WhichAxis>, Name: Dim, WhichAxis>(
///     x: Tensor<Dims, f32, Cpu>,
/// ) -> Result<Tensor<Dims::Remaining, f32, Cpu>, OpError> {
///     select(x, axis::<Name>(), 0)
/// }
/// dims! { pub EmbedDim = 2; pub SeqLen = 2; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(first::<_, SeqLen, _>(x)?.as_vec(), [1.0, 2.0]);
/// # Ok::<(), OpError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Name}` is not an axis of `{Self}`",
    label = "`{Self}` has no axis `{Name}`",
    note = "an axis is named by its dimension, and a tensor has up to 6 of them; `usize` is no dimension, `Unchecked` is one"
)]
pub trait HasAxis<Name: AnyDim, WhichAxis>:
    Shape
    + ReduceShape<WhichAxis, Reduced = <Self as HasAxis<Name, WhichAxis>>::Remaining>
    + ReduceShape<<Self as HasAxis<Name, WhichAxis>>::Position, Reduced = <Self as HasAxis<Name, WhichAxis>>::Remaining>
{
    /// The axis, as dfdx names it.
    type Position: Axes;
    /// Position of the axis, counted from 0.
    const INDEX: usize;
    /// The shape without the axis.
    type Remaining: Shape;
    /// The shape with `Other` in place of the axis.
    type Replaced<Other: AnyDim>: Shape;

    /// The dimension of the axis.
    fn axis(self) -> Name;
    /// The shape without the axis.
    fn remove_axis(self) -> Self::Remaining;
    /// The shape with `other` in place of the axis.
    fn replace_axis<Other: AnyDim>(self, other: Other) -> Self::Replaced<Other>;
}

macro_rules! has_axis {
    ($index:literal: $(($before:ident $_other:ident))* [$axis:ident] $($after:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<$($before: AnyDim,)* $axis: AnyDim, $($after: AnyDim,)*> HasAxis<$axis, Axis<$index>>
            for ($($before,)* $axis, $($after,)*)
        {
            const INDEX: usize = $index;
            type Position = Axis<$index>;
            type Remaining = ($($before,)* $($after,)*);
            type Replaced<Other: AnyDim> = ($($before,)* Other, $($after,)*);

            #[allow(non_snake_case, unused_variables)]
            fn axis(self) -> $axis {
                let ($($before,)* $axis, $($after,)*) = self;
                $axis
            }
            #[allow(non_snake_case, clippy::unused_unit)]
            fn remove_axis(self) -> Self::Remaining {
                let ($($before,)* _, $($after,)*) = self;
                ($($before,)* $($after,)*)
            }
            #[allow(non_snake_case)]
            fn replace_axis<Other: AnyDim>(self, other: Other) -> Self::Replaced<Other> {
                let ($($before,)* _, $($after,)*) = self;
                ($($before,)* other, $($after,)*)
            }
        }
    };
}
for_each_axis!(has_axis);

/// The name of an axis as an argument, made by [`axis`]: `mean_over(x, axis::<SeqLen>())`.
#[derive(Clone, Copy, Debug)]
pub struct AxisOf<Name>(PhantomData<fn() -> Name>);

/// Names the axis `Name` in a call such as `sum_over(x, axis::<QLen>())`.
///
/// ```
/// use typed_transformer::{dims::AxisOf, prelude::*};
/// dims! { pub QLen = 2; pub KLen = 3; }
/// let x: Tensor<(QLen, KLen), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// assert_eq!(sum_over(x.clone(), axis::<QLen>())?.as_vec(), [5.0, 7.0, 9.0]);
/// let keys: AxisOf<KLen> = axis();
/// assert_eq!(sum_over(x, keys)?.as_vec(), [6.0, 15.0]);
/// # Ok::<(), OpError>(())
/// ```
#[must_use]
pub fn axis<Name: AnyDim>() -> AxisOf<Name> {
    AxisOf(PhantomData)
}

/// The names of two axes that are concatenated, as an argument made by [`along`]:
/// `concat(past, present, along::<Past, Present>())`.
#[derive(Clone, Copy, Debug)]
pub struct ConcatAxis<Left, Right>(PhantomData<fn() -> (Left, Right)>);

/// Names the axis `Left` of the first tensor and the axis `Right` of the second, which
/// [`concat`](crate::ops::concat) joins into one of `Left + Right` elements.
///
/// ```
/// use typed_transformer::{dims::ConcatAxis, prelude::*};
/// dims! { pub Past = 2; pub Present = 1; }
/// let device = Cpu::default();
/// let past: Tensor<(Past,), f32, Cpu> = device.tensor(vec![1.0, 2.0]);
/// let present: Tensor<(Present,), f32, Cpu> = device.tensor(vec![3.0]);
/// let steps: ConcatAxis<Past, Present> = along();
/// let both: Tensor<(Sum<Past, Present>,), f32, Cpu> = concat(past, present, steps)?;
/// assert_eq!(both.as_vec(), [1.0, 2.0, 3.0]);
/// # Ok::<(), OpError>(())
/// ```
#[must_use]
pub fn along<Left: Dim, Right: Dim>() -> ConcatAxis<Left, Right> {
    ConcatAxis(PhantomData)
}

/// The shape is `Smaller` with one more axis, `Name`: a tensor over `Smaller` can be broadcast to it.
/// `WhichAxis` is the position of the added axis, which rustc infers.
///
/// ```
/// use typed_transformer::{dims, dims::{Dim, BroadcastFrom}};
/// dims! { pub Batch; pub SeqLen = 3; pub EmbedDim = 8; }
/// fn can_be_broadcast<Smaller, Name: Dim, WhichAxis, Dims: BroadcastFrom<Smaller, Name, WhichAxis>>() {}
/// can_be_broadcast::<(SeqLen, EmbedDim), Batch, _, (Batch, SeqLen, EmbedDim)>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Smaller}` is not `{Self}` without `{Name}`",
    label = "adding the axis `{Name}` to `{Smaller}` does not give `{Self}`",
    note = "the result has one more axis, `{Name}`; all others stay as they are, in their order",
    note = "`broadcast(x, shape, axis::<Name>())` takes the whole shape of the result; `stack(tensors, name)` takes the new axis"
)]
pub trait BroadcastFrom<Smaller, Name: DataDim, WhichAxis>: HasAxis<Name, WhichAxis, Remaining = Smaller> {}

#[diagnostic::do_not_recommend]
impl<Smaller, Name: DataDim, WhichAxis, Dims> BroadcastFrom<Smaller, Name, WhichAxis> for Dims where
    Dims: HasAxis<Name, WhichAxis, Remaining = Smaller>
{
}

/// The shape is `Dims` with the axis `Other` in place of `One`: tensors over the two can be concatenated.
/// `WhichAxis` is the position of the axis, which rustc infers.
///
/// ```
/// use typed_transformer::{dims, dims::{Continues, Dim}};
/// dims! { pub Batch; pub Past = 2; pub Present = 1; pub EmbedDim = 8; }
/// fn can_follow<Dims, One: Dim, Other: Dim, WhichAxis, Next: Continues<Dims, One, Other, WhichAxis>>() {}
/// can_follow::<(Batch, Past, EmbedDim), Past, Present, _, (Batch, Present, EmbedDim)>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not `{Dims}` with `{Other}` in place of `{One}`",
    label = "`{Self}` does not continue `{Dims}` along `{One}` and `{Other}`",
    note = "tensors that are concatenated have the same other axes, in the same order; `permute` reorders axes"
)]
pub trait Continues<Dims, One: Dim, Other: Dim, WhichAxis>: HasAxis<Other, WhichAxis> {}

#[diagnostic::do_not_recommend]
impl<Next, Dims, One: Dim, Other: Dim, WhichAxis> Continues<Dims, One, Other, WhichAxis> for Next
where
    Dims: HasAxis<One, WhichAxis>,
    Next: HasAxis<Other, WhichAxis, Remaining = Dims::Remaining>,
{
}

/// The shape has exactly the axes of `To`, in any order, and none of them twice. `Order` is this order, which rustc
/// infers.
///
/// ```
/// use typed_transformer::{dims, dims::PermutationOf};
/// dims! { pub Batch; pub NumHeads = 2; pub SeqLen = 3; }
/// fn order<Dims: PermutationOf<To, Order>, To, Order>() -> Vec<usize> {
///     Dims::order()
/// }
/// assert_eq!(order::<(Batch, NumHeads, SeqLen), (NumHeads, SeqLen, Batch), _>(), [1, 2, 0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{To}` is not a permutation of `{Self}`",
    label = "`{Self}` and `{To}` do not have the same axes",
    note = "a permutation reorders the axes; it adds none and drops none"
)]
pub trait PermutationOf<To, Order>: Shape {
    /// The position in this shape of each axis of `To`.
    fn order() -> Vec<usize>;
}

#[diagnostic::do_not_recommend]
impl<Dims, To, Order, Inverse> PermutationOf<To, (Order, Inverse)> for Dims
where
    Dims: AxesAmong<To, Inverse>,
    To: AxesAmong<Dims, Order>,
{
    fn order() -> Vec<usize> {
        To::positions()
    }
}

/// Calls the macro `$declare` for each axis of the shapes of 1 to 6 axes, as `2: (A I) (B J) [C] F G`: the position of
/// the axis, the axes before it, the axis, and those after it. An axis before it has a second letter, which may stand
/// for an axis of another shape.
macro_rules! for_each_axis {
    ($declare:ident) => {
        $declare!(0: [A]);
        $declare!(0: [A] B);
        $declare!(1: (A I) [B]);
        $declare!(0: [A] B C);
        $declare!(1: (A I) [B] C);
        $declare!(2: (A I) (B J) [C]);
        $declare!(0: [A] B C F);
        $declare!(1: (A I) [B] C F);
        $declare!(2: (A I) (B J) [C] F);
        $declare!(3: (A I) (B J) (C K) [F]);
        $declare!(0: [A] B C F G);
        $declare!(1: (A I) [B] C F G);
        $declare!(2: (A I) (B J) [C] F G);
        $declare!(3: (A I) (B J) (C K) [F] G);
        $declare!(4: (A I) (B J) (C K) (F L) [G]);
        $declare!(0: [A] B C F G H);
        $declare!(1: (A I) [B] C F G H);
        $declare!(2: (A I) (B J) [C] F G H);
        $declare!(3: (A I) (B J) (C K) [F] G H);
        $declare!(4: (A I) (B J) (C K) (F L) [G] H);
        $declare!(5: (A I) (B J) (C K) (F L) (G M) [H]);
    };
}
pub(crate) use for_each_axis;

/// Calls the macro `$declare` for these axes, for all but the first, and so on, down to none.
macro_rules! for_each_shape {
    ($declare:ident:) => {
        $declare!();
    };
    ($declare:ident: $first:tt $($rest:tt)*) => {
        $declare!($first $($rest)*);
        for_each_shape!($declare: $($rest)*);
    };
}
pub(crate) use for_each_shape;
