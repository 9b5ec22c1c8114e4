//! The folders that `transformers` wrote load, each of their settings counts, and older files mean the same.

use crate::numbers::device;
use crate::small_models::{
    small_bert, small_clip, small_gemma3, small_gpt2, small_llama, small_mixtral, small_modern_bert, small_olmo2,
    small_qwen3, small_t5, small_vit, small_whisper,
};
use crate::support::temp_dir;
use dfdx::tensor::AutoDevice;
use safetensors::{SafeTensors, tensor::TensorView};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use typed_transformer::models::bert::Bert;
use typed_transformer::models::clip::Clip;
use typed_transformer::models::gemma3::Gemma3;
use typed_transformer::models::gpt2::Gpt2;
use typed_transformer::models::llama::Llama;
use typed_transformer::models::mixtral::Mixtral;
use typed_transformer::models::modern_bert::ModernBert;
use typed_transformer::models::published::llama_3_2_1b;
use typed_transformer::models::t5::T5;
use typed_transformer::models::vit::Vit;
use typed_transformer::models::whisper::Whisper;
use typed_transformer::prelude::*;
use typed_transformer::weights::{LoadError, Loadable, Pretrained, load_pretrained, save};

type SmallBert = Bert<small_bert::Config, f32, AutoDevice>;
type SmallLlama = Llama<small_llama::Config, f32, AutoDevice>;
type SmallT5 = T5<small_t5::Config, f32, AutoDevice>;

/// Settings of training, of tokens and of other heads, which do not change what a model computes; and those that follow
/// from others.
const OTHERS: &str = "
    architectures attention_dropout attention_probs_dropout_prob attn_pdrop classifier_dropout dropout_rate embd_pdrop
    hidden_dropout_prob resid_pdrop initializer_factor initializer_range bos_token_id eos_token_id pad_token_id dtype
    transformers_version use_cache pretraining_tp reorder_and_upcast_attn summary_activation summary_first_dropout
    summary_proj_to_labels summary_type summary_use_proj output_router_logits router_aux_loss_coef router_jitter_noise
    is_encoder_decoder add_cross_attention encoder_stride pooler_output_size
    logit_scale_init_value classifier_pooling cls_token_id sep_token_id embedding_dropout mlp_dropout
    deterministic_flash_attn initializer_cutoff_factor sparse_prediction sparse_pred_ignore_index
";

pub fn folder(model: &str) -> PathBuf {
    PathBuf::from(format!("{}/fixtures/hugging_face/{model}", env!("CARGO_MANIFEST_DIR")))
}

pub fn config(model: &str) -> Value {
    serde_json::from_slice(&fs::read(folder(model).join("config.json")).unwrap()).unwrap()
}

/// The error of a configuration, if it has one. There are no weights beside it.
pub fn error_of<Model>(config: &Value) -> Option<String>
where
    Model: Pretrained + Loadable<f32, AutoDevice>,
{
    let folder = temp_dir();
    fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    match load_pretrained::<Model, f32, AutoDevice>(folder.path(), &device()).err().unwrap() {
        LoadError::NoWeights { .. } => None,
        error @ LoadError::Config { .. } => Some(error.to_string()),
        error => panic!("{error}"),
    }
}

/// Another value than that of a setting.
pub fn other(value: &Value) -> Value {
    match value {
        Value::Null => json!(1),
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) if number.is_u64() => json!(number.as_u64().unwrap() + 1),
        Value::Number(number) => json!(number.as_f64().unwrap() * 2.0 + 1e-3),
        Value::String(text) => json!(format!("{text}-like")),
        Value::Array(_) | Value::Object(_) => json!(["other"]),
    }
}

/// The paths of all settings, `rope_parameters.rope_theta` for a nested one.
pub fn settings(config: &Value) -> Vec<String> {
    let fields = config.as_object().unwrap().iter();
    let paths = fields.flat_map(|(name, value)| match value.is_object() {
        true => settings(value).into_iter().map(|inner| format!("{name}.{inner}")).collect(),
        false => vec![name.clone()],
    });
    paths.collect()
}

