use crate::{
    autograd::{Buffer, KernelOutput, Operand, Partition, Split, UnitRange, with_backward},
    matmul::{Layout, Matrix, add_column_sums, fill_rows, matmul, matmul_few_rows, transpose_copy},
};
use dfdx::tensor::{Cpu, CpuError, Gradients};
use itertools::izip;
use std::mem;

/// The most rows for which products of contiguous rows are faster than gemm, which packs the weight first.
const MAX_FEW_ROWS: usize = 16;
/// The multiply-adds of few rows that take as long as reading a weight from memory.
const MACS_PER_READ: usize = 8;
/// The elements of a block of a product that is added to the columns of its output, so that it stays in the cache.
const ELEMENTS_PER_BLOCK: usize = 1 << 16;

/// The parameters of a linear layer: weight `(Out, In)` and bias `(Out,)`.
pub struct Linear {
    weight: Operand,
    bias: Option<Operand>,
    in_features: usize,
    out_features: usize,
    layout: Layout,
    split: Split,
    /// Transposed copy of the weight; made only for enough rows to be worth it.
    weight_t: Option<Buffer>,
}

/// A thread's part of the gradients of a linear layer.
pub struct LinearGradient {
    weight: WeightGradient,
    bias: Option<Buffer>,
    /// Whether `weight` is still unwritten. The first product overwrites it, which is cheaper than adding to
    /// zeros.
    is_empty: bool,
}

enum WeightGradient {
    /// To be added to the gradient.
    Part(Buffer),
    /// The gradient itself.
    Whole(Vec<f32>),
}

impl Linear {
    pub fn new(weight: Operand, bias: Option<Operand>, in_features: usize, out_features: usize) -> Self {
        let (layout, split) = (Layout::RowMajor, Split::Rows);
        Self { weight, bias, in_features, out_features, layout, split, weight_t: None }
    }

    /// Prepares the weight for a forward pass on `rows` rows in a layout.
    pub fn pack(self, layout: Layout, split: Split, rows: usize) -> Self {
        // gemm reads the weight column by column. With long rows these accesses miss the cache.
        let min_rows_to_pack = match split {
            Split::Columns => self.in_features + 1,
            Split::Rows if self.in_features >= 256 => 128,
            Split::Rows => 1024,
        };
        let weight_t = (layout == Layout::RowMajor && rows >= min_rows_to_pack.max(MAX_FEW_ROWS + 1))
            .then(|| transpose_copy(self.weight.elements(), self.out_features, self.in_features));
        Self { layout, split, weight_t, ..self }
    }

    /// Frees the packed weight, which only the forward pass uses.
    pub fn drop_packed(self) -> Self {
        Self { weight_t: None, ..self }
    }

    pub fn in_features(&self) -> usize {
        self.in_features
    }

    pub fn out_features(&self) -> usize {
        self.out_features
    }

    pub fn weight_len(&self) -> usize {
        self.in_features * self.out_features
    }

    /// Each weight is used once for a row.
    pub fn macs_per_row(&self) -> usize {
        self.weight_len()
    }

    /// `(N, In) -> (N, Out)`: `y = x Wᵀ + b`.
    pub fn forward(&self, y: &mut [f32], x: &[f32]) {
        self.multiply_forward(y, x, false);
    }

    /// `(N, In) -> (N, Out)`: `y += x Wᵀ + b`.
    pub fn forward_accumulate(&self, y: &mut [f32], x: &[f32]) {
        self.multiply_forward(y, x, true);
    }

    fn multiply_forward(&self, y: &mut [f32], x: &[f32], accumulate: bool) {
        let rows = self.layout.matrix_rows(y, self.out_features);
        let bias = self.bias.as_ref().map(Operand::elements);
        let is_row_major = self.layout == Layout::RowMajor;
        match &self.weight_t {
            Some(weight_t) => {
                let weight_t = Matrix::new(weight_t, self.in_features, self.out_features);
                self.multiply_rows(y, x, weight_t, bias, accumulate);
            }
            None if is_row_major && rows <= MAX_FEW_ROWS => {
                fill_rows(y, bias, self.out_features, accumulate);
                self.add_few_rows(y, x, rows);
            }
            None if is_row_major && self.split == Split::Columns => {
                fill_rows(y, bias, self.out_features, accumulate);
                self.add_output_columns(y, x, rows);
            }
            None => self.multiply_rows(y, x, self.weight().transposed(), bias, accumulate),
        }
    }

