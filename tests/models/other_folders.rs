//! Folders as others publish them: tied weights that are stored twice, sizes as lists, and settings of older files.

use crate::numbers::device;
use crate::published_folders::{config, error_of, folder, other, settings};
use crate::small_models::{
    small_bert, small_clip, small_gemma3, small_gpt2, small_llama, small_mixtral, small_modern_bert, small_olmo2,
    small_qwen3, small_t5, small_vit, small_whisper,
};
use crate::support::temp_dir;
use dfdx::tensor::AutoDevice;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs};
use typed_transformer::models::bert::Bert;
use typed_transformer::models::clip::Clip;
use typed_transformer::models::gemma3::{Gemma3, Gemma3Config};
use typed_transformer::models::gpt2::Gpt2;
use typed_transformer::models::llama::Llama;
use typed_transformer::models::mixtral::Mixtral;
use typed_transformer::models::modern_bert::ModernBert;
use typed_transformer::models::t5::T5;
use typed_transformer::models::vit::Vit;
use typed_transformer::models::whisper::Whisper;
use typed_transformer::weights::{Loadable, Pretrained, load_pretrained};

type SmallClip = Clip<small_clip::Config, f32, AutoDevice>;
type SmallModernBert = ModernBert<small_modern_bert::Config, f32, AutoDevice>;
type SmallGemma3 = Gemma3<small_gemma3::Config, f32, AutoDevice>;
type SmallQwen3 = Llama<small_qwen3::Config, f32, AutoDevice>;
type SmallVit = Vit<small_vit::Config, f32, AutoDevice>;
type SmallWhisper = Whisper<small_whisper::Config, f32, AutoDevice>;

/// The error of the folder `model` with the tensor `copy`, whose bytes are those of `original`, the first one changed
/// by `change`.
fn error_with_copy<Model>(model: &str, copy: &str, original: &str, change: u8) -> Option<String>
where
    Model: Pretrained + Loadable<f32, AutoDevice>,
{
    error_of_tensors::<Model>(model, |tensors| {
        let (dtype, shape, mut data) = tensors.remove(original).unwrap();
        tensors.insert(original.into(), (dtype, shape.clone(), data.clone()));
        data[0] ^= change;
        tensors.insert(copy.into(), (dtype, shape, data));
    })
}

pub type Tensors = BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>;

/// The error of the folder `model` after a change of its tensors.
pub fn error_of_tensors<Model>(model: &str, change: impl FnOnce(&mut Tensors)) -> Option<String>
where
    Model: Pretrained + Loadable<f32, AutoDevice>,
{
    let other = temp_dir();
    fs::copy(folder(model).join("config.json"), other.path().join("config.json")).unwrap();
    let bytes = fs::read(folder(model).join("model.safetensors")).unwrap();
    let stored = SafeTensors::deserialize(&bytes).unwrap();
    let parts = |view: TensorView<'_>| (view.dtype(), view.shape().to_vec(), view.data().to_vec());
    let mut tensors: Tensors = stored.iter().map(|(name, view)| (name.to_string(), parts(view))).collect();
    change(&mut tensors);
    let views = tensors
        .iter()
        .map(|(name, (dtype, shape, data))| (name, TensorView::new(*dtype, shape.clone(), data).unwrap()));
    fs::write(other.path().join("model.safetensors"), safetensors::serialize(views, None).unwrap()).unwrap();
    load_pretrained::<Model, f32, AutoDevice>(other.path(), &device()).err().map(|error| error.to_string())
}

#[test]
fn a_tied_weight_may_be_stored_twice_if_both_are_equal() {
    fn check<Model: Pretrained + Loadable<f32, AutoDevice>>(model: &str, copy: &str, original: &str) {
        assert_eq!(error_with_copy::<Model>(model, copy, original, 0), None);
        assert_eq!(
            error_with_copy::<Model>(model, copy, original, 1).unwrap(),
            format!("`{copy}` is not equal to `{original}`, but the model has one weight for both")
        );
    }
    check::<Gpt2<small_gpt2::Config, f32, AutoDevice>>("gpt2", "lm_head.weight", "transformer.wte.weight");
    check::<SmallGemma3>("gemma3", "lm_head.weight", "model.embed_tokens.weight");
    check::<T5<small_t5::Config, f32, AutoDevice>>("t5", "decoder.embed_tokens.weight", "shared.weight");
    check::<T5<small_t5::Config, f32, AutoDevice>>("t5", "lm_head.weight", "shared.weight");
    check::<SmallQwen3>("qwen3", "lm_head.weight", "model.embed_tokens.weight");
    check::<SmallWhisper>("whisper", "proj_out.weight", "model.decoder.embed_tokens.weight");
    check::<SmallModernBert>("modern_bert", "decoder.weight", "model.embeddings.tok_embeddings.weight");
}

