//! Losses of tensors of any shape. [`cross_entropy`](super::cross_entropy) and
//! [`kl_divergence`](super::kl_divergence) are about sequences of tokens.

use super::arithmetic::elementwise;
use super::where_::check_same_shape;
use super::{Activation, OpError, Real, Softplus, ensure_not_empty, full, mean, scale};
use crate::backend::{Arithmetic, Backend, Tape};
use crate::dims::WholeShape;
use dfdx::shapes::{HasShape, Rank0, Shape};
use dfdx::tensor::Tensor;

/// The mean of `(prediction - target)²` over all elements: `(..), (..) -> ()`.
///
/// The target is a constant.
///
/// ```
/// use typed_transformer::{ops::mean_squared_error, prelude::*};
/// dims! { pub Batch = 2; }
/// let prediction: Tensor<(Batch,), f64, Cpu> = Cpu::default().tensor(vec![1.0, 2.0]);
/// let target: Tensor<(Batch,), f64, Cpu> = Cpu::default().tensor(vec![1.0, 5.0]);
/// assert_eq!(mean_squared_error(prediction, &target)?.array(), 4.5);
/// # Ok::<(), OpError>(())
/// ```
pub fn mean_squared_error<Dims: WholeShape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    prediction: Tensor<Dims, E, D, T>,
    target: &Tensor<Dims, E, D>,
) -> Result<Tensor<Rank0, E, D, T>, OpError> {
    const OP: &str = "mean squared error";
    check_same_shape(OP, prediction.shape(), target.shape())?;
    ensure_not_empty(OP, target.shape())?;
    let difference = elementwise(OP, Arithmetic::Sub, prediction, constant(target)?)?;
    mean(elementwise(OP, Arithmetic::Mul, difference.clone(), difference)?)
}

/// The mean of [`binary_cross_entropy_by_element`] over all elements: `(..), (..) -> ()`.
///
/// It is PyTorch's `binary_cross_entropy_with_logits`. Padding counts: a mean without it is made of the losses by
/// element, in which [`where_`](super::where_) puts 0 at padding.
///
/// ```
/// use typed_transformer::{ops::binary_cross_entropy, prelude::*};
/// dims! { pub Batch = 2; }
/// let logits: Tensor<(Batch,), f64, Cpu> = Cpu::default().tensor(vec![0.0, 1000.0]);
/// let target: Tensor<(Batch,), f64, Cpu> = Cpu::default().tensor(vec![1.0, 1.0]);
/// assert_eq!(binary_cross_entropy(logits, &target)?.array(), 2f64.ln() / 2.0);
/// # Ok::<(), OpError>(())
/// ```
pub fn binary_cross_entropy<Dims: WholeShape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    logits: Tensor<Dims, E, D, T>,
    target: &Tensor<Dims, E, D>,
) -> Result<Tensor<Rank0, E, D, T>, OpError> {
    mean(binary_cross_entropy_by_element(logits, target)?)
}

/// `-t · log σ(x) - (1 - t) · log(1 - σ(x))` of each element, in nats, for logits `x` and targets `t` from 0 to 1:
/// PyTorch's `reduction="none"`.
///
/// `(..), (..) -> (..)`. No large logit makes it NaN. The target is a constant.
///
/// ```
/// use typed_transformer::{ops::{binary_cross_entropy_by_element, where_}, prelude::*};
/// dims! { pub VocabSize = 4; pub SeqLen = 2; pub Batch = 1; }
/// let pad: Fin<VocabSize> = Fin::literal::<3>();
/// let padding = TokenIds::from_ids(&[2, 3], Some(pad), (Batch, SeqLen))?.padding_mask();
/// let logits: Tensor<(Batch, SeqLen), f64, Cpu> = Cpu::default().tensor(vec![0.0, 5.0]);
/// let target: Tensor<(Batch, SeqLen), f64, Cpu> = Cpu::default().tensor(vec![1.0, 0.0]);
/// let losses = where_(&padding, binary_cross_entropy_by_element(logits, &target)?, 0.0)?;
/// assert_eq!(losses.as_vec(), [2f64.ln(), 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn binary_cross_entropy_by_element<Dims: WholeShape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    logits: Tensor<Dims, E, D, T>,
    target: &Tensor<Dims, E, D>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    const OP: &str = "binary cross-entropy";
    check_same_shape(OP, logits.shape(), target.shape())?;
    ensure_not_empty(OP, target.shape())?;
    let ones = full(target.device(), *target.shape(), 1.0)?;
    let of_others = elementwise(OP, Arithmetic::Sub, ones, target.clone())?;
    // `-log σ(x)` is `ln(1 + e⁻ˣ)`, and `-log(1 - σ(x))` is `ln(1 + eˣ)`. Both are positive, so no digits cancel.
    let [if_true, if_false] = [scale(logits.clone(), -1.0)?, logits].map(Softplus::apply);
    let if_true = elementwise(OP, Arithmetic::Mul, if_true?, constant(target)?)?;
    let if_false = elementwise(OP, Arithmetic::Mul, if_false?, of_others)?;
    elementwise(OP, Arithmetic::Add, if_true, if_false)
}

/// A copy that has no gradient, even if the tensor is a parameter or the other operand.
fn constant<Dims: Shape, E: Real, D: Backend<E>>(tensor: &Tensor<Dims, E, D>) -> Result<Tensor<Dims, E, D>, OpError> {
    scale(tensor.clone(), 1.0)
}
