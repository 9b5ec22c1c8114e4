use super::{
    add_assign,
    buffer::Buffer,
    layout::Layout,
    norm::{Norm, NormGradient},
};
use crate::{backend, dims::ConstDim};
use dfdx::tensor::{Cpu, CpuError, Gradients, Tape};
use std::iter;

/// The residual and the norm of a sublayer.
pub struct Around {
    norm: Option<Norm>,
    is_before: bool,
}

/// The gradients of its parameters.
pub struct AroundGradient(Option<NormGradient>);

/// What the norm leaves for the gradient, if there is one.
pub struct Kept {
    normal: Buffer,
    scales: Buffer,
}

/// Some rows of it.
#[derive(Clone, Copy)]
pub struct KeptRows<'a> {
    normal: &'a [f32],
    scales: &'a [f32],
}

impl<'a> KeptRows<'a> {
    /// So many of them, of a width.
    pub fn first(self, rows: usize, width: usize) -> Self {
        Self {
            normal: &self.normal[..self.normal.len().min(rows * width)],
            scales: &self.scales[..self.scales.len().min(rows)],
        }
    }
}

/// Some rows of it, to be written.
pub struct KeptRowsMut<'a> {
    normal: &'a mut [f32],
    scales: &'a mut [f32],
}

impl KeptRowsMut<'_> {
    /// So many of them, of a width.
    pub fn first(&mut self, rows: usize, width: usize) -> KeptRowsMut<'_> {
        let (normal, scales) = (self.normal.len(), self.scales.len());
        KeptRowsMut {
            normal: &mut self.normal[..normal.min(rows * width)],
            scales: &mut self.scales[..scales.min(rows)],
        }
    }
}

impl Around {
    pub fn read<M: ConstDim, T: Tape<f32, Cpu>>(
        around: &backend::Residual<'_, M, f32, Cpu>,
        tape: &mut T,
    ) -> Result<Self, CpuError> {
        let (norm, is_before) = match around {
            backend::Residual::PreNorm(norm) => (Some(norm), true),
            backend::Residual::PostNorm(norm) => (Some(norm), false),
            backend::Residual::Plain => (None, false),
        };
        let norm = norm.map(|norm| Norm::read(norm, tape)).transpose()?;
        Ok(Self { norm, is_before })
    }

    /// For rows that lie so.
    pub fn laid_out(self, layout: Layout) -> Self {
        let norm = self.norm.map(|norm| norm.laid_out(layout));
        Self { norm, ..self }
    }

    /// Room for what is kept of so many rows of a width.
    pub fn kept(&self, rows: usize, width: usize) -> Kept {
        let rows = if self.norm.is_some() { rows } else { 0 };
        Kept { normal: Buffer::new(rows * width), scales: Buffer::new(rows) }
    }

    pub fn zeros(&self) -> AroundGradient {
        AroundGradient(self.norm.as_ref().map(Norm::zeros))
    }

    pub fn add(
        &self,
        gradients: &mut Gradients<f32, Cpu>,
        gradient: &AroundGradient,
    ) -> Result<(), CpuError> {
        match (&self.norm, &gradient.0) {
            (Some(norm), Some(gradient)) => norm.add(gradients, gradient),
            _ => Ok(()),
        }
    }

    fn norm_before(&self) -> Option<&Norm> {
        self.norm.as_ref().filter(|_| self.is_before)
    }

    fn norm_after(&self) -> Option<&Norm> {
        self.norm.as_ref().filter(|_| !self.is_before)
    }

    /// What the sublayer reads: the input, or its norm, which is put into `scratch`.
    pub fn before<'a>(&self, x: &'a [f32], scratch: &'a mut [f32], kept: &mut KeptRowsMut<'_>) -> &'a [f32] {
        let Some(norm) = self.norm_before() else {
            return x;
        };
        let scratch = &mut scratch[..x.len()];
        scratch.copy_from_slice(x);
        norm.forward(scratch, kept.normal, kept.scales);
        scratch
    }

    /// From the sum of input and output to what leaves the sublayer.
    pub fn after(&self, sum: &mut [f32], kept: &mut KeptRowsMut<'_>) {
        if let Some(norm) = self.norm_after() {
            norm.forward(sum, kept.normal, kept.scales);
        }
    }

    /// [`before`](Self::before) again, from what was kept.
    pub fn again<'a>(&self, x: &'a [f32], scratch: &'a mut [f32], kept: KeptRows<'_>) -> &'a [f32] {
        let Some(norm) = self.norm_before() else {
            return x;
        };
        let scratch = &mut scratch[..x.len()];
        norm.apply(kept.normal, scratch);
        scratch
    }

    /// The gradient of the sum of input and output, from that of what left the sublayer.
    pub fn of_sum<'a>(
        &self,
        dy: &'a [f32],
        scratch: &'a mut [f32],
        kept: KeptRows<'_>,
        gradient: &mut AroundGradient,
    ) -> &'a [f32] {
        let (Some(norm), Some(gradient)) = (self.norm_after(), &mut gradient.0) else {
            return dy;
        };
        let scratch = &mut scratch[..dy.len()];
        norm.backward(dy, kept.normal, kept.scales, scratch, gradient);
        scratch
    }

    /// Adds the gradient of the sum, and that of what the sublayer read, to `dx`; `add` adds the latter
    /// to what it is given.
    pub fn of_input(
        &self,
        dx: &mut [f32],
        of_sum: &[f32],
        kept: KeptRows<'_>,
        gradient: &mut AroundGradient,
        scratch: [&mut [f32]; 2],
        add: impl FnOnce(&mut [f32]),
    ) {
        add_assign(dx, of_sum);
        let (Some(norm), Some(gradient)) = (self.norm_before(), &mut gradient.0) else {
            return add(dx);
        };
        let [read, own] = scratch.map(|scratch| &mut scratch[..dx.len()]);
        read.fill(0.0);
        add(read);
        norm.backward(read, kept.normal, kept.scales, own, gradient);
        add_assign(dx, own);
    }
}

impl Kept {
    /// What is kept of so many rows of a width, chunk by chunk.
    pub fn chunks(&self, rows: usize, width: usize) -> impl Iterator<Item = KeptRows<'_>> {
        let mut normal = self.normal.chunks((rows * width).max(1));
        let mut scales = self.scales.chunks(rows.max(1));
        iter::repeat_with(move || KeptRows {
            normal: normal.next().unwrap_or_default(),
            scales: scales.next().unwrap_or_default(),
        })
    }

    /// The same, to be written.
    pub fn chunks_mut(&mut self, rows: usize, width: usize) -> impl Iterator<Item = KeptRowsMut<'_>> {
        let mut normal = self.normal.chunks_mut((rows * width).max(1));
        let mut scales = self.scales.chunks_mut(rows.max(1));
        iter::repeat_with(move || KeptRowsMut {
            normal: normal.next().unwrap_or_default(),
            scales: scales.next().unwrap_or_default(),
        })
    }
}
