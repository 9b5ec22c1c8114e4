use crate::autograd::{Buffer, KernelOutput, StridedOperand, with_backward};
use crate::kernel_options::ContractionAxis;
use crate::matmul::{StridedAxis, contract_strided};
use dfdx::tensor::CpuError;

/// `Σ left · right` over the axes that the output does not have. The output has its axes in the order of `axes`.
pub fn contraction_kernel(
    left: StridedOperand,
    right: StridedOperand,
    axes: &[ContractionAxis],
) -> Result<KernelOutput, CpuError> {
    let mut len = 1;
    let axis = |axis: &ContractionAxis| {
        let stride =
            |operand: &StridedOperand, position: Option<usize>| position.map_or(0, |position| operand.stride(position));
        let output = if axis.is_in_output { len } else { 0 };
        len *= if axis.is_in_output { axis.size } else { 1 };
        StridedAxis { size: axis.size, output, left: stride(&left, axis.left), right: stride(&right, axis.right) }
    };
    // The last axis of the output has neighbouring elements.
    let axes: Vec<StridedAxis> = axes.iter().rev().map(axis).collect();
    let mut output = left.alloc_output(len)?;
    contract_strided(&mut output, left.storage(), right.storage(), &axes);
    let output = left.new_tensor(output)?;

    Ok(with_backward(output, move |d_output, gradients| {
        let for_left = |axis: &StridedAxis| StridedAxis { output: axis.left, left: axis.output, ..*axis };
        let for_right = |axis: &StridedAxis| StridedAxis { output: axis.right, right: axis.output, ..*axis };
        let gradient = |axes: Vec<StridedAxis>, len: usize, x: &[f32], y: &[f32]| {
            // A gradient has zeros between the elements of its operand.
            let written: usize = axes.iter().filter(|axis| axis.output > 0).map(|axis| axis.size).product();
            let mut gradient = if written == len { Buffer::recycled(len) } else { Buffer::zeros(len) };
            contract_strided(&mut gradient, x, y, &axes);
            gradient
        };
        let d_left = gradient(axes.iter().map(for_left).collect(), left.storage().len(), &d_output, right.storage());
        let d_right = gradient(axes.iter().map(for_right).collect(), right.storage().len(), left.storage(), &d_output);
        left.add_gradient(gradients, vec![d_left]);
        right.add_gradient(gradients, vec![d_right]);
    }))
}
