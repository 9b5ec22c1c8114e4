//! The models that are encoders, or have one.

use super::or_absent_if;
use crate::models::bert::{self, Bert, BertConfig};
use crate::models::clip::{self, Clip, ClipConfig};
use crate::models::modern_bert::{self, ModernBert, ModernBertConfig};
use crate::models::t5::{self, T5, T5Config};
use crate::models::vit::{self, Vit, VitConfig};
use crate::models::whisper::{self, Whisper, WhisperConfig};
use crate::nn::Precision;
use crate::ops::{Real, Rotary};
use crate::weights::{ConfigField, Pretrained};
use dfdx::{shapes::ConstDim as _, tensor_ops::Device};

#[diagnostic::do_not_recommend]
impl<Config: T5Config, E: Real, D: Device<E>, P: Precision> Pretrained for T5<Config, E, D, P> {
    const NAMES: &'static str = t5::NAMES;

    fn config() -> Vec<ConfigField> {
        let max_distance = ConfigField::number("relative_attention_max_distance", Config::MAX_DISTANCE as f64);
        vec![
            ConfigField::text("model_type", &["t5"]),
            ConfigField::dim::<Config::VocabSize>("vocab_size"),
            ConfigField::dim::<Config::EmbedDim>("d_model"),
            ConfigField::dim::<Config::NumHeads>("num_heads"),
            ConfigField::dim::<Config::HeadDim>("d_kv"),
            ConfigField::dim::<Config::HiddenDim>("d_ff"),
            ConfigField::dim::<Config::NumEncoderLayers>("num_layers"),
            ConfigField::dim::<Config::NumDecoderLayers>("num_decoder_layers").or_absent(),
            ConfigField::dim::<Config::NumBuckets>("relative_attention_num_buckets"),
            or_absent_if(Config::MAX_DISTANCE == 128, max_distance),
            ConfigField::number("layer_norm_epsilon", Config::NORM_EPSILON),
            ConfigField::text("feed_forward_proj", &["relu"]).or_absent(),
            ConfigField::flag("tie_word_embeddings", true).or_absent(),
            ConfigField::flag("scale_decoder_outputs", true).or_absent(),
        ]
    }
}

#[diagnostic::do_not_recommend]
impl<Config: BertConfig, E: Real, D: Device<E>, P: Precision> Pretrained for Bert<Config, E, D, P> {
    const NAMES: &'static str = bert::NAMES;
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
            ConfigField::number("layer_norm_eps", Config::NORM_EPSILON),
            ConfigField::text("hidden_act", &["gelu"]),
            ConfigField::text("position_embedding_type", &["absolute"]).or_absent(),
            ConfigField::flag("is_decoder", false).or_absent(),
        ]
    }
}

#[diagnostic::do_not_recommend]
impl<Config: ModernBertConfig, E: Real, D: Device<E>, P: Precision> Pretrained for ModernBert<Config, E, D, P> {
    const NAMES: &'static str = modern_bert::NAMES;

    fn config() -> Vec<ConfigField> {
        let kind = |layer| if Config::is_global(layer) { "full_attention" } else { "sliding_attention" };
        let types = ConfigField::list("layer_types", (0..Config::NumLayers::SIZE).map(kind));
        let rotary = |name, other_name, rotary: Rotary, default: f64| {
            or_absent_if(rotary.base == default, ConfigField::number(name, rotary.base).also_called(other_name))
        };
        let default = |name| ConfigField::text(name, &["default"]).or_absent();
        let off = |name| ConfigField::flag(name, false).or_absent();
        vec![
            ConfigField::text("model_type", &["modernbert"]),
            ConfigField::dim::<Config::VocabSize>("vocab_size"),
            ConfigField::dim::<Config::MaxSeqLen>("max_position_embeddings"),
            ConfigField::dim::<Config::EmbedDim>("hidden_size"),
            ConfigField::dim::<Config::HiddenDim>("intermediate_size"),
            ConfigField::dim::<Config::NumLayers>("num_hidden_layers"),
            ConfigField::dim::<Config::NumHeads>("num_attention_heads"),
            ConfigField::dim::<Config::WindowLen>("local_attention"),
            // Files until transformers 4.57 have no list.
            or_absent_if(Config::LAYERS_PER_GLOBAL == 3, types),
            ConfigField::number("global_attn_every_n_layers", Config::LAYERS_PER_GLOBAL as f64).or_absent(),
            ConfigField::number("norm_eps", Config::NORM_EPSILON),
            ConfigField::text("hidden_activation", &["gelu"]),
            ConfigField::text("classifier_activation", &["gelu"]),
            rotary("global_rope_theta", "rope_parameters.full_attention.rope_theta", Config::GLOBAL_ROTARY, 160_000.0),
            rotary("local_rope_theta", "rope_parameters.sliding_attention.rope_theta", Config::LOCAL_ROTARY, 10_000.0),
            default("rope_parameters.full_attention.rope_type"),
            default("rope_parameters.sliding_attention.rope_type"),
            ConfigField::absent("rope_scaling"),
            off("norm_bias"),
            off("attention_bias"),
            off("mlp_bias"),
            off("classifier_bias"),
            ConfigField::flag("decoder_bias", true).or_absent(),
            ConfigField::flag("tie_word_embeddings", true).or_absent(),
        ]
    }
}