fn check<Model>(name: &str, also_without_effect: &[&str])
where
    Model: Pretrained + Loadable<f32, AutoDevice>,
{
    load_pretrained::<Model, f32, AutoDevice>(folder(name), &device()).unwrap();
    for setting in settings(&config(name)) {
        let mut changed = config(name);
        let value = changed.pointer_mut(&format!("/{}", setting.replace('.', "/"))).unwrap();
        *value = match setting.ends_with("max_position_embeddings") {
            // A file may have a larger length.
            true => json!(value.as_u64().unwrap() - 1),
            false => other(value),
        };
        let error = error_of::<Model>(&changed);
        let own_name = setting.rsplit_once('.').map_or(&*setting, |(_, name)| name);
        let others = OTHERS.split_whitespace().chain(also_without_effect.iter().copied());
        // CLIP takes the vector at the end of a text.
        let is_other =
            setting != "text_config.eos_token_id" && { others }.any(|name| name == setting || name == own_name);
        match error {
            None => assert!(is_other, "{name}: {setting} may change"),
            Some(error) => {
                assert!(!is_other, "{error}");
                assert!(error.contains(&format!("`{setting}` is ")), "{error}");
            }
        }
    }
}

#[test]
fn each_setting_of_gpt2_counts() {
    check::<Gpt2<small_gpt2::Config, f32, AutoDevice>>("gpt2", &[]);
}

#[test]
fn each_setting_of_llama_counts() {
    // A file may have a larger length, here and in the decoders below.
    check::<SmallLlama>("llama", &[]);
}

#[test]
fn each_setting_of_mixtral_counts() {
    check::<Mixtral<small_mixtral::Config, f32, AutoDevice>>("mixtral", &[]);
}

#[test]
fn each_setting_of_qwen3_counts() {
    // Of windows that it does not use.
    let others = ["max_window_layers", "sliding_window"];
    check::<Llama<small_qwen3::Config, f32, AutoDevice>>("qwen3", &others);
}

#[test]
fn each_setting_of_olmo2_counts() {
    check::<Llama<small_olmo2::Config, f32, AutoDevice>>("olmo2", &[]);
}

#[test]
fn each_setting_of_gemma3_counts() {
    // The list of the layers' types stands beside it.
    let others = ["_sliding_window_pattern"];
    check::<Gemma3<small_gemma3::Config, f32, AutoDevice>>("gemma3", &others);
}

#[test]
fn each_setting_of_bert_counts() {
    // The logits of another head.
    check::<SmallBert>("bert", &["tie_word_embeddings"]);
}

#[test]
fn each_setting_of_t5_counts() {
    // Of each of the two stacks; the whole model is no decoder.
    check::<SmallT5>("t5", &["is_decoder"]);
}

#[test]
fn each_setting_of_vit_counts() {
    check::<Vit<small_vit::Config, f32, AutoDevice>>("vit", &[]);
}

#[test]
fn each_setting_of_clip_counts() {
    let of_other_models = ["text_config.projection_dim", "vision_config.projection_dim"];
    check::<Clip<small_clip::Config, f32, AutoDevice>>("clip", &of_other_models);
}

#[test]
fn each_setting_of_modern_bert_counts() {
    check::<ModernBert<small_modern_bert::Config, f32, AutoDevice>>("modern_bert", &[]);
}

