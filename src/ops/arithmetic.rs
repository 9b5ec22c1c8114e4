//! Arithmetic, element by element: of two tensors, of a tensor and a number, and of a sublayer and its input; and a copy
//! that passes no gradient on.
//!
//! The axes of the second of two tensors are found by name, so they may stand in any order. A view repeats this tensor
//! along the axes that it does not have. The result has the axes of the first tensor: none is new.

use super::contraction::{Label, Labelled, broadcast};
use super::operand::{JoinTapes, JoinedTape, OperandTape, TensorOrRef, copied_if_same};
use super::unnamed::{map, reshape_to, zip};
use super::views::{NamedAxes, Sizes};
use super::{OpError, Real, cast, device_error, dim_error, ensure_not_empty};
use crate::backend::{Arithmetic, Backend, Tape, affine_kernel, arithmetic_kernel, run_kernel};
use crate::dims::{AxesAmong, DataShape, NamedShape};
use crate::internal::Internal;
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{Merge, NoneTape, PutTape, Tensor};
use dfdx::tensor_ops::{BroadcastTo, ChooseFrom, TryAdd, TryDiv, TryEq, TryMul, TrySub};

/// Declares operations of one signature, each from its formula and the result of the example. The signature stands in
/// the macro's call, so that an error of a user's call quotes it like that of a function.
macro_rules! arithmetic {
    ({$($signature:tt)*}) => {};
    (
        {$($signature:tt)*}
        pub fn $name:ident($x:ident, $y:ident) = $kind:ident, $formula:literal, $result:literal;
        $($others:tt)*
    ) => {
        #[doc = concat!("`", $formula, "`, element by element, for a `y` whose axes are among those of `x`.")]
        ///
        /// `Dims, some axes of Dims -> Dims`: `y` repeats itself along the axes that it does not have.
        ///
        /// ```
        /// use typed_transformer::{ops, prelude::*};
        /// dims! { pub SeqLen = 2; pub EmbedDim = 2; }
        /// let device = Cpu::default();
        /// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, 2.0, 3.0, 4.0]);
        /// let y: Tensor<(EmbedDim,), f32, Cpu> = device.tensor(vec![10.0, 20.0]);
        #[doc = concat!("assert_eq!(ops::", stringify!($name), "(x, &y)?.as_vec(), ", $result, ");")]
        /// # Ok::<(), OpError>(())
        /// ```
        pub fn $name $($signature)* {
            arithmetic(stringify!($name), Arithmetic::$kind, $x, $y)
        }

        arithmetic! { {$($signature)*} $($others)* }
    };
}

arithmetic! {
    {
        <Dims: NamedAxes, Smaller, Order, E: Real, D: Backend<E>, T, OtherTape>(
            x: impl TensorOrRef<Dims, E, D, T>,
            y: impl TensorOrRef<Smaller, E, D, OtherTape>,
        ) -> Result<Tensor<Dims, E, D, JoinedTape<T, OtherTape, E, D>>, OpError>
        where
            Smaller: NamedAxes + AxesAmong<Dims, Order, Others: DataShape>,
            T: JoinTapes<OtherTape, E, D>,
    }
    pub fn add(x, y)
        = Add, "x + y", "[11.0, 22.0, 13.0, 24.0]";
    pub fn sub(x, y)
        = Sub, "x - y", "[-9.0, -18.0, -7.0, -16.0]";
    pub fn mul(x, y)
        = Mul, "x · y", "[10.0, 40.0, 30.0, 80.0]";
    pub fn div(x, y)
        = Div, "x / y", "[0.1, 0.1, 0.3, 0.2]";
    pub fn maximum(x, y)
        = Maximum, "max(x, y)", "[10.0, 20.0, 10.0, 20.0]";
    pub fn minimum(x, y)
        = Minimum, "min(x, y)", "[1.0, 2.0, 3.0, 4.0]";
}

/// `factor · x`, element by element.
///
/// ```
/// use typed_transformer::{ops::scale, prelude::*};
/// let x: Tensor<(Const<2>,), f32, Cpu> = Cpu::default().tensor([1.0, 2.0]);
/// assert_eq!(scale(x, 1.5)?.array(), [1.5, 3.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn scale<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    factor: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    const OP: &str = "scale";
    if D::HAS_KERNELS {
        let shape = *input.shape();
        return run_kernel(OP, shape, |tape| affine_kernel(D::read(input, tape)?, factor as f32, -0.0));
    }
    map(OP, input, |x| x.try_mul(cast::<E>(factor)))
}

