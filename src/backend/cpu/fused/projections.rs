//! The projections of an attention.

use crate::{
    autograd::Split,
    kernels::{Linear, LinearGradient, attention::AttentionDims},
    matmul::Layout,
};
use dfdx::tensor::{Cpu, CpuError, Gradients};

/// One value for each of the query, key, value and output projections.
pub struct Projections<T> {
    pub query: T,
    pub key: T,
    pub value: T,
    pub output: T,
}

impl Projections<Linear> {
    pub fn pack(self, layout: Layout, split: Split, query_rows: usize, key_rows: usize) -> Self {
        Self {
            query: self.query.pack(layout, split, query_rows),
            key: self.key.pack(layout, split, key_rows),
            value: self.value.pack(layout, split, key_rows),
            output: self.output.pack(layout, split, query_rows),
        }
    }

    pub fn drop_packed(self) -> Self {
        Self {
            query: self.query.drop_packed(),
            key: self.key.drop_packed(),
            value: self.value.drop_packed(),
            output: self.output.drop_packed(),
        }
    }

    /// Multiply-adds for one sequence.
    pub fn macs(&self, dims: AttentionDims) -> usize {
        dims.queries * (self.query.macs_per_row() + self.output.macs_per_row())
            + dims.keys * (self.key.macs_per_row() + self.value.macs_per_row())
    }

    pub fn new_gradient(&self, gradients: &mut Gradients<f32, Cpu>) -> Result<Projections<LinearGradient>, CpuError> {
        Ok(Projections {
            query: self.query.new_gradient(gradients)?,
            key: self.key.new_gradient(gradients)?,
            value: self.value.new_gradient(gradients)?,
            output: self.output.new_gradient(gradients)?,
        })
    }

    pub fn accumulate_gradient(
        &self,
        gradients: &mut Gradients<f32, Cpu>,
        part: Projections<LinearGradient>,
    ) -> Result<(), CpuError> {
        self.query.accumulate_gradient(gradients, part.query)?;
        self.key.accumulate_gradient(gradients, part.key)?;
        self.value.accumulate_gradient(gradients, part.value)?;
        self.output.accumulate_gradient(gradients, part.output)
    }
}
