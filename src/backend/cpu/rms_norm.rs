use super::{add_assign, gradient, read, vectorized};
use dfdx::{
    shapes::{ConstDim, Dim, HasShape},
    tensor::{Cpu, CpuError, PutTape, SplitTape, Tape, Tensor, TensorFromVec},
    tensor_ops::ReshapeTo,
};

/// Two passes over each row while it is in the cache, where the definition makes eight over memory.
pub fn rms_norm<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
    input: Tensor<(B, S, M), f32, Cpu, T>,
    weight: &Tensor<(M,), f32, Cpu>,
    epsilon: f64,
) -> Result<Tensor<(B, S, M), f32, Cpu, T>, CpuError> {
    let shape = *input.shape();
    let size = M::SIZE.max(1);
    let (input, tape) = input.try_contiguous()?.split_tape();
    let (weight, weight_tape) = weight.retaped::<T>().try_contiguous()?.split_tape();
    let mut tape = tape.merge(weight_tape);

    // `normal` begins as the input and becomes what the weight is multiplied with.
    let (mut normal, w) = (read(&input), read(&weight));
    let mut y = vec![0.0; normal.len()];
    let mut scales = vec![0.0; normal.len() / size];
    vectorized(
        #[inline(always)]
        || {
            let rows = normal.chunks_exact_mut(size).zip(y.chunks_exact_mut(size));
            for ((normal, y), scale) in rows.zip(&mut scales) {
                let mut square = 0.0;
                for x in normal.iter() {
                    square += x * x;
                }
                *scale = 1.0 / (square / M::SIZE as f32 + epsilon as f32).sqrt();
                for ((x, y), w) in normal.iter_mut().zip(y).zip(&w) {
                    *x *= *scale;
                    *y = *x * w;
                }
            }
        },
    );
    let output = input.device().try_tensor_from_vec(y, shape)?;

    if T::OWNS_TAPE {
        let (input, weight, out) = (input.ghost(), weight.ghost(), output.ghost());
        tape.add_backward_op(move |gradients| {
            let dy = std::mem::take(gradient!(gradients, out));
            let mut dw = vec![0.0; M::SIZE];
            let dx = gradient!(gradients, input);
            vectorized(
                #[inline(always)]
                || {
                    let rows = dy.chunks_exact(size).zip(normal.chunks_exact(size));
                    for ((dx, (dy, normal)), scale) in
                        dx.chunks_exact_mut(size).zip(rows).zip(&scales)
                    {
                        let mut slope = 0.0;
                        for ((dy, x), w) in dy.iter().zip(normal).zip(&w) {
                            slope += dy * w * x;
                        }
                        slope /= M::SIZE as f32;
                        for (((dx, dy), x), w) in dx.iter_mut().zip(dy).zip(normal).zip(&w) {
                            *dx += scale * (dy * w - slope * x);
                        }
                        for ((dw, dy), x) in dw.iter_mut().zip(dy).zip(normal) {
                            *dw += dy * x;
                        }
                    }
                },
            );
            add_assign(gradient!(gradients, weight), &dw);
            *gradient!(gradients, out) = dy;
            Ok(())
        });
    }
    Ok(output.put_tape(tape))
}
