//! A value of each public type of the published models takes the place of another one of the same type only: one with
//! another width, configuration or activation has another type.

use typed_transformer::models::bert::{self, BertConfig};
use typed_transformer::models::clip::{self, ClipConfig};
use typed_transformer::models::gemma3::{self, Gemma3Config};
use typed_transformer::models::gpt2::{self, Gpt2Config};
use typed_transformer::models::llama::{self, LlamaConfig};
use typed_transformer::models::mixtral::{self, MixtralConfig};
use typed_transformer::models::modern_bert::{self, ModernBertConfig};
use typed_transformer::models::t5::{self, T5Config};
use typed_transformer::models::vit::{self, VitConfig};
use typed_transformer::models::whisper::{self, WhisperConfig};
use typed_transformer::nn::{Autoregressive, CacheOf};
use typed_transformer::ops::Activation;
use typed_transformer::prelude::*;

dims! { Batch; SeqLen; InDim = 4; OutDim = 6; NumHeads = 12; }

fn bert<Small: BertConfig, Large: BertConfig>(
    old: &mut (bert::Bert<Small>, bert::Embeddings<Small>, bert::Layer<Small>),
    new: (bert::Bert<Small>, bert::Embeddings<Small>, bert::Layer<Small>),
) {
    *old = new;
}
fn gpt2<Small: Gpt2Config, Large: Gpt2Config>(
    old: &mut (gpt2::Gpt2<Small>, CacheOf<gpt2::Gpt2<Small>, Batch>),
    new: (gpt2::Gpt2<Small>, CacheOf<gpt2::Gpt2<Small>, Batch>),
) {
    *old = new;
}
trait Writes: Autoregressive<Batch, f32, Cpu> {}
fn cache<Writer: Writes, Other: Writes>(old: &mut CacheOf<Writer, Batch>, new: CacheOf<Writer, Batch>) {
    *old = new;
}
fn gpt2_layer<Function: Activation, Other: Activation>(
    old: &mut gpt2::Layer<NumHeads, OutDim, InDim, Function>,
    new: gpt2::Layer<NumHeads, OutDim, InDim, Function>,
    attention: gpt2::Attention<NumHeads, OutDim>,
    feed_forward: gpt2::FeedForward<NumHeads, InDim, Function>,
) {
    *old = new;
    old.attention = attention;
    old.feed_forward = feed_forward;
}
fn llama<Small: LlamaConfig, Large: LlamaConfig>(
    old: &mut (llama::Llama<Small>, llama::Layer<Small>, CacheOf<llama::Llama<Small>, Batch>),
    new: (llama::Llama<Small>, llama::Layer<Small>, CacheOf<llama::Llama<Small>, Batch>),
    attention: llama::Attention<Small>,
) {
    *old = new;
    old.1.attention = attention;
}
fn gated_feed_forward<Function: Activation, Other: Activation>(
    old: &mut llama::FeedForward<InDim, OutDim, Function>,
    new: llama::FeedForward<InDim, OutDim, Function>,
) {
    *old = new;
}
fn gemma3<Small: Gemma3Config, Large: Gemma3Config>(
    old: &mut (gemma3::Gemma3<Small>, gemma3::Layer<Small>, CacheOf<gemma3::Gemma3<Small>, Batch>),
    new: (gemma3::Gemma3<Small>, gemma3::Layer<Small>, CacheOf<gemma3::Gemma3<Small>, Batch>),
    attention: gemma3::Attention<Small>,
) {
    *old = new;
    old.1.attention = attention;
}
fn mixtral<Small: MixtralConfig, Large: MixtralConfig>(
    old: &mut (mixtral::Mixtral<Small>, mixtral::Layer<Small>),
    new: (mixtral::Mixtral<Small>, mixtral::Layer<Small>),
    mixture: mixtral::MixtureOfExperts<Small>,
) {
    *old = new;
    old.1.mixture = mixture;
}
fn modern_bert<Small: ModernBertConfig, Large: ModernBertConfig>(
    old: &mut (modern_bert::ModernBert<Small>, modern_bert::Layer<Small>),
    new: (modern_bert::ModernBert<Small>, modern_bert::Layer<Small>),
    attention: modern_bert::Attention<Small>,
) {
    *old = new;
    old.1.attention = attention;
}
fn norm_weight(old: &mut modern_bert::NormWeight<InDim>, new: modern_bert::NormWeight<InDim>) {
    *old = new;
}
fn t5<'a, Small: T5Config, Large: T5Config>(
    old: &mut (t5::T5<Small>, t5::EncoderLayer<Small>, t5::DecoderLayer<Small>),
    new: (t5::T5<Small>, t5::EncoderLayer<Small>, t5::DecoderLayer<Small>),
    attention: t5::Attention<Small>,
    feed_forward: t5::FeedForward<Small>,
    old_text: &mut t5::EncodedT5<'a, Batch, SeqLen, Small>,
    new_text: t5::EncodedT5<'a, Batch, SeqLen, Small>,
) {
    *old = new;
    old.1.self_attention = attention;
    old.1.feed_forward = feed_forward;
    *old_text = new_text;
}
fn vit<Small: VitConfig, Large: VitConfig>(
    old: &mut (vit::Vit<Small>, vit::Embeddings<Small>, vit::Images<Batch, Small>),
    new: (vit::Vit<Small>, vit::Embeddings<Small>, vit::Images<Batch, Small>),
    old_places: &mut vit::ClassAndPatches<Small>,
    new_places: vit::ClassAndPatches<Small>,
) {
    *old = new;
    *old_places = new_places;
}
fn clip<Small: ClipConfig, Large: ClipConfig>(
    old: &mut (clip::Clip<Small>, clip::TextEncoder<Small>, clip::VisionEncoder<Small>),
    new: (clip::Clip<Small>, clip::TextEncoder<Small>, clip::VisionEncoder<Small>),
) {
    *old = new;
}
fn whisper<'a, Small: WhisperConfig, Large: WhisperConfig>(
    old: &mut (whisper::Whisper<Small>, whisper::EncoderLayer<Small>, whisper::DecoderLayer<Small>),
    new: (whisper::Whisper<Small>, whisper::EncoderLayer<Small>, whisper::DecoderLayer<Small>),
    attention: whisper::Attention<Small>,
    feed_forward: whisper::FeedForward<Small>,
    old_text: &mut whisper::EncodedWhisper<'a, Batch, Small>,
    new_text: whisper::EncodedWhisper<'a, Batch, Small>,
    features: (&mut whisper::Features<Batch, Small>, whisper::Features<Batch, Small>),
) {
    *old = new;
    old.1.self_attention = attention;
    old.1.feed_forward = feed_forward;
    *old_text = new_text;
    *features.0 = features.1;
}
fn convolution(old: &mut whisper::Convolution<InDim, OutDim>, new: whisper::Convolution<InDim, OutDim>) {
    *old = new;
}
