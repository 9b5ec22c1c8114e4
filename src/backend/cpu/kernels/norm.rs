use crate::{
    autograd::{Buffer, KernelOutput, Operand, Partition, with_backward},
    conventions::NormKind,
    matmul::Layout,
    simd::{Context, WithContext, add_assign},
};
use dfdx::tensor::{Cpu, CpuError, Gradients};
use itertools::izip;

/// The cost of an element, in multiply-adds.
const MACS_PER_ELEMENT: usize = 8;

/// The parameters of a norm: weight `(M,)` and bias `(M,)`.
pub struct Norm {
    kind: NormKind,
    epsilon: f32,
    weight: Operand,
    bias: Option<Operand>,
    layout: Layout,
}

/// Values saved for backward: the normalized rows `x̂`, and `1/σ` of each row (`1/RMS` for an RMS norm).
pub struct NormSaved {
    x_hat: Buffer,
    rstd: Buffer,
}

impl NormSaved {
    pub fn alloc(rows: usize, width: usize) -> Self {
        Self { x_hat: Buffer::recycled(rows * width), rstd: Buffer::recycled(rows) }
    }
}

/// A thread's part of the gradients of a norm.
pub struct NormGradient {
    weight: Buffer,
    bias: Option<Buffer>,
}

impl Norm {
    pub fn new(kind: NormKind, epsilon: f64, weight: Operand, bias: Option<Operand>) -> Self {
        Self { kind, epsilon: epsilon as f32, weight, bias, layout: Layout::RowMajor }
    }

    pub fn with_layout(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }

    /// The length of a row, at least 1.
    pub fn width(&self) -> usize {
        self.weight.len().max(1)
    }

    /// `(N, M) -> (N, M)`, in place: `y = x̂ w + b`, where `x̂ = (x - μ)/σ`, or `x̂ = x/RMS` for an RMS norm.
    pub fn forward(&self, y: &mut [f32], saved: &mut NormSaved) {
        self.layout.dispatch(Forward { norm: self, y, saved });
    }

    /// `(N, M) -> (N, M)`: recomputes the output of [`forward`](Self::forward) from the values that it saved.
    pub fn recompute(&self, y: &mut [f32], saved: &NormSaved) {
        self.layout.dispatch(Recompute { norm: self, y, saved });
    }

    /// `(N, M) -> (N, M), (M,), (M,)`: overwrites the gradient of the input and adds to the gradients of the
    /// parameters.
    pub fn backward(&self, dx: &mut [f32], gradient: &mut NormGradient, dy: &[f32], saved: &NormSaved) {
        self.layout.dispatch(Backward { norm: self, dx, gradient, dy, saved });
    }

    /// Zeros for a thread's part of the gradients.
    pub fn zero_gradient(&self) -> NormGradient {
        NormGradient {
            weight: self.layout.zero_gradient(&self.weight),
            bias: self.bias.as_ref().map(|bias| self.layout.zero_gradient(bias)),
        }
    }

    /// Adds a thread's part to the gradients.
    pub fn accumulate_gradient(
        &self,
        gradients: &mut Gradients<f32, Cpu>,
        gradient: &NormGradient,
    ) -> Result<(), CpuError> {
        self.layout.accumulate_gradient(&self.weight, gradients, &gradient.weight)?;
        match (&self.bias, &gradient.bias) {
            (Some(bias), Some(part)) => self.layout.accumulate_gradient(bias, gradients, part),
            _ => Ok(()),
        }
    }

    /// The weight and the bias.
    fn params(&self) -> (&[f32], Option<&[f32]>) {
        (self.weight.elements(), self.bias.as_ref().map(Operand::elements))
    }
}

/// `y = x̂ w + b` for one row.
#[inline(always)]
fn scale_and_shift<C: Context>(
    c: C,
    y: &mut [C::Element],
    x_hat: &[C::Element],
    (weight, bias): (&[f32], Option<&[f32]>),
) {
    for ((y, x_hat), weight) in y.iter_mut().zip(x_hat).zip(weight) {
        *y = c.mul(*x_hat, c.splat(*weight));
    }
    if let Some(bias) = bias {
        for (y, bias) in y.iter_mut().zip(bias) {
            *y = c.add(*y, c.splat(*bias));
        }
    }
}

/// [`Norm::forward`].
struct Forward<'a> {
    norm: &'a Norm,
    y: &'a mut [f32],
    saved: &'a mut NormSaved,
}

