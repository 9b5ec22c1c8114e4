//! Fused kernels: a device may compute an operation faster than the operation's generic definition.
//!
//! The operations of [`ops`](crate::ops) and the sublayers of [`nn`](crate::nn) that have a method in
//! [`Backend`] run it if the device [has kernels](Backend::HAS_KERNELS), and else their generic definition, which is
//! the code after the `if`. A kernel has the same result, dimensions and errors as the definition, and the tests
//! compare the two.

mod assign_positions;
mod check_sizes;
mod conventions;
mod cpu;
mod params;
mod put_gradient;
mod read_params;
#[cfg(test)]
mod typed_overhead;

pub(crate) use check_sizes::check_attention;
pub use conventions::{ActivationKind, ContractionAxis, MaskFill, NormKind};
pub use params::{AttentionParams, AttentionScale, FeedForwardParams, LinearParams, NormParams, ResidualNormParams};
pub(crate) use put_gradient::{add_gradient_by_backward_pass, put_gradient_by_backward_pass};
pub(crate) use typed_transformer_cpu::{AdamStep, SgdStep, gradient_hook, parallel_map};

use crate::{
    dims::{ConstDim, Dim, EndsIn, MaybeSharded, Product},
    error::{OpError, Real},
    mask::AttentionMask,
    tokens::{Indices, TokenIds},
};
#[cfg(all(feature = "cuda", feature = "f16"))]
use dfdx::dtypes::{AMP, f16};
#[cfg(feature = "cuda")]
use dfdx::tensor::Cuda;
use dfdx::{
    shapes::{Rank0, Shape},
    tensor::{Cache, Gradients, Storage, Tape, Tensor},
    tensor_ops::{Device, SumTo},
};

/// A device that runs modules, with its fused kernels. By default it has none.
///
/// An operation compares the run-time sizes of its operands before it calls a kernel, and names the dimension that
/// differs. A kernel that is called directly compares them too. Its error shows the shapes.
///
/// ```
/// use typed_transformer::{backend::Backend, prelude::*};
/// fn has_kernels<E: Real, D: Backend<E>>(_: &D) -> bool {
///     D::HAS_KERNELS
/// }
/// assert!(has_kernels::<f32, _>(&Cpu::default()));
/// assert!(!has_kernels::<f64, _>(&Cpu::default()));
/// ```
#[allow(clippy::missing_errors_doc)]
pub trait Backend<E: Real>: Device<E> + Cache {
    /// Whether the device has the kernels. It is a constant, so the compiler removes the branch that is never taken.
    const HAS_KERNELS: bool = false;

    /// A kernel of [`ops::linear`](crate::ops::linear): `(.., InDim) -> (.., OutDim)`, the shape of the output.
    fn linear_kernel<Dims: Shape, InDim: Dim, OutDim: Dim, Output: Shape, T: Tape<E, Self>>(
        _input: Tensor<Dims, E, Self, T>,
        _: LinearParams<'_, InDim, OutDim, E, Self>,
        _: Output,
    ) -> Result<Tensor<Output, E, Self, T>, OpError> {
        no_kernel("linear")
    }

    /// A kernel of the contractions of [`einsum!`](crate::einsum!) and [`ops::dot`](crate::ops::dot()). No operand
    /// is empty. The output is flat: its axes are those of `axes` with `is_in_output`, in that order.
    fn contraction_kernel<T: Tape<E, Self>>(
        _left: &Tensor<[usize; 6], E, Self>,
        _right: &Tensor<[usize; 6], E, Self>,
        _axes: &[ContractionAxis],
        _tape: T,
    ) -> Result<Tensor<(usize,), E, Self, T>, OpError> {
        no_kernel("einsum")
    }

    /// A kernel of [`ops::embed`](crate::ops::embed).
    fn embed_kernel<B: MaybeSharded, S: Dim, V: ConstDim, M: ConstDim, T: Tape<E, Self>>(
        _: &Tensor<(V, M), E, Self>,
        _: &TokenIds<B, S, V>,
        _tape: T,
    ) -> Result<Tensor<(B, S, M), E, Self, T>, OpError> {
        no_kernel("embed")
    }

