/// The names of the parameters in the files of HuggingFace, as a [`NameMap`](crate::weights::NameMap).
///
/// ```
/// use typed_transformer::{models::t5, weights::{NameMap, NameMapError}};
/// let names: Result<NameMap, NameMapError> = t5::NAMES.parse();
/// assert!(names.is_ok());
/// ```
pub const NAMES: &str = "
    token_embedder = shared.weight
    {side}_position_bias = {side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight
    {side}_norm = {side}.final_layer_norm.weight
    {side}.{n}.self_attention.norm = {side}.block.{n}.layer.0.layer_norm.weight
    {side}.{n}.self_attention.query = {side}.block.{n}.layer.0.SelfAttention.q.weight
    {side}.{n}.self_attention.key = {side}.block.{n}.layer.0.SelfAttention.k.weight
    {side}.{n}.self_attention.value = {side}.block.{n}.layer.0.SelfAttention.v.weight
    {side}.{n}.self_attention.output = {side}.block.{n}.layer.0.SelfAttention.o.weight
    decoder.{n}.cross_attention.norm = decoder.block.{n}.layer.1.layer_norm.weight
    decoder.{n}.cross_attention.query = decoder.block.{n}.layer.1.EncDecAttention.q.weight
    decoder.{n}.cross_attention.key = decoder.block.{n}.layer.1.EncDecAttention.k.weight
    decoder.{n}.cross_attention.value = decoder.block.{n}.layer.1.EncDecAttention.v.weight
    decoder.{n}.cross_attention.output = decoder.block.{n}.layer.1.EncDecAttention.o.weight
    encoder.{n}.feed_forward.norm = encoder.block.{n}.layer.1.layer_norm.weight
    encoder.{n}.feed_forward.hidden = encoder.block.{n}.layer.1.DenseReluDense.wi.weight
    encoder.{n}.feed_forward.output = encoder.block.{n}.layer.1.DenseReluDense.wo.weight
    decoder.{n}.feed_forward.norm = decoder.block.{n}.layer.2.layer_norm.weight
    decoder.{n}.feed_forward.hidden = decoder.block.{n}.layer.2.DenseReluDense.wi.weight
    decoder.{n}.feed_forward.output = decoder.block.{n}.layer.2.DenseReluDense.wo.weight
    ignore {side}.embed_tokens.weight
    ignore decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight
";
