use crate::autograd::{
    KernelOutput, Operand,
    elementwise::{copied, partition_elements},
    with_backward,
};
use crate::simd::dispatch_simd;
use dfdx::tensor::CpuError;
use itertools::izip;

/// `(N,), (N,) -> (N,)`: `input + sublayer_output`.
pub fn residual_kernel(input: Operand, sublayer_output: Operand) -> Result<KernelOutput, CpuError> {
    let mut sum = input.alloc_output(input.len())?;
    let partition = partition_elements(sum.len(), 0);
    let chunks = partition.ranges().zip(partition.split_mut(&mut sum, 1));
    partition.map_chunks(chunks, |(elements, sum)| {
        let (x, y) = (elements.slice(input.elements(), 1), elements.slice(sublayer_output.elements(), 1));
        dispatch_simd(
            #[inline(always)]
            || {
                for (sum, x, y) in izip!(sum.iter_mut(), x, y) {
                    *sum = x + y;
                }
            },
        );
    });
    let output = input.new_tensor(sum)?;

    let (input, sublayer_output) = (input.gradient, sublayer_output.gradient);
    Ok(with_backward(output, move |d_sum, gradients| {
        sublayer_output.add(gradients, copied(&d_sum))?;
        input.add(gradients, d_sum)
    }))
}
