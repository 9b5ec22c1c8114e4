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

/// The names of the parameters in the files of HuggingFace, as a [`NameMap`](crate::weights::NameMap).
///
/// ```
/// use typed_transformer::{models::olmo2, weights::{NameMap, NameMapError}};
/// let names: Result<NameMap, NameMapError> = olmo2::NAMES.parse();
/// assert!(names.is_ok());
/// ```
pub const NAMES: &str = "
    token_embedder = model.embed_tokens.weight
    layers.{n}.attention.query = model.layers.{n}.self_attn.q_proj.weight
    layers.{n}.attention.key = model.layers.{n}.self_attn.k_proj.weight
    layers.{n}.attention.value = model.layers.{n}.self_attn.v_proj.weight
    layers.{n}.attention.output = model.layers.{n}.self_attn.o_proj.weight
    layers.{n}.attention.queries_norm = model.layers.{n}.self_attn.q_norm.weight
    layers.{n}.attention.keys_norm = model.layers.{n}.self_attn.k_norm.weight
    layers.{n}.attention_norm = model.layers.{n}.post_attention_layernorm.weight
    layers.{n}.feed_forward.gate = model.layers.{n}.mlp.gate_proj.weight
    layers.{n}.feed_forward.hidden = model.layers.{n}.mlp.up_proj.weight
    layers.{n}.feed_forward.output = model.layers.{n}.mlp.down_proj.weight
    layers.{n}.feed_forward_norm = model.layers.{n}.post_feedforward_layernorm.weight
    norm = model.norm.weight
    logit = lm_head.weight
";
