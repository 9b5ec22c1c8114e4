//! Relations between shapes, by the names of their axes.

use super::{AnyDim, CountFactor, DataDim, Dim, DimError, HasAxis, check_same_size, for_each_shape};
use dfdx::shapes::Shape;

/// The shape has up to 6 axes, and each is a dimension or one rank's part of a dimension.
///
/// ```
/// use typed_transformer::{dims, dims::NamedShape};
/// dims! { pub Batch; pub EmbedDim = 8; }
/// let error = (Batch::new(3), EmbedDim).check_same_sizes("the input", (Batch::new(4), EmbedDim), "the output").unwrap_err();
/// assert_eq!(error.to_string(), "`Batch` is 3 in the input and 4 in the output");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape of up to 6 dimensions, each with a name",
    label = "an axis of `{Self}` is no dimension, or there are more than 6",
    note = "`dims! {{ pub Name; }}` declares a dimension; `usize` is none, `Unchecked` is one"
)]
pub trait NamedShape: Shape {
    /// Checks that each axis has the same size in two operands, which `left` and `right` describe.
    ///
    /// # Errors
    /// [`DimError::Mismatch`] if two sizes differ.
    fn check_same_sizes(self, left: &'static str, found: Self, right: &'static str) -> Result<(), DimError>;
}

/// The shape has up to 6 axes, and each is a whole dimension: an operation may sum along all of them.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "an axis of `{Self}` is not known to be whole, but here all of it is needed",
    label = "an axis of `{Self}` is a rank's part, or no dimension",
    note = "`partial_mean` is this rank's term of a mean over a batch that ranks divide; `all_gather` joins the parts of a model's axis",
    note = "`usize` is no dimension, `Unchecked` is one; a function that is generic in `Dims` bounds it: `Dims: dims::WholeShape`"
)]
pub trait WholeShape: NamedShape {}

/// The shape has up to 6 axes, each [whole or a rank's part of data](DataDim): a weight may be applied along all.
///
/// ```
/// use typed_transformer::{dims::{DataShape, EndsIn}, ops, prelude::*};
/// fn unit_norm<Dims: EndsIn<M, Before: DataShape>, M: ConstDim>(
///     x: Tensor<Dims, f32, Cpu>,
/// ) -> Result<Tensor<Dims, f32, Cpu>, OpError> {
///     ops::rms_norm(x, &ops::full(&Cpu::default(), (M::default(),), 1.0)?, 0.0)
/// }
/// dims! { pub SeqLen = 1; pub EmbedDim = 2; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![2.0, -2.0]);
/// assert_eq!(unit_norm(x)?.as_vec(), [1.0, -1.0]);
/// # Ok::<(), OpError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "an axis of `{Self}` may be a rank's part of a dimension of the model",
    label = "each rank would have only a term of the weight's gradient",
    note = "in a function that is generic in its shape, a bound says that no axis is such a part: `Dims: EndsIn<Width, Before: DataShape>`"
)]
pub trait DataShape: NamedShape {}

impl<Dims: DataAxes> DataShape for Dims {}

/// The shapes that are a [`DataShape`], in a separate trait, so that an error does not list them.
pub trait DataAxes: NamedShape {}

macro_rules! named_shape {
    ($($axis:ident $index:tt)*) => {
        #[diagnostic::do_not_recommend]
        impl<$($axis: AnyDim),*> NamedShape for ($($axis,)*) {
            #[allow(unused_variables)]
            fn check_same_sizes(self, left: &'static str, found: Self, right: &'static str) -> Result<(), DimError> {
                $(check_same_size(left, self.$index, right, found.$index)?;)*
                Ok(())
            }
        }
        #[diagnostic::do_not_recommend]
        impl<$($axis: Dim),*> WholeShape for ($($axis,)*) {}
        impl<$($axis: DataDim),*> DataAxes for ($($axis,)*) {}
    };
}
named_shape!();
named_shape!(A 0);
named_shape!(A 0 B 1);
named_shape!(A 0 B 1 C 2);
named_shape!(A 0 B 1 C 2 F 3);
named_shape!(A 0 B 1 C 2 F 3 G 4);
named_shape!(A 0 B 1 C 2 F 3 G 4 H 5);

