//! The models that are encoders.

use super::{dim_or_default, number_or_default, or_absent_if};
use crate::models::bert::{Bert, BertConfig};
use crate::models::clip::{Clip, ClipConfig};
use crate::models::modern_bert::{ModernBert, ModernBertConfig};
use crate::models::vit::{Vit, VitConfig};
use crate::nn::Precision;
use crate::ops::{Real, Rotary};
use crate::weights::{ConfigField, Pretrained};
use dfdx::{shapes::ConstDim as _, tensor_ops::Device};

#[diagnostic::do_not_recommend]
impl<Config: BertConfig, E: Real, D: Device<E>, P: Precision> Pretrained for Bert<Config, E, D, P> {
    // Files that were converted from TensorFlow, such as that of bert-base-uncased, have `gamma` and `beta` for a
    // norm's weight and bias.
    const NAMES: &'static str = "
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
        ignore bert.pooler.*
        ignore cls.*
        ignore classifier.*
        ignore qa_outputs.*
        ignore linear.*
    ";
    const PREFIX: &'static str = "bert.";

    fn config() -> Vec<ConfigField> {
        vec![
            ConfigField::text("model_type", &["bert"]),
            ConfigField::dim::<Config::VocabSize>("vocab_size"),
            ConfigField::dim::<Config::TokenTypes>("type_vocab_size"),
            ConfigField::dim::<Config::MaxSeqLen>("max_position_embeddings"),
            ConfigField::dim::<Config::EmbedDim>("hidden_size"),
            ConfigField::dim::<Config::NumHeads>("num_attention_heads"),
            ConfigField::dim::<Config::HiddenDim>("intermediate_size"),
            ConfigField::dim::<Config::NumLayers>("num_hidden_layers"),
            number_or_default("layer_norm_eps", Config::NORM_EPSILON, 1e-12),
            ConfigField::text("hidden_act", &["gelu", "gelu_python"]).or_absent(),
            ConfigField::text("position_embedding_type", &["absolute"]).or_absent(),
            ConfigField::flag("is_decoder", false).or_absent(),
            ConfigField::flag("is_causal", false).or_absent(),
        ]
    }
}

#[diagnostic::do_not_recommend]
impl<Config: ModernBertConfig, E: Real, D: Device<E>, P: Precision> Pretrained for ModernBert<Config, E, D, P> {
    const NAMES: &'static str = "
        token_embedder = model.embeddings.tok_embeddings.weight or decoder.weight
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
        copy decoder.weight of model.embeddings.tok_embeddings.weight
        ignore head.*
        ignore decoder.bias
        ignore classifier.*
    ";
    const PREFIX: &'static str = "model.";

    fn config() -> Vec<ConfigField> {
        let kind = |layer| if Config::is_global(layer) { "full_attention" } else { "sliding_attention" };
        let types = ConfigField::list("layer_types", (0..Config::NumLayers::SIZE).map(kind));
        let rotary = |name, other_name, rotary: Rotary, default| {
            number_or_default(name, rotary.base, default).also_called(other_name)
        };
        let default = |name| ConfigField::text(name, &["default"]).or_absent();
        let off = |name| ConfigField::flag(name, false).or_absent();
        let of_head = [
            ConfigField::text("classifier_activation", &["gelu"]).or_absent(),
            off("classifier_bias"),
            ConfigField::flag("decoder_bias", true).or_absent(),
        ];
        let mut fields = vec![
            ConfigField::text("model_type", &["modernbert"]),
            ConfigField::dim::<Config::VocabSize>("vocab_size"),
            ConfigField::dim::<Config::MaxSeqLen>("max_position_embeddings"),
            ConfigField::dim::<Config::EmbedDim>("hidden_size"),
            ConfigField::dim::<Config::HiddenDim>("intermediate_size"),
            ConfigField::dim::<Config::NumLayers>("num_hidden_layers"),
            ConfigField::dim::<Config::NumHeads>("num_attention_heads"),
            ConfigField::dim::<Config::WindowLen>("local_attention"),
            ConfigField::number("sliding_window", (Config::WindowLen::SIZE / 2) as f64).or_absent(),
            // Files until transformers 4.57 have a number in place of the list.
            or_absent_if(Config::LAYERS_PER_GLOBAL == 3, types).or_absent_beside("global_attn_every_n_layers"),
            ConfigField::number("global_attn_every_n_layers", Config::LAYERS_PER_GLOBAL as f64).or_absent(),
            number_or_default("norm_eps", Config::NORM_EPSILON, 1e-5),
            ConfigField::text("hidden_activation", &["gelu", "gelu_python"]).or_absent(),
            rotary("global_rope_theta", "rope_parameters.full_attention.rope_theta", Config::GLOBAL_ROTARY, 160_000.0),
            rotary("local_rope_theta", "rope_parameters.sliding_attention.rope_theta", Config::LOCAL_ROTARY, 10_000.0),
            default("rope_parameters.full_attention.rope_type"),
            default("rope_parameters.sliding_attention.rope_type"),
            ConfigField::absent("rope_scaling"),
            off("norm_bias"),
            off("is_causal"),
            off("attention_bias"),
            off("mlp_bias"),
            ConfigField::flag("tie_word_embeddings", true).or_absent(),
        ];
        fields.extend(of_head.into_iter().filter(|_| Config::HEAD));
        fields
    }
}

