//! The fused kernels that replace definitions on the CPU in `f32`.
//!
//! A kernel adds one tape entry and reads memory once. The definition adds about ten entries and reads
//! memory about ten times.
//! Loops are compiled for several widths of vector registers. The processor's width is chosen at run time, so
//! no compiler flags are needed.
//!
//! - `simd`: reductions, elementary functions, and `Context`, which makes loops generic over the layout;
//! - `autograd`: operands, the tape, scratch memory and threads;
//! - `matmul`: matrix products and the layout of rows;
//! - `kernels`: the kernels of single operations;
//! - `fused`: whole sublayers;
//! - `mask_rule`, `conventions`: what a kernel is told besides its operands.
//!
//! Kernels know sizes, not types of dimensions. So they are a crate of their own, which is compiled once and
//! optimised whatever the models are.

mod autograd;
mod conventions;
mod fused;
mod kernels;
mod mask_rule;
mod matmul;
mod simd;

pub use autograd::{
    FlatTensor, KernelOutput, Operand, Unnamed, UnnamedTensor, View, elements, elements_mut, gradient_hook,
    parallel_map, record_kernel, unnamed,
};
pub use conventions::{ActivationKind, ContractionAxis, MaskFill, NormKind};
pub use fused::{Projections, ResidualNorm, attention_sublayer_kernel, feed_forward_kernel};
pub use kernels::{
    AdamStep, Linear, Norm, SgdStep,
    attention::{AttentionConfig, AttentionDims, attention_kernel},
    contraction_kernel, cross_entropy_kernel, embedding_kernel, linear_kernel, norm_kernel, positions_kernel,
    residual_kernel, sum_of_squares, sum_of_squares_f32,
};
pub use mask_rule::MaskRule;
