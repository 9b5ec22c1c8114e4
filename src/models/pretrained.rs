//! The names of parameters in the files of HuggingFace's `transformers`, and the fields of `config.json`, of each
//! model.

use super::bert::{self, Bert, BertConfig};
use super::clip::{self, Clip, ClipConfig};
use super::gemma3::{self, Gemma3, Gemma3Config};
use super::gpt2::{self, Gpt2, Gpt2Config};
use super::llama::{self, Llama, LlamaConfig, Norms};
use super::mixtral::{self, Mixtral, MixtralConfig};
use super::modern_bert::{self, ModernBert, ModernBertConfig};
use super::olmo2;
use super::t5::{self, T5, T5Config};
use super::vit::{self, Vit, VitConfig};
use super::whisper::{self, Whisper, WhisperConfig};
use crate::nn::Precision;
use crate::ops::{Real, Rotary};
use crate::weights::{ConfigField, Pretrained};
use dfdx::{shapes::ConstDim as _, tensor_ops::Device};

#[diagnostic::do_not_recommend]
impl<Config: Gpt2Config, E: Real, D: Device<E>, P: Precision> Pretrained for Gpt2<Config, E, D, P> {
    const NAMES: &'static str = gpt2::NAMES;
    const PREFIX: &'static str = "transformer.";

    fn config() -> Vec<ConfigField> {
        let hidden = ConfigField::dim::<Config::HiddenDim>("n_inner");
        vec![
            ConfigField::text("model_type", &["gpt2"]),
            ConfigField::dim::<Config::VocabSize>("vocab_size"),
            ConfigField::dim::<Config::MaxSeqLen>("n_positions"),
            ConfigField::dim::<Config::EmbedDim>("n_embd"),
            ConfigField::dim::<Config::NumHeads>("n_head"),
            or_absent_if(Config::HiddenDim::SIZE == 4 * Config::EmbedDim::SIZE, hidden),
            ConfigField::dim::<Config::NumLayers>("n_layer"),
            ConfigField::number("layer_norm_epsilon", Config::NORM_EPSILON),
            ConfigField::text("activation_function", &["gelu_new", "gelu_pytorch_tanh"]),
            ConfigField::flag("scale_attn_weights", true).or_absent(),
            ConfigField::flag("scale_attn_by_inverse_layer_idx", false).or_absent(),
            ConfigField::flag("tie_word_embeddings", true).or_absent(),
        ]
    }
}

#[diagnostic::do_not_recommend]
impl<Config: LlamaConfig, E: Real, D: Device<E>, P: Precision> Pretrained for Llama<Config, E, D, P> {
    const NAMES: &'static str = match Config::NORMS {
        Norms::Before | Norms::BeforeAndInHeads => llama::NAMES,
        Norms::After => olmo2::NAMES,
    };

    fn config() -> Vec<ConfigField> {
        let (model_type, key_value_heads, head_dim) = match Config::NORMS {
            Norms::Before => (&["llama"], Config::NumHeads::SIZE, None),
            Norms::BeforeAndInHeads => (&["qwen3"], 32, Some(128)),
            Norms::After => (&["olmo2"], Config::NumHeads::SIZE, None),
        };
        let mut fields = llama_fields::<Config>(key_value_heads, 10_000.0, head_dim);
        fields.push(ConfigField::text("model_type", model_type));
        fields.push(ConfigField::flag("attention_bias", false).or_absent());
        match Config::NORMS {
            Norms::Before => fields.push(ConfigField::flag("mlp_bias", false).or_absent()),
            Norms::BeforeAndInHeads => {
                fields.push(ConfigField::flag("use_sliding_window", false).or_absent());
                let types = vec!["full_attention"; Config::NumLayers::SIZE];
                fields.push(ConfigField::list("layer_types", types).or_absent());
            }
            Norms::After => {}
        }
        fields
    }
}

/// A field that may be absent if the default of `transformers` is the value of the model.
fn or_absent_if(is_default: bool, field: ConfigField) -> ConfigField {
    if is_default { field.or_absent() } else { field }
}

/// The fields that Llama, Qwen3, OLMo 2 and Mixtral have in common. `key_value_heads`, `rope_theta` and `head_dim` are the
/// defaults of `transformers` for missing fields; the heads divide the width if there is no other `head_dim`.
fn llama_fields<Config: LlamaConfig>(
    key_value_heads: usize,
    rope_theta: f64,
    head_dim: Option<usize>,
) -> Vec<ConfigField> {
    let is_head_dim = match head_dim {
        Some(size) => Config::HeadDim::SIZE == size,
        None => Config::NumHeads::SIZE * Config::HeadDim::SIZE == Config::EmbedDim::SIZE,
    };
    let heads = ConfigField::dim::<Config::NumKeyValueHeads>("num_key_value_heads");
    let theta = ConfigField::number("rope_theta", Config::ROTARY.base).also_called("rope_parameters.rope_theta");
    let mut fields = vec![
        ConfigField::dim::<Config::VocabSize>("vocab_size"),
        ConfigField::dim::<Config::MaxSeqLen>("max_position_embeddings"),
        ConfigField::dim::<Config::EmbedDim>("hidden_size"),
        ConfigField::dim::<Config::HiddenDim>("intermediate_size"),
        ConfigField::dim::<Config::NumLayers>("num_hidden_layers"),
        ConfigField::dim::<Config::NumHeads>("num_attention_heads"),
        or_absent_if(Config::NumKeyValueHeads::SIZE == key_value_heads, heads),
        or_absent_if(is_head_dim, ConfigField::dim::<Config::HeadDim>("head_dim")),
        ConfigField::number("rms_norm_eps", Config::NORM_EPSILON),
        ConfigField::text("hidden_act", &["silu"]),
        or_absent_if(Config::ROTARY.base == rope_theta, theta),
        or_absent_if(!Config::TIED_LOGITS, ConfigField::flag("tie_word_embeddings", Config::TIED_LOGITS)),
    ];
    fields.extend(scaling_fields(Config::ROTARY));
    fields
}