/// `save_model` of safetensors stores a tied weight under the first of its names.
#[test]
fn a_tied_weight_may_have_the_name_of_its_copy() {
    fn check<Model: Pretrained + Loadable<f32, AutoDevice>>(model: &str, copy: &str, original: &str) {
        let rename = |tensors: &mut Tensors| {
            let tied = tensors.remove(original).unwrap();
            tensors.insert(copy.into(), tied);
        };
        assert_eq!(error_of_tensors::<Model>(model, rename), None);
    }
    check::<Gpt2<small_gpt2::Config, f32, AutoDevice>>("gpt2", "lm_head.weight", "transformer.wte.weight");
    check::<SmallGemma3>("gemma3", "lm_head.weight", "model.embed_tokens.weight");
    check::<T5<small_t5::Config, f32, AutoDevice>>("t5", "decoder.embed_tokens.weight", "shared.weight");
    check::<SmallQwen3>("qwen3", "lm_head.weight", "model.embed_tokens.weight");
    check::<SmallModernBert>("modern_bert", "decoder.weight", "model.embeddings.tok_embeddings.weight");
}

#[test]
fn an_untied_weight_does_not_stand_for_the_table_of_embeddings() {
    let remove = |tensors: &mut Tensors| drop(tensors.remove("model.embed_tokens.weight"));
    let error = error_of_tensors::<Llama<small_llama::Config, f32, AutoDevice>>("llama", remove).unwrap();
    assert!(error.contains("model.embed_tokens.weight"), "{error}");
}

/// Older versions of `transformers` stored them.
#[test]
fn stored_frequencies_of_rotary_positions_are_not_read() {
    fn check<Model: Pretrained + Loadable<f32, AutoDevice>>(model: &str) {
        let name = "model.layers.0.self_attn.rotary_emb.inv_freq";
        let add = |tensors: &mut Tensors| drop(tensors.insert(name.into(), (Dtype::F32, vec![1], vec![0; 4])));
        assert_eq!(error_of_tensors::<Model>(model, add), None);
    }
    check::<Llama<small_llama::Config, f32, AutoDevice>>("llama");
    check::<Llama<small_olmo2::Config, f32, AutoDevice>>("olmo2");
    check::<Mixtral<small_mixtral::Config, f32, AutoDevice>>("mixtral");
    check::<SmallGemma3>("gemma3");
}

/// The settings of a folder that count, and may be absent.
fn optional<Model: Pretrained + Loadable<f32, AutoDevice>>(model: &str) -> Vec<String> {
    let counts = |setting: &&String| {
        let mut changed = config(model);
        let value = changed.pointer_mut(&format!("/{}", setting.replace('.', "/"))).unwrap();
        *value = other(value);
        error_of::<Model>(&changed).is_some()
    };
    let may_be_absent = |setting: &&String| error_of::<Model>(&with(model, &[(setting, Value::Null)])).is_none();
    settings(&config(model)).iter().filter(counts).filter(may_be_absent).cloned().collect()
}

