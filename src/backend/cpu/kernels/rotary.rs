use crate::autograd::{Buffer, KernelOutput, Operand, partition_rows, with_backward};
use crate::simd::{row_chunks, row_chunks_mut, vectorized};
use dfdx::tensor::CpuError;
use itertools::izip;
use std::sync::Arc;

/// The rotations of the vectors at some positions.
#[derive(Clone)]
pub struct Rotation {
    /// `(S, W / 2)`: a cosine for each pair of columns.
    pub cosines: Arc<[f32]>,
    /// `(S, W / 2)`: a sine for each pair of columns.
    pub sines: Arc<[f32]>,
    /// The number of columns, `W`.
    pub width: usize,
    /// How many columns the two columns of a pair are apart: 1, or half of the width.
    pub distance: usize,
    /// The number of vectors, such as heads, at one position. They are neighbours in memory.
    pub vectors_per_position: usize,
}

impl Rotation {
    /// `(N, S, Vectors, W) -> (N, S, Vectors, W)`: the pair `(a, b)` becomes `(a cos - b sin, a sin + b cos)`. The rotation
    /// back has the `direction` -1.
    fn rotate(&self, y: &mut [f32], x: &[f32], direction: f32) {
        let (num_pairs, row_len) = (self.width / 2, self.vectors_per_position * self.width);
        let positions = self.cosines.len() / num_pairs;
        let partition = partition_rows(x.len() / row_len.max(1), row_len, 0);
        partition.map_mut(y, row_len, |rows, y| {
            let x = rows.slice(x, row_len);
            vectorized!({
                for (row, y, x) in izip!(rows.range(), row_chunks_mut(y, row_len), row_chunks(x, row_len)) {
                    let first_pair = row % positions * num_pairs;
                    let [cosines, sines] = [&self.cosines, &self.sines].map(|table| &table[first_pair..][..num_pairs]);
                    for (y, x) in y.chunks_exact_mut(self.width).zip(x.chunks_exact(self.width)) {
                        self.rotate_vector(y, x, cosines, sines, direction);
                    }
                }
            });
        });
    }

    /// Rotates one vector. A block of it has the first columns of `distance` pairs, then their second columns.
    #[inline(always)]
    fn rotate_vector(&self, y: &mut [f32], x: &[f32], cosines: &[f32], sines: &[f32], direction: f32) {
        if self.distance == 1 {
            let pairs = y.as_chunks_mut().0.iter_mut().zip(x.as_chunks().0);
            for (([new_a, new_b], [a, b]), cosine, sine) in izip!(pairs, cosines, sines) {
                let sine = direction * sine;
                *new_a = a * cosine - b * sine;
                *new_b = a * sine + b * cosine;
            }
            return;
        }
        let blocks = izip!(
            y.chunks_exact_mut(2 * self.distance),
            x.chunks_exact(2 * self.distance),
            cosines.chunks_exact(self.distance),
            sines.chunks_exact(self.distance),
        );
        for (y, x, cosines, sines) in blocks {
            let ((a, b), (new_a, new_b)) = (x.split_at(self.distance), y.split_at_mut(self.distance));
            for (new_a, new_b, a, b, cosine, sine) in izip!(new_a, new_b, a, b, cosines, sines) {
                let sine = direction * sine;
                *new_a = a * cosine - b * sine;
                *new_b = a * sine + b * cosine;
            }
        }
    }
}

/// Rotates the vectors of each position. The gradient is rotated back.
pub fn rotary_kernel(input: Operand, rotation: Rotation) -> Result<KernelOutput, CpuError> {
    let mut y = input.alloc_output(input.len())?;
    rotation.rotate(&mut y, input.elements(), 1.0);
    let output = input.new_tensor(y)?;

    let input = input.gradient;
    Ok(with_backward(output, move |dy, gradients| {
        let mut dx = Buffer::recycled(dy.len());
        rotation.rotate(&mut dx, &dy, -1.0);
        input.add(gradients, dx);
    }))
}
