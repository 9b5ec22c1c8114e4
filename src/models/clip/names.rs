/// The names of the parameters in the files of HuggingFace, as a [`NameMap`](crate::weights::NameMap).
///
/// ```
/// use typed_transformer::{models::clip, weights::{NameMap, NameMapError}};
/// let names: Result<NameMap, NameMapError> = clip::NAMES.parse();
/// assert!(names.is_ok());
/// ```
pub const NAMES: &str = "
    text.token = text_model.embeddings.token_embedding.weight
    text.position = text_model.embeddings.position_embedding.weight
    text.norm.{p} = text_model.final_layer_norm.{p}
    text.projection = text_projection.weight
    vision.embeddings.class_token = vision_model.embeddings.class_embedding
    vision.embeddings.patch = vision_model.embeddings.patch_embedding.weight [out channels rows columns -> out (channels rows columns)]
    vision.embeddings.position = vision_model.embeddings.position_embedding.weight
    vision.first_norm.{p} = vision_model.pre_layrnorm.{p}
    vision.norm.{p} = vision_model.post_layernorm.{p}
    vision.projection = visual_projection.weight
    {side}.layers.{n}.attention_norm.{p} = {side}_model.encoder.layers.{n}.layer_norm1.{p}
    {side}.layers.{n}.attention.query.{p} = {side}_model.encoder.layers.{n}.self_attn.q_proj.{p}
    {side}.layers.{n}.attention.key.{p} = {side}_model.encoder.layers.{n}.self_attn.k_proj.{p}
    {side}.layers.{n}.attention.value.{p} = {side}_model.encoder.layers.{n}.self_attn.v_proj.{p}
    {side}.layers.{n}.attention.output.{p} = {side}_model.encoder.layers.{n}.self_attn.out_proj.{p}
    {side}.layers.{n}.feed_forward_norm.{p} = {side}_model.encoder.layers.{n}.layer_norm2.{p}
    {side}.layers.{n}.feed_forward.hidden.{p} = {side}_model.encoder.layers.{n}.mlp.fc1.{p}
    {side}.layers.{n}.feed_forward.output.{p} = {side}_model.encoder.layers.{n}.mlp.fc2.{p}
    logit_scale = logit_scale
    ignore {side}_model.embeddings.position_ids
";
