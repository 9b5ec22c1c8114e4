use super::{
    add_assign, gradient,
    matmul::{Matrix, matmul},
    read,
};
use dfdx::{
    shapes::{ConstDim, Dim, HasShape},
    tensor::{Cpu, CpuError, PutTape, SplitTape, Tape, Tensor, TensorFromVec},
    tensor_ops::ReshapeTo,
};

/// One product for the rows of all sequences together, where the definition makes one a sequence.
pub fn linear<B: Dim, S: Dim, InDim: ConstDim, OutDim: ConstDim, T: Tape<f32, Cpu>>(
    input: Tensor<(B, S, InDim), f32, Cpu, T>,
    weight: &Tensor<(OutDim, InDim), f32, Cpu>,
    bias: Option<&Tensor<(OutDim,), f32, Cpu>>,
) -> Result<Tensor<(B, S, OutDim), f32, Cpu, T>, CpuError> {
    let (batch, len, _) = *input.shape();
    let rows = batch.size() * len.size();
    let (input, tape) = input.try_contiguous()?.split_tape();
    let (weight, weight_tape) = weight.retaped::<T>().try_contiguous()?.split_tape();
    let (bias, bias_tape) = bias
        .map(|bias| Ok(bias.retaped::<T>().try_contiguous()?.split_tape()))
        .transpose()?
        .unzip();
    let mut tape = tape.merge(weight_tape.merge(bias_tape.unwrap_or_default()));

    let (x, w) = (read(&input), read(&weight));
    let mut y = vec![0.0; rows * OutDim::SIZE];
    if let Some(bias) = &bias {
        let bias = read(bias);
        y.chunks_exact_mut(OutDim::SIZE.max(1))
            .for_each(|row| row.copy_from_slice(&bias));
    }
    let x_rows = Matrix::new(&x, rows, InDim::SIZE);
    let w_rows = Matrix::new(&w, OutDim::SIZE, InDim::SIZE);
    matmul(&mut y, x_rows, w_rows.transposed(), bias.is_some());
    let output = input
        .device()
        .try_tensor_from_vec(y, (batch, len, OutDim::default()))?;

    if T::OWNS_TAPE {
        let (input, weight, bias) = (
            input.ghost(),
            weight.ghost(),
            bias.as_ref().map(Tensor::ghost),
        );
        let out = output.ghost();
        tape.add_backward_op(move |gradients| {
            let dy = std::mem::take(gradient!(gradients, out));
            let dy_rows = Matrix::new(&dy, rows, OutDim::SIZE);
            let x_rows = Matrix::new(&x, rows, InDim::SIZE);
            let w_rows = Matrix::new(&w, OutDim::SIZE, InDim::SIZE);
            matmul(gradient!(gradients, input), dy_rows, w_rows, true);
            matmul(
                gradient!(gradients, weight),
                dy_rows.transposed(),
                x_rows,
                true,
            );
            if let Some(bias) = bias {
                let db = gradient!(gradients, bias);
                dy.chunks_exact(OutDim::SIZE.max(1))
                    .for_each(|row| add_assign(db, row));
            }
            *gradient!(gradients, out) = dy;
            Ok(())
        });
    }
    Ok(output.put_tape(tape))
}
