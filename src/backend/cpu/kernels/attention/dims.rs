use crate::{
    backend::cpu::{
        matmul::{Layout, Matrix},
        simd::round_up,
    },
    backend::{AttentionScale, MaskFill},
    dims::{ConstDim, Dim, MaybeSharded},
};

/// The dimensions of the attention of one sequence.
#[derive(Clone, Copy)]
pub struct AttentionDims {
    pub queries: usize,
    pub keys: usize,
    pub heads: usize,
    pub qk_dim: usize,
    pub vo_dim: usize,
}

impl AttentionDims {
    pub fn q_len(self) -> usize {
        self.queries * self.heads * self.qk_dim
    }

    pub fn k_len(self) -> usize {
        self.keys * self.heads * self.qk_dim
    }

    pub fn v_len(self) -> usize {
        self.keys * self.heads * self.vo_dim
    }

    pub fn out_len(self) -> usize {
        self.queries * self.heads * self.vo_dim
    }

    /// `(P, H·Dim) -> (P, Dim)`: the columns of one head.
    pub fn head(self, all: &[f32], head: usize, positions: usize, head_dim: usize) -> Matrix<'_> {
        let elements = all.get(head * head_dim..).unwrap_or_default();
        Matrix::strided(elements, positions, head_dim, self.heads * head_dim)
    }

    pub fn mask_len(self) -> usize {
        self.queries * self.keys
    }

    /// The number of elements that forward saves of the softmax of a sequence: two numbers a query and head, or all
    /// attention weights in the interleaved layout, which is for short sequences.
    pub fn softmax_len(self, layout: Layout) -> usize {
        let numbers_per_query = match layout {
            Layout::RowMajor => 2,
            Layout::Interleaved(_) => self.keys,
        };
        self.heads * self.queries * numbers_per_query
    }

    /// Multiply-adds for one sequence.
    pub fn macs(self) -> usize {
        self.heads * self.macs_per_head()
    }

    pub fn macs_per_head(self) -> usize {
        self.queries * round_up(self.keys) * (self.qk_dim + self.vo_dim)
    }
}

/// The dimensions of an attention, and its conventions.
#[derive(Clone, Copy)]
pub struct AttentionConfig {
    pub dims: AttentionDims,
    pub scale: f32,
    pub mask_fill: MaskFill,
}

impl AttentionConfig {
    pub fn new<H: ConstDim, QKDim: ConstDim, VODim: ConstDim>(
        (_, queries, keys): (impl MaybeSharded, impl Dim, impl Dim),
        scale: AttentionScale,
        mask_fill: MaskFill,
    ) -> Self {
        let dims = AttentionDims {
            queries: queries.size(),
            keys: keys.size(),
            heads: H::SIZE,
            qk_dim: QKDim::SIZE,
            vo_dim: VODim::SIZE,
        };
        Self { dims, scale: scale.factor(H::SIZE, QKDim::SIZE) as f32, mask_fill }
    }
}
