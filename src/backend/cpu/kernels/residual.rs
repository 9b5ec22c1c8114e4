use crate::backend::cpu::{
    autograd::{KernelOutput, Operand, record},
    simd::add_assign,
};
use dfdx::tensor::CpuError;

/// `(N,), (N,) -> (N,)`: `input + branch`, in one pass where the definition makes two so that a tensor can
/// be added to itself.
pub fn record_residual(input: Operand, branch: Operand) -> Result<KernelOutput, CpuError> {
    let mut sum = input.alloc_output(input.elements.len())?;
    sum.copy_from_slice(&input.elements);
    add_assign(&mut sum, &branch.elements);
    let output = input.new_tensor(sum)?;

    let (input, branch) = (input.tensor.ghost(), branch.tensor.ghost());
    Ok(record(output, move |d_out, gradients| {
        add_assign(gradients.get_or_alloc_mut(&input)?, d_out);
        add_assign(gradients.get_or_alloc_mut(&branch)?, d_out);
        Ok(())
    }))
}
