use crate::autograd::{Buffer, KernelOutput, Operand, partition_rows, with_backward};
use crate::matmul::{Matrix, add_column_sums, matmul_in_bf16, round_all_to_bf16};
use crate::simd::add_assign;
use dfdx::tensor::CpuError;

/// `(N, In) -> (N, Out)`: `y = round(round(x) round(W)ᵀ + round(b))`, for all rows. Backward rounds the gradients of
/// `y`, `x`, `W` and `b`.
pub fn linear_in_bf16_kernel(
    input: Operand,
    weight: Operand,
    bias: Option<Operand>,
    [in_features, out_features]: [usize; 2],
) -> Result<KernelOutput, CpuError> {
    let rows = input.len() / in_features.max(1);
    let mut y = input.alloc_output(rows * out_features)?;
    let rounded_bias = bias.as_ref().map(|bias| {
        let mut rounded = bias.elements().to_vec();
        round_all_to_bf16(&mut rounded);
        rounded
    });
    let x = Matrix::new(input.elements(), rows, in_features);
    let w = Matrix::new(weight.elements(), out_features, in_features);
    matmul_in_bf16(&mut y, x, w.transposed(), rounded_bias.as_deref());
    let output = input.new_tensor(y)?;

    Ok(with_backward(output, move |mut dy, gradients| {
        if let Some(bias) = &bias {
            // A pass for the sums alone would take 4 % of a step of a small model, for one more hand-over to the threads.
            let parts = partition_rows(rows, out_features, 0).map_mut(&mut dy, out_features, |_, dy| {
                let mut sums = Buffer::zeros(out_features);
                round_all_to_bf16(dy);
                add_column_sums(&mut sums, dy);
                sums
            });
            let sums = parts.into_iter().reduce(|mut sums, part| {
                add_assign(&mut sums, &part);
                sums
            });
            let mut sums = sums.unwrap_or_else(|| Buffer::zeros(out_features));
            round_all_to_bf16(&mut sums);
            bias.gradient.add(gradients, sums);
        }
        let x = Matrix::new(input.elements(), rows, in_features);
        let w = Matrix::new(weight.elements(), out_features, in_features);
        let dy = Matrix::new(&dy, rows, out_features);
        let mut dx = Buffer::recycled(input.len());
        matmul_in_bf16(&mut dx, dy, w, None);
        let mut d_weight = Buffer::recycled(weight.len());
        matmul_in_bf16(&mut d_weight, dy.transposed(), x, None);
        weight.gradient.add(gradients, d_weight);
        input.gradient.add(gradients, dx);
    }))
}
