/// The names of the parameters in the files of HuggingFace, as a [`NameMap`](crate::weights::NameMap).
///
/// ```
/// use typed_transformer::{models::modern_bert, weights::{NameMap, NameMapError}};
/// let names: Result<NameMap, NameMapError> = modern_bert::NAMES.parse();
/// assert!(names.is_ok());
/// ```
pub const NAMES: &str = "
    token_embedder = model.embeddings.tok_embeddings.weight
    embedding_norm = model.embeddings.norm.weight
    attention_norms.{n}.weight = model.layers.{n+1}.attn_norm.weight
    layers.{n}.attention.query = model.layers.{n}.attn.Wqkv.weight part 1 of 3
    layers.{n}.attention.key = model.layers.{n}.attn.Wqkv.weight part 2 of 3
    layers.{n}.attention.value = model.layers.{n}.attn.Wqkv.weight part 3 of 3
    layers.{n}.attention.output = model.layers.{n}.attn.Wo.weight
    layers.{n}.feed_forward_norm = model.layers.{n}.mlp_norm.weight
    layers.{n}.feed_forward.gate = model.layers.{n}.mlp.Wi.weight part 1 of 2
    layers.{n}.feed_forward.hidden = model.layers.{n}.mlp.Wi.weight part 2 of 2
    layers.{n}.feed_forward.output = model.layers.{n}.mlp.Wo.weight
    norm = model.final_norm.weight
    head = head.dense.weight
    head_norm = head.norm.weight
    logit_bias = decoder.bias
    ignore decoder.weight
";