/// The last axis of the shape is `Name`.
///
/// ```
/// use typed_transformer::{dims, dims::{Dim, EndsIn}};
/// dims! { pub Batch; pub SeqLen = 3; pub EmbedDim = 8; }
/// fn is_of_vectors<Width: Dim, Dims: EndsIn<Width>>() {}
/// is_of_vectors::<EmbedDim, (Batch, SeqLen, EmbedDim)>();
/// is_of_vectors::<EmbedDim, (EmbedDim,)>();
/// ```
#[diagnostic::on_unimplemented(
    message = "the last axis of `{Self}` is not `{Name}`",
    label = "`{Self}` does not end in `{Name}`",
    note = "the shape has up to 6 axes, and the last one is `{Name}`; each is a dimension: `usize` is none, `Unchecked` is one"
)]
pub trait EndsIn<Name: AnyDim>: NamedShape {
    /// The axes before the last one.
    type Before: Shape;
    /// The shape with `Other` in place of the last axis. Its bounds tell generic code that replacing the axis twice, or
    /// back, gives the expected shape.
    type WithLast<Other: AnyDim>: EndsIn<Other, Before = Self::Before, WithLast<Name> = Self, WithLast<Other> = Self::WithLast<Other>>;

    /// The last axis.
    fn last(self) -> Name;
    /// The shape with `other` in place of the last axis.
    fn with_last<Other: AnyDim>(self, other: Other) -> Self::WithLast<Other>;
}

macro_rules! ends_in {
    ($($before:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<$($before: AnyDim,)* Name: AnyDim> EndsIn<Name> for ($($before,)* Name,) {
            type Before = ($($before,)*);
            type WithLast<Other: AnyDim> = ($($before,)* Other,);

            #[allow(non_snake_case)]
            fn last(self) -> Name {
                let ($($before,)* name,) = self;
                $(let _ = $before;)*
                name
            }

            #[allow(non_snake_case)]
            fn with_last<Other: AnyDim>(self, other: Other) -> Self::WithLast<Other> {
                let ($($before,)* _,) = self;
                ($($before,)* other,)
            }
        }
    };
}
for_each_shape!(ends_in: A B C F G);

/// All axes of the shape are axes of `Dims`, in any order: a tensor over the shape can be broadcast to `Dims`.
/// `Order` are their positions in `Dims`, which rustc infers.
///
/// ```
/// use typed_transformer::{dims, dims::{AxesAmong, Dim}};
/// dims! { pub Batch; pub SeqLen = 3; pub EmbedDim = 8; }
/// fn positions<Smaller: AxesAmong<Dims, Order>, Dims: dfdx::shapes::Shape, Order>() -> Vec<usize> {
///     Smaller::positions()
/// }
/// assert_eq!(positions::<(EmbedDim, Batch), (Batch, SeqLen, EmbedDim), _>(), [2, 0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not among the axes of `{Dims}`",
    label = "an axis of `{Self}` is not an axis of `{Dims}`",
    note = "no axis is added silently: `broadcast` adds one, and the tensor of more axes comes first"
)]
pub trait AxesAmong<Dims: Shape, Order>: Shape {
    /// The axes of `Dims` that the shape does not have.
    type Others: Shape;

    /// The position in `Dims` of each axis, counted from 0.
    fn positions() -> Vec<usize>;
}

