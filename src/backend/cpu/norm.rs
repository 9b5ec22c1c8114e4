use super::{
    add_assign,
    buffer::Buffer,
    lanes::{dot, sum},
    layout::Layout,
    leaf::{Leaf, Output},
    parallel::Share,
    rows_mut, rows_of, vectorized,
};
use crate::{
    backend::{NormKind, NormParams},
    dims::ConstDim,
};
use dfdx::tensor::{Cpu, CpuError, Gradients, Tape};
use itertools::izip;
use pulp::{Arch, Simd, WithSimd};
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
    let chunks =
        izip!(rows_mut(&mut y, width), rows_mut(&mut normal, width), rows_mut(&mut scales, share.chunk),);
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
    layout: Layout,
}

/// Their gradients.
pub struct NormGradient {
    weight: Buffer,
    bias: Option<Buffer>,
}

impl Norm {
    pub fn read<M: ConstDim, T: Tape<f32, Cpu>>(
        norm: &NormParams<'_, M, f32, Cpu>,
        tape: &mut T,
    ) -> Result<Self, CpuError> {
        let weight = Leaf::parameter(norm.weight, tape)?;
        let bias = norm.bias.map(|bias| Leaf::parameter(bias, tape)).transpose()?;
        Ok(Self { kind: norm.kind, epsilon: norm.epsilon as f32, weight, bias, layout: Layout::Rows })
    }

    /// For rows that lie so.
    pub fn laid_out(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }

    /// The size of a row.
    pub fn width(&self) -> usize {
        self.weight.elements.len().max(1)
    }

    /// Normalizes the rows of `values` in place; `normal` is left with what the weight was multiplied
    /// with, `scales` with what a row was multiplied with.
    pub fn forward(&self, values: &mut [f32], normal: &mut [f32], scales: &mut [f32]) {
        let width = self.width();
        if self.layout != Layout::Rows {
            return Arch::new().dispatch(ForwardInLanes { norm: self, values, normal, scales });
        }
        vectorized(
            #[inline(always)]
            || {
                let rows = values.chunks_exact_mut(width).zip(normal.chunks_exact_mut(width));
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
        if self.layout != Layout::Rows {
            return Arch::new().dispatch(ApplyInLanes { norm: self, normal, output });
        }
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
        for ((output, normal), weight) in output.iter_mut().zip(normal).zip(self.weight.elements.iter()) {
            *output = normal * weight;
        }
        if let Some(bias) = &self.bias {
            for (output, bias) in output.iter_mut().zip(bias.elements.iter()) {
                *output += bias;
            }
        }
    }

    #[inline(always)]
    fn apply_in_lanes<S: Simd>(&self, simd: S, normal: &[S::f32s], output: &mut [S::f32s]) {
        let weights = self.weight.elements.iter();
        for ((output, normal), weight) in output.iter_mut().zip(normal).zip(weights) {
            *output = simd.mul_f32s(*normal, simd.splat_f32s(*weight));
        }
        if let Some(bias) = &self.bias {
            for (output, bias) in output.iter_mut().zip(bias.elements.iter()) {
                *output = simd.add_f32s(*output, simd.splat_f32s(*bias));
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
        if self.layout != Layout::Rows {
            return Arch::new().dispatch(BackwardInLanes { norm: self, dy, normal, scales, dx, gradient });
        }
        vectorized(
            #[inline(always)]
            || {
                let rows = dy.chunks_exact(width).zip(normal.chunks_exact(width));
                let rows = rows.zip(dx.chunks_exact_mut(width)).zip(scales);
                for (((dy, normal), dx), scale) in rows {
                    for ((dx, dy), weight) in dx.iter_mut().zip(dy).zip(self.weight.elements.iter()) {
                        *dx = dy * weight;
                    }
                    let mean = if centered { sum(dx) / width as f32 } else { 0.0 };
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
            weight: self.layout.zeros(&self.weight),
            bias: self.bias.as_ref().map(|bias| self.layout.zeros(bias)),
        }
    }

    pub fn add(&self, gradients: &mut Gradients<f32, Cpu>, gradient: &NormGradient) -> Result<(), CpuError> {
        self.layout.add(&self.weight, gradients, &gradient.weight)?;
        match (&self.bias, &gradient.bias) {
            (Some(bias), Some(gradient)) => self.layout.add(bias, gradients, gradient),
            _ => Ok(()),
        }
    }
}

/// [`Norm::forward`] where each number of a row is a vector.
struct ForwardInLanes<'a> {
    norm: &'a Norm,
    values: &'a mut [f32],
    normal: &'a mut [f32],
    scales: &'a mut [f32],
}

impl WithSimd for ForwardInLanes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let width = self.norm.width();
        let zero = simd.splat_f32s(0.0);
        let share = simd.splat_f32s(1.0 / width as f32);
        let epsilon = simd.splat_f32s(self.norm.epsilon);
        let rows = S::as_mut_simd_f32s(self.values)
            .0
            .chunks_exact_mut(width)
            .zip(S::as_mut_simd_f32s(self.normal).0.chunks_exact_mut(width))
            .zip(S::as_mut_simd_f32s(self.scales).0);
        for ((values, normal), scale) in rows {
            let mut mean = zero;
            if self.norm.kind == NormKind::LayerNorm {
                for value in values.iter() {
                    mean = simd.add_f32s(mean, *value);
                }
                mean = simd.mul_f32s(mean, share);
            }
            let mut variance = zero;
            for (normal, value) in normal.iter_mut().zip(values.iter()) {
                *normal = simd.sub_f32s(*value, mean);
                variance = simd.mul_add_e_f32s(*normal, *normal, variance);
            }
            let variance = simd.mul_add_e_f32s(variance, share, epsilon);
            *scale = simd.div_f32s(simd.splat_f32s(1.0), simd.sqrt_f32s(variance));
            for normal in normal.iter_mut() {
                *normal = simd.mul_f32s(*normal, *scale);
            }
            self.norm.apply_in_lanes(simd, normal, values);
        }
    }
}

/// [`Norm::apply`] where each number of a row is a vector.
struct ApplyInLanes<'a> {
    norm: &'a Norm,
    normal: &'a [f32],
    output: &'a mut [f32],
}

impl WithSimd for ApplyInLanes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let width = self.norm.width();
        let rows = S::as_simd_f32s(self.normal).0.chunks_exact(width);
        let output = S::as_mut_simd_f32s(self.output).0.chunks_exact_mut(width);
        for (normal, output) in rows.zip(output) {
            self.norm.apply_in_lanes(simd, normal, output);
        }
    }
}

