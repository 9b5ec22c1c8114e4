//! OLMo 2 ([OLMo Team, 2025](https://arxiv.org/abs/2501.00656)): a [`Llama`] whose norms stand after the sublayers, and whose
//! queries and keys are normalized, those of all heads together, before they are rotated.
//!
//! | in the report, 3.1 | in `modeling_olmo2.py` | here |
//! | --- | --- | --- |
//! | reordered norm | `Olmo2DecoderLayer` | [`Layer`](super::llama::Layer), [`Norms::After`](super::llama::Norms::After) |
//! | QK-norm | `q_norm`, `k_norm` | [`Attention::queries_norm`](super::llama::Attention::queries_norm) |
//! | RMSNorm, SwiGLU | `Olmo2RMSNorm`, `Olmo2MLP` | [`rms_norm`](crate::ops::rms_norm), [`FeedForward`](super::llama::FeedForward) |
//! | RoPE with θ = 500,000 | `Olmo2RotaryEmbedding` | [`LlamaConfig::ROTARY`](super::llama::LlamaConfig::ROTARY) |
//! | | `Olmo2Model`, `Olmo2ForCausalLM`, `past_key_values` | [`Llama`], [`LlamaCache`](super::llama::LlamaCache) |

use super::llama::Llama;
use crate::nn::FullPrecision;
use dfdx::tensor::Cpu;

/// An OLMo 2: a [`Llama`] of a configuration with [`Norms::After`](super::llama::Norms::After).
///
/// ```
/// use typed_transformer::{models::{olmo2::Olmo2, published::olmo_2_1b}, nn::Module, prelude::*};
/// assert_eq!(Olmo2::<olmo_2_1b::Config, f32, Cpu>::NUM_PARAMS, 1_484_916_736);
/// ```
pub type Olmo2<Config, E = f32, D = Cpu, P = FullPrecision> = Llama<Config, E, D, P>;