#[test]
fn each_setting_of_whisper_counts() {
    // Settings of training, of generation and of a classifier; and another name for the layers.
    let others = "
        activation_dropout apply_spec_augment begin_suppress_tokens suppress_tokens classifier_proj_size decoder_layerdrop
        encoder_layerdrop decoder_start_token_id dropout init_std mask_feature_length mask_feature_min_masks
        mask_feature_prob mask_time_length mask_time_min_masks mask_time_prob median_filter_width num_hidden_layers
        use_weighted_layer_sum";
    check::<Whisper<small_whisper::Config, f32, AutoDevice>>("whisper", &others.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn scaled_rotary_positions_are_refused_in_files_of_all_ages() {
    let error_with = |field: &str, value: Value| {
        let mut config = config("llama");
        config[field] = value;
        error_of::<SmallLlama>(&config).unwrap_or_default()
    };
    let oldest = error_with("rope_scaling", json!({ "type": "linear", "factor": 2.0 }));
    assert!(oldest.contains("`rope_scaling.type` is \"linear\", not \"default\""), "{oldest}");
    let later = error_with("rope_scaling", json!({ "type": "llama3", "rope_type": "llama3", "factor": 2.0 }));
    assert!(later.contains("`rope_scaling.rope_type` is \"llama3\", not \"default\""), "{later}");
    // Fields that the model does not have, and what is not a list of fields.
    let linear = error_with("rope_parameters", json!({ "rope_theta": 10_000, "type": "linear", "factor": 4 }));
    assert!(linear.contains("`rope_parameters.type` is \"linear\", not \"default\""), "{linear}");
    assert!(linear.ends_with("`rope_parameters.factor` is 4, not absent"), "{linear}");
    for value in [json!(6), json!([10_000.0]), json!("linear")] {
        let error = error_with("rope_parameters", value.clone());
        assert!(error.ends_with(&format!("`rope_parameters` is {value}, not an object")), "{error}");
    }
    // A file with both names, of which one is right.
    let both = error_with("rope_theta", json!(500_000.0));
    assert!(both.ends_with("`rope_theta` is 500000.0, not 10000.0"), "{both}");
    assert_eq!(error_with("rope_theta", json!(10_000.0)), "");
    assert_eq!(error_with("rope_scaling", Value::Null), "");
}

#[test]
fn the_kind_of_scaling_may_have_its_older_name() {
    let scaled = |name: &str, kind: &str| {
        json!({
            "model_type": "llama", "vocab_size": 128_256, "max_position_embeddings": 131_072, "hidden_size": 2048,
            "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8,
            "rms_norm_eps": 1e-5, "rope_theta": 500_000.0, "tie_word_embeddings": true,
            "rope_scaling": {
                name: kind, "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192,
            },
        })
    };
    let error_of = error_of::<llama_3_2_1b::Model<f32, AutoDevice>>;
    let error = |name, kind| error_of(&scaled(name, kind));
    assert_eq!([error("rope_type", "llama3"), error("type", "llama3")], [None, None]);
    let linear = error("type", "linear").unwrap();
    assert!(linear.ends_with(": `rope_scaling.type` is \"linear\", not \"llama3\""), "{linear}");
    // A length outside the object counts in its place.
    let with_len = |len: usize| {
        let mut config = scaled("rope_type", "llama3");
        config["original_max_position_embeddings"] = json!(len);
        error_of(&config)
    };
    assert_eq!(with_len(8192), None);
    let other = with_len(4096).unwrap();
    assert!(other.ends_with(": `original_max_position_embeddings` is 4096, not 8192.0"), "{other}");
}

#[test]
fn a_missing_setting_means_the_default_of_transformers() {
    let error_without = |config: Value, field: &str| {
        let mut config = config;
        config.as_object_mut().unwrap().remove(field).unwrap();
        config
    };
    let llama = error_of::<SmallLlama>(&error_without(config("llama"), "num_key_value_heads")).unwrap();
    assert!(llama.ends_with("`num_key_value_heads` is absent, not NumKeyValueHeads=2"), "{llama}");
    assert_eq!(error_of::<SmallLlama>(&error_without(config("llama"), "rope_parameters")), None);
    assert_eq!(error_of::<SmallLlama>(&error_without(config("llama"), "head_dim")), None);
    let t5 = error_of::<SmallT5>(&error_without(config("t5"), "relative_attention_max_distance")).unwrap();
    assert!(t5.ends_with("`relative_attention_max_distance` is absent, not 20.0"), "{t5}");
    assert_eq!(error_of::<SmallT5>(&error_without(config("t5"), "scale_decoder_outputs")), None);
}

#[test]
fn a_folder_may_be_of_a_longer_model_without_learned_positions() {
    let error = |len: usize| {
        let mut config = config("llama");
        config["max_position_embeddings"] = len.into();
        error_of::<SmallLlama>(&config)
    };
    assert_eq!(error(41), None);
    assert!(error(39).unwrap().ends_with("`max_position_embeddings` is 39, not MaxSeqLen=40 or more"));
}

#[test]
fn quantized_weights_are_refused() {
    let error = |quantization: Value| {
        let mut config = config("llama");
        config["quantization_config"] = quantization;
        error_of::<SmallLlama>(&config)
    };
    let bit_net = error(json!({ "quant_method": "bitnet" })).unwrap();
    assert!(bit_net.ends_with(r#": `quantization_config` is {"quant_method":"bitnet"}, not absent"#), "{bit_net}");
    assert_eq!(error(Value::Null), None);
}

#[test]
fn a_mistral_without_a_window_is_a_llama() {
    let error = |model_type: &str, window: Option<Value>| {
        let mut config = config("llama");
        config["model_type"] = model_type.into();
        window.into_iter().for_each(|window| config["sliding_window"] = window);
        error_of::<SmallLlama>(&config)
    };
    assert_eq!(error("mistral", Some(Value::Null)), None);
    // A window of 40 shows all positions.
    assert_eq!(error("mistral", Some(json!(40))), None);
    assert!(error("mistral", Some(json!(39))).unwrap().ends_with("`sliding_window` is 39, not null or at least 40"));
    assert!(error("mistral", None).unwrap().ends_with("`sliding_window` is absent, not null or at least 40"));
    // A Llama has no such field.
    assert_eq!(error("llama", Some(json!(4096))), None);
}

/// BERT's folder with other names of tensors.
fn renamed_bert(rename: impl Fn(&str) -> String) -> TempDir {
    let renamed = temp_dir();
    fs::copy(folder("bert").join("config.json"), renamed.path().join("config.json")).unwrap();
    let bytes = fs::read(folder("bert").join("model.safetensors")).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let views = tensors
        .iter()
        .map(|(name, view)| (rename(name), TensorView::new(view.dtype(), view.shape().to_vec(), view.data()).unwrap()));
    fs::write(renamed.path().join("model.safetensors"), safetensors::serialize(views, None).unwrap()).unwrap();
    renamed
}

fn load_bert(folder: &Path) -> Result<SmallBert, LoadError> {
    load_pretrained(folder, &device())
}

#[test]
fn norms_may_have_gamma_and_beta() {
    let old_name =
        |name: &str| name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta");
    let parameters = |model: &SmallBert| {
        let file = temp_dir();
        save(model, file.path().join("model.safetensors")).unwrap();
        fs::read(file.path().join("model.safetensors")).unwrap()
    };
    let expected = parameters(&load_bert(&folder("bert")).unwrap());
    for prefix in ["", "bert."] {
        let renamed = renamed_bert(|name| format!("{prefix}{}", old_name(name)));
        assert!(parameters(&load_bert(renamed.path()).unwrap()) == expected);
    }
    let neither = renamed_bert(|name| name.replace("embeddings.LayerNorm.bias", "embeddings.LayerNorm.offset"));
    assert_eq!(
        load_bert(neither.path()).unwrap_err().to_string(),
        "`embeddings.norm.bias` (EmbedDim=40,) is missing, \
         read as `embeddings.LayerNorm.bias or embeddings.LayerNorm.beta`"
    );
}

#[test]
fn the_first_token_of_a_target_is_seen_although_it_is_the_padding_token() {
    dims! { Batch = 2; Src = 3; Tgt = 4; }
    let model: SmallT5 = load_pretrained(folder("t5"), &device()).unwrap();
    let source = TokenIds::from_ids(&[5, 6, 7, 8, 9, 10], None, (Batch, Src)).unwrap();
    let logits = |pad| {
        let target = TokenIds::from_ids(&[0, 3, 4, 9, 0, 11, 0, 13], pad, (Batch, Tgt)).unwrap();
        model.forward(&source, &target, NoneTape).unwrap().as_vec()
    };
    assert_eq!(logits(Some(Fin::literal::<0>())), logits(None));
}