    /// A kernel of [`ops::add_positions`](crate::ops::add_positions).
    fn add_positions_kernel<B: MaybeSharded, S: Dim, M: ConstDim, T: Tape<E, Self>>(
        _input: Tensor<(B, S, M), E, Self, T>,
        _positions: Tensor<(S, M), E, Self, T>,
    ) -> Result<Tensor<(B, S, M), E, Self, T>, OpError> {
        no_kernel("add positions")
    }

    /// A kernel of [`ops::residual`](crate::ops::residual).
    fn residual_kernel<Dims: Shape, T: Tape<E, Self>>(
        _input: Tensor<Dims, E, Self, T>,
        _output: Tensor<Dims, E, Self, T>,
    ) -> Result<Tensor<Dims, E, Self, T>, OpError> {
        no_kernel("residual")
    }

    /// A kernel of [`ops::layer_norm`](crate::ops::layer_norm) and [`ops::rms_norm`](crate::ops::rms_norm).
    fn norm_kernel<Dims: EndsIn<M>, M: ConstDim, T: Tape<E, Self>>(
        _input: Tensor<Dims, E, Self, T>,
        _: NormParams<'_, M, E, Self>,
    ) -> Result<Tensor<Dims, E, Self, T>, OpError> {
        no_kernel("norm")
    }

    /// A kernel of [`ops::multi_head_attention`](crate::ops::multi_head_attention), where `NumKeyValueHeads` is `H`, and
    /// of [`ops::grouped_query_attention`](crate::ops::grouped_query_attention), where `H` is a multiple of
    /// `NumKeyValueHeads`; with a bias, also of both operations `_with_bias`.
    fn multi_head_attention_kernel<
        B: MaybeSharded,
        Q: Dim,
        K: Dim,
        H: ConstDim,
        NumKeyValueHeads: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<E, Self>,
    >(
        _query: Tensor<(B, Q, Product<H, QKDim>), E, Self, T>,
        _key: Tensor<(B, K, Product<NumKeyValueHeads, QKDim>), E, Self, T>,
        _value: Tensor<(B, K, Product<NumKeyValueHeads, VODim>), E, Self, T>,
        _bias: Option<Tensor<(H, Q, K), E, Self, T>>,
        _: &AttentionMask<B, Q, K>,
        _: AttentionScale,
        _: MaskFill,
    ) -> Result<Tensor<(B, Q, Product<H, VODim>), E, Self, T>, OpError> {
        no_kernel("attention")
    }

    /// A kernel of the whole sublayer [`nn::FeedForward`](crate::nn::FeedForward).
    fn feed_forward_kernel<Dims: EndsIn<M>, M: ConstDim, Hidden: ConstDim, T: Tape<E, Self>>(
        _input: Tensor<Dims, E, Self, T>,
        _: &FeedForwardParams<'_, M, Hidden, E, Self>,
        _: &ResidualNormParams<'_, M, E, Self>,
    ) -> Result<Tensor<Dims, E, Self, T>, OpError> {
        no_kernel("feed-forward")
    }

    /// A kernel of the whole sublayer [`nn::SelfAttention`](crate::nn::SelfAttention).
    fn self_attention_kernel<
        B: MaybeSharded,
        S: Dim,
        M: ConstDim,
        H: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<E, Self>,
    >(
        _input: Tensor<(B, S, M), E, Self, T>,
        _: &AttentionParams<'_, M, M, H, QKDim, VODim, E, Self>,
        _: &AttentionMask<B, S, S>,
        _: &ResidualNormParams<'_, M, E, Self>,
    ) -> Result<Tensor<(B, S, M), E, Self, T>, OpError> {
        no_kernel("attention")
    }

    /// A kernel of the whole sublayer [`nn::CrossAttention`](crate::nn::CrossAttention).
    fn cross_attention_kernel<
        B: MaybeSharded,
        Q: Dim,
        K: Dim,
        QDim: ConstDim,
        KVDim: ConstDim,
        H: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<E, Self>,
    >(
        _query: Tensor<(B, Q, QDim), E, Self, T>,
        _key_value: Tensor<(B, K, KVDim), E, Self, T>,
        _: &AttentionParams<'_, QDim, KVDim, H, QKDim, VODim, E, Self>,
        _: &AttentionMask<B, Q, K>,
        _: &ResidualNormParams<'_, QDim, E, Self>,
    ) -> Result<Tensor<(B, Q, QDim), E, Self, T>, OpError> {
        no_kernel("attention")
    }