#[diagnostic::do_not_recommend]
impl<Config: VitConfig, E: Real, D: Device<E>, P: Precision> Pretrained for Vit<Config, E, D, P> {
    const NAMES: &'static str = "
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
        ignore vit.pooler.*
        ignore vit.embeddings.mask_token
        ignore decoder.*
        ignore classifier.*
    ";
    const PREFIX: &'static str = "vit.";

    fn config() -> Vec<ConfigField> {
        vec![
            ConfigField::text("model_type", &["vit"]),
            ConfigField::dim::<Config::Channels>("num_channels"),
            ConfigField::dim::<Config::Height>("image_size").or_element(0),
            ConfigField::dim::<Config::Width>("image_size").or_element(1),
            ConfigField::dim::<Config::PatchHeight>("patch_size").or_element(0),
            ConfigField::dim::<Config::PatchWidth>("patch_size").or_element(1),
            ConfigField::dim::<Config::EmbedDim>("hidden_size"),
            ConfigField::dim::<Config::NumHeads>("num_attention_heads"),
            ConfigField::dim::<Config::HiddenDim>("intermediate_size"),
            ConfigField::dim::<Config::NumLayers>("num_hidden_layers"),
            number_or_default("layer_norm_eps", Config::NORM_EPSILON, 1e-12),
            ConfigField::text("hidden_act", &["gelu", "gelu_python"]).or_absent(),
            ConfigField::flag("qkv_bias", true).or_absent(),
            ConfigField::text("pooler_act", &["tanh"]).or_absent(),
            ConfigField::flag("is_causal", false).or_absent(),
        ]
    }
}

#[diagnostic::do_not_recommend]
impl<Config: ClipConfig, E: Real, D: Device<E>, P: Precision> Pretrained for Clip<Config, E, D, P> {
    const NAMES: &'static str = "
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

    fn config() -> Vec<ConfigField> {
        // A text ends at its largest id. HuggingFace writes this as an `eos_token_id` of 2; any other is the id itself.
        let end = ConfigField::one_of("text_config.eos_token_id", [2.0, Config::VocabSize::SIZE as f64 - 1.0]);
        vec![
            ConfigField::text("model_type", &["clip"]),
            ConfigField::dim::<Config::ProjectionDim>("projection_dim"),
            // Older files may have these two objects, which count in place of `text_config` and `vision_config`.
            ConfigField::overrides("text_config_dict", "text_config"),
            ConfigField::overrides("vision_config_dict", "vision_config"),
            ConfigField::text("text_config.model_type", &["clip_text_model"]),
            dim_or_default::<Config::VocabSize>("text_config.vocab_size", 49_408),
            dim_or_default::<Config::MaxSeqLen>("text_config.max_position_embeddings", 77),
            dim_or_default::<Config::TextEmbedDim>("text_config.hidden_size", 512),
            dim_or_default::<Config::NumTextHeads>("text_config.num_attention_heads", 8),
            dim_or_default::<Config::TextHiddenDim>("text_config.intermediate_size", 2048),
            dim_or_default::<Config::NumTextLayers>("text_config.num_hidden_layers", 12),
            number_or_default("text_config.layer_norm_eps", Config::NORM_EPSILON, 1e-5),
            or_absent_if(Config::VocabSize::SIZE == 49_408, end),
            ConfigField::text("text_config.hidden_act", &["quick_gelu"]).or_absent(),
            ConfigField::flag("text_config.is_causal", true).or_absent(),
            ConfigField::text("vision_config.model_type", &["clip_vision_model"]),
            dim_or_default::<Config::Channels>("vision_config.num_channels", 3),
            dim_or_default::<Config::Height>("vision_config.image_size", 224).or_element(0),
            dim_or_default::<Config::Width>("vision_config.image_size", 224).or_element(1),
            dim_or_default::<Config::PatchHeight>("vision_config.patch_size", 32).or_element(0),
            dim_or_default::<Config::PatchWidth>("vision_config.patch_size", 32).or_element(1),
            dim_or_default::<Config::EmbedDim>("vision_config.hidden_size", 768),
            dim_or_default::<Config::NumHeads>("vision_config.num_attention_heads", 12),
            dim_or_default::<Config::HiddenDim>("vision_config.intermediate_size", 3072),
            dim_or_default::<Config::NumLayers>("vision_config.num_hidden_layers", 12),
            number_or_default("vision_config.layer_norm_eps", Config::NORM_EPSILON, 1e-5),
            ConfigField::text("vision_config.hidden_act", &["quick_gelu"]).or_absent(),
            ConfigField::flag("vision_config.is_causal", false).or_absent(),
        ]
    }
}