/// A copy that passes no gradient on: PyTorch's `detach`. (`retaped::<NoneTape>()` alone is the same tensor.)
///
/// ```
/// use typed_transformer::{ops::{detach, mean}, prelude::*, train::Recording};
/// dims! { pub EmbedDim = 1; }
/// let x: Tensor<(EmbedDim,), f32, Cpu> = Cpu::default().tensor(vec![3.0]);
/// let recorded = x.clone().put_tape(Recording::<(), f32, Cpu>::default());
/// let constant = detach(&recorded)?;
/// let mut gradients = mean(mul(recorded, &constant)?)?.backward()?;
/// assert_eq!(gradients.of(&x)?.as_vec(), [3.0]); // that of `x²` is 6
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn detach<Dims: Shape, E: Real, D: Backend<E>, T>(
    x: &Tensor<Dims, E, D, T>,
) -> Result<Tensor<Dims, E, D>, OpError> {
    scale(x.retaped::<NoneTape>(), 1.0)
}

/// `x + addend`, element by element.
///
/// ```
/// use typed_transformer::{ops::offset, prelude::*};
/// let x: Tensor<(Const<2>,), f32, Cpu> = Cpu::default().tensor([1.0, 2.0]);
/// assert_eq!(offset(x, 0.5)?.array(), [1.5, 2.5]);
/// # Ok::<(), OpError>(())
/// ```
pub fn offset<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    addend: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    const OP: &str = "offset";
    if D::HAS_KERNELS {
        let shape = *input.shape();
        return run_kernel(OP, shape, |tape| affine_kernel(D::read(input, tape)?, 1.0, addend as f32));
    }
    map(OP, input, |x| x.try_add(cast::<E>(addend)))
}

/// `x + f(x)`: adds the output of a sublayer to its input.
///
/// `(..), (..) -> (..)`, for tensors of up to 6 axes.
///
/// ```
/// use typed_transformer::{ops::residual, prelude::*};
/// dims! { pub EmbedDim = 1; pub SeqLen; pub Batch; }
/// let device = Cpu::default();
/// let x = |rows, len| -> Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> {
///     device.zeros_like(&(Batch::new(rows), SeqLen::new(len), EmbedDim))
/// };
/// assert_eq!(residual(x(3, 2), x(3, 2))?.as_vec(), [0.0; 6]);
/// assert_eq!(
///     residual(x(3, 2), x(4, 2)).unwrap_err().to_string(),
///     "residual: `Batch` is 3 in the sublayer's input and 4 in its output",
/// );
/// assert!(matches!(residual(x(3, 2), x(3, 3)), Err(OpError::Dim { op: "residual", .. })));
/// # Ok::<(), OpError>(())
/// ```
pub fn residual<Dims: NamedShape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    sublayer_output: Tensor<Dims, E, D, T>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    const OP: &str = "residual";
    let (shape, out_shape) = (*input.shape(), *sublayer_output.shape());
    shape.check_same_sizes("the sublayer's input", out_shape, "its output").map_err(dim_error(OP))?;
    elementwise(OP, Arithmetic::Add, input, sublayer_output)
}

/// Arithmetic of `x` and a view of `y` with the axes of `x`.
fn arithmetic<Dims: NamedAxes, Smaller, Order, E: Real, D: Backend<E>, T, OtherTape>(
    op: &'static str,
    kind: Arithmetic,
    x: impl TensorOrRef<Dims, E, D, T>,
    y: impl TensorOrRef<Smaller, E, D, OtherTape>,
) -> Result<Tensor<Dims, E, D, JoinedTape<T, OtherTape, E, D>>, OpError>
where
    Smaller: NamedAxes + AxesAmong<Dims, Order, Others: DataShape>,
    T: JoinTapes<OtherTape, E, D>,
{
    let ((x, tape), (y, other_tape)) = (x.split(), y.split());
    let (shape, other_shape) = (*x.shape(), *y.shape());
    ensure_not_empty(op, &shape)?;
    let positions = Smaller::positions();
    let sizes = shape.concrete();
    let agrees = positions.iter().zip(other_shape.concrete()).all(|(position, size)| sizes[*position] == size);
    if !agrees {
        return Err(OpError::Shape { op, from: format!("{other_shape:?}"), to: format!("{shape:?}") });
    }

    let x = tape.join(other_tape).put_on(x);
    let y = y.put_tape(JoinedTape::<T, OtherTape, E, D>::default());
    elementwise(op, kind, x, on_shape(op, y, &positions, shape)?)
}