#[diagnostic::do_not_recommend]
impl<Config: VitConfig, E: Real, D: Device<E>, P: Precision> Pretrained for Vit<Config, E, D, P> {
    const NAMES: &'static str = vit::NAMES;
    const PREFIX: &'static str = "vit.";

    fn config() -> Vec<ConfigField> {
        vec![
            ConfigField::text("model_type", &["vit"]),
            ConfigField::dim::<Config::Channels>("num_channels"),
            ConfigField::dim::<Config::Height>("image_size"),
            ConfigField::dim::<Config::Width>("image_size"),
            ConfigField::dim::<Config::PatchHeight>("patch_size"),
            ConfigField::dim::<Config::PatchWidth>("patch_size"),
            ConfigField::dim::<Config::EmbedDim>("hidden_size"),
            ConfigField::dim::<Config::NumHeads>("num_attention_heads"),
            ConfigField::dim::<Config::HiddenDim>("intermediate_size"),
            ConfigField::dim::<Config::NumLayers>("num_hidden_layers"),
            ConfigField::number("layer_norm_eps", Config::NORM_EPSILON),
            ConfigField::text("hidden_act", &["gelu"]),
            ConfigField::flag("qkv_bias", true).or_absent(),
            ConfigField::text("pooler_act", &["tanh"]).or_absent(),
        ]
    }
}

#[diagnostic::do_not_recommend]
impl<Config: ClipConfig, E: Real, D: Device<E>, P: Precision> Pretrained for Clip<Config, E, D, P> {
    const NAMES: &'static str = clip::NAMES;

    fn config() -> Vec<ConfigField> {
        vec![
            ConfigField::text("model_type", &["clip"]),
            ConfigField::dim::<Config::ProjectionDim>("projection_dim"),
            ConfigField::text("text_config.model_type", &["clip_text_model"]),
            ConfigField::dim::<Config::VocabSize>("text_config.vocab_size"),
            ConfigField::dim::<Config::MaxSeqLen>("text_config.max_position_embeddings"),
            ConfigField::dim::<Config::TextEmbedDim>("text_config.hidden_size"),
            ConfigField::dim::<Config::NumTextHeads>("text_config.num_attention_heads"),
            ConfigField::dim::<Config::TextHiddenDim>("text_config.intermediate_size"),
            ConfigField::dim::<Config::NumTextLayers>("text_config.num_hidden_layers"),
            ConfigField::number("text_config.layer_norm_eps", Config::NORM_EPSILON),
            ConfigField::text("text_config.hidden_act", &["quick_gelu"]),
            ConfigField::text("vision_config.model_type", &["clip_vision_model"]),
            or_absent_if(
                Config::Channels::SIZE == 3,
                ConfigField::dim::<Config::Channels>("vision_config.num_channels"),
            ),
            ConfigField::dim::<Config::Height>("vision_config.image_size"),
            ConfigField::dim::<Config::Width>("vision_config.image_size"),
            ConfigField::dim::<Config::PatchHeight>("vision_config.patch_size"),
            ConfigField::dim::<Config::PatchWidth>("vision_config.patch_size"),
            ConfigField::dim::<Config::EmbedDim>("vision_config.hidden_size"),
            ConfigField::dim::<Config::NumHeads>("vision_config.num_attention_heads"),
            ConfigField::dim::<Config::HiddenDim>("vision_config.intermediate_size"),
            ConfigField::dim::<Config::NumLayers>("vision_config.num_hidden_layers"),
            ConfigField::number("vision_config.layer_norm_eps", Config::NORM_EPSILON),
            ConfigField::text("vision_config.hidden_act", &["quick_gelu"]),
        ]
    }
}

#[diagnostic::do_not_recommend]
impl<Config: WhisperConfig, E: Real, D: Device<E>, P: Precision> Pretrained for Whisper<Config, E, D, P> {
    const NAMES: &'static str = whisper::NAMES;

    fn config() -> Vec<ConfigField> {
        vec![
            ConfigField::text("model_type", &["whisper"]),
            ConfigField::dim::<Config::NumMelBins>("num_mel_bins"),
            ConfigField::dim::<Config::SrcLen>("max_source_positions"),
            ConfigField::dim::<Config::VocabSize>("vocab_size"),
            ConfigField::dim::<Config::MaxTgtLen>("max_target_positions"),
            ConfigField::dim::<Config::EmbedDim>("d_model"),
            ConfigField::dim::<Config::NumHeads>("encoder_attention_heads"),
            ConfigField::dim::<Config::NumHeads>("decoder_attention_heads"),
            ConfigField::dim::<Config::HiddenDim>("encoder_ffn_dim"),
            ConfigField::dim::<Config::HiddenDim>("decoder_ffn_dim"),
            ConfigField::dim::<Config::NumEncoderLayers>("encoder_layers"),
            ConfigField::dim::<Config::NumDecoderLayers>("decoder_layers"),
            ConfigField::text("activation_function", &["gelu"]),
            ConfigField::flag("scale_embedding", false).or_absent(),
            ConfigField::flag("tie_word_embeddings", true).or_absent(),
        ]
    }
}
