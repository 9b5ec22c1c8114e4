/// The names of the parameters in the files of HuggingFace, as a [`NameMap`](crate::weights::NameMap).
///
/// ```
/// use typed_transformer::{models::gemma3, weights::{NameMap, NameMapError}};
/// let names: Result<NameMap, NameMapError> = gemma3::NAMES.parse();
/// assert!(names.is_ok());
/// ```
pub const NAMES: &str = "
    token_embedder = model.embed_tokens.weight
    layers.{n}.attention_norm = model.layers.{n}.input_layernorm.weight
    layers.{n}.attention.query = model.layers.{n}.self_attn.q_proj.weight
    layers.{n}.attention.key = model.layers.{n}.self_attn.k_proj.weight
    layers.{n}.attention.value = model.layers.{n}.self_attn.v_proj.weight
    layers.{n}.attention.output = model.layers.{n}.self_attn.o_proj.weight
    layers.{n}.attention.query_norm = model.layers.{n}.self_attn.q_norm.weight
    layers.{n}.attention.key_norm = model.layers.{n}.self_attn.k_norm.weight
    layers.{n}.attended_norm = model.layers.{n}.post_attention_layernorm.weight
    layers.{n}.feed_forward_norm = model.layers.{n}.pre_feedforward_layernorm.weight
    layers.{n}.feed_forward.gate = model.layers.{n}.mlp.gate_proj.weight
    layers.{n}.feed_forward.hidden = model.layers.{n}.mlp.up_proj.weight
    layers.{n}.feed_forward.output = model.layers.{n}.mlp.down_proj.weight
    layers.{n}.transformed_norm = model.layers.{n}.post_feedforward_layernorm.weight
    norm = model.norm.weight
    ignore lm_head.weight
";
