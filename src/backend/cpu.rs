//! The device of this process's memory: it runs the kernels of the crate in `src/backend/cpu`.

use super::{
    AttentionParams, AttentionScale, Backend, ContractionAxis, FeedForwardParams, LinearParams, MaskFill, NormParams,
    ResidualNormParams, check_attention,
    check_sizes::{check_contraction, check_linear, ensure_fits},
    no_kernel, put_gradient_by_backward_pass,
    read_params::{attention_config, read_linear, read_norm, read_projections, read_residual_norm},
};
use crate::{
    dims::{ConstDim, Dim, EndsIn, MaybeSharded, Product},
    error::{OpError, device_error},
    mask::AttentionMask,
    tokens::{Indices, TokenIds},
};
#[cfg(feature = "f16")]
use dfdx::dtypes::{AMP, f16};
use dfdx::{
    shapes::{HasShape, Rank0, Shape},
    tensor::{Cpu, CpuError, Gradients, Storage, Tape, Tensor},
};
use typed_transformer_cpu::{
    AdamStep, KernelOutput, Operand, SgdStep, View, attention_kernel, attention_sublayer_kernel, contraction_kernel,
    cross_entropy_kernel, elements, embedding_kernel, feed_forward_kernel, linear_kernel, norm_kernel,
    positions_kernel, record_kernel, residual_kernel, sum_of_squares_f32,
};

/// The methods of a [`Backend`] whose elements lie in the memory of this process.
macro_rules! elements_in_memory {
    ($E:ty) => {
        fn elements_mut<S: Shape>(tensor: &mut Tensor<S, $E, Self>) -> Option<&mut [$E]> {
            typed_transformer_cpu::elements_mut(tensor)
        }

        fn gradient_mut(gradient: &mut <Self as Storage<$E>>::Vec) -> Option<&mut [$E]> {
            Some(gradient)
        }
    };
}

impl Backend<f64> for Cpu {
    elements_in_memory!(f64);
}
#[cfg(feature = "f16")]
impl Backend<AMP<f16>> for Cpu {
    elements_in_memory!(AMP<f16>);
}

impl Backend<f32> for Cpu {
    const HAS_KERNELS: bool = true;

    fn linear_kernel<Dims: Shape, InDim: Dim, OutDim: Dim, Output: Shape, T: Tape<f32, Cpu>>(
        input: Tensor<Dims, f32, Cpu, T>,
        params: LinearParams<'_, InDim, OutDim, f32, Cpu>,
        shape: Output,
    ) -> Result<Tensor<Output, f32, Cpu, T>, OpError> {
        check_linear(input.shape(), &params, &shape)?;
        run_kernel("linear", shape, T::default(), |tape| {
            let input = Operand::read(input, tape)?;
            linear_kernel(input, read_linear(&params, tape)?)
        })
    }

    fn contraction_kernel<T: Tape<f32, Cpu>>(
        left: &Tensor<[usize; 6], f32, Cpu>,
        right: &Tensor<[usize; 6], f32, Cpu>,
        axes: &[ContractionAxis],
        tape: T,
    ) -> Result<Tensor<(usize,), f32, Cpu, T>, OpError> {
        check_contraction(*left.shape(), *right.shape(), axes)?;
        let len = axes.iter().filter(|axis| axis.is_in_output).map(|axis| axis.size).product();
        run_kernel("einsum", (len,), tape, |_| {
            contraction_kernel(View::new(left.clone()), View::new(right.clone()), axes)
        })
    }

    fn embed_kernel<B: MaybeSharded, S: Dim, V: ConstDim, M: ConstDim, T: Tape<f32, Cpu>>(
        table: &Tensor<(V, M), f32, Cpu>,
        ids: &TokenIds<B, S, V>,
        tape: T,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        let (batch, len) = ids.shape();
        run_kernel("embed", (batch, len, M::default()), tape, |tape| {
            let table = Operand::read_parameter(table, tape)?;
            embedding_kernel(table, ids.clone_arc(), M::SIZE)
        })
    }

