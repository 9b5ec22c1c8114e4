//! The positions that a mean or a loss leaves out, and the mean that leaves them out.

use super::contraction::{Labelled, contract};
use super::cross_entropy::{len_and_count, position_weights, zero_uncounted_rows};
use super::unnamed::{Rows, reshape_to};
use super::{OpError, Real, Reduction, device_error, dim_error, ensure_not_empty};
use crate::backend::{Backend, Tape};
use crate::dims::{AnyDim, DataDim, Dim, DimError, NamedShape, for_each_axis, for_each_shape};
use crate::mask::{PaddingMask, bools_of};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{Storage, Tensor};

/// The mean of each sequence's vectors over the positions that are not padding. A sequence of padding alone gives
/// zeros. Vectors at padding may be NaN.
///
/// `(.., S, ..), padding (.., S) -> (.., ..)`, for tensors of 1 to 6 axes. The [`Padding`] has the first axes of the
/// tensor, such as `(B, S)` of `(B, S, M)`; its last axis is that of the positions, `S`.
///
/// ```
/// use typed_transformer::{ops::masked_mean, prelude::*};
/// dims! { pub VocabSize = 3; pub EmbedDim = 2; pub SeqLen = 3; pub Batch = 1; }
/// let ids = TokenIds::from_ids(&[1, 0, 2], Some(Fin::<VocabSize>::literal::<2>()), (Batch, SeqLen))?;
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![1.0, 10.0, 3.0, 30.0, 7.0, 70.0]);
/// let mean: Tensor<(Batch, EmbedDim), f32, Cpu> = masked_mean(x, &ids.padding_mask())?;
/// assert_eq!(mean.as_vec(), [2.0, 20.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn masked_mean<Dims, Positions: Shape, Keeps, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    padding: &Keeps,
) -> Result<Tensor<Dims::Remaining, E, D, T>, OpError>
where
    Dims: WithoutLastOf<Positions>,
    Keeps: Padding<Positions> + PadsStart<Dims, Positions, Last: Dim>,
{
    const OP: &str = "masked mean";
    let shape = *input.shape();
    Keeps::check_sizes(shape, padding.positions()).map_err(dim_error(OP))?;
    ensure_not_empty(OP, &shape)?;
    let (len, sequences) = len_and_count(padding.positions());
    let is_token = padding.is_token();
    let weights: Vec<E> = position_weights(&is_token, len, Reduction::MeanPerSequence, 1);
    let width = Rows::new(shape.num_elements() / is_token.len().max(1));
    let vectors = reshape_to(OP, input, (Rows::new(is_token.len()), width))?;
    let vectors = reshape_to(OP, zero_uncounted_rows(OP, vectors, &weights)?, [sequences, len, width.size()])?;
    let weights = vectors.device().try_tensor_from_vec(weights, [sequences, len]).map_err(device_error(OP))?;
    let (weights, vectors) = (Labelled::new(weights.retaped::<T>(), &[0, 1]), Labelled::new(vectors, &[0, 1, 2]));
    let means: Tensor<[usize; 2], E, D, T> = contract(OP, weights, vectors, &[0, 2])?;
    reshape_to(OP, means, shape.remaining())
}

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
    fn positions(&self) -> Positions;
    /// Whether each position holds a token, in row-major order.
    fn is_token(&self) -> Vec<bool>;
}

#[diagnostic::do_not_recommend]
impl<B: DataDim, S: Dim> Padding<(B, S)> for PaddingMask<B, S> {
    fn positions(&self) -> (B, S) {
        self.shape()
    }

    fn is_token(&self) -> Vec<bool> {
        self.as_slice().to_vec()
    }
}
#[diagnostic::do_not_recommend]
impl<Positions: Shape, D: Storage<bool>> Padding<Positions> for Tensor<Positions, bool, D> {
    fn positions(&self) -> Positions {
        *self.shape()
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
    note = "padding has the first axes of the tensor; the mean is over the last axis of the padding"
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
    note = "padding has the first axes of the tensor; the mean is over the last axis of the padding"
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
