/// The names of the parameters in the files of HuggingFace, as a [`NameMap`](crate::weights::NameMap).
///
/// ```
/// use typed_transformer::{models::mixtral, weights::{NameMap, NameMapError}};
/// let names: Result<NameMap, NameMapError> = mixtral::NAMES.parse();
/// assert!(names.is_ok());
/// ```
pub const NAMES: &str = "
    token_embedder = model.embed_tokens.weight
    layers.{n}.attention_norm = model.layers.{n}.input_layernorm.weight
    layers.{n}.attention.query = model.layers.{n}.self_attn.q_proj.weight
    layers.{n}.attention.key = model.layers.{n}.self_attn.k_proj.weight
    layers.{n}.attention.value = model.layers.{n}.self_attn.v_proj.weight
    layers.{n}.attention.output = model.layers.{n}.self_attn.o_proj.weight
    layers.{n}.experts_norm = model.layers.{n}.post_attention_layernorm.weight
    layers.{n}.mixture.router = model.layers.{n}.block_sparse_moe.gate.weight
    layers.{n}.mixture.experts.{m}.gate = model.layers.{n}.block_sparse_moe.experts.{m}.w1.weight
    layers.{n}.mixture.experts.{m}.hidden = model.layers.{n}.block_sparse_moe.experts.{m}.w3.weight
    layers.{n}.mixture.experts.{m}.output = model.layers.{n}.block_sparse_moe.experts.{m}.w2.weight
    norm = model.norm.weight
    logit = lm_head.weight
";
