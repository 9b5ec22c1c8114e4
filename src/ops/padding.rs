//! The positions that a mean or a loss leaves out.

use crate::dims::{AnyDim, Dim, DimError, MaybeSharded, NamedShape, for_each_axis, for_each_shape};
use crate::mask::{PaddingMask, bools_of};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{Storage, Tensor};

/// Which of `Positions` hold a token, and which are padding: a [`PaddingMask`] of `(Batch, SeqLen)`, or a tensor of
/// booleans over up to 6 axes, which is `true` at a token.
///
/// ```
/// use typed_transformer::{ops::{Padding, gt}, prelude::*};
/// dims! { pub SeqLen = 3; }
/// fn count<Positions: Shape>(padding: &impl Padding<Positions>) -> usize {
///     padding.is_token().into_iter().filter(|is_token| *is_token).count()
/// }
/// let lengths: Tensor<(SeqLen,), f32, Cpu> = Cpu::default().tensor(vec![4.0, 0.0, 2.0]);
/// assert_eq!(count(&gt(&lengths, 0.0)?), 2);
/// # Ok::<(), OpError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "expected padding over `{Positions}`",
    label = "`{Self}` is not padding over `{Positions}`",
    note = "padding is a `PaddingMask` or a tensor of booleans, `true` at a token; it is passed by reference"
)]
pub trait Padding<Positions: Shape> {
    /// The positions.
    fn shape(&self) -> Positions;
    /// Whether each position holds a token, in row-major order.
    fn is_token(&self) -> Vec<bool>;
}

#[diagnostic::do_not_recommend]
impl<B: MaybeSharded, S: Dim> Padding<(B, S)> for PaddingMask<B, S> {
    fn shape(&self) -> (B, S) {
        self.shape()
    }

    fn is_token(&self) -> Vec<bool> {
        self.as_slice().to_vec()
    }
}
#[diagnostic::do_not_recommend]
impl<Positions: Shape, D: Storage<bool>> Padding<Positions> for Tensor<Positions, bool, D> {
    fn shape(&self) -> Positions {
        *HasShape::shape(self)
    }

    fn is_token(&self) -> Vec<bool> {
        bools_of(self)
    }
}

/// A padding over `Positions`, whose axes are the first axes of a tensor over `Dims`. The type of the padding
/// implements the rule, so that an error points at the padding.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "padding over `{Positions}` does not fit a tensor over `{Dims}`",
    label = "padding over `{Positions}`",
    note = "padding has the first axes of the tensor; the mean is over its last axis"
)]
pub trait PadsStart<Dims: Shape, Positions: Shape> {
    /// The last axis of the padding.
    type Last: AnyDim;

    /// Compares the run-time sizes of tensor and padding.
    fn check_sizes(dims: Dims, positions: Positions) -> Result<(), DimError>;
}

/// Removes axis n - 1 of the shape, where `Positions` has n axes. Names are not compared here; [`PadsStart`] does that.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "padding over `{Positions}` has more axes than a tensor over `{Self}`",
    label = "padding over `{Positions}`",
    note = "padding has the first axes of the tensor; the mean is over its last axis"
)]
pub trait WithoutLastOf<Positions: Shape>: Shape {
    /// The shape without the axis.
    type Remaining: Shape;

    /// The shape without the axis.
    fn remaining(self) -> Self::Remaining;
}

macro_rules! pads_start {
    ($index:literal: $(($before:ident $other:ident))* [$last:ident] $($after:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<Padding, $($before: AnyDim,)* $last: AnyDim, $($after: AnyDim,)*>
            PadsStart<($($before,)* $last, $($after,)*), ($($before,)* $last,)> for Padding
        {
            type Last = $last;

            #[allow(non_snake_case, unused_variables)]
            fn check_sizes(
                ($($before,)* $last, $($after,)*): ($($before,)* $last, $($after,)*),
                positions: ($($before,)* $last,),
            ) -> Result<(), DimError> {
                NamedShape::check_same_sizes(($($before,)* $last,), "the input", positions, "the padding")
            }
        }
        #[diagnostic::do_not_recommend]
        impl<$($before: AnyDim, $other: AnyDim,)* $last: AnyDim, Other: AnyDim, $($after: AnyDim,)*>
            WithoutLastOf<($($other,)* Other,)> for ($($before,)* $last, $($after,)*)
        {
            type Remaining = ($($before,)* $($after,)*);

            #[allow(non_snake_case, clippy::unused_unit)]
            fn remaining(self) -> Self::Remaining {
                let ($($before,)* _, $($after,)*) = self;
                ($($before,)* $($after,)*)
            }
        }
    };
}
for_each_axis!(pads_start);

/// The padding, over `Positions`, fits logits over `Logits`, which have one more axis, the last one. (`Self` is the
/// padding's type, so rustc underlines the padding argument.)
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "padding over `{Positions}` does not fit logits over `{Logits}`",
    label = "padding over `{Positions}`",
    note = "padding has all axes of the logits without the last one, in their order"
)]
pub trait PadsLogits<Logits: Shape, Positions: Shape> {
    /// Compares the run-time sizes of logits and padding.
    fn check_sizes(logits: Logits, positions: Positions) -> Result<(), DimError>;
}

macro_rules! pads_logits {
    ($($axis:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<Padding, $($axis: AnyDim,)* V: AnyDim> PadsLogits<($($axis,)* V,), ($($axis,)*)> for Padding {
            #[allow(non_snake_case)]
            fn check_sizes(
                ($($axis,)* _,): ($($axis,)* V,),
                positions: ($($axis,)*),
            ) -> Result<(), DimError> {
                NamedShape::check_same_sizes(($($axis,)*), "the logits", positions, "the padding")
            }
        }
    };
}
for_each_shape!(pads_logits: A B C F G);
