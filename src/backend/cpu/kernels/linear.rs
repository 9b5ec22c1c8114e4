use crate::backend::cpu::{
    autograd::{Buffer, KernelOutput, Operand, Partition, with_backward},
    matmul::{Layout, Matrix},
    simd::{add_row, dispatch_simd, row_chunks, row_chunks_mut},
};
use dfdx::tensor::{Cpu, CpuError, Gradients};
use itertools::izip;
use std::mem;

/// The parameters of a linear layer: weight `(Out, In)` and bias `(Out,)`.
pub struct Linear {
    weight: Operand,
    bias: Option<Operand>,
    in_features: usize,
    out_features: usize,
    layout: Layout,
    /// Transposed copy of the weight; made only for enough rows to be worth it.
    weight_t: Option<Buffer>,
}

/// A thread's part of the gradients of a linear layer.
pub struct LinearGradient {
    weight: Buffer,
    bias: Option<Buffer>,
    /// Whether `weight` is still unwritten. The first product overwrites it, which is cheaper than adding to
    /// zeros.
    is_empty: bool,
}

impl Linear {
    pub fn new(weight: Operand, bias: Option<Operand>, in_features: usize, out_features: usize) -> Self {
        Self { weight, bias, in_features, out_features, layout: Layout::RowMajor, weight_t: None }
    }

    /// Prepares the weight for a forward pass on `rows` rows in a layout.
    pub fn pack(self, layout: Layout, rows: usize) -> Self {
        // gemm reads the weight column by column. With long rows these accesses miss the cache.
        let min_rows_to_pack = if self.in_features >= 256 { 128 } else { 1024 };
        let weight_t = (layout == Layout::RowMajor && rows >= min_rows_to_pack)
            .then(|| transpose_copy(self.weight.elements(), self.out_features, self.in_features));
        Self { layout, weight_t, ..self }
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

    pub fn macs_per_row(&self) -> usize {
        self.in_features * self.out_features
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
        let x = Matrix::strided(x, rows, self.in_features, self.in_features);
        let bias = self.bias.as_ref().map(Operand::elements);
        let weight_t = match &self.weight_t {
            Some(weight_t) => Matrix::new(weight_t, self.in_features, self.out_features),
            None => self.weight().transposed(),
        };
        self.layout.multiply(y, x, weight_t, bias, accumulate);
    }

    fn weight(&self) -> Matrix<'_> {
        Matrix::new(self.weight.elements(), self.out_features, self.in_features)
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
        let dy = Matrix::strided(dy, rows, self.out_features, self.out_features);
        self.layout.multiply(dx, dy, self.weight(), None, accumulate);
    }

    /// `(N, Out), (N, In) -> (Out, In), (Out,)`: `dW += dyᵀ x`, `db += Σ dy`.
    pub fn backward_params(&self, gradient: &mut LinearGradient, dy: &[f32], x: &[f32]) {
        let rows = self.layout.matrix_rows(dy, self.out_features);
        let dy_rows = Matrix::strided(dy, rows, self.out_features, self.out_features);
        let x = Matrix::strided(x, rows, self.in_features, self.in_features);
        let accumulate = !mem::take(&mut gradient.is_empty);
        self.layout.multiply_over_rows(&mut gradient.weight, dy_rows.transposed(), x, accumulate);
        if let Some(d_bias) = &mut gradient.bias {
            add_column_sums(d_bias, dy);
        }
    }

    /// Memory for a thread's part of the gradients.
    pub fn new_gradient(&self) -> LinearGradient {
        LinearGradient {
            weight: Buffer::recycled(self.layout.partial_gradient_len(&self.weight)),
            bias: self.bias.as_ref().map(|bias| self.layout.zero_gradient(bias)),
            is_empty: true,
        }
    }