#[test]
fn a_setting_may_be_absent_if_it_is_the_default_of_transformers() {
    fn check<Model: Pretrained + Loadable<f32, AutoDevice>>(model: &str, expected: &str) {
        let expected: Vec<&str> = expected.split_whitespace().collect();
        assert_eq!(optional::<Model>(model), expected, "{model}");
    }
    check::<Gpt2<small_gpt2::Config, f32, AutoDevice>>(
        "gpt2",
        "
            activation_function layer_norm_epsilon n_inner scale_attn_by_inverse_layer_idx scale_attn_weights
            tie_word_embeddings
        ",
    );
    check::<SmallQwen3>(
        "qwen3",
        "attention_bias hidden_act layer_types rms_norm_eps rope_parameters.rope_type use_sliding_window",
    );
    check::<Llama<small_llama::Config, f32, AutoDevice>>(
        "llama",
        "
            attention_bias head_dim hidden_act mlp_bias rms_norm_eps rope_parameters.rope_theta
            rope_parameters.rope_type tie_word_embeddings
        ",
    );
    check::<Llama<small_olmo2::Config, f32, AutoDevice>>(
        "olmo2",
        "attention_bias hidden_act rope_parameters.rope_type tie_word_embeddings",
    );
    check::<Mixtral<small_mixtral::Config, f32, AutoDevice>>(
        "mixtral",
        "
            head_dim hidden_act rms_norm_eps rope_parameters.rope_theta rope_parameters.rope_type sliding_window
            tie_word_embeddings
        ",
    );
    check::<SmallGemma3>(
        "gemma3",
        "
            attention_bias attn_logit_softcapping final_logit_softcapping hidden_activation rms_norm_eps
            rope_parameters.full_attention.rope_theta rope_parameters.full_attention.rope_type
            rope_parameters.sliding_attention.rope_theta rope_parameters.sliding_attention.rope_type
            tie_word_embeddings use_bidirectional_attention
        ",
    );
    check::<T5<small_t5::Config, f32, AutoDevice>>(
        "t5",
        "
            dense_act_fn feed_forward_proj is_gated_act layer_norm_epsilon num_decoder_layers scale_decoder_outputs
            tie_word_embeddings
        ",
    );
    check::<Bert<small_bert::Config, f32, AutoDevice>>("bert", "hidden_act is_decoder layer_norm_eps");
    check::<SmallVit>("vit", "hidden_act layer_norm_eps pooler_act qkv_bias");
    check::<SmallClip>(
        "clip",
        "
            text_config.hidden_act text_config.layer_norm_eps vision_config.hidden_act
            vision_config.layer_norm_eps vision_config.num_channels
        ",
    );
    check::<SmallModernBert>(
        "modern_bert",
        "
            attention_bias classifier_activation classifier_bias decoder_bias hidden_activation mlp_bias
            norm_bias norm_eps rope_parameters.full_attention.rope_theta
            rope_parameters.full_attention.rope_type rope_parameters.sliding_attention.rope_theta
            rope_parameters.sliding_attention.rope_type tie_word_embeddings
        ",
    );
    check::<SmallWhisper>("whisper", "activation_function scale_embedding tie_word_embeddings");
}

/// The configuration of a folder with other values of some settings; `Null` removes one.
pub fn with(model: &str, settings: &[(&str, Value)]) -> Value {
    let mut config = config(model);
    for (path, value) in settings {
        let (object, name): (&str, &str) = path.rsplit_once('.').unwrap_or(("", path));
        let object = if object.is_empty() { &mut config } else { &mut config[object] };
        object[name] = value.clone();
    }
    config
}

