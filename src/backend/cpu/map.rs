use super::{
    add_assign,
    buffer::Buffer,
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
        self.multiply(x, y, self.bias.is_some());
    }

    /// `y += x Wᵀ + b`.
    pub fn forward_add(&self, x: &[f32], y: &mut [f32]) {
        if let Some(bias) = &self.bias {
            y.chunks_exact_mut(self.outputs.max(1))
                .for_each(|row| add_assign(row, &bias.elements));
        }
        self.multiply(x, y, true);
    }

    fn multiply(&self, x: &[f32], y: &mut [f32], accumulate: bool) {
        let rows = y.len() / self.outputs.max(1);
        let x = Matrix::new(x, rows, self.inputs);
        matmul(y, x, self.weight().transposed(), accumulate);
    }

    /// `dx += dy W`.
    pub fn backward_input(&self, dy: &[f32], dx: &mut [f32]) {
        self.multiply_back(dy, dx, true);
    }

    /// `dx = dy W`.
    pub fn backward_only_input(&self, dy: &[f32], dx: &mut [f32]) {
        self.multiply_back(dy, dx, false);
    }

    fn multiply_back(&self, dy: &[f32], dx: &mut [f32], accumulate: bool) {
        let rows = dx.len() / self.inputs.max(1);
        let dy = Matrix::new(dy, rows, self.outputs);
        matmul(dx, dy, self.weight(), accumulate);
    }

    /// `dW += dyᵀ x`, `db += Σ dy`.
    pub fn backward(&self, dy: &[f32], x: &[f32], gradient: &mut MapGradient) {
        let rows = dy.len() / self.outputs.max(1);
        let dy_rows = Matrix::new(dy, rows, self.outputs);
        let x = Matrix::new(x, rows, self.inputs);
        matmul(&mut gradient.weight, dy_rows.transposed(), x, true);
        if let Some(bias) = &mut gradient.bias {
            dy.chunks_exact(self.outputs.max(1))
                .for_each(|row| add_assign(bias, row));
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
