use crate::autograd::elementwise::partition_rows;
use crate::autograd::{Buffer, KernelOutput, Operand, with_backward};
use crate::simd::{row_chunks, row_chunks_mut, vectorized};
use dfdx::tensor::CpuError;
use itertools::izip;
use std::sync::Arc;

/// The rotations of the vectors at some positions.
#[derive(Clone)]
pub struct Rotation {
    /// `(S, W)`.
    pub cosines: Arc<[f32]>,
    /// `(S, W)`: the factors of the other column of a pair.
    pub sines: Arc<[f32]>,
    /// `(W,)`: the other column of each column's pair.
    pub other_columns: Arc<[usize]>,
    /// The number of vectors at one position of a sequence that follow one another.
    pub vectors_per_position: usize,
}

impl Rotation {
    /// The rotation back, whose sines have the other sign.
    fn inverse(&self) -> Self {
        let width = self.other_columns.len();
        let rows = self.sines.chunks_exact(width);
        let sines = rows.flat_map(|row| self.other_columns.iter().map(|other| row[*other])).collect();
        Self { sines, ..self.clone() }
    }

    /// `(N, S, Vectors, W) -> (N, S, Vectors, W)`: `y = x cos + x' sin`, where `x'` are the other columns of the pairs.
    fn rotate(&self, y: &mut [f32], x: &[f32]) {
        let (width, row_len) = (self.other_columns.len(), self.vectors_per_position * self.other_columns.len());
        let sequence_len = self.vectors_per_position * self.cosines.len();
        let partition = partition_rows(x.len() / row_len, row_len, 0);
        let positions = sequence_len / row_len;
        partition.map_mut(y, row_len, |rows, y| {
            let x = rows.slice(x, row_len);
            vectorized!({
                for (row, y, x) in izip!(rows.iter(), row_chunks_mut(y, row_len), row_chunks(x, row_len)) {
                    let position = row % positions * width;
                    let cosines = &self.cosines[position..][..width];
                    let sines = &self.sines[position..][..width];
                    for (y, x) in y.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
                        for (y, cosine, sine, x_own, other) in izip!(y, cosines, sines, x, &*self.other_columns) {
                            *y = x_own * cosine + x[*other] * sine;
                        }
                    }
                }
            });
        });
    }
}

/// Rotates the vectors of each position. The gradient is rotated back.
pub fn rotary_kernel(input: Operand, rotation: Rotation) -> Result<KernelOutput, CpuError> {
    let mut y = input.alloc_output(input.len())?;
    rotation.rotate(&mut y, input.elements());
    let output = input.new_tensor(y)?;

    let input = input.gradient;
    Ok(with_backward(output, move |dy, gradients| {
        let mut dx = Buffer::recycled(dy.len());
        rotation.inverse().rotate(&mut dx, &dy);
        input.add(gradients, dx)
    }))
}
