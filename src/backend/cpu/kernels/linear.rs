//! A linear layer. The rows of its input are the units of a [`SplitBy`].
//!
//! With at least 256 rows for each thread ([`SplitBy::WholeUnits`]), each thread has rows of its own, in both passes.
//! It sums its terms of the weight's gradient in a buffer. The sum of the buffers becomes the gradient, or is added to
//! it.
//!
//! With fewer rows, or too large buffers ([`SplitBy::PartsOfUnits`]), each thread has columns of `y` and `dx` of its
//! own, and rows of the weight's gradient, which it writes, or adds to, in place. With more rows than input features,
//! threads divide the rows of `dx` instead and, if these are more than `MAX_FEW_ROWS`, those of `y`.

use crate::autograd::{Buffer, Chunk, KernelOutput, MACS_PER_READ, Operand, Partition, SplitBy, with_backward};
use crate::matmul::{
    Matrix, add_column_sums, add_product_of_few_rows, column_sums_in_parts, fill_rows, matmul, transpose_copy,
};
use dfdx::tensor::CpuError;

/// The most rows for which products of contiguous rows are faster than gemm, which first copies the weight into panels.
pub(super) const MAX_FEW_ROWS: usize = 16;
/// The elements of a block of a product. The block stays in the cache until it is added to columns of the output.
const ELEMENTS_PER_BLOCK: usize = 1 << 16;

/// The parameters of a linear layer: weight `(Out, In)` and bias `(Out,)`.
pub struct Linear {
    weight: Operand,
    bias: Option<Operand>,
    in_features: usize,
    out_features: usize,
    split: SplitBy,
    /// Transposed copy of the weight; made only for enough rows to be worth it.
    weight_t: Option<Buffer>,
}

impl Linear {
    pub fn new(weight: Operand, bias: Option<Operand>, in_features: usize, out_features: usize) -> Self {
        Self { weight, bias, in_features, out_features, split: SplitBy::WholeUnits, weight_t: None }
    }

    /// Sets the split, and copies the weight transposed if there are enough rows to repay the copy.
    fn prepared_for(self, split: SplitBy, rows: usize) -> Self {
        // gemm reads the weight column by column. With long rows these accesses miss the cache.
        let min_rows_to_transpose = match split {
            SplitBy::PartsOfUnits => self.in_features + 1,
            SplitBy::WholeUnits if self.in_features >= 256 => 128,
            SplitBy::WholeUnits => 1024,
        };
        let weight_t = (rows >= min_rows_to_transpose.max(MAX_FEW_ROWS + 1))
            .then(|| transpose_copy(self.weight.elements(), self.out_features, self.in_features));
        Self { split, weight_t, ..self }
    }

    /// The multiply-adds of a row: one for each weight.
    fn macs_per_row(&self) -> usize {
        self.in_features * self.out_features
    }

    /// `(N, In) -> (N, Out)`: `y = x Wᵀ + b`.
    fn forward(&self, y: &mut [f32], x: &[f32]) {
        let rows = y.len() / self.out_features.max(1);
        let bias = self.bias.as_ref().map(Operand::elements);
        match &self.weight_t {
            Some(weight_t) => {
                let weight_t = Matrix::new(weight_t, self.in_features, self.out_features);
                self.multiply_rows(y, x, weight_t, bias);
            }
            None if rows <= MAX_FEW_ROWS => {
                fill_rows(y, bias, self.out_features);
                self.add_scalar_products(y, x, rows);
            }
            None if self.split == SplitBy::PartsOfUnits => {
                fill_rows(y, bias, self.out_features);
                self.add_output_columns(y, x, rows);
            }
            None => self.multiply_rows(y, x, self.weight().transposed(), bias),
        }
    }

    /// `y += x Wᵀ` for a few rows, by scalar products of the rows of `x` and of the weight.
    fn add_scalar_products(&self, y: &mut [f32], x: &[f32], rows: usize) {
        let macs_per_column = rows.max(MACS_PER_READ) * self.in_features;
        let partition = self.partition_columns(self.out_features, macs_per_column, usize::MAX);
        add_product_of_few_rows(y, x, self.weight.elements(), self.in_features, partition);
    }

    /// `y += x Wᵀ`, where each thread computes columns of the product.
    fn add_output_columns(&self, y: &mut [f32], x: &[f32], rows: usize) {
        // Vectors along the rows of `x`, so that gemm reads the weight row by row.
        let x_t = transpose_copy(x, rows, self.in_features);
        let x_t = Matrix::new(&x_t, self.in_features, rows);
        self.add_by_columns(y, rows, self.out_features, self.in_features, |product, columns| {
            let weight = columns.slice(self.weight.elements(), self.in_features);
            let weight = Matrix::new(weight, columns.len(), self.in_features);
            matmul(product, weight, x_t, false);
            Matrix::new(product, columns.len(), rows).transposed()
        });
    }