/// The fields of the scaling of rotary positions.
fn scaling_fields(rotary: Rotary) -> Vec<ConfigField> {
    let Some(scaling) = rotary.scaling else {
        let rope_type = |name| ConfigField::text(name, &["default"]).or_absent();
        return vec![
            rope_type("rope_scaling.rope_type").also_called("rope_parameters.rope_type"),
            // The name until transformers 4.43.
            rope_type("rope_scaling.type").also_called("rope_parameters.type"),
        ];
    };
    let field = |names: [&'static str; 2], number| ConfigField::number(names[0], number).also_called(names[1]);
    vec![
        ConfigField::text("rope_scaling.rope_type", &["llama3"]).also_called("rope_parameters.rope_type"),
        ConfigField::text("rope_scaling.type", &["llama3"]).also_called("rope_parameters.type").or_absent(),
        field(["rope_scaling.factor", "rope_parameters.factor"], scaling.factor),
        field(["rope_scaling.low_freq_factor", "rope_parameters.low_freq_factor"], scaling.low_frequency_factor),
        field(["rope_scaling.high_freq_factor", "rope_parameters.high_freq_factor"], scaling.high_frequency_factor),
        field(
            ["rope_scaling.original_max_position_embeddings", "rope_parameters.original_max_position_embeddings"],
            scaling.original_len as f64,
        ),
    ]
}

#[diagnostic::do_not_recommend]
impl<Config: MixtralConfig, E: Real, D: Device<E>, P: Precision> Pretrained for Mixtral<Config, E, D, P> {
    const NAMES: &'static str = mixtral::NAMES;

    fn config() -> Vec<ConfigField> {
        let mut fields = llama_fields::<Config>(8, 1_000_000.0, None);
        fields.push(ConfigField::text("model_type", &["mixtral"]));
        fields.push(ConfigField::dim::<Config::NumExperts>("num_local_experts"));
        fields.push(ConfigField::dim::<Config::ExpertsPerToken>("num_experts_per_tok"));
        fields.push(ConfigField::absent("sliding_window"));
        fields
    }
}

#[diagnostic::do_not_recommend]
impl<Config: Gemma3Config, E: Real, D: Device<E>, P: Precision> Pretrained for Gemma3<Config, E, D, P> {
    const NAMES: &'static str = gemma3::NAMES;

    fn config() -> Vec<ConfigField> {
        let layer_type = |layer| if Config::is_global(layer) { "full_attention" } else { "sliding_attention" };
        let types = ConfigField::list("layer_types", (0..Config::NumLayers::SIZE).map(layer_type));
        let global = ConfigField::number("rope_theta", Config::GLOBAL_ROTARY.base);
        let local = ConfigField::number("rope_local_base_freq", Config::LOCAL_ROTARY.base);
        let default = |name| ConfigField::text(name, &["default"]).or_absent();
        vec![
            ConfigField::text("model_type", &["gemma3_text"]),
            ConfigField::dim::<Config::VocabSize>("vocab_size"),
            ConfigField::dim::<Config::MaxSeqLen>("max_position_embeddings"),
            ConfigField::dim::<Config::EmbedDim>("hidden_size"),
            ConfigField::dim::<Config::HiddenDim>("intermediate_size"),
            ConfigField::dim::<Config::NumLayers>("num_hidden_layers"),
            ConfigField::dim::<Config::NumHeads>("num_attention_heads"),
            ConfigField::dim::<Config::NumKeyValueHeads>("num_key_value_heads"),
            ConfigField::dim::<Config::HeadDim>("head_dim"),
            ConfigField::dim::<Config::WindowLen>("sliding_window"),
            // Files until transformers 4.52 have no list.
            or_absent_if(Config::LAYERS_PER_GLOBAL == 6, types),
            ConfigField::number("sliding_window_pattern", Config::LAYERS_PER_GLOBAL as f64).or_absent(),
            ConfigField::number("query_pre_attn_scalar", Config::QUERY_SIZE),
            ConfigField::number("rms_norm_eps", Config::NORM_EPSILON),
            ConfigField::text("hidden_activation", &["gelu_pytorch_tanh"]),
            global.also_called("rope_parameters.full_attention.rope_theta"),
            local.also_called("rope_parameters.sliding_attention.rope_theta"),
            default("rope_parameters.full_attention.rope_type"),
            default("rope_parameters.sliding_attention.rope_type"),
            ConfigField::absent("rope_scaling"),
            ConfigField::absent("attn_logit_softcapping"),
            ConfigField::absent("final_logit_softcapping"),
            ConfigField::flag("use_bidirectional_attention", false).or_absent(),
            ConfigField::flag("attention_bias", false).or_absent(),
            ConfigField::flag("tie_word_embeddings", true).or_absent(),
        ]
    }
}

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
