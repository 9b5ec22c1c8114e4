use super::{
    add_row, buffer::Buffer, layout::Layout, leaf::Leaf, matmul::Matrix, parallel::Share, rows_mut, rows_of,
    vectorized,
};
use crate::{backend::LinearParams, dims::ConstDim};
use dfdx::tensor::{Cpu, CpuError, Gradients, Tape};
use std::mem;

/// The parameters of a linear map.
pub struct Map {
    weight: Leaf,
    bias: Option<Leaf>,
    inputs: usize,
    outputs: usize,
    layout: Layout,
    /// The weight with rows and columns exchanged, if there are so many rows to multiply that a product
    /// is faster by more than this takes.
    exchanged: Option<Buffer>,
}

/// Their gradients.
pub struct MapGradient {
    weight: Buffer,
    bias: Option<Buffer>,
    /// Whether nothing was put in `weight` yet, which costs less than to fill it with zeros.
    is_new: bool,
}

impl Map {
    pub fn read<InDim: ConstDim, OutDim: ConstDim, T: Tape<f32, Cpu>>(
        map: &LinearParams<'_, InDim, OutDim, f32, Cpu>,
        tape: &mut T,
    ) -> Result<Self, CpuError> {
        let weight = Leaf::parameter(map.weight, tape)?;
        let bias = map.bias.map(|bias| Leaf::parameter(bias, tape)).transpose()?;
        Ok(Self {
            weight,
            bias,
            inputs: InDim::SIZE,
            outputs: OutDim::SIZE,
            layout: Layout::Rows,
            exchanged: None,
        })
    }

    /// For so many rows that lie so.
    pub fn prepared(self, layout: Layout, rows: usize) -> Self {
        // gemm reads column by column, and of numbers that far apart the cache keeps few.
        let many = if self.inputs >= 256 { 128 } else { 1024 };
        let exchanged = (layout == Layout::Rows && rows >= many)
            .then(|| exchanged(&self.weight.elements, self.outputs, self.inputs));
        Self { layout, exchanged, ..self }
    }

    /// Of a weight alone.
    #[cfg(test)]
    pub fn of(weight: Leaf, inputs: usize, outputs: usize) -> Self {
        Self { weight, bias: None, inputs, outputs, layout: Layout::Rows, exchanged: None }
    }

    /// After the forward pass, which alone needs all that was prepared.
    pub fn finished(self) -> Self {
        Self { exchanged: None, ..self }
    }

    /// The size of what it reads.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The size of what it makes of it.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Multiply-adds for each row.
    pub fn cost(&self) -> usize {
        self.inputs * self.outputs
    }

    fn weight(&self) -> Matrix<'_> {
        Matrix::new(&self.weight.elements, self.outputs, self.inputs)
    }

    /// `y = x Wᵀ + b`.
    pub fn forward(&self, x: &[f32], y: &mut [f32]) {
        self.multiply_forward(x, y, false);
    }

    /// `y += x Wᵀ + b`.
    pub fn forward_add(&self, x: &[f32], y: &mut [f32]) {
        self.multiply_forward(x, y, true);
    }

    fn multiply_forward(&self, x: &[f32], y: &mut [f32], accumulate: bool) {
        let rows = self.layout.rows(y, self.outputs);
        let x = Matrix::strided(x, rows, self.inputs, self.inputs);
        let bias = self.bias.as_ref().map(|bias| &*bias.elements);
        let weight = match &self.exchanged {
            Some(exchanged) => Matrix::new(exchanged, self.inputs, self.outputs),
            None => self.weight().transposed(),
        };
        self.layout.multiply(y, x, weight, bias, accumulate);
    }

    /// `dx += dy W`.
    pub fn backward_input(&self, dy: &[f32], dx: &mut [f32]) {
        self.multiply_backward(dy, dx, true);
    }

    /// `dx = dy W`.
    pub fn backward_only_input(&self, dy: &[f32], dx: &mut [f32]) {
        self.multiply_backward(dy, dx, false);
    }

    fn multiply_backward(&self, dy: &[f32], dx: &mut [f32], accumulate: bool) {
        let rows = self.layout.rows(dx, self.inputs);
        let dy = Matrix::strided(dy, rows, self.outputs, self.outputs);
        let weight = self.weight();
        self.layout.multiply(dx, dy, weight, None, accumulate);
    }

    /// `dW += dyᵀ x`, `db += Σ dy`.
    pub fn backward(&self, dy: &[f32], x: &[f32], gradient: &mut MapGradient) {
        let rows = self.layout.rows(dy, self.outputs);
        let of_rows = Matrix::strided(dy, rows, self.outputs, self.outputs);
        let x = Matrix::strided(x, rows, self.inputs, self.inputs);
        let accumulate = !mem::take(&mut gradient.is_new);
        let to = &mut gradient.weight;
        self.layout.sum_over_rows(to, of_rows.transposed(), x, accumulate);
        if let Some(bias) = &mut gradient.bias {
            // Some rows at a time: the larger a sum is, the more a row that is added to it is rounded.
            const AT_ONCE: usize = 64;
            let width = bias.len().max(1);
            let mut some = Buffer::new(bias.len());
            vectorized(
                #[inline(always)]
                || {
                    for rows in dy.chunks(AT_ONCE * width) {
                        some.fill(0.0);
                        for row in rows.chunks_exact(width) {
                            add_row(&mut some, row);
                        }
                        add_row(bias, &some);
                    }
                },
            );
        }
    }

    /// Room for their gradients.
    pub fn gradient(&self) -> MapGradient {
        MapGradient {
            weight: Buffer::new(self.layout.numbers(&self.weight)),
            bias: self.bias.as_ref().map(|bias| self.layout.zeros(bias)),
            is_new: true,
        }
    }

    pub fn add(&self, gradients: &mut Gradients<f32, Cpu>, gradient: &MapGradient) -> Result<(), CpuError> {
        if gradient.is_new {
            // No rows, and so a gradient of 0, which is to be found all the same.
            for leaf in [Some(&self.weight), self.bias.as_ref()].into_iter().flatten() {
                gradients.get_or_alloc_mut(&leaf.tensor)?;
            }
            return Ok(());
        }
        self.layout.add(&self.weight, gradients, &gradient.weight)?;
        match (&self.bias, &gradient.bias) {
            (Some(bias), Some(gradient)) => self.layout.add(bias, gradients, gradient),
            _ => Ok(()),
        }
    }
}

/// A matrix with rows and columns exchanged.
fn exchanged(elements: &[f32], rows: usize, columns: usize) -> Buffer {
    /// As many rows as fill a line of the cache with an element each.
    const AT_ONCE: usize = 16;
    /// What an element costs, in multiply-adds.
    const COST: usize = 32;
    let mut result = Buffer::new(elements.len());
    let share = Share::new(columns, COST * rows, usize::MAX);
    let chunks = rows_mut(&mut result, share.chunk * rows).enumerate();
    share.for_each(chunks, |chunks| {
        for (chunk, result) in chunks {
            for (block, some) in rows_of(elements, AT_ONCE * columns).enumerate() {
                let some = &some[chunk * share.chunk..];
                for (column, result) in rows_mut(result, rows).enumerate() {
                    let elements = some[column..].iter().step_by(columns);
                    let result = &mut result[block * AT_ONCE..];
                    for (to, element) in result.iter_mut().zip(elements) {
                        *to = *element;
                    }
                }
            }
        }
    });
    result
}