/// Arithmetic of two tensors that have the same shape, on the tapes of both.
pub(crate) fn elementwise<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D> + Merge<R>, R: Tape<E, D>>(
    op: &'static str,
    kind: Arithmetic,
    x: Tensor<Dims, E, D, T>,
    y: Tensor<Dims, E, D, R>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    if D::HAS_KERNELS && x.shape().num_elements() > 0 {
        let shape = *x.shape();
        return run_kernel(op, shape, |tape| arithmetic_kernel(D::read(x, tape)?, D::read_strided(y, tape)?, kind));
    }
    let y = copied_if_same(&x, y)?;
    zip(op, x, y, |x, y| elementwise_by_dfdx(kind, x, y))
}

/// The definition of [`elementwise`].
fn elementwise_by_dfdx<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D> + Merge<R>, R: Tape<E, D>>(
    kind: Arithmetic,
    x: Tensor<Dims, E, D, T>,
    y: Tensor<Dims, E, D, R>,
) -> Result<Tensor<Dims, E, D, T>, D::Err> {
    match kind {
        Arithmetic::Add => x.try_add(y),
        Arithmetic::Sub => x.try_sub(y),
        Arithmetic::Mul => x.try_mul(y),
        Arithmetic::Div => x.try_div(y),
        Arithmetic::Maximum => or_nan(x, y, |x, y| x.try_maximum(y)),
        Arithmetic::Minimum => or_nan(x, y, |x, y| x.try_minimum(y)),
    }
}

/// `compute` of two numbers, and NaN where one of them is NaN: dfdx's maximum of NaN and a number is the number.
fn or_nan<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D> + Merge<R>, R: Tape<E, D>>(
    x: Tensor<Dims, E, D, T>,
    y: Tensor<Dims, E, D, R>,
    compute: impl FnOnce(Tensor<Dims, E, D, T>, Tensor<Dims, E, D, R>) -> Result<Tensor<Dims, E, D, T>, D::Err>,
) -> Result<Tensor<Dims, E, D, T>, D::Err> {
    let (is_number, is_other_number) = (x.try_eq(&x)?, y.try_eq(&y)?);
    let numbers = is_other_number.try_choose(compute(x.clone(), y.clone())?, y)?;
    is_number.try_choose(numbers, x)
}

/// A view of `y` over `shape`. `positions` are those of the axes of `y` in `shape`.
fn on_shape<Dims: NamedAxes, Smaller: NamedAxes, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    y: Tensor<Smaller, E, D, T>,
    positions: &[usize],
    shape: Dims,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    if const { Smaller::NUM_DIMS == 0 } {
        let scalar = reshape_to(op, y, ())?;
        return scalar.try_broadcast_like::<_, Dims::AllAxes>(&shape).map_err(device_error(op));
    }
    let y = Smaller::into_sizes(op, y, Internal(()))?;
    let view = on_plain_shape(y, positions, shape.concrete().as_ref()).map_err(device_error(op))?;
    Dims::from_sizes(op, view, Internal(()))
}

/// [`on_shape`], of plain sizes.
fn on_plain_shape<Smaller: Sizes, Whole: Sizes, E: Real, D: Backend<E>, T: Tape<E, D>>(
    y: Tensor<Smaller, E, D, T>,
    positions: &[usize],
    sizes: &[usize],
) -> Result<Tensor<Whole, E, D, T>, D::Err> {
    let labels: Vec<Label> = positions.iter().map(|position| *position as Label).collect();
    let to: Vec<Label> = (0..sizes.len() as Label).collect();
    broadcast(Labelled::new(y, &labels), &to, Whole::from_fn(|axis| sizes[axis]))
}
