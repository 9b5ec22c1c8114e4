//! Qwen3 ([Yang et al., 2025](https://arxiv.org/abs/2505.09388)): a [`Llama`] whose queries and keys are normalized, head
//! by head, before they are rotated. The size of a head is free of the width.
//!
//! | in the report, 2 | in `modeling_qwen3.py` | here |
//! | --- | --- | --- |
//! | grouped query attention, rotary embeddings | `Qwen3Attention`, `apply_rotary_pos_emb` | [`Attention`](super::llama::Attention) |
//! | QK-Norm | `q_norm`, `k_norm` | [`Attention::query_norm`](super::llama::Attention::query_norm), [`Norms::BeforeAndInHeads`](super::llama::Norms::BeforeAndInHeads) |
//! | SwiGLU | `Qwen3MLP` | [`FeedForward`](super::llama::FeedForward) |
//! | RMSNorm with pre-normalization | `Qwen3RMSNorm`, `Qwen3DecoderLayer` | [`rms_norm`](crate::ops::rms_norm), [`Layer`](super::llama::Layer) |
//! | | `Qwen3Model`, `Qwen3ForCausalLM`, `past_key_values` | [`Llama`], [`LlamaCache`](super::llama::LlamaCache) |

use super::llama::Llama;
use crate::nn::FullPrecision;
use dfdx::tensor::Cpu;

/// A Qwen3: a [`Llama`] of a configuration with [`Norms::BeforeAndInHeads`](super::llama::Norms::BeforeAndInHeads).
///
/// ```
/// use typed_transformer::{models::{llama::{LlamaConfig, Norms}, qwen3::Qwen3}, nn::Module, ops::Rotary, prelude::*};
/// dims! {
///     pub VocabSize = 28; pub MaxSeqLen = 16; pub EmbedDim = 10; pub HiddenDim = 12; pub NumLayers = 2;
///     pub NumHeads = 6; pub NumKeyValueHeads = 2; pub HeadDim = 4; pub SeqLen = 3; pub Batch = 1;
/// }
///
/// pub struct Small;
/// impl LlamaConfig for Small {
///     type VocabSize = VocabSize;
///     type MaxSeqLen = MaxSeqLen;
///     type EmbedDim = EmbedDim;
///     type HiddenDim = HiddenDim;
///     type NumLayers = NumLayers;
///     type NumHeads = NumHeads;
///     type NumKeyValueHeads = NumKeyValueHeads;
///     type HeadDim = HeadDim;
///     const NORM_EPSILON: f64 = 1e-6;
///     const ROTARY: Rotary = Rotary::halves(1_000_000.0);
///     const TIED_LOGITS: bool = true;
///     const NORMS: Norms = Norms::BeforeAndInHeads;
/// }
///
/// let model = Qwen3::<Small, f32, Cpu>::build(&Cpu::default());
/// let norm: &Option<Tensor<(HeadDim,), f32, Cpu>> = &model.layers[0].attention.query_norm;
/// assert!(norm.is_some());
/// let ids = TokenIds::from_ids(&[7, 4, 24], None, (Batch, SeqLen))?;
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = model.forward(&ids, NoneTape)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Qwen3<Config, E = f32, D = Cpu, P = FullPrecision> = Llama<Config, E, D, P>;