    fn weight(&self) -> Matrix<'_> {
        Matrix::new(self.weight.elements(), self.out_features, self.in_features)
    }

    /// `y = x b + bias`. Each thread computes rows of the product.
    fn multiply_rows(&self, y: &mut [f32], x: &[f32], b: Matrix, bias: Option<&[f32]>) {
        let (inner, columns) = (b.rows(), b.columns());
        let multiply = |y: &mut [f32], x: &[f32]| {
            let rows = y.len() / columns.max(1);
            if bias.is_some() {
                fill_rows(y, bias, columns);
            }
            matmul(y, Matrix::new(x, rows, inner), b, bias.is_some());
        };
        if self.split == SplitBy::WholeUnits {
            return multiply(y, x);
        }
        let partition = Partition::new(y.len() / columns.max(1), self.macs_per_row(), usize::MAX);
        partition.map_mut(y, columns, |rows, y| multiply(y, rows.slice(x, inner)));
    }

    /// Each thread computes columns of a product, a block at a time, and adds them to those of `output`.
    fn add_by_columns<'a>(
        &'a self,
        output: &mut [f32],
        rows: usize,
        columns: usize,
        inner: usize,
        multiply: impl for<'b> Fn(&'b mut [f32], Chunk) -> Matrix<'b> + Sync,
    ) {
        let partition = self.partition_columns(columns, rows * inner, ELEMENTS_PER_BLOCK / rows.max(1));
        let chunks = partition.chunks().zip(partition.split_columns_mut(output, 1));
        partition.map_chunks(chunks, |(columns, mut output)| {
            let mut product = Buffer::recycled(rows * columns.len());
            multiply(&mut product, columns).add_to_rows(&mut output);
        });
    }

    /// Divides columns among threads under [`SplitBy::PartsOfUnits`]. Under [`SplitBy::WholeUnits`] all columns are one
    /// chunk, because a thread that has rows of its own computes all of their columns.
    fn partition_columns(&self, columns: usize, macs_per_column: usize, max_chunk_len: usize) -> Partition {
        match self.split {
            SplitBy::WholeUnits => Partition::whole(columns),
            SplitBy::PartsOfUnits => Partition::new(columns, macs_per_column, max_chunk_len),
        }
    }

    /// `(N, Out) -> (N, In)`: `dx = dy W`.
    fn backward_input(&self, dx: &mut [f32], dy: &[f32]) {
        let rows = dx.len() / self.in_features.max(1);
        if self.split == SplitBy::WholeUnits || rows > self.in_features {
            return self.multiply_rows(dx, dy, self.weight(), None);
        }
        dx.fill(0.0);
        self.add_by_columns(dx, rows, self.in_features, self.out_features, |product, columns| {
            let weight = &self.weight.elements()[columns.start()..];
            let weight = Matrix::strided(weight, self.out_features, columns.len(), self.in_features);
            matmul(product, Matrix::new(dy, rows, self.out_features), weight, false);
            Matrix::new(product, rows, columns.len())
        });
    }

    /// `(N, Out), (N, In) -> (Out, In)`: `dW = dyᵀ x`, or `dW += dyᵀ x` if `accumulate`.
    fn backward_weight(&self, d_weight: &mut [f32], dy: &[f32], x: &[f32], accumulate: bool) {
        let rows = x.len() / self.in_features.max(1);
        let x = Matrix::new(x, rows, self.in_features);
        let partition = self.partition_columns(self.out_features, rows * self.in_features, usize::MAX);
        partition.map_mut(d_weight, self.in_features, |columns, d_weight| {
            let dy = Matrix::strided(&dy[columns.start()..], rows, columns.len(), self.out_features);
            matmul(d_weight, dy.transposed(), x, accumulate);
        });
    }
}

/// `(N, In) -> (N, Out)`: `y = x Wᵀ + b`, for all rows.
pub fn linear_kernel(input: Operand, linear: Linear) -> Result<KernelOutput, CpuError> {
    let (in_features, out_features) = (linear.in_features, linear.out_features);
    let rows = input.len() / in_features.max(1);
    let split = SplitBy::choose(rows, rows, linear.weight.len());
    let linear = linear.prepared_for(split, rows);
    let partition = match split {
        SplitBy::WholeUnits => Partition::new(rows, linear.macs_per_row(), usize::MAX),
        SplitBy::PartsOfUnits => Partition::whole(rows),
    };
    let mut y = input.alloc_output(rows * out_features)?;
    partition.map_mut(&mut y, out_features, |rows, y| linear.forward(y, rows.slice(input.elements(), in_features)));
    let output = input.new_tensor(y)?;
    // Only the forward pass reads the copy.
    let linear = Linear { weight_t: None, ..linear };

    Ok(with_backward(output, move |dy, gradients| {
        let mut dx = Buffer::recycled(input.len());
        if split == SplitBy::PartsOfUnits {
            linear.backward_input(&mut dx, &dy);
            linear.weight.gradient.write(gradients, linear.weight.len(), |d_weight, accumulate| {
                linear.backward_weight(d_weight, &dy, input.elements(), accumulate);
            });
            if let Some(bias) = &linear.bias {
                bias.gradient.add_parts(gradients, column_sums_in_parts(&dy, bias.len()));
            }
            return input.gradient.add(gradients, dx);
        }
        let chunks = partition.chunks().zip(partition.split_mut(&mut dx, in_features));
        let parts = partition.map_threads(chunks, |chunks| {
            let mut d_weight = Buffer::recycled(linear.weight.len());
            let mut d_bias = linear.bias.as_ref().map(|bias| Buffer::zeros(bias.len()));
            for (i, (rows, dx)) in chunks.into_iter().enumerate() {
                let (x, dy) = (rows.slice(input.elements(), in_features), rows.slice(&dy, out_features));
                linear.backward_input(dx, dy);
                // The first product overwrites the buffer.
                linear.backward_weight(&mut d_weight, dy, x, i > 0);
                if let Some(d_bias) = &mut d_bias {
                    add_column_sums(d_bias, dy);
                }
            }
            (d_weight, d_bias)
        });
        let (d_weights, d_biases): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        linear.weight.gradient.add_parts(gradients, d_weights);
        if let Some(bias) = &linear.bias {
            bias.gradient.add_parts(gradients, d_biases.into_iter().flatten().collect());
        }
        input.gradient.add(gradients, dx);
    }))
}
