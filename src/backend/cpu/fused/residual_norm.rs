use crate::{
    kernels::{Norm, NormGradient, NormSaved},
    matmul::Layout,
    simd::add_assign,
};
use dfdx::tensor::{Cpu, CpuError, Gradients};

/// The residual connection of a sublayer `f`, and its norm.
pub enum ResidualNorm {
    /// `x + f(norm(x))`.
    PreNorm(Norm),
    /// `norm(x + f(x))`.
    PostNorm(Norm),
    /// `x + f(x)`.
    Plain,
}

impl ResidualNorm {
    pub fn with_layout(self, layout: Layout) -> Self {
        match self {
            Self::PreNorm(norm) => Self::PreNorm(norm.with_layout(layout)),
            Self::PostNorm(norm) => Self::PostNorm(norm.with_layout(layout)),
            Self::Plain => Self::Plain,
        }
    }

    fn norm(&self) -> Option<&Norm> {
        match self {
            Self::PreNorm(norm) | Self::PostNorm(norm) => Some(norm),
            Self::Plain => None,
        }
    }

    /// Memory for the values that the norm saves for backward.
    pub fn alloc_saved(&self, rows: usize, width: usize) -> NormSaved {
        let rows = if self.norm().is_some() { rows } else { 0 };
        NormSaved::alloc(rows, width)
    }

    pub fn zero_gradient(&self) -> Option<NormGradient> {
        self.norm().map(Norm::zero_gradient)
    }

    pub fn accumulate_gradient(
        &self,
        gradients: &mut Gradients<f32, Cpu>,
        gradient: &Option<NormGradient>,
    ) -> Result<(), CpuError> {
        match (self.norm(), gradient) {
            (Some(norm), Some(gradient)) => norm.accumulate_gradient(gradients, gradient),
            _ => Ok(()),
        }
    }

    /// The sublayer's input: normalized into `scratch` if pre-norm, otherwise `x`.
    pub fn pre_norm<'a>(&self, x: &'a [f32], scratch: &'a mut [f32], saved: &mut NormSaved) -> &'a [f32] {
        let Self::PreNorm(norm) = self else {
            return x;
        };
        let scratch = &mut scratch[..x.len()];
        scratch.copy_from_slice(x);
        norm.forward(scratch, saved);
        scratch
    }

    /// Normalizes the residual sum in place if post-norm.
    pub fn post_norm(&self, sum: &mut [f32], saved: &mut NormSaved) {
        if let Self::PostNorm(norm) = self {
            norm.forward(sum, saved);
        }
    }

    /// Recomputes the result of [`pre_norm`](Self::pre_norm) from the values that it saved.
    pub fn recompute_input<'a>(&self, x: &'a [f32], scratch: &'a mut [f32], saved: &NormSaved) -> &'a [f32] {
        let Self::PreNorm(norm) = self else {
            return x;
        };
        let scratch = &mut scratch[..x.len()];
        norm.recompute(scratch, saved);
        scratch
    }

    /// The gradient of `x + f(x)`, from `dy`, the gradient after the norm.
    pub fn backward_post_norm<'a>(
        &self,
        dy: &'a [f32],
        scratch: &'a mut [f32],
        gradient: &mut Option<NormGradient>,
        saved: &NormSaved,
    ) -> &'a [f32] {
        let (Self::PostNorm(norm), Some(gradient)) = (self, gradient) else {
            return dy;
        };
        let scratch = &mut scratch[..dy.len()];
        norm.backward(scratch, gradient, dy, saved);
        scratch
    }

    /// Adds both gradients of `x` to `dx`: `d_sum`, through the residual connection, and the one through `f`.
    /// `add_d_input(g)` must add the gradient of `f`'s input to `g`; a pre-norm maps it through the norm's backward
    /// pass.
    pub fn backward_input(
        &self,
        dx: &mut [f32],
        d_sum: &[f32],
        scratch: [&mut [f32]; 2],
        gradient: &mut Option<NormGradient>,
        saved: &NormSaved,
        add_d_input: impl FnOnce(&mut [f32]),
    ) {
        add_assign(dx, d_sum);
        let (Self::PreNorm(norm), Some(gradient)) = (self, gradient) else {
            return add_d_input(dx);
        };
        let [d_sublayer_input, d_norm_input] = scratch.map(|scratch| &mut scratch[..dx.len()]);
        d_sublayer_input.fill(0.0);
        add_d_input(d_sublayer_input);
        norm.backward(d_norm_input, gradient, d_sublayer_input, saved);
        add_assign(dx, d_norm_input);
    }
}