    /// Adds a thread's part to the gradients.
    pub fn accumulate_gradient(
        &self,
        gradients: &mut Gradients<f32, Cpu>,
        gradient: &LinearGradient,
    ) -> Result<(), CpuError> {
        if gradient.is_empty {
            // Without rows the gradients are 0, but must exist.
            for parameter in [Some(&self.weight), self.bias.as_ref()].into_iter().flatten() {
                gradients.get_or_alloc_mut(&parameter.tensor)?;
            }
            return Ok(());
        }
        self.layout.accumulate_gradient(&self.weight, gradients, &gradient.weight)?;
        match (&self.bias, &gradient.bias) {
            (Some(bias), Some(part)) => self.layout.accumulate_gradient(bias, gradients, part),
            _ => Ok(()),
        }
    }
}

/// `(N, Width) -> (Width,)`: `sums += Σ rows`.
fn add_column_sums(sums: &mut [f32], rows: &[f32]) {
    /// Partial sums lose less precision, because adding to a large sum rounds more.
    const ROWS_PER_PARTIAL_SUM: usize = 64;
    let width = sums.len().max(1);
    let mut partial = Buffer::recycled(sums.len());
    dispatch_simd(
        #[inline(always)]
        || {
            for rows in rows.chunks(ROWS_PER_PARTIAL_SUM * width) {
                partial.fill(0.0);
                for row in rows.chunks_exact(width) {
                    add_row(&mut partial, row);
                }
                add_row(sums, &partial);
            }
        },
    );
}

/// `(Rows, Columns) -> (Columns, Rows)`.
fn transpose_copy(elements: &[f32], rows: usize, columns: usize) -> Buffer {
    /// Rows of a block. One element of each row fills a cache line of the result.
    const TRANSPOSE_BLOCK: usize = 16;
    /// The cost of an element, in multiply-adds.
    const MACS_PER_ELEMENT: usize = 32;
    let mut result = Buffer::recycled(elements.len());
    let partition = Partition::new(columns, MACS_PER_ELEMENT * rows, usize::MAX);
    let chunk_len = partition.chunk_len();
    let chunks = partition.split_mut(&mut result, rows).enumerate();
    partition.map_chunks(chunks, |(chunk, result)| {
        for (i, block) in row_chunks(elements, TRANSPOSE_BLOCK * columns).enumerate() {
            let block = &block[chunk * chunk_len..];
            for (column, result) in row_chunks_mut(result, rows).enumerate() {
                let column = block[column..].iter().step_by(columns);
                for (to, element) in result[i * TRANSPOSE_BLOCK..].iter_mut().zip(column) {
                    *to = *element;
                }
            }
        }
    });
    result
}

/// `(N, In) -> (N, Out)`: [`Linear::forward`] as one product for all sequences. The definition makes one
/// product for each sequence.
pub fn linear_kernel(input: Operand, linear: Linear) -> Result<KernelOutput, CpuError> {
    let (in_features, out_features) = (linear.in_features, linear.out_features);
    let rows = input.len() / in_features.max(1);
    let linear = linear.pack(Layout::RowMajor, rows);
    let partition = Partition::new(rows, linear.macs_per_row(), usize::MAX);
    let mut y = input.alloc_output(rows * out_features)?;
    let chunks = partition.ranges().zip(partition.split_mut(&mut y, out_features));
    partition.map_chunks(chunks, |(rows, y)| linear.forward(y, rows.of(input.elements(), in_features)));
    let output = input.new_tensor(y)?;
    let linear = linear.drop_packed();

    Ok(with_backward(output, move |dy, gradients| {
        let mut dx = input.take_gradient(gradients)?;
        let chunks = izip!(partition.ranges(), partition.split_mut(&mut dx, in_features));
        let parts = partition.map_threads(chunks, |chunks| {
            let mut gradient = linear.new_gradient();
            for (rows, dx) in chunks {
                let (x, dy) = (rows.of(input.elements(), in_features), rows.of(dy, out_features));
                linear.backward_input_accumulate(dx, dy);
                linear.backward_params(&mut gradient, dy, x);
            }
            gradient
        });
        input.put_gradient(gradients, dx)?;
        parts.iter().try_for_each(|part| linear.accumulate_gradient(gradients, part))
    }))
}
