/// The names of the parameters in the files of HuggingFace, as a [`NameMap`](crate::weights::NameMap).
///
/// ```
/// use typed_transformer::{models::whisper, weights::{NameMap, NameMapError}};
/// let names: Result<NameMap, NameMapError> = whisper::NAMES.parse();
/// assert!(names.is_ok());
/// ```
pub const NAMES: &str = "
    first_convolution.{p} = model.encoder.conv1.{p}
    second_convolution.{p} = model.encoder.conv2.{p}
    token_embedder = model.decoder.embed_tokens.weight
    position_embedder = model.decoder.embed_positions.weight
    {side}_norm.{p} = model.{side}.layer_norm.{p}
    {side}.{n}.self_attention.norm.{p} = model.{side}.layers.{n}.self_attn_layer_norm.{p}
    {side}.{n}.self_attention.query.{p} = model.{side}.layers.{n}.self_attn.q_proj.{p}
    {side}.{n}.self_attention.key = model.{side}.layers.{n}.self_attn.k_proj.weight
    {side}.{n}.self_attention.value.{p} = model.{side}.layers.{n}.self_attn.v_proj.{p}
    {side}.{n}.self_attention.output.{p} = model.{side}.layers.{n}.self_attn.out_proj.{p}
    {side}.{n}.cross_attention.norm.{p} = model.{side}.layers.{n}.encoder_attn_layer_norm.{p}
    {side}.{n}.cross_attention.query.{p} = model.{side}.layers.{n}.encoder_attn.q_proj.{p}
    {side}.{n}.cross_attention.key = model.{side}.layers.{n}.encoder_attn.k_proj.weight
    {side}.{n}.cross_attention.value.{p} = model.{side}.layers.{n}.encoder_attn.v_proj.{p}
    {side}.{n}.cross_attention.output.{p} = model.{side}.layers.{n}.encoder_attn.out_proj.{p}
    {side}.{n}.feed_forward.norm.{p} = model.{side}.layers.{n}.final_layer_norm.{p}
    {side}.{n}.feed_forward.hidden.{p} = model.{side}.layers.{n}.fc1.{p}
    {side}.{n}.feed_forward.output.{p} = model.{side}.layers.{n}.fc2.{p}
    ignore model.encoder.embed_positions.weight
    ignore proj_out.weight
";
