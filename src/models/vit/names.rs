/// The names of the parameters in the files of HuggingFace, as a [`NameMap`](crate::weights::NameMap).
///
/// ```
/// use typed_transformer::{models::vit, weights::{NameMap, NameMapError}};
/// let names: Result<NameMap, NameMapError> = vit::NAMES.parse();
/// assert!(names.is_ok());
/// ```
pub const NAMES: &str = "
    embeddings.class_token = vit.embeddings.cls_token [one position width -> (one position width)]
    embeddings.patch = vit.embeddings.patch_embeddings.projection.weight [out channels rows columns -> out (channels rows columns)]
    embeddings.patch_bias = vit.embeddings.patch_embeddings.projection.bias
    embeddings.position = vit.embeddings.position_embeddings [one position width -> (one position) width]
    layers.{n}.attention.output.{p} = vit.encoder.layer.{n}.attention.output.dense.{p}
    layers.{n}.attention.{role}.{p} = vit.encoder.layer.{n}.attention.attention.{role}.{p}
    layers.{n}.attention_norm.{p} = vit.encoder.layer.{n}.layernorm_before.{p}
    layers.{n}.feed_forward.hidden.{p} = vit.encoder.layer.{n}.intermediate.dense.{p}
    layers.{n}.feed_forward.output.{p} = vit.encoder.layer.{n}.output.dense.{p}
    layers.{n}.feed_forward_norm.{p} = vit.encoder.layer.{n}.layernorm_after.{p}
    norm.{p} = vit.layernorm.{p}
    pooler.{p} = vit.pooler.dense.{p}
    ignore classifier.*
";