    fn add_positions_kernel<B: MaybeSharded, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        positions: Tensor<(S, M), f32, Cpu, T>,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        let fits = input.shape().1.size() == positions.shape().0.size();
        ensure_fits("add positions", fits, input.shape(), positions.shape())?;
        run_kernel("add positions", *input.shape(), T::default(), |tape| {
            let input = Operand::read(input, tape)?;
            positions_kernel(input, Operand::read(positions, tape)?)
        })
    }

    fn residual_kernel<Dims: Shape, T: Tape<f32, Cpu>>(
        input: Tensor<Dims, f32, Cpu, T>,
        output: Tensor<Dims, f32, Cpu, T>,
    ) -> Result<Tensor<Dims, f32, Cpu, T>, OpError> {
        let fits = input.shape().concrete() == output.shape().concrete();
        ensure_fits("residual", fits, input.shape(), output.shape())?;
        run_kernel("residual", *input.shape(), T::default(), |tape| {
            let input = Operand::read(input, tape)?;
            residual_kernel(input, Operand::read(output, tape)?)
        })
    }

    fn norm_kernel<Dims: EndsIn<M>, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<Dims, f32, Cpu, T>,
        params: NormParams<'_, M, f32, Cpu>,
    ) -> Result<Tensor<Dims, f32, Cpu, T>, OpError> {
        run_kernel("norm", *input.shape(), T::default(), |tape| {
            let input = Operand::read(input, tape)?;
            norm_kernel(input, read_norm(&params, tape)?)
        })
    }

    fn multi_head_attention_kernel<
        B: MaybeSharded,
        Q: Dim,
        K: Dim,
        H: ConstDim,
        NumKeyValueHeads: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<f32, Cpu>,
    >(
        query: Tensor<(B, Q, Product<H, QKDim>), f32, Cpu, T>,
        key: Tensor<(B, K, Product<NumKeyValueHeads, QKDim>), f32, Cpu, T>,
        value: Tensor<(B, K, Product<NumKeyValueHeads, VODim>), f32, Cpu, T>,
        bias: Option<Tensor<(H, Q, K), f32, Cpu, T>>,
        mask: &AttentionMask<B, Q, K>,
        scale: AttentionScale,
        mask_fill: MaskFill,
    ) -> Result<Tensor<(B, Q, Product<H, VODim>), f32, Cpu, T>, OpError> {
        let ((batch, len, _), (key_batch, keys, _)) = (*query.shape(), *key.shape());
        check_attention((batch, len), (key_batch, keys), mask)?;
        let fits = key.shape().concrete()[..2] == value.shape().concrete()[..2];
        ensure_fits("attention", fits, key.shape(), value.shape())?;
        if let Some(bias) = &bias {
            let fits = bias.shape().concrete()[1..] == [len.size(), keys.size()];
            ensure_fits("attention", fits, bias.shape(), &(len, keys))?;
        }
        let config = attention_config::<H, NumKeyValueHeads, QKDim, VODim>(mask.shape(), scale, mask_fill);
        run_kernel("attention", (batch, len, Product::default()), T::default(), |tape| {
            let query = Operand::read(query, tape)?;
            let key = Operand::read(key, tape)?;
            let value = Operand::read(value, tape)?;
            let bias = bias.map(|bias| Operand::read(bias, tape)).transpose()?;
            attention_kernel([query, key, value], bias, mask.rule(), config)
        })
    }

    fn feed_forward_kernel<Dims: EndsIn<M>, M: ConstDim, Hidden: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<Dims, f32, Cpu, T>,
        params: &FeedForwardParams<'_, M, Hidden, f32, Cpu>,
        residual_norm: &ResidualNormParams<'_, M, f32, Cpu>,
    ) -> Result<Tensor<Dims, f32, Cpu, T>, OpError> {
        let Some(activation) = params.activation else {
            return no_kernel("feed-forward");
        };
        run_kernel("feed-forward", *input.shape(), T::default(), |tape| {
            let input = Operand::read(input, tape)?;
            let hidden = read_linear(&params.hidden, tape)?;
            let output = read_linear(&params.output, tape)?;
            let residual_norm = read_residual_norm(residual_norm, tape)?;
            feed_forward_kernel(input, hidden, output, activation, residual_norm)
        })
    }

    fn self_attention_kernel<
        B: MaybeSharded,
        S: Dim,
        M: ConstDim,
        H: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<f32, Cpu>,
    >(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        params: &AttentionParams<'_, M, M, H, QKDim, VODim, f32, Cpu>,
        mask: &AttentionMask<B, S, S>,
        residual_norm: &ResidualNormParams<'_, M, f32, Cpu>,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        let shape @ (batch, len, _) = *input.shape();
        check_attention((batch, len), (batch, len), mask)?;
        let config = attention_config::<H, H, QKDim, VODim>(mask.shape(), params.scale, params.mask_fill);
        run_kernel("attention", shape, T::default(), |tape| {
            let input = Operand::read(input, tape)?;
            let projections = read_projections(params, tape)?;
            let residual_norm = read_residual_norm(residual_norm, tape)?;
            attention_sublayer_kernel(input, None, projections, mask.rule(), config, residual_norm)
        })
    }

    fn cross_attention_kernel<
        B: MaybeSharded,
        Q: Dim,
        K: Dim,
        QDim: ConstDim,
        KVDim: ConstDim,
        H: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<f32, Cpu>,
    >(
        query: Tensor<(B, Q, QDim), f32, Cpu, T>,
        key_value: Tensor<(B, K, KVDim), f32, Cpu, T>,
        params: &AttentionParams<'_, QDim, KVDim, H, QKDim, VODim, f32, Cpu>,
        mask: &AttentionMask<B, Q, K>,
        residual_norm: &ResidualNormParams<'_, QDim, f32, Cpu>,
    ) -> Result<Tensor<(B, Q, QDim), f32, Cpu, T>, OpError> {
        let (shape @ (batch, queries, _), (key_batch, keys, _)) = (*query.shape(), *key_value.shape());
        check_attention((batch, queries), (key_batch, keys), mask)?;
        let config = attention_config::<H, H, QKDim, VODim>(mask.shape(), params.scale, params.mask_fill);
        run_kernel("attention", shape, T::default(), |tape| {
            let query = Operand::read(query, tape)?;
            let key_value = Operand::read(key_value, tape)?;
            let projections = read_projections(params, tape)?;
            let residual_norm = read_residual_norm(residual_norm, tape)?;
            attention_sublayer_kernel(query, Some(key_value), projections, mask.rule(), config, residual_norm)
        })
    }

    fn cross_entropy_kernel<Dims: Shape, Positions: Shape, V: Dim, T: Tape<f32, Cpu>>(
        logits: Tensor<Dims, f32, Cpu, T>,
        labels: &Indices<Positions, V>,
        position_weights: &[f32],
        smoothing: f64,
    ) -> Result<Tensor<Rank0, f32, Cpu, T>, OpError> {
        let count = labels.as_slice().len();
        let fits = logits.shape().num_elements() == count * labels.axis().size() && position_weights.len() == count;
        ensure_fits("cross-entropy", fits, logits.shape(), &labels.shape())?;
        run_kernel("cross-entropy", (), T::default(), |tape| {
            let logits = Operand::read(logits, tape)?;
            cross_entropy_kernel(logits, labels.axis().size(), labels.clone_arc(), position_weights.to_vec(), smoothing)
        })
    }

    elements_in_memory!(f32);

    fn adam_step(step: &AdamStep<f32>, factor: f32, values: &mut [f32], gradient: &[f32], averages: [&mut [f32]; 2]) {
        step.update_f32(factor, values, gradient, averages);
    }

    fn sgd_step(step: &SgdStep<f32>, factor: f32, values: &mut [f32], gradient: &[f32], velocity: &mut [f32]) {
        step.update_f32(factor, values, gradient, velocity);
    }

    fn sum_of_squares(elements: &[f32]) -> f64 {
        sum_of_squares_f32(elements)
    }

    fn address_of<S: Shape>(parameter: &Tensor<S, f32, Cpu>) -> Option<usize> {
        elements(parameter).map(|elements| elements.as_ptr().addr())
    }

    fn try_put_gradient<S: Shape>(
        mut gradients: Gradients<f32, Cpu>,
        parameter: &Tensor<S, f32, Cpu>,
        gradient: Vec<f32>,
    ) -> Result<Gradients<f32, Cpu>, CpuError> {
        if elements(parameter).is_none() {
            // A gradient has the order of its tensor's storage.
            return put_gradient_by_backward_pass(gradients, parameter, gradient);
        }
        **gradients.get_or_alloc_mut(parameter)? = gradient;
        Ok(gradients)
    }
}

/// [`record_kernel`], with the name of the operation in its error.
fn run_kernel<Dims: Shape, T: Tape<f32, Cpu>>(
    op: &'static str,
    shape: Dims,
    tape: T,
    run: impl FnOnce(&mut T) -> Result<KernelOutput, CpuError>,
) -> Result<Tensor<Dims, f32, Cpu, T>, OpError> {
    record_kernel(shape, tape, run).map_err(device_error::<CpuError>(op))
}