/// [`Norm::backward`] where each number of a row is a vector.
struct BackwardInLanes<'a> {
    norm: &'a Norm,
    dy: &'a [f32],
    normal: &'a [f32],
    scales: &'a [f32],
    dx: &'a mut [f32],
    gradient: &'a mut NormGradient,
}

impl WithSimd for BackwardInLanes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let width = self.norm.width();
        let zero = simd.splat_f32s(0.0);
        let share = simd.splat_f32s(1.0 / width as f32);
        let centered = self.norm.kind == NormKind::LayerNorm;
        let dw = S::as_mut_simd_f32s(&mut self.gradient.weight).0;
        let rows = S::as_simd_f32s(self.dy)
            .0
            .chunks_exact(width)
            .zip(S::as_simd_f32s(self.normal).0.chunks_exact(width))
            .zip(S::as_mut_simd_f32s(self.dx).0.chunks_exact_mut(width))
            .zip(S::as_simd_f32s(self.scales).0);
        for (((dy, normal), dx), scale) in rows {
            let (mut mean, mut slope) = (zero, zero);
            let numbers = dx.iter_mut().zip(dy).zip(normal);
            for ((((dx, dy), normal), weight), dw) in
                numbers.zip(self.norm.weight.elements.iter()).zip(dw.iter_mut())
            {
                *dx = simd.mul_f32s(*dy, simd.splat_f32s(*weight));
                *dw = simd.mul_add_e_f32s(*dy, *normal, *dw);
                slope = simd.mul_add_e_f32s(*dx, *normal, slope);
                if centered {
                    mean = simd.add_f32s(mean, *dx);
                }
            }
            let (mean, slope) = (simd.mul_f32s(mean, share), simd.mul_f32s(slope, share));
            for (dx, normal) in dx.iter_mut().zip(normal) {
                let centered = simd.sub_f32s(*dx, mean);
                let straight = simd.negate_mul_add_e_f32s(slope, *normal, centered);
                *dx = simd.mul_f32s(*scale, straight);
            }
            if let Some(db) = &mut self.gradient.bias {
                for (db, dy) in S::as_mut_simd_f32s(db).0.iter_mut().zip(dy) {
                    *db = simd.add_f32s(*db, *dy);
                }
            }
        }
    }
}
