use crate::autograd::{Buffer, KernelOutput, StridedOperand, with_backward};
use crate::conventions::ContractionAxis;
use crate::matmul::{StridedAxis, contract_strided};
use dfdx::tensor::CpuError;

/// `Σ left · right` over the axes that the output does not have. The output has its axes in their order.
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
    contract_strided(&mut output, left.storage(), right.storage(), &axes, false);
    let output = left.new_tensor(output)?;

    Ok(with_backward(output, move |d_output, gradients| {
        let for_left = |axis: &StridedAxis| StridedAxis { output: axis.left, left: axis.output, ..*axis };
        let for_right = |axis: &StridedAxis| StridedAxis { output: axis.right, right: axis.output, ..*axis };
        let mut d_left = Buffer::zeros(left.storage().len());
        let axes_of_left: Vec<_> = axes.iter().map(for_left).collect();
        contract_strided(&mut d_left, &d_output, right.storage(), &axes_of_left, true);

        let mut d_right = Buffer::zeros(right.storage().len());
        let axes_of_right: Vec<_> = axes.iter().map(for_right).collect();
        contract_strided(&mut d_right, left.storage(), &d_output, &axes_of_right, true);
        left.add_gradient(gradients, vec![d_left]);
        right.add_gradient(gradients, vec![d_right]);
    }))
}
