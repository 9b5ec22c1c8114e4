use super::{
    add_assign,
    buffer::Buffer,
    lanes::sum,
    leaf::Leaf,
    matmul::{Matrix, matmul},
};
use crate::{backend::Affine, dims::ConstDim};
use dfdx::tensor::{Cpu, CpuError, Gradients, Tape};

/// The parameters of a linear map.
pub struct Map {
    weight: Leaf,
    bias: Option<Leaf>,
    inputs: usize,
    outputs: usize,
}

/// Their gradients.
pub struct MapGradient {
    weight: Buffer,
    bias: Option<Buffer>,
}

impl Map {
    pub fn read<InDim: ConstDim, OutDim: ConstDim, T: Tape<f32, Cpu>>(
        map: &Affine<'_, InDim, OutDim, f32, Cpu>,
        tape: &mut T,
    ) -> Result<Self, CpuError> {
        let weight = Leaf::parameter(map.weight, tape)?;
        let bias = map
            .bias
            .map(|bias| Leaf::parameter(bias, tape))
            .transpose()?;
        Ok(Self {
            weight,
            bias,
            inputs: InDim::SIZE,
            outputs: OutDim::SIZE,
        })
    }

    /// Of a weight alone.
    #[cfg(test)]
    pub fn of(weight: Leaf, inputs: usize, outputs: usize) -> Self {
        Self {
            weight,
            bias: None,
            inputs,
            outputs,
        }
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
        if let Some(bias) = &self.bias {
            y.chunks_exact_mut(self.outputs.max(1))
                .for_each(|row| row.copy_from_slice(&bias.elements));
        }
        let x = Matrix::new(x, y.len() / self.outputs.max(1), self.inputs);
        matmul(y, x, self.weight().transposed(), self.bias.is_some());
    }

    /// The same, column by column.
    pub fn forward_to_columns(&self, x: &[f32], y: &mut [f32]) {
        let rows = y.len() / self.outputs.max(1);
        if let Some(bias) = &self.bias {
            let columns = y.chunks_exact_mut(rows.max(1));
            columns
                .zip(bias.elements.iter())
                .for_each(|(column, bias)| column.fill(*bias));
        }
        let x = Matrix::new(x, rows, self.inputs);
        matmul(y, self.weight(), x.transposed(), self.bias.is_some());
    }

    /// `y += x Wᵀ + b`.
    pub fn forward_add(&self, x: &[f32], y: &mut [f32]) {
        let rows = y.len() / self.outputs.max(1);
        self.add_forward(Matrix::new(x, rows, self.inputs), y);
    }

    /// The same, where `x` lies column by column.
    pub fn forward_add_from_columns(&self, x: &[f32], y: &mut [f32]) {
        let rows = y.len() / self.outputs.max(1);
        self.add_forward(Matrix::new(x, self.inputs, rows).transposed(), y);
    }

    fn add_forward(&self, x: Matrix, y: &mut [f32]) {
        if let Some(bias) = &self.bias {
            y.chunks_exact_mut(self.outputs.max(1))
                .for_each(|row| add_assign(row, &bias.elements));
        }
        matmul(y, x, self.weight().transposed(), true);
    }

    /// `dx += dy W`.
    pub fn backward_input(&self, dy: &[f32], dx: &mut [f32]) {
        let rows = dx.len() / self.inputs.max(1);
        let dy = Matrix::new(dy, rows, self.outputs);
        matmul(dx, dy, self.weight(), true);
    }

    /// The same, where `dy` lies column by column.
    pub fn backward_input_from_columns(&self, dy: &[f32], dx: &mut [f32]) {
        let rows = dx.len() / self.inputs.max(1);
        let dy = Matrix::new(dy, self.outputs, rows).transposed();
        matmul(dx, dy, self.weight(), true);
    }

    /// `dx = dy W`.
    pub fn backward_only_input(&self, dy: &[f32], dx: &mut [f32]) {
        let rows = dx.len() / self.inputs.max(1);
        let dy = Matrix::new(dy, rows, self.outputs);
        matmul(dx, dy, self.weight(), false);
    }

    /// The same, `dx` column by column.
    pub fn backward_only_input_to_columns(&self, dy: &[f32], dx: &mut [f32]) {
        let rows = dx.len() / self.inputs.max(1);
        let dy = Matrix::new(dy, rows, self.outputs);
        matmul(dx, self.weight().transposed(), dy.transposed(), false);
    }

    /// `dW += dyᵀ x`, `db += Σ dy`.
    pub fn backward(&self, dy: &[f32], x: &[f32], gradient: &mut MapGradient) {
        let rows = dy.len() / self.outputs.max(1);
        let x = Matrix::new(x, rows, self.inputs);
        self.backward_from(dy, x, gradient);
    }

    /// The same, where `x` lies column by column.
    pub fn backward_of_columns(&self, dy: &[f32], x: &[f32], gradient: &mut MapGradient) {
        let rows = dy.len() / self.outputs.max(1);
        let x = Matrix::new(x, self.inputs, rows).transposed();
        self.backward_from(dy, x, gradient);
    }

    fn backward_from(&self, dy: &[f32], x: Matrix, gradient: &mut MapGradient) {
        let dy_rows = Matrix::new(dy, x.rows(), self.outputs);
        matmul(&mut gradient.weight, dy_rows.transposed(), x, true);
        if let Some(bias) = &mut gradient.bias {
            dy.chunks_exact(self.outputs.max(1))
                .for_each(|row| add_assign(bias, row));
        }
    }

    /// [`backward`](Self::backward), where `dy` lies column by column.
    pub fn backward_from_columns(&self, dy: &[f32], x: &[f32], gradient: &mut MapGradient) {
        let rows = dy.len() / self.outputs.max(1);
        let columns = Matrix::new(dy, self.outputs, rows);
        matmul(
            &mut gradient.weight,
            columns,
            Matrix::new(x, rows, self.inputs),
            true,
        );
        if let Some(bias) = &mut gradient.bias {
            let columns = dy.chunks_exact(rows.max(1));
            bias.iter_mut()
                .zip(columns)
                .for_each(|(bias, column)| *bias += sum(column));
        }
    }

    pub fn zeros(&self) -> MapGradient {
        MapGradient {
            weight: self.weight.zeros(),
            bias: self.bias.as_ref().map(Leaf::zeros),
        }
    }

    pub fn add(
        &self,
        gradients: &mut Gradients<f32, Cpu>,
        gradient: &MapGradient,
    ) -> Result<(), CpuError> {
        self.weight.add(gradients, &gradient.weight)?;
        match (&self.bias, &gradient.bias) {
            (Some(bias), Some(gradient)) => bias.add(gradients, gradient),
            _ => Ok(()),
        }
    }
}