impl WithContext for Forward<'_> {
    #[inline(always)]
    fn with_context<C: Context>(self, c: C) {
        let Self { norm, y, saved } = self;
        let width = norm.width();
        let (inv_width, epsilon) = (c.splat(1.0 / width as f32), c.splat(norm.epsilon));
        let params = norm.params();
        let rows = izip!(
            C::elements_mut(y).chunks_exact_mut(width),
            C::elements_mut(&mut saved.x_hat).chunks_exact_mut(width),
            C::elements_mut(&mut saved.rstd),
        );
        for (x, x_hat, rstd) in rows {
            let mean = match norm.kind {
                NormKind::LayerNorm => c.mul(c.sum(x), inv_width),
                NormKind::RmsNorm => c.splat(0.0),
            };
            for (x_hat, x) in x_hat.iter_mut().zip(x.iter()) {
                *x_hat = c.sub(*x, mean);
            }
            let variance = c.mul(c.dot(x_hat, x_hat), inv_width);
            *rstd = c.div(c.splat(1.0), c.sqrt(c.add(variance, epsilon)));
            for x_hat in x_hat.iter_mut() {
                *x_hat = c.mul(*x_hat, *rstd);
            }
            scale_and_shift(c, x, x_hat, params);
        }
    }
}

/// [`Norm::recompute`].
struct Recompute<'a> {
    norm: &'a Norm,
    y: &'a mut [f32],
    saved: &'a NormSaved,
}

impl WithContext for Recompute<'_> {
    #[inline(always)]
    fn with_context<C: Context>(self, c: C) {
        let (width, params) = (self.norm.width(), self.norm.params());
        let y = C::elements_mut(self.y).chunks_exact_mut(width);
        for (y, x_hat) in y.zip(C::elements(&self.saved.x_hat).chunks_exact(width)) {
            scale_and_shift(c, y, x_hat, params);
        }
    }
}

/// [`Norm::backward`].
struct Backward<'a> {
    norm: &'a Norm,
    dx: &'a mut [f32],
    gradient: &'a mut NormGradient,
    dy: &'a [f32],
    saved: &'a NormSaved,
}

impl WithContext for Backward<'_> {
    #[inline(always)]
    fn with_context<C: Context>(self, c: C) {
        let Self { norm, dx, gradient, dy, saved } = self;
        let width = norm.width();
        let inv_width = c.splat(1.0 / width as f32);
        let (weight, _) = norm.params();
        let d_weight = C::elements_mut(&mut gradient.weight);
        let rows = izip!(
            C::elements_mut(dx).chunks_exact_mut(width),
            C::elements(dy).chunks_exact(width),
            C::elements(&saved.x_hat).chunks_exact(width),
            C::elements(&saved.rstd),
        );
        for (dx, dy, x_hat, rstd) in rows {
            for ((dx, dy), weight) in dx.iter_mut().zip(dy).zip(weight) {
                *dx = c.mul(*dy, c.splat(*weight));
            }
            let mean_dx = match norm.kind {
                NormKind::LayerNorm => c.mul(c.sum(dx), inv_width),
                NormKind::RmsNorm => c.splat(0.0),
            };
            let mean_dx_x_hat = c.mul(c.dot(dx, x_hat), inv_width);
            for (dx, x_hat) in dx.iter_mut().zip(x_hat) {
                let projected = c.neg_mul_add(mean_dx_x_hat, *x_hat, c.sub(*dx, mean_dx));
                *dx = c.mul(*rstd, projected);
            }
            for ((d_weight, dy), x_hat) in d_weight.iter_mut().zip(dy).zip(x_hat) {
                *d_weight = c.mul_add(*dy, *x_hat, *d_weight);
            }
            if let Some(d_bias) = &mut gradient.bias {
                for (d_bias, dy) in C::elements_mut(d_bias).iter_mut().zip(dy) {
                    *d_bias = c.add(*d_bias, *dy);
                }
            }
        }
    }
}

/// `(N, M) -> (N, M)`: finishes each row while it is in the cache. The definition passes about ten times over
/// memory.
pub fn norm_kernel(input: Operand, norm: Norm) -> Result<KernelOutput, CpuError> {
    let width = norm.width();
    let rows = input.len() / width;
    let partition = Partition::new(rows, MACS_PER_ELEMENT * width, usize::MAX);
    let mut y = input.alloc_output(input.len())?;
    y.copy_from_slice(input.elements());
    let chunks = partition.ranges().zip(partition.split_mut(&mut y, width));
    let saved = partition.map_chunks(chunks, |(rows, y)| {
        let mut saved = NormSaved::alloc(rows.len(), width);
        norm.forward(y, &mut saved);
        saved
    });
    let output = input.new_tensor(y)?;

    let input = input.tensor.ghost();
    Ok(with_backward(output, move |dy, gradients| {
        let mut dx = Buffer::recycled(dy.len());
        let chunks = izip!(partition.ranges(), partition.split_mut(&mut dx, width), &saved);
        let parts = partition.map_threads(chunks, |chunks| {
            let mut gradient = norm.zero_gradient();
            for (rows, dx, saved) in chunks {
                norm.backward(dx, &mut gradient, rows.slice(dy, width), saved);
            }
            gradient
        });
        add_assign(gradients.get_or_alloc_mut(&input)?, &dx);
        parts.iter().try_for_each(|part| norm.accumulate_gradient(gradients, part))
    }))
}
