/// The names of the parameters in the files of HuggingFace, as a [`NameMap`](crate::weights::NameMap). Files that were
/// converted from TensorFlow, such as that of bert-base-uncased, have `gamma` and `beta` for a norm's weight and bias.
///
/// ```
/// use typed_transformer::{models::bert, weights::{NameMap, NameMapError}};
/// let names: Result<NameMap, NameMapError> = bert::NAMES.parse();
/// assert!(names.is_ok());
/// ```
pub const NAMES: &str = "
    embeddings.token = bert.embeddings.word_embeddings.weight
    embeddings.token_type = bert.embeddings.token_type_embeddings.weight
    embeddings.position = bert.embeddings.position_embeddings.weight
    embeddings.norm.weight = bert.embeddings.LayerNorm.weight or bert.embeddings.LayerNorm.gamma
    embeddings.norm.bias = bert.embeddings.LayerNorm.bias or bert.embeddings.LayerNorm.beta
    layers.{n}.attention.output.{p} = bert.encoder.layer.{n}.attention.output.dense.{p}
    layers.{n}.attention.{role}.{p} = bert.encoder.layer.{n}.attention.self.{role}.{p}
    layers.{n}.attention_norm.weight = bert.encoder.layer.{n}.attention.output.LayerNorm.weight or bert.encoder.layer.{n}.attention.output.LayerNorm.gamma
    layers.{n}.attention_norm.bias = bert.encoder.layer.{n}.attention.output.LayerNorm.bias or bert.encoder.layer.{n}.attention.output.LayerNorm.beta
    layers.{n}.feed_forward.hidden.{p} = bert.encoder.layer.{n}.intermediate.dense.{p}
    layers.{n}.feed_forward.output.{p} = bert.encoder.layer.{n}.output.dense.{p}
    layers.{n}.feed_forward_norm.weight = bert.encoder.layer.{n}.output.LayerNorm.weight or bert.encoder.layer.{n}.output.LayerNorm.gamma
    layers.{n}.feed_forward_norm.bias = bert.encoder.layer.{n}.output.LayerNorm.bias or bert.encoder.layer.{n}.output.LayerNorm.beta
    pooler.{p} = bert.pooler.dense.{p}
    ignore bert.embeddings.position_ids
    ignore cls.*
";
