use super::{
    add_assign,
    buffer::Buffer,
    lanes::{dot, sum},
    leaf::{Leaf, Output},
    parallel::Share,
    rows_mut, rows_of, vectorized,
};
use crate::{backend::Normalize, dims::ConstDim, ops::NormKind};
use dfdx::tensor::{Cpu, CpuError, Gradients, Tape};
use itertools::izip;
use std::mem;

/// What a row costs for each element, in multiply-adds.
const COST: usize = 8;

/// Two passes over each row while it is in the cache, where the definition makes ten over memory.
pub fn norm(input: Leaf, norm: Norm) -> Result<Output, CpuError> {
    let rows = input.elements.len() / norm.width();
    let share = Share::new(rows, COST * norm.width(), usize::MAX);
    let width = share.chunk * norm.width();
    let mut y = input.room(input.elements.len())?;
    y.copy_from_slice(&input.elements);
    let mut normal = Buffer::new(y.len());
    let mut scales = Buffer::new(rows);
    let chunks = izip!(
        rows_mut(&mut y, width),
        rows_mut(&mut normal, width),
        rows_mut(&mut scales, share.chunk),
    );
    share.for_each(chunks, |chunks| {
        for (y, normal, scales) in chunks {
            norm.forward(y, normal, scales);
        }
    });
    let output = input.beside(y)?;

    let (input, out) = (input.tensor.ghost(), output.ghost());
    let backward = move |gradients: &mut Gradients<f32, Cpu>| {
        let dy = mem::take(&mut **gradients.get_or_alloc_mut(&out)?);
        let mut dx = Buffer::new(dy.len());
        let chunks = izip!(
            rows_of(&dy, width),
            rows_of(&normal, width),
            rows_of(&scales, share.chunk),
            rows_mut(&mut dx, width),
        );
        let parts = share.for_each(chunks, |chunks| {
            let mut gradient = norm.zeros();
            for (dy, normal, scales, dx) in chunks {
                norm.backward(dy, normal, scales, dx, &mut gradient);
            }
            gradient
        });
        **gradients.get_or_alloc_mut(&out)? = dy;
        add_assign(gradients.get_or_alloc_mut(&input)?, &dx);
        parts.iter().try_for_each(|part| norm.add(gradients, part))
    };
    Ok((output, Box::new(backward)))
}

/// The parameters of a norm.
pub struct Norm {
    kind: NormKind,
    epsilon: f32,
    weight: Leaf,
    bias: Option<Leaf>,
}

/// Their gradients.
pub struct NormGradient {
    weight: Buffer,
    bias: Option<Buffer>,
}

impl Norm {
    pub fn read<M: ConstDim, T: Tape<f32, Cpu>>(
        norm: &Normalize<'_, M, f32, Cpu>,
        tape: &mut T,
    ) -> Result<Self, CpuError> {
        let weight = Leaf::parameter(norm.weight, tape)?;
        let bias = norm
            .bias
            .map(|bias| Leaf::parameter(bias, tape))
            .transpose()?;
        Ok(Self {
            kind: norm.kind,
            epsilon: norm.epsilon as f32,
            weight,
            bias,
        })
    }

    /// The size of a row.
    pub fn width(&self) -> usize {
        self.weight.elements.len().max(1)
    }

    /// Normalizes the rows of `values` in place; `normal` is left with what the weight was multiplied
    /// with, `scales` with what a row was multiplied with.
    pub fn forward(&self, values: &mut [f32], normal: &mut [f32], scales: &mut [f32]) {
        let width = self.width();
        vectorized(
            #[inline(always)]
            || {
                let rows = values
                    .chunks_exact_mut(width)
                    .zip(normal.chunks_exact_mut(width));
                for ((values, normal), scale) in rows.zip(scales.iter_mut()) {
                    let mean = match self.kind {
                        NormKind::LayerNorm => sum(values) / width as f32,
                        NormKind::RmsNorm => 0.0,
                    };
                    for (normal, value) in normal.iter_mut().zip(values.iter()) {
                        *normal = value - mean;
                    }
                    let variance = dot(normal, normal) / width as f32;
                    *scale = 1.0 / (variance + self.epsilon).sqrt();
                    for normal in normal.iter_mut() {
                        *normal *= *scale;
                    }
                    self.apply_row(normal, values);
                }
            },
        );
    }

    /// What [`forward`](Self::forward) made of the values, from what it left in `normal`.
    pub fn apply(&self, normal: &[f32], output: &mut [f32]) {
        let width = self.width();
        vectorized(
            #[inline(always)]
            || {
                let rows = normal.chunks_exact(width);
                for (normal, output) in rows.zip(output.chunks_exact_mut(width)) {
                    self.apply_row(normal, output);
                }
            },
        );
    }

    #[inline(always)]
    fn apply_row(&self, normal: &[f32], output: &mut [f32]) {
        for ((output, normal), weight) in output
            .iter_mut()
            .zip(normal)
            .zip(self.weight.elements.iter())
        {
            *output = normal * weight;
        }
        if let Some(bias) = &self.bias {
            for (output, bias) in output.iter_mut().zip(bias.elements.iter()) {
                *output += bias;
            }
        }
    }

    /// `dx` becomes the gradient of the input, from that of the output.
    pub fn backward(
        &self,
        dy: &[f32],
        normal: &[f32],
        scales: &[f32],
        dx: &mut [f32],
        gradient: &mut NormGradient,
    ) {
        let width = self.width();
        let centered = self.kind == NormKind::LayerNorm;
        vectorized(
            #[inline(always)]
            || {
                let rows = dy.chunks_exact(width).zip(normal.chunks_exact(width));
                let rows = rows.zip(dx.chunks_exact_mut(width)).zip(scales);
                for (((dy, normal), dx), scale) in rows {
                    for ((dx, dy), weight) in dx.iter_mut().zip(dy).zip(self.weight.elements.iter())
                    {
                        *dx = dy * weight;
                    }
                    let mean = if centered {
                        sum(dx) / width as f32
                    } else {
                        0.0
                    };
                    let slope = dot(dx, normal) / width as f32;
                    for (dx, normal) in dx.iter_mut().zip(normal) {
                        *dx = scale * (*dx - mean - slope * normal);
                    }
                    for ((dw, dy), normal) in gradient.weight.iter_mut().zip(dy).zip(normal) {
                        *dw += dy * normal;
                    }
                    if let Some(db) = &mut gradient.bias {
                        for (db, dy) in db.iter_mut().zip(dy) {
                            *db += dy;
                        }
                    }
                }
            },
        );
    }

    pub fn zeros(&self) -> NormGradient {
        NormGradient {
            weight: self.weight.zeros(),
            bias: self.bias.as_ref().map(Leaf::zeros),
        }
    }

    pub fn add(
        &self,
        gradients: &mut Gradients<f32, Cpu>,
        gradient: &NormGradient,
    ) -> Result<(), CpuError> {
        self.weight.add(gradients, &gradient.weight)?;
        match (&self.bias, &gradient.bias) {
            (Some(bias), Some(gradient)) => bias.add(gradients, gradient),
            _ => Ok(()),
        }
    }
}
