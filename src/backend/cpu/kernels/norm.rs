use crate::autograd::{Buffer, KernelOutput, Operand, SumsInParts, partition_rows, with_backward};
use crate::kernel_options::NormKind;
use crate::simd::{add_row, dot, row_chunks, row_chunks_mut, sum, vectorized};
use dfdx::tensor::CpuError;
use itertools::izip;

/// The parameters of a norm: weight `(M,)` and bias `(M,)`.
pub struct Norm {
    kind: NormKind,
    epsilon: f32,
    weight: Operand,
    bias: Option<Operand>,
}

/// The numbers that forward saves of a row: μ (0 for an RMS norm) and `1/σ` (`1/RMS`).
#[derive(Clone, Copy, Default)]
struct RowStats {
    mean: f32,
    rstd: f32,
}

impl Norm {
    pub fn new(kind: NormKind, epsilon: f64, weight: Operand, bias: Option<Operand>) -> Self {
        Self { kind, epsilon: epsilon as f32, weight, bias }
    }

    /// The length of a row, at least 1.
    fn width(&self) -> usize {
        self.weight.len().max(1)
    }

    /// `(N, M) -> (N, M)`: `y = x̂ w + b`, where `x̂ = (x - μ)/σ`, or `x̂ = x/RMS` for an RMS norm.
    fn forward(&self, y: &mut [f32], x: &[f32]) -> Vec<RowStats> {
        let (width, weight, bias) = (self.width(), self.weight.elements(), self.bias.as_ref().map(Operand::elements));
        let (inv_width, epsilon) = (1.0 / width as f32, self.epsilon);
        let mut stats = vec![RowStats::default(); x.len() / width];
        vectorized!({
            for (y, x, stats) in izip!(row_chunks_mut(y, width), row_chunks(x, width), &mut stats) {
                let mean = match self.kind {
                    NormKind::LayerNorm => sum(x) * inv_width,
                    NormKind::RmsNorm => 0.0,
                };
                for (y, x) in y.iter_mut().zip(x) {
                    *y = x - mean;
                }
                let rstd = 1.0 / (dot(y, y) * inv_width + epsilon).sqrt();
                for (y, weight) in y.iter_mut().zip(weight) {
                    *y = *y * rstd * weight;
                }
                if let Some(bias) = bias {
                    add_row(y, bias);
                }
                *stats = RowStats { mean, rstd };
            }
        });
        stats
    }

    /// `(N, M), (N, M) -> (N, M), (M,), (M,)`: overwrites the gradient of the input, and adds to those of the
    /// parameters.
    fn backward(
        &self,
        dx: &mut [f32],
        d_weight: &mut SumsInParts,
        mut d_bias: Option<&mut SumsInParts>,
        [dy, x]: [&[f32]; 2],
        stats: &[RowStats],
    ) {
        let (width, weight) = (self.width(), self.weight.elements());
        let inv_width = 1.0 / width as f32;
        let mut x_hat = Buffer::recycled(width);
        vectorized!({
            let rows = izip!(row_chunks_mut(dx, width), row_chunks(dy, width), row_chunks(x, width), stats);
            for (dx, dy, x, &RowStats { mean, rstd }) in rows {
                for (x_hat, x) in x_hat.iter_mut().zip(x) {
                    *x_hat = (x - mean) * rstd;
                }
                // `dx` holds the gradient of x̂, until the next loop makes it that of x.
                for (dx, dy, weight) in izip!(dx.iter_mut(), dy, weight) {
                    *dx = dy * weight;
                }
                let mean_d_x_hat = match self.kind {
                    NormKind::LayerNorm => sum(dx) * inv_width,
                    NormKind::RmsNorm => 0.0,
                };
                let mean_product = dot(dx, &x_hat) * inv_width;
                for (dx, x_hat) in dx.iter_mut().zip(x_hat.iter()) {
                    *dx = rstd * (*dx - mean_d_x_hat - mean_product * x_hat);
                }
                for (d_weight, dy, x_hat) in izip!(d_weight.part_for(width), dy, x_hat.iter()) {
                    *d_weight += dy * x_hat;
                }
                if let Some(d_bias) = &mut d_bias {
                    add_row(d_bias.part_for(width), dy);
                }
            }
        });
    }
}

/// `(N, M) -> (N, M)`: finishes each row while it is in the cache. The definition passes about ten times over memory.
pub fn norm_kernel(input: Operand, norm: Norm) -> Result<KernelOutput, CpuError> {
    let width = norm.width();
    let partition = partition_rows(input.len() / width, width, 0);
    let mut y = input.alloc_output(input.len())?;
    let stats = partition.map_mut(&mut y, width, |rows, y| norm.forward(y, rows.slice(input.elements(), width)));
    let output = input.new_tensor(y)?;

    Ok(with_backward(output, move |dy, gradients| {
        let mut dx = Buffer::recycled(input.len());
        let chunks = izip!(partition.chunks(), partition.split_mut(&mut dx, width), &stats);
        let parts = partition.map_threads(chunks, |chunks| {
            let mut d_weight = SumsInParts::zeros(norm.weight.len());
            let mut d_bias = norm.bias.as_ref().map(|bias| SumsInParts::zeros(bias.len()));
            for (rows, dx, stats) in chunks {
                let [dy, x] = [&dy, input.elements()].map(|all| rows.slice(all, width));
                norm.backward(dx, &mut d_weight, d_bias.as_mut(), [dy, x], stats);
            }
            (d_weight.into_total(), d_bias.map(SumsInParts::into_total))
        });
        let (d_weights, d_biases): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        norm.weight.gradient.add_parts(gradients, d_weights);
        if let Some(bias) = &norm.bias {
            bias.gradient.add_parts(gradients, d_biases.into_iter().flatten().collect());
        }
        input.gradient.add(gradients, dx);
    }))
}