    /// `y += x Wᵀ` for a few rows, by scalar products of the rows of `x` and of the weight.
    fn add_few_rows(&self, y: &mut [f32], x: &[f32], rows: usize) {
        let macs_per_column = rows.max(MACS_PER_READ) * self.in_features;
        let partition = self.partition_columns(self.out_features, macs_per_column, usize::MAX);
        matmul_few_rows(y, x, self.weight.elements(), self.in_features, partition);
    }

    /// `y += x Wᵀ`, where each thread computes columns of the product.
    fn add_output_columns(&self, y: &mut [f32], x: &[f32], rows: usize) {
        self.add_by_columns(y, rows, self.out_features, self.in_features, |product, columns| {
            let weight = columns.slice(self.weight.elements(), self.in_features);
            let weight = Matrix::new(weight, columns.len(), self.in_features);
            // Vectors along the rows of `x`, so that gemm reads the weight row by row.
            let x = Matrix::new(x, rows, self.in_features).transposed();
            matmul(product, weight, x, false);
            Matrix::new(product, columns.len(), rows).transposed()
        });
    }

    fn weight(&self) -> Matrix<'_> {
        Matrix::new(self.weight.elements(), self.out_features, self.in_features)
    }

    /// Each thread computes rows of the product.
    fn multiply_rows(&self, y: &mut [f32], x: &[f32], b: Matrix, bias: Option<&[f32]>, accumulate: bool) {
        let (inner, columns) = (b.rows(), b.columns());
        let rows = self.layout.matrix_rows(y, columns);
        let multiply = |y: &mut [f32], x: &[f32]| {
            let rows = self.layout.matrix_rows(y, columns);
            self.layout.multiply(y, Matrix::strided(x, rows, inner, inner), b, bias, accumulate);
        };
        if self.split == Split::Rows {
            return multiply(y, x);
        }
        let partition = Partition::new(rows, self.macs_per_row(), usize::MAX);
        let chunks = partition.ranges().zip(partition.split_mut(y, columns));
        partition.map_chunks(chunks, |(rows, y)| multiply(y, rows.slice(x, inner)));
    }

    /// Each thread computes columns of a product, a block at a time, and adds them to those of `output`.
    fn add_by_columns<'a>(
        &'a self,
        output: &mut [f32],
        rows: usize,
        columns: usize,
        inner: usize,
        multiply: impl for<'b> Fn(&'b mut [f32], UnitRange) -> Matrix<'b> + Sync,
    ) {
        let partition = self.partition_columns(columns, rows * inner, ELEMENTS_PER_BLOCK / rows.max(1));
        let chunks = partition.ranges().zip(partition.split_columns_mut(output, 1));
        partition.map_chunks(chunks, |(columns, mut output)| {
            let mut product = Buffer::recycled(rows * columns.len());
            multiply(&mut product, columns).add_to_rows(&mut output);
        });
    }

    /// A partition of columns that has one thread if the rows are split already.
    fn partition_columns(&self, columns: usize, macs_per_column: usize, max_chunk_len: usize) -> Partition {
        match self.split {
            Split::Rows => Partition::whole(columns),
            Split::Columns => Partition::new(columns, macs_per_column, max_chunk_len),
        }
    }

    /// `(N, Out) -> (N, In)`: `dx = dy W`.
    pub fn backward_input(&self, dx: &mut [f32], dy: &[f32]) {
        self.multiply_backward(dx, dy, false);
    }

    /// `(N, Out) -> (N, In)`: `dx += dy W`.
    pub fn backward_input_accumulate(&self, dx: &mut [f32], dy: &[f32]) {
        self.multiply_backward(dx, dy, true);
    }

    fn multiply_backward(&self, dx: &mut [f32], dy: &[f32], accumulate: bool) {
        let rows = self.layout.matrix_rows(dx, self.in_features);
        if self.split == Split::Rows || rows > self.in_features {
            return self.multiply_rows(dx, dy, self.weight(), None, accumulate);
        }
        fill_rows(dx, None, self.in_features, accumulate);
        self.add_by_columns(dx, rows, self.in_features, self.out_features, |product, columns| {
            let weight = &self.weight.elements()[columns.start()..];
            let weight = Matrix::strided(weight, self.out_features, columns.len(), self.in_features);
            matmul(product, Matrix::new(dy, rows, self.out_features), weight, false);
            Matrix::new(product, rows, columns.len())
        });
    }

    /// `(N, Out), (N, In) -> (Out, In), (Out,)`: `dW += dyᵀ x`, `db += Σ dy`.
    pub fn backward_params(&self, gradient: &mut LinearGradient, dy: &[f32], x: &[f32]) {
        let rows = self.layout.matrix_rows(dy, self.out_features);
        let x = Matrix::strided(x, rows, self.in_features, self.in_features);
        let accumulate = !mem::take(&mut gradient.is_empty);
        let d_weight = match &mut gradient.weight {
            WeightGradient::Part(part) => &mut part[..],
            WeightGradient::Whole(whole) => &mut whole[..],
        };
        let partition = self.partition_columns(self.out_features, rows * self.in_features, usize::MAX);
        let row_len = d_weight.len() / self.out_features.max(1);
        let chunks = partition.ranges().zip(partition.split_mut(d_weight, row_len));
        partition.map_chunks(chunks, |(columns, d_weight)| {
            let dy = Matrix::strided(&dy[columns.start()..], rows, columns.len(), self.out_features);
            self.layout.multiply_over_rows(d_weight, dy.transposed(), x, accumulate);
        });
        if let Some(d_bias) = &mut gradient.bias {
            add_column_sums(d_bias, dy);
        }
    }

    /// Memory for a thread's part of the gradients: the gradient itself if this thread is the only one.
    pub fn new_gradient(&self, gradients: &mut Gradients<f32, Cpu>) -> Result<LinearGradient, CpuError> {
        let part_len = self.layout.partial_gradient_len(&self.weight);
        let whole = match self.split {
            Split::Columns => self.weight.take_gradient(gradients)?,
            Split::Rows => Vec::new(),
        };
        // It was taken already if another operand is the same tensor.
        let is_empty = whole.len() != part_len;
        let weight = match is_empty {
            true => WeightGradient::Part(Buffer::recycled(part_len)),
            false => WeightGradient::Whole(whole),
        };
        let bias = self.bias.as_ref().map(|bias| self.layout.zero_gradient(bias));
        Ok(LinearGradient { weight, bias, is_empty })
    }

    /// Adds a thread's part to the gradients.
    pub fn accumulate_gradient(
        &self,
        gradients: &mut Gradients<f32, Cpu>,
        gradient: LinearGradient,
    ) -> Result<(), CpuError> {
        match gradient.weight {
            WeightGradient::Whole(whole) => self.weight.put_gradient(gradients, whole)?,
            // Without rows the gradient is 0, but must exist.
            WeightGradient::Part(_) if gradient.is_empty => {
                gradients.get_or_alloc_mut(&self.weight.tensor)?;
            }
            WeightGradient::Part(part) => self.layout.accumulate_gradient(&self.weight, gradients, &part)?,
        }
        match (&self.bias, &gradient.bias) {
            (Some(bias), Some(part)) => self.layout.accumulate_gradient(bias, gradients, part),
            _ => Ok(()),
        }
    }
}