// Each axis is looked for in what the axes before it leave of `Dims`.
macro_rules! axes_among {
    (@step $all:tt [$($bounds:tt)*] [$($places:tt)*] $rest:ty; $axis:ident $index:ident $($others:ident)*) => {
        axes_among!(
            @step $all
            [$($bounds)* $rest: HasAxis<$axis, $index>,]
            [$($places)* <$rest as HasAxis<$axis, $index>>::INDEX,]
            <$rest as HasAxis<$axis, $index>>::Remaining; $($others)*
        );
    };
    (@step {$($axis:ident $index:ident)*} [$($bounds:tt)*] [$($places:tt)*] $rest:ty;) => {
        #[diagnostic::do_not_recommend]
        impl<Dims: Shape, $($axis: AnyDim, $index),*> AxesAmong<Dims, ($($index,)*)> for ($($axis,)*)
        where
            $($bounds)*
        {
            type Others = $rest;

            fn positions() -> Vec<usize> {
                positions(Dims::NUM_DIMS, &[$($places)*])
            }
        }
    };
    ($(($axis:ident $index:ident))*) => {
        axes_among!(@step {$($axis $index)*} [] [] Dims; $($axis $index)*);
    };
}
for_each_shape!(axes_among: (A I) (B J) (C K) (F L) (G M) (H N));

/// The position of each axis among `num_axes`. `places` are those among the axes that the ones before leave.
fn positions(num_axes: usize, places: &[usize]) -> Vec<usize> {
    let mut rest: Vec<usize> = (0..num_axes).collect();
    places.iter().map(|place| rest.remove(*place)).collect()
}

/// The dimension may be the new name of `From`: both have the same size, or one has its size at run time.
///
/// ```
/// use typed_transformer::{dims, dims::{Dim, Product, RenameOf}};
/// dims! { pub EmbedDim = 8; pub NumHeads = 2; pub HeadDim = 4; pub QLen; pub KLen; }
/// fn may_be_renamed<From: Dim, To: RenameOf<From>>() {}
/// may_be_renamed::<EmbedDim, Product<NumHeads, HeadDim>>();
/// may_be_renamed::<QLen, KLen>();
/// ```
///
/// Any dimension may become one that has its size at run time, even in generic code:
///
/// ```
/// use typed_transformer::{ops::rename, prelude::*};
/// fn scores<S: Dim, M: Dim>(x: Tensor<(S, M), f32, Cpu>) -> Result<Vec<f32>, OpError> {
///     local_dims! { let keys: Keys = x.shape().0.size(); }
///     let key: Tensor<(Keys, M), f32, Cpu> = rename(x.clone(), axis::<S>(), keys)?;
///     einsum!(x: (S, M), key: (Keys, M) -> (S, Keys)).map(|scores| scores.as_vec())
/// }
/// dims! { pub SeqLen = 2; pub EmbedDim = 1; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![2.0, 3.0]);
/// assert_eq!(scores(x)?, [4.0, 6.0, 6.0, 9.0]);
/// # Ok::<(), OpError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{From}` and `{Self}` differ in size",
    label = "`{From}` cannot be renamed to `{Self}`",
    note = "a new name does not change the size of an axis; a generic function has a bound that says so, `To: RenameOf<From>`"
)]
// `Self` is the new name, so the argument of `rename` decides it. rustc would take a new name that is a parameter of
// the trait from any such bound of a generic function, even from one for another new name.
pub trait RenameOf<From: Dim>: Dim {}

#[diagnostic::do_not_recommend]
impl<From: Dim, To: CountFactor + Dim> RenameOf<From> for To where (To::Dynamic<()>, From, To): CanBeEqual {}

/// `(Dynamic, From, To)`: `From` and `To` can have the same size. `Dynamic` is the list of run-time dimensions of `To`.
/// `To` can have the size of every `From`, even of one that is a type parameter, if the list is not empty.
pub trait CanBeEqual {}
impl<Name, From, To> CanBeEqual for ((Name, ()), From, To) {}
impl<From: CountFactor, To: CountFactor> CanBeEqual for ((), From, To) where
    (From::Static, From::Dynamic<()>, To::Static): CanHaveSize
{
}

/// `(Size, Dynamic, Other)`: a product can have the size `Other`. `Size` is the product of its factors of compile-time
/// size, and `Dynamic` the list of its run-time factors. With a run-time factor it can have any size.
pub trait CanHaveSize {}
impl<Size> CanHaveSize for (Size, (), Size) {}
impl<Size, Other, Name> CanHaveSize for (Size, (Name, ()), Other) {}
