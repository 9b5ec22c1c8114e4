use super::{gradient, read, vectorized};
use dfdx::{
    shapes::{ConstDim, Dim, HasShape},
    tensor::{Cpu, CpuError, PutTape, SplitTape, Tape, Tensor, TensorFromVec},
    tensor_ops::ReshapeTo,
};

/// Two passes over each row while it is in the cache, where the definition makes ten over memory.
pub fn layer_norm<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
    input: Tensor<(B, S, M), f32, Cpu, T>,
    weight: &Tensor<(M,), f32, Cpu>,
    bias: Option<&Tensor<(M,), f32, Cpu>>,
    epsilon: f64,
) -> Result<Tensor<(B, S, M), f32, Cpu, T>, CpuError> {
    let shape = *input.shape();
    let (input, tape) = input.try_contiguous()?.split_tape();
    let (weight, weight_tape) = weight.retaped::<T>().try_contiguous()?.split_tape();
    let (bias, bias_tape) = bias
        .map(|bias| Ok(bias.retaped::<T>().try_contiguous()?.split_tape()))
        .transpose()?
        .unzip();
    let mut tape = tape.merge(weight_tape.merge(bias_tape.unwrap_or_default()));

    // `normal` begins as the input and becomes what the weight is multiplied with.
    let (mut normal, w) = (read(&input), read(&weight));
    let b = bias.as_ref().map_or_else(|| vec![0.0; M::SIZE], read);
    let mut y = vec![0.0; normal.len()];
    let mut scales = vec![0.0; normal.len() / M::SIZE.max(1)];
    vectorized(
        #[inline(always)]
        || {
            let rows = normal
                .chunks_exact_mut(M::SIZE.max(1))
                .zip(y.chunks_exact_mut(M::SIZE.max(1)));
            for ((normal, y), scale) in rows.zip(&mut scales) {
                let (mut mean, mut variance) = (0.0, 0.0);
                for x in normal.iter() {
                    mean += x;
                }
                mean /= M::SIZE as f32;
                for x in normal.iter_mut() {
                    *x -= mean;
                    variance += *x * *x;
                }
                variance /= M::SIZE as f32;
                *scale = 1.0 / (variance + epsilon as f32).sqrt();
                for (((x, y), w), b) in normal.iter_mut().zip(y).zip(&w).zip(&b) {
                    *x *= *scale;
                    *y = *x * w + b;
                }
            }
        },
    );
    let output = input.device().try_tensor_from_vec(y, shape)?;

    if T::OWNS_TAPE {
        let (input, weight, out) = (input.ghost(), weight.ghost(), output.ghost());
        let bias = bias.as_ref().map(Tensor::ghost);
        tape.add_backward_op(move |gradients| {
            let dy = std::mem::take(gradient!(gradients, out));
            let (mut dw, mut db) = (vec![0.0; M::SIZE], vec![0.0; M::SIZE]);
            let dx = gradient!(gradients, input);
            vectorized(
                #[inline(always)]
                || {
                    let size = M::SIZE.max(1);
                    let rows = dy.chunks_exact(size).zip(normal.chunks_exact(size));
                    for ((dx, (dy, normal)), scale) in
                        dx.chunks_exact_mut(size).zip(rows).zip(&scales)
                    {
                        let (mut mean, mut slope) = (0.0, 0.0);
                        for ((dy, x), w) in dy.iter().zip(normal).zip(&w) {
                            mean += dy * w;
                            slope += dy * w * x;
                        }
                        mean /= M::SIZE as f32;
                        slope /= M::SIZE as f32;
                        for (((dx, dy), x), w) in dx.iter_mut().zip(dy).zip(normal).zip(&w) {
                            *dx += scale * (dy * w - mean - slope * x);
                        }
                        for (((dw, db), dy), x) in dw.iter_mut().zip(&mut db).zip(dy).zip(normal) {
                            *dw += dy * x;
                            *db += dy;
                        }
                    }
                },
            );
            super::add_assign(gradient!(gradients, weight), &dw);
            if let Some(bias) = bias {
                super::add_assign(gradient!(gradients, bias), &db);
            }
            *gradient!(gradients, out) = dy;
            Ok(())
        });
    }
    Ok(output.put_tape(tape))
}