/// `transformers` reads these, although it does not write them.
#[test]
fn fields_and_values_that_few_files_have_count() {
    fn check<Model: Pretrained + Loadable<f32, AutoDevice>>(model: &str, field: &str, accepted: Value, refused: Value) {
        assert_eq!(error_of::<Model>(&with(model, &[(field, accepted)])), None);
        let error = error_of::<Model>(&with(model, &[(field, refused.clone())])).unwrap();
        assert!(error.contains(&format!("`{field}` is {refused}")), "{error}");
    }
    fn is_causal<Model: Pretrained + Loadable<f32, AutoDevice>>(model: &str) {
        check::<Model>(model, "is_causal", json!(true), json!(false));
    }
    is_causal::<Gpt2<small_gpt2::Config, f32, AutoDevice>>("gpt2");
    is_causal::<Llama<small_llama::Config, f32, AutoDevice>>("llama");
    is_causal::<SmallQwen3>("qwen3");
    is_causal::<Mixtral<small_mixtral::Config, f32, AutoDevice>>("mixtral");
    is_causal::<SmallGemma3>("gemma3");
    for causal in [true, false] {
        check::<T5<small_t5::Config, f32, AutoDevice>>("t5", "is_causal", Value::Null, json!(causal));
        check::<SmallWhisper>("whisper", "is_causal", Value::Null, json!(causal));
    }
    check::<Bert<small_bert::Config, f32, AutoDevice>>("bert", "is_causal", json!(false), json!(true));
    check::<SmallModernBert>("modern_bert", "is_causal", json!(false), json!(true));
    check::<SmallVit>("vit", "is_causal", json!(false), json!(true));
    check::<SmallClip>("clip", "vision_config.is_causal", json!(false), json!(true));
    check::<SmallClip>("clip", "text_config.is_causal", json!(true), json!(false));
    check::<SmallQwen3>("qwen3", "hidden_act", json!("swish"), json!("gelu"));
    check::<SmallVit>("vit", "hidden_act", json!("gelu_python"), json!("gelu_new"));
    check::<SmallModernBert>("modern_bert", "hidden_activation", json!("gelu_python"), json!("gelu_new"));
    check::<Bert<small_bert::Config, f32, AutoDevice>>("bert", "hidden_act", json!("gelu_python"), json!("gelu_new"));
    let heads = |model: &str, field: &str| config(model)[field].clone();
    let (gpt2, whisper) = (heads("gpt2", "n_head"), heads("whisper", "encoder_attention_heads"));
    check::<Gpt2<small_gpt2::Config, f32, AutoDevice>>("gpt2", "num_attention_heads", gpt2, json!(1));
    for field in ["num_attention_heads", "num_key_value_heads"] {
        check::<SmallWhisper>("whisper", field, whisper.clone(), json!(1));
    }
    let window = config("modern_bert")["local_attention"].as_u64().unwrap();
    check::<SmallModernBert>("modern_bert", "sliding_window", json!(window / 2), json!(window));
}

#[test]
fn layers_may_be_given_by_their_period() {
    let number = json!(<small_gemma3::Config as Gemma3Config>::LAYERS_PER_GLOBAL);
    let period = |number: Value| with("gemma3", &[("layer_types", Value::Null), ("sliding_window_pattern", number)]);
    assert_eq!(error_of::<SmallGemma3>(&period(number)), None);
    let error = error_of::<SmallGemma3>(&period(json!(99))).unwrap();
    assert!(error.contains("`sliding_window_pattern` is 99, not"), "{error}");
    assert!(error_of::<SmallGemma3>(&period(Value::Null)).unwrap().contains("`layer_types` is absent, not"));
}

#[test]
fn sizes_of_images_may_be_lists() {
    let size = config("vit")["image_size"].as_u64().unwrap();
    let image = |sizes: [u64; 2]| error_of::<SmallVit>(&with("vit", &[("image_size", json!(sizes))]));
    assert_eq!(image([size, size]), None);
    let [taller, wider] = [[size + 1, size], [size, size + 1]].map(|sizes| image(sizes).unwrap());
    assert!(taller.contains("not Height=") && !taller.contains("not Width="), "{taller}");
    assert!(wider.contains("not Width=") && !wider.contains("not Height="), "{wider}");
}

#[test]
fn older_settings_of_clip_count() {
    let repeated = |change: fn(&mut Value)| {
        let mut fields = config("clip")["text_config"].clone();
        change(&mut fields);
        error_of::<SmallClip>(&with("clip", &[("text_config_dict", fields)]))
    };
    assert_eq!(repeated(|_| {}), None);
    assert_eq!(repeated(|fields| fields["dropout"] = json!(0.5)), None);
    let heads = repeated(|fields| fields["num_attention_heads"] = json!(99)).unwrap();
    assert!(heads.ends_with("`text_config_dict.num_attention_heads` is 99, not NumTextHeads=3"), "{heads}");
    let without_heads = repeated(|fields| fields["num_attention_heads"] = Value::Null).unwrap();
    assert!(without_heads.ends_with("`text_config_dict.num_attention_heads` is absent, not NumTextHeads=3"));
    assert!(repeated(|fields| *fields = json!([])).unwrap().contains("`text_config_dict` is [], not an object like"));
}

#[test]
fn clip_ends_a_text_with_its_highest_token() {
    let last = config("clip")["text_config"]["vocab_size"].as_u64().unwrap() - 1;
    let error = |end: u64| error_of::<SmallClip>(&with("clip", &[("text_config.eos_token_id", json!(end))]));
    assert_eq!([2, last].map(error), [None, None]);
    assert!(error(7).unwrap().contains("`text_config.eos_token_id` is 7, not 2.0 or "));
}