/// `(N, In) -> (N, Out)`: [`Linear::forward`] as one product for all sequences. The definition makes one
/// product for each sequence.
pub fn linear_kernel(input: Operand, linear: Linear) -> Result<KernelOutput, CpuError> {
    let (in_features, out_features) = (linear.in_features, linear.out_features);
    let rows = input.len() / in_features.max(1);
    let (layout, split) = (Layout::RowMajor, Split::choose(rows, rows));
    let linear = linear.pack(layout, split, rows);
    let partition = layout.partition(split, rows, linear.macs_per_row(), usize::MAX);
    let mut y = input.alloc_output(rows * out_features)?;
    let chunks = partition.ranges().zip(partition.split_mut(&mut y, out_features));
    partition.map_chunks(chunks, |(rows, y)| linear.forward(y, rows.slice(input.elements(), in_features)));
    let output = input.new_tensor(y)?;
    let linear = linear.drop_packed();

    Ok(with_backward(output, move |dy, gradients| {
        let mut dx = input.take_gradient(gradients)?;
        let chunks = izip!(partition.ranges(), partition.split_mut(&mut dx, in_features));
        let new_gradient = || linear.new_gradient(gradients);
        let parts = partition.try_map_threads(chunks, new_gradient, |mut gradient, chunks| {
            for (rows, dx) in chunks {
                let (x, dy) = (rows.slice(input.elements(), in_features), rows.slice(dy, out_features));
                linear.backward_input_accumulate(dx, dy);
                linear.backward_params(&mut gradient, dy, x);
            }
            gradient
        })?;
        input.put_gradient(gradients, dx)?;
        parts.into_iter().try_for_each(|part| linear.accumulate_gradient(gradients, part))
    }))
}
