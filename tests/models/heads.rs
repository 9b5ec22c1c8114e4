//! Encoders alone, without a pooler or the logits of masked tokens, and files with heads that are not read.

use crate::other_folders::{Tensors, error_of_tensors, with};
use crate::published_folders::{config, error_of, other};
use crate::small_models::{
    small_bert, small_bert_encoder, small_gpt2, small_llama, small_mixtral, small_modern_bert,
    small_modern_bert_encoder, small_t5, small_vit, small_vit_encoder,
};
use dfdx::tensor::AutoDevice;
use safetensors::Dtype;
use std::mem::take;
use typed_transformer::models::bert::Bert;
use typed_transformer::models::gpt2::Gpt2;
use typed_transformer::models::llama::Llama;
use typed_transformer::models::mixtral::Mixtral;
use typed_transformer::models::modern_bert::ModernBert;
use typed_transformer::models::t5::T5;
use typed_transformer::models::vit::Vit;
use typed_transformer::weights::{Loadable, Pretrained};

type SmallBert = Bert<small_bert::Config, f32, AutoDevice>;
type BertEncoder = Bert<small_bert_encoder::Config, f32, AutoDevice>;
type SmallModernBert = ModernBert<small_modern_bert::Config, f32, AutoDevice>;
type ModernBertEncoder = ModernBert<small_modern_bert_encoder::Config, f32, AutoDevice>;
type SmallVit = Vit<small_vit::Config, f32, AutoDevice>;
type VitEncoder = Vit<small_vit_encoder::Config, f32, AutoDevice>;

#[test]
fn an_encoder_alone_is_read_from_files_with_and_without_the_rest() {
    fn check<Whole, Encoder>(model: &str, rest: &[&str], missing: &str)
    where
        Whole: Pretrained + Loadable<f32, AutoDevice>,
        Encoder: Pretrained + Loadable<f32, AutoDevice>,
    {
        // The names have no prefix if the encoder was saved alone.
        let remove_rest = |tensors: &mut Tensors| {
            tensors.retain(|name, _| !rest.iter().any(|rest| name.starts_with(rest)));
            let without_prefix = |name: String| name.strip_prefix(Encoder::PREFIX).map_or(name.clone(), str::to_string);
            *tensors = take(tensors).into_iter().map(|(name, tensor)| (without_prefix(name), tensor)).collect();
        };
        assert_eq!(error_of_tensors::<Encoder>(model, |_| {}), None);
        assert_eq!(error_of_tensors::<Encoder>(model, remove_rest), None);
        let error = error_of_tensors::<Whole>(model, remove_rest).unwrap();
        assert!(error.starts_with(&format!("`{missing}` ")) && error.contains("is missing"), "{error}");
    }
    check::<SmallBert, BertEncoder>("bert", &["pooler."], "pooler.weight");
    check::<SmallModernBert, ModernBertEncoder>("modern_bert", &["head.", "decoder."], "head");
    check::<SmallVit, VitEncoder>("vit", &["pooler."], "pooler.weight");
}

#[test]
fn settings_of_a_head_do_not_count_without_it() {
    for setting in ["classifier_activation", "classifier_bias", "decoder_bias"] {
        let changed = with("modern_bert", &[(setting, other(&config("modern_bert")[setting]))]);
        assert_eq!(error_of::<ModernBertEncoder>(&changed), None);
        assert!(error_of::<SmallModernBert>(&changed).is_some());
    }
}

#[test]
fn heads_that_a_model_lacks_are_not_read() {
    fn check<Model: Pretrained + Loadable<f32, AutoDevice>>(model: &str, head: &str) {
        let add = |tensors: &mut Tensors| drop(tensors.insert(head.into(), (Dtype::F32, vec![1], vec![0; 4])));
        assert_eq!(error_of_tensors::<Model>(model, add), None);
    }
    check::<SmallBert>("bert", "classifier.bias");
    check::<SmallBert>("bert", "qa_outputs.bias");
    check::<SmallBert>("bert", "linear.weight");
    check::<ModernBertEncoder>("modern_bert", "classifier.bias");
    check::<SmallVit>("vit", "classifier.bias");
    check::<SmallVit>("vit", "embeddings.mask_token");
    check::<SmallVit>("vit", "decoder.0.bias");
    for head in ["score.weight", "classifier.bias", "qa_outputs.bias", "multiple_choice_head.summary.bias"] {
        check::<Gpt2<small_gpt2::Config, f32, AutoDevice>>("gpt2", head);
    }
    // `qa_outputs` is that of Mistral and Mixtral: `transformers` names the other tensors of Llama's file differently.
    for head in ["score.weight", "qa_outputs.bias"] {
        check::<Llama<small_llama::Config, f32, AutoDevice>>("llama", head);
        check::<Mixtral<small_mixtral::Config, f32, AutoDevice>>("mixtral", head);
    }
    check::<T5<small_t5::Config, f32, AutoDevice>>("t5", "qa_outputs.bias");
}