    /// A kernel of
    /// [`ops::cross_entropy_with_label_smoothing`](crate::ops::cross_entropy_with_label_smoothing);
    /// `position_weights` has a weight for each label.
    fn cross_entropy_kernel<Dims: Shape, Positions: Shape, V: Dim, T: Tape<E, Self>>(
        _logits: Tensor<Dims, E, Self, T>,
        _: &Indices<Positions, V>,
        _position_weights: &[E],
        _smoothing: f64,
    ) -> Result<Tensor<Rank0, E, Self, T>, OpError> {
        no_kernel("cross-entropy")
    }

    /// Copies `part` into `out`, from position `start` on: `(B, Len, M), (B, S, M) -> (B, Len, M)`.
    /// The caller checks that `part` fits.
    fn try_assign_positions<B: MaybeSharded, Len: Dim, S: Dim, M: ConstDim>(
        out: &mut Tensor<(B, Len, M), E, Self>,
        part: &Tensor<(B, S, M), E, Self>,
        start: usize,
    ) -> Result<(), OpError> {
        assign_positions::try_assign_positions(out, part, start)
    }

    /// The elements of a tensor in row-major order, to be changed in place; `None` if the device keeps them elsewhere
    /// or in another order.
    fn elements_mut<S: Shape>(_: &mut Tensor<S, E, Self>) -> Option<&mut [E]> {
        None
    }

    /// Like [`elements_mut`](Self::elements_mut), of a gradient in the order of its tensor.
    fn gradient_mut(_: &mut <Self as Storage<E>>::Vec) -> Option<&mut [E]> {
        None
    }

    /// One step of Adam on [elements in memory](Self::elements_mut), whose gradient is multiplied by a factor first.
    #[doc(hidden)]
    fn adam_step(step: &AdamStep<E>, factor: E, values: &mut [E], gradient: &[E], averages: [&mut [E]; 2]) {
        step.update(factor, values, gradient, averages);
    }

    /// Like [`adam_step`](Self::adam_step), of gradient descent with momentum.
    #[doc(hidden)]
    fn sgd_step(step: &SgdStep<E>, factor: E, values: &mut [E], gradient: &[E], velocity: &mut [E]) {
        step.update(factor, values, gradient, velocity);
    }

    /// `Σ x²` of elements in memory, in `f64`.
    #[doc(hidden)]
    fn sum_of_squares(elements: &[E]) -> f64 {
        typed_transformer_cpu::sum_of_squares(elements)
    }

    /// `Σ x²`.
    fn try_sum_of_squares(tensor: Tensor<(usize,), E, Self>) -> Result<f64, Self::Err> {
        let sum = tensor.try_square()?.try_sum::<Rank0, _>()?;
        Ok(sum.as_vec()[0].to_f64().unwrap_or(f64::NAN))
    }

    /// The address of a parameter's elements, if they are in row-major order and the kernels of this device
    /// [note](typed_transformer_cpu::gradient_hook) when its gradient is complete.
    #[doc(hidden)]
    fn address_of<S: Shape>(_parameter: &Tensor<S, E, Self>) -> Option<usize> {
        None
    }

    /// Sets the gradient of a parameter that has none yet.
    fn try_put_gradient<S: Shape>(
        gradients: Gradients<E, Self>,
        parameter: &Tensor<S, E, Self>,
        gradient: Vec<E>,
    ) -> Result<Gradients<E, Self>, Self::Err> {
        put_gradient_by_backward_pass(gradients, parameter, gradient)
    }
}

/// The answer of a device without kernels.
fn no_kernel<Output>(op: &'static str) -> Result<Output, OpError> {
    Err(OpError::Device { op, message: "the device has no kernel".to_string() })
}

#[cfg(feature = "cuda")]
impl Backend<f32> for Cuda {}
#[cfg(feature = "cuda")]
impl Backend<f64> for Cuda {}
#[cfg(all(feature = "cuda", feature = "f16"))]
impl Backend<AMP<f16>> for Cuda {
    fn try_sum_of_squares(tensor: Tensor<(usize,), AMP<f16>, Self>) -> Result<f64, Self::Err> {
        // The sum may not fit into 16 bits.
        <Self as Backend<f32>>::try_sum_of_squares(tensor.try_to_dtype::<f32>()?)
    }
}
