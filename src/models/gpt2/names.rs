/// The names of the parameters in the files of HuggingFace, as a [`NameMap`](crate::weights::NameMap).
///
/// ```
/// use typed_transformer::{models::gpt2, weights::{NameMap, NameMapError}};
/// let names: Result<NameMap, NameMapError> = gpt2::NAMES.parse();
/// assert!(names.is_ok());
/// ```
pub const NAMES: &str = "
    token_embedder = transformer.wte.weight
    position_embedder = transformer.wpe.weight
    layers.{n}.attention_norm.{p} = transformer.h.{n}.ln_1.{p}
    layers.{n}.attention.query.weight = transformer.h.{n}.attn.c_attn.weight [in out -> out in] part 1 of 3
    layers.{n}.attention.key.weight = transformer.h.{n}.attn.c_attn.weight [in out -> out in] part 2 of 3
    layers.{n}.attention.value.weight = transformer.h.{n}.attn.c_attn.weight [in out -> out in] part 3 of 3
    layers.{n}.attention.query.bias = transformer.h.{n}.attn.c_attn.bias part 1 of 3
    layers.{n}.attention.key.bias = transformer.h.{n}.attn.c_attn.bias part 2 of 3
    layers.{n}.attention.value.bias = transformer.h.{n}.attn.c_attn.bias part 3 of 3
    layers.{n}.attention.output.weight = transformer.h.{n}.attn.c_proj.weight [in out -> out in]
    layers.{n}.attention.output.bias = transformer.h.{n}.attn.c_proj.bias
    layers.{n}.feed_forward_norm.{p} = transformer.h.{n}.ln_2.{p}
    layers.{n}.feed_forward.hidden.weight = transformer.h.{n}.mlp.c_fc.weight [in out -> out in]
    layers.{n}.feed_forward.hidden.bias = transformer.h.{n}.mlp.c_fc.bias
    layers.{n}.feed_forward.output.weight = transformer.h.{n}.mlp.c_proj.weight [in out -> out in]
    layers.{n}.feed_forward.output.bias = transformer.h.{n}.mlp.c_proj.bias
    norm.{p} = transformer.ln_f.{p}
    ignore *.attn.bias
    ignore *.attn.masked_bias
";
