//! The device of this process's memory: it runs the kernels of the crate in `src/backend/cpu`.

use super::{Backend, Gradients, KernelOutput, Operand, StridedOperand, Tape};
use crate::mask::bools_of;
#[cfg(feature = "f16")]
use dfdx::dtypes::{AMP, f16};
use dfdx::shapes::Shape;
use dfdx::tensor::{Cpu, CpuError, Merge, Tensor};
use typed_transformer_cpu::{AdamStep, SgdStep, elements, record_kernel, reshape, sum_of_squares_f32};

/// The methods of a [`Backend`] whose elements lie in the memory of this process.
macro_rules! elements_in_memory {
    ($E:ty, |$gradients:ident, $tensor:ident| $gradient:expr) => {
        fn elements<S: Shape>(tensor: &Tensor<S, $E, Self>) -> Option<&[$E]> {
            typed_transformer_cpu::elements(tensor)
        }

        fn elements_mut<S: Shape>(tensor: &mut Tensor<S, $E, Self>) -> Option<&mut [$E]> {
            typed_transformer_cpu::elements_mut(tensor)
        }

        fn gradient_mut<'a, S: Shape>(
            $gradients: &'a mut Gradients<$E, Self>,
            $tensor: &Tensor<S, $E, Self>,
        ) -> Result<Option<&'a mut [$E]>, CpuError> {
            Ok(Some($gradient))
        }
    };
}

impl Backend<f64> for Cpu {
    elements_in_memory!(f64, |gradients, tensor| gradients.for_dfdx()?.get_or_alloc_mut(tensor)?);
}
#[cfg(feature = "f16")]
impl Backend<AMP<f16>> for Cpu {
    elements_in_memory!(AMP<f16>, |gradients, tensor| gradients.for_dfdx()?.get_or_alloc_mut(tensor)?);
}

impl Backend<f32> for Cpu {
    const HAS_KERNELS: bool = true;

    fn read<Dims: Shape, T: Tape<f32, Cpu> + Merge<R>, R: Tape<f32, Cpu>>(
        tensor: Tensor<Dims, f32, Cpu, R>,
        tape: &mut T,
    ) -> Result<Operand, CpuError> {
        Operand::read(tensor, tape)
    }

    fn read_parameter<Dims: Shape, T: Tape<f32, Cpu>>(
        parameter: &Tensor<Dims, f32, Cpu>,
        tape: &mut T,
    ) -> Result<Operand, CpuError> {
        Operand::read_parameter(parameter, tape)
    }

    fn read_strided<Dims: Shape, T: Tape<f32, Cpu> + Merge<R>, R: Tape<f32, Cpu>>(
        tensor: Tensor<Dims, f32, Cpu, R>,
        tape: &mut T,
    ) -> Result<StridedOperand, CpuError> {
        Ok(StridedOperand::read(tensor, tape))
    }

    fn reshape<Dims: Shape, To: Shape, T: Tape<f32, Cpu>>(
        tensor: Tensor<Dims, f32, Cpu, T>,
        shape: To,
    ) -> Result<Tensor<To, f32, Cpu, T>, CpuError> {
        reshape(tensor, shape)
    }

    fn record_kernel<Dims: Shape, T: Tape<f32, Cpu>>(
        output: KernelOutput,
        shape: Dims,
        tape: T,
    ) -> Result<Tensor<Dims, f32, Cpu, T>, CpuError> {
        record_kernel(output, shape, tape)
    }

    fn bools<S: Shape>(mask: &Tensor<S, bool, Cpu>) -> Vec<bool> {
        elements(mask).map_or_else(|| bools_of(mask), <[bool]>::to_vec)
    }

    elements_in_memory!(f32, |gradients, tensor| gradients.elements_mut(tensor)?);

    fn adam_step(step: &AdamStep<f32>, factor: f32, values: &mut [f32], gradient: &[f32], averages: [&mut [f32]; 2]) {
        step.update_f32(factor, values, gradient, averages);
    }

    fn sgd_step(step: &SgdStep<f32>, factor: f32, values: &mut [f32], gradient: &[f32], velocity: &mut [f32]) {
        step.update_f32(factor, values, gradient, velocity);
    }

    fn slice_sum_of_squares(elements: &[f32]) -> f64 {
        sum_of_squares_f32(elements)
    }
}
