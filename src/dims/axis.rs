//! Axes found by their names instead of their numbers.

use super::Dim;
use dfdx::shapes::{Axis, PermuteShapeTo, ReduceShape, Shape};
use std::marker::PhantomData;

/// The shape has an axis of dimension `Name`; `Place` is where, and is inferred.
///
/// A shape with two axes of one name has no single place for it, and rustc then asks for one.
///
/// ```
/// use typed_transformer::{dims, dims::HasAxis};
/// dims! { pub Batch; pub SeqLen = 3; pub EmbedDim = 8; }
/// fn index<Name: dfdx::shapes::Dim, Place, Dims: HasAxis<Name, Place>>() -> usize {
///     Dims::INDEX
/// }
/// assert_eq!(index::<SeqLen, _, (Batch, SeqLen, EmbedDim)>(), 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no axis `{Name}`",
    label = "`{Name}` is not a dimension of `{Self}`",
    note = "an axis is named by its own dimension, one of `{Self}`"
)]
pub trait HasAxis<Name: Dim, Place>:
    Shape + ReduceShape<Place, Reduced = <Self as HasAxis<Name, Place>>::Without>
{
    /// The place of the axis, from 0.
    const INDEX: usize;
    /// The shape without the axis.
    type Without: Shape;
    /// The shape with another dimension in its place.
    type With<Other: Dim>: Shape;

    /// The dimension of the axis.
    fn axis(self) -> Name;
    /// Puts another dimension in its place.
    fn with<Other: Dim>(self, other: Other) -> Self::With<Other>;
}

macro_rules! has_axis {
    ($index:literal: $($before:ident)* [$axis:ident] $($after:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<$($before: Dim,)* $axis: Dim, $($after: Dim,)*> HasAxis<$axis, Axis<$index>>
            for ($($before,)* $axis, $($after,)*)
        {
            const INDEX: usize = $index;
            type Without = ($($before,)* $($after,)*);
            type With<Other: Dim> = ($($before,)* Other, $($after,)*);

            #[allow(non_snake_case, unused_variables)]
            fn axis(self) -> $axis {
                let ($($before,)* $axis, $($after,)*) = self;
                $axis
            }
            #[allow(non_snake_case)]
            fn with<Other: Dim>(self, other: Other) -> Self::With<Other> {
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
/// use typed_transformer::{dims, dims::{AxisName, axis}};
/// dims! { pub SeqLen = 3; }
/// let positions: AxisName<SeqLen> = axis();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AxisName<Name>(PhantomData<fn() -> Name>);

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
pub fn axis<Name: Dim>() -> AxisName<Name> {
    AxisName(PhantomData)
}

/// The names of two parts of an axis, as an argument: `concat(past, present, along::<Past, Present>())`.
///
/// ```
/// use typed_transformer::{dims, dims::{Along, along}};
/// dims! { pub Past; pub Present = 1; }
/// let steps: Along<Past, Present> = along();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Along<One, Other>(PhantomData<fn() -> (One, Other)>);

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
pub fn along<One: Dim, Other: Dim>() -> Along<One, Other> {
    Along(PhantomData)
}

/// The shape has the axes of `Dims` in an order of its own; `Order` is which, and is inferred.
///
/// ```
/// use typed_transformer::{dims, dims::Reorders};
/// dims! { pub Batch; pub NumHeads = 2; pub SeqLen = 3; }
/// fn is_permutation<Dims, Order, To: Reorders<Dims, Order>>() {}
/// is_permutation::<(Batch, NumHeads, SeqLen), _, (NumHeads, SeqLen, Batch)>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not have the axes of `{Dims}`",
    label = "`{Self}` is no order of the axes of `{Dims}`",
    note = "a permutation has the same dimensions, each as often"
)]
pub trait Reorders<Dims, Order> {}

#[diagnostic::do_not_recommend]
impl<Dims: PermuteShapeTo<To, Order>, Order, To> Reorders<Dims, Order> for To {}
