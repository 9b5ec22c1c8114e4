//! A published model that is saved for `transformers` has the tensors of the folder that it was loaded from.

use crate::numbers::device;
use crate::published_folders::folder;
use crate::small_models::{
    small_bert, small_bert_encoder, small_clip, small_gemma3, small_gpt2, small_llama, small_mixtral,
    small_modern_bert, small_modern_bert_encoder, small_olmo2, small_qwen3, small_t5, small_vit, small_vit_encoder,
    small_whisper,
};
use crate::support::{Tensors, temp_dir, tensors_of};
use dfdx::{nn::TensorCollection, tensor::AutoDevice};
use safetensors::Dtype;
use std::{fs, path::Path};
use typed_transformer::models::bert::Bert;
use typed_transformer::models::clip::Clip;
use typed_transformer::models::gemma3::Gemma3;
use typed_transformer::models::gpt2::Gpt2;
use typed_transformer::models::llama::Llama;
use typed_transformer::models::mixtral::Mixtral;
use typed_transformer::models::modern_bert::ModernBert;
use typed_transformer::models::t5::T5;
use typed_transformer::models::vit::Vit;
use typed_transformer::models::whisper::Whisper;
use typed_transformer::weights::{Loadable, Pretrained, load_pretrained, save, save_pretrained};

/// The tensors of a folder, which may be in several files. Those in bfloat16 are widened.
fn tensors_in(folder: &Path) -> Tensors {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files = files.filter(|name| name.starts_with("model") && name.ends_with(".safetensors"));
    let tensors = files.flat_map(|name| tensors_of(&fs::read(folder.join(name)).unwrap()).0);
    let widened = tensors.map(|(name, (dtype, sizes, bytes))| match dtype {
        Dtype::BF16 => {
            let bytes = bytes.chunks(2).flat_map(|bits| [0, 0, bits[0], bits[1]]).collect();
            (name, (Dtype::F32, sizes, bytes))
        }
        _ => (name, (dtype, sizes, bytes)),
    });
    widened.collect()
}

/// Saves the model of the folder `name` into another one, and compares the tensors of both. Those of the names in
/// `ignored` are not in the model. A folder of a base model lacks the prefix of the names.
fn check<Model>(name: &str, ignored: &[&str])
where
    Model: Pretrained + Loadable<f32, AutoDevice> + TensorCollection<f32, AutoDevice>,
{
    let model: Model = load_pretrained::<_, f32, AutoDevice>(folder(name), &device()).unwrap();
    let saved = temp_dir();
    save_pretrained::<_, f32, AutoDevice>(&model, saved.path()).unwrap();

    let mut published = tensors_in(&folder(name));
    for name in ignored {
        assert!(published.remove(*name).is_some(), "{name}");
    }
    let prefix = match published.keys().any(|name| name.starts_with(Model::PREFIX)) {
        true => "",
        false => Model::PREFIX,
    };
    let published: Tensors = published.into_iter().map(|(name, tensor)| (format!("{prefix}{name}"), tensor)).collect();
    let found = tensors_in(saved.path());
    assert_eq!(found.keys().collect::<Vec<_>>(), published.keys().collect::<Vec<_>>());
    for (name, (dtype, sizes, bytes)) in &found {
        let expected = &published[name];
        assert_eq!((dtype, sizes), (&expected.0, &expected.1), "{name}");
        assert!(*bytes == expected.2, "{name}");
    }

    fs::copy(folder(name).join("config.json"), saved.path().join("config.json")).unwrap();
    let loaded: Model = load_pretrained::<_, f32, AutoDevice>(saved.path(), &device()).unwrap();
    // Equal models give equal files.
    let own = saved.path().join("own");
    let file_of = |model: &Model| {
        save::<_, f32, AutoDevice>(model, &own).unwrap();
        fs::read(&own).unwrap()
    };
    assert!(file_of(&loaded) == file_of(&model), "{name}");
}

#[test]
fn decoders_are_saved_as_they_were_published() {
    check::<Gpt2<small_gpt2::Config, f32, AutoDevice>>("gpt2", &[]);
    check::<Llama<small_llama::Config, f32, AutoDevice>>("llama", &[]);
    check::<Llama<small_llama::Config, f32, AutoDevice>>("llama_bf16_sharded", &[]);
    check::<Llama<small_qwen3::Config, f32, AutoDevice>>("qwen3", &[]);
    check::<Llama<small_olmo2::Config, f32, AutoDevice>>("olmo2", &[]);
    check::<Gemma3<small_gemma3::Config, f32, AutoDevice>>("gemma3", &[]);
    check::<Mixtral<small_mixtral::Config, f32, AutoDevice>>("mixtral", &[]);
}

#[test]
fn encoder_decoders_are_saved_as_they_were_published() {
    check::<T5<small_t5::Config, f32, AutoDevice>>("t5", &[]);
    // `transformers` computes these positions, as the model does.
    check::<Whisper<small_whisper::Config, f32, AutoDevice>>("whisper", &["model.encoder.embed_positions.weight"]);
}

#[test]
fn encoders_are_saved_as_they_were_published() {
    let pooler = ["pooler.dense.bias", "pooler.dense.weight"];
    let head = ["decoder.bias", "head.dense.weight", "head.norm.weight"];
    check::<Bert<small_bert::Config, f32, AutoDevice>>("bert", &[]);
    check::<Bert<small_bert_encoder::Config, f32, AutoDevice>>("bert", &pooler);
    check::<ModernBert<small_modern_bert::Config, f32, AutoDevice>>("modern_bert", &[]);
    check::<ModernBert<small_modern_bert_encoder::Config, f32, AutoDevice>>("modern_bert", &head);
    check::<Vit<small_vit::Config, f32, AutoDevice>>("vit", &[]);
    check::<Vit<small_vit_encoder::Config, f32, AutoDevice>>("vit", &pooler);
    check::<Clip<small_clip::Config, f32, AutoDevice>>("clip", &[]);
}
