//! A value of each public type of layers, caches and models takes the place of another one of the same type only: one
//! with another width, architecture, configuration or mask has another type.

use typed_transformer::doctest::Model;
use typed_transformer::models::bert::{self, BertConfig};
use typed_transformer::models::clip::{self, ClipConfig};
use typed_transformer::models::gemma3::{self, Gemma3Config};
use typed_transformer::models::gpt2::{self, Gpt2Config};
use typed_transformer::models::llama::{self, LlamaConfig};
use typed_transformer::models::mixtral::{self, MixtralConfig};
use typed_transformer::models::modern_bert::{self, ModernBertConfig};
use typed_transformer::models::olmo2::Olmo2;
use typed_transformer::models::qwen3::Qwen3;
use typed_transformer::models::t5::{self, T5Config};
use typed_transformer::models::vit::{self, VitConfig};
use typed_transformer::nn::{self, *};
use typed_transformer::ops::Activation;
use typed_transformer::prelude::*;
use typed_transformer::tensor_parallel::{
    DividesLayersOf, ShardedAttention, ShardedDecoderOnly, ShardedFeedForward, ShardedLM,
};

dims! {
    Batch; SeqLen;
    InDim = 4; OutDim = 6; KeyDim = 8; ValueDim = 10; VocabSize = 28; MaxLen = 16; NumLayers = 3; NumHeads = 12;
}

fn linear(old: &mut Linear<InDim, OutDim, f32, Cpu>, new: Linear<InDim, OutDim, f32, Cpu>) {
    *old = new;
}
fn layer_norm(old: &mut LayerNorm<InDim, f32, Cpu>, new: LayerNorm<InDim, f32, Cpu>) {
    *old = new;
}
fn norm<A: Arch, Other: Arch>(old: &mut Norm<InDim, A, f32, Cpu>, new: Norm<InDim, A, f32, Cpu>) {
    *old = new;
}
fn embedding<A: Arch, Other: Arch>(
    old: &mut Embedding<VocabSize, InDim, A, f32, Cpu>,
    new: Embedding<VocabSize, InDim, A, f32, Cpu>,
) {
    *old = new;
}
fn projection<R: ProjectionRule, Other: ProjectionRule>(
    old: &mut Projection<InDim, OutDim, R, f32, Cpu>,
    new: Projection<InDim, OutDim, R, f32, Cpu>,
) {
    *old = new;
}
fn projections<A: Arch, Other: Arch>(
    attention: (
        &mut Projection<InDim, OutDim, AttentionProjection<A>>,
        Projection<InDim, OutDim, AttentionProjection<A>>,
    ),
    feed_forward: (
        &mut Projection<InDim, OutDim, FeedForwardProjection<A>>,
        Projection<InDim, OutDim, FeedForwardProjection<A>>,
    ),
) {
    *attention.0 = attention.1;
    *feed_forward.0 = feed_forward.1;
}
fn feed_forward<A: Arch, Other: Arch>(
    old: (&mut nn::FeedForward<InDim, A, f32, Cpu>, &mut GatedFeedForward<InDim, A, f32, Cpu>),
    new: (nn::FeedForward<InDim, A, f32, Cpu>, GatedFeedForward<InDim, A, f32, Cpu>),
) {
    *old.0 = new.0;
    *old.1 = new.1;
}
fn attention<A: Arch, Other: Arch>(
    old: &mut MHAttention<InDim, KeyDim, ValueDim, OutDim, A, f32, Cpu>,
    new: MHAttention<InDim, KeyDim, ValueDim, OutDim, A, f32, Cpu>,
) {
    *old = new;
}
fn self_attention<Mask: MaskKind, OtherMask: MaskKind, A: Arch, Other: Arch>(
    old: &mut SelfAttention<InDim, Mask, A, f32, Cpu>,
    new: SelfAttention<InDim, Mask, A, f32, Cpu>,
) {
    *old = new;
}
fn grouped_query_attention<Mask: MaskKind, OtherMask: MaskKind, A: GroupedQuery, Other: GroupedQuery>(
    old: &mut GroupedQueryAttention<InDim, Mask, A, f32, Cpu>,
    new: GroupedQueryAttention<InDim, Mask, A, f32, Cpu>,
) {
    *old = new;
}
fn cross_attention<A: Arch, Other: Arch>(
    old: &mut CrossAttention<InDim, KeyDim, A, f32, Cpu>,
    new: CrossAttention<InDim, KeyDim, A, f32, Cpu>,
) {
    *old = new;
}
fn blocks<Mask: MaskKind, OtherMask: MaskKind, A: Arch, Other: Arch>(
    old: &mut BlockStack<InDim, NumLayers, Mask, A, f32, Cpu>,
    new: BlockStack<InDim, NumLayers, Mask, A, f32, Cpu>,
    block: Block<InDim, Mask, A, f32, Cpu>,
) {
    *old = new;
    old.layers[0] = block;
}
fn encoder<A: Arch, Other: Arch>(
    old: &mut Encoder<InDim, NumLayers, A, f32, Cpu>,
    new: Encoder<InDim, NumLayers, A, f32, Cpu>,
    layer: nn::EncoderLayer<InDim, A, f32, Cpu>,
) {
    *old = new;
    old.layers[0] = layer;
}
fn decoder<A: Arch, Other: Arch>(
    old: &mut Decoder<InDim, KeyDim, NumLayers, A, f32, Cpu>,
    new: Decoder<InDim, KeyDim, NumLayers, A, f32, Cpu>,
    layer: nn::DecoderLayer<InDim, KeyDim, A, f32, Cpu>,
) {
    *old = new;
    old.layers[0] = layer;
}
fn lm_head<A: Arch, Other: Arch>(
    old: &mut LmHead<InDim, VocabSize, A, f32, Cpu>,
    new: LmHead<InDim, VocabSize, A, f32, Cpu>,
) {
    *old = new;
}
trait Placed: HasPositionsFor<InDim> {}
fn embedder<A: Placed, Other: Placed>(
    old: &mut Embedder<VocabSize, MaxLen, InDim, A, f32, Cpu>,
    new: Embedder<VocabSize, MaxLen, InDim, A, f32, Cpu>,
) {
    *old = new;
}
fn embedding_encoder<A: Placed, Other: Placed>(
    old: &mut EmbeddingEncoder<VocabSize, MaxLen, InDim, NumLayers, A, f32, Cpu>,
    new: EmbeddingEncoder<VocabSize, MaxLen, InDim, NumLayers, A, f32, Cpu>,
) {
    *old = new;
}
fn embedding_decoder<A: Placed, Other: Placed>(
    old: &mut EmbeddingDecoder<VocabSize, MaxLen, InDim, KeyDim, NumLayers, A, f32, Cpu>,
    new: EmbeddingDecoder<VocabSize, MaxLen, InDim, KeyDim, NumLayers, A, f32, Cpu>,
) {
    *old = new;
}
fn single_stacks<M: SingleStack, Other: SingleStack>(
    old: (&mut DecoderOnly<M, f32, Cpu>, &mut EncoderOnly<M, f32, Cpu>),
    new: (DecoderOnly<M, f32, Cpu>, EncoderOnly<M, f32, Cpu>),
) {
    *old.0 = new.0;
    *old.1 = new.1;
}
fn lm<'a, M: Seq2Seq, Other: Seq2Seq>(
    old: (&mut LM<M, f32, Cpu>, &mut EncodedLM<'a, Batch, SeqLen, M, f32, Cpu>),
    new: (LM<M, f32, Cpu>, EncodedLM<'a, Batch, SeqLen, M, f32, Cpu>),
) {
    *old.0 = new.0;
    *old.1 = new.1;
}
fn caches<A: CachedHeads, Other: CachedHeads>(
    old: (
        &mut KeyValueCache<Batch, MaxLen, A, f32, Cpu>,
        &mut Cache<Batch, MaxLen, NumLayers, A, f32, Cpu>,
        &mut DecoderCache<Batch, SeqLen, MaxLen, NumLayers, A, f32, Cpu>,
    ),
    new: (
        KeyValueCache<Batch, MaxLen, A, f32, Cpu>,
        Cache<Batch, MaxLen, NumLayers, A, f32, Cpu>,
        DecoderCache<Batch, SeqLen, MaxLen, NumLayers, A, f32, Cpu>,
    ),
) {
    *old.0 = new.0;
    *old.1 = new.1;
    *old.2 = new.2;
}
fn cache_of_heads(
    old: &mut KeyValueCache<Batch, MaxLen, Heads<NumHeads, KeyDim, ValueDim>>,
    new: KeyValueCache<Batch, MaxLen, Heads<NumHeads, KeyDim, ValueDim>>,
) {
    *old = new;
}
fn grouped_cache<A: GroupedQuery, Other: GroupedQuery>(
    old: (&mut GroupedKeyValueCache<Batch, MaxLen, A>, &mut KeyValueCache<Batch, MaxLen, KeyValueArch<A>>),
    new: (GroupedKeyValueCache<Batch, MaxLen, A>, KeyValueCache<Batch, MaxLen, KeyValueArch<A>>),
) {
    *old.0 = new.0;
    *old.1 = new.1;
}
fn keys_and_values<A: Arch, Other: Arch>(
    old: (&mut Keys<Batch, SeqLen, A, f32, Cpu>, &mut Values<Batch, SeqLen, A, f32, Cpu>),
    new: (Keys<Batch, SeqLen, A, f32, Cpu>, Values<Batch, SeqLen, A, f32, Cpu>),
) {
    *old.0 = new.0;
    *old.1 = new.1;
}

fn bert<Small: BertConfig, Large: BertConfig>(
    old: &mut (bert::Bert<Small>, bert::Embeddings<Small>, bert::Layer<Small>),
    new: (bert::Bert<Small>, bert::Embeddings<Small>, bert::Layer<Small>),
    attention: bert::Attention<Small>,
    feed_forward: bert::FeedForward<Small>,
) {
    *old = new;
    old.2.attention = attention;
    old.2.feed_forward = feed_forward;
}
fn gpt2<Small: Gpt2Config, Large: Gpt2Config>(
    old: &mut (gpt2::Gpt2<Small>, gpt2::Layer<Small>, gpt2::Gpt2Cache<Batch, Small>),
    new: (gpt2::Gpt2<Small>, gpt2::Layer<Small>, gpt2::Gpt2Cache<Batch, Small>),
    attention: gpt2::Attention<Small>,
    feed_forward: gpt2::FeedForward<Small>,
) {
    *old = new;
    old.1.attention = attention;
    old.1.feed_forward = feed_forward;
}
fn llama<Small: LlamaConfig, Large: LlamaConfig>(
    old: &mut (llama::Llama<Small>, llama::Layer<Small>, llama::LlamaCache<Batch, Small>),
    new: (llama::Llama<Small>, llama::Layer<Small>, llama::LlamaCache<Batch, Small>),
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
fn qwen3<Small: LlamaConfig, Large: LlamaConfig>(old: &mut Qwen3<Small>, new: Qwen3<Small>) {
    *old = new;
}
fn olmo2<Small: LlamaConfig, Large: LlamaConfig>(old: &mut Olmo2<Small>, new: Olmo2<Small>) {
    *old = new;
}
fn gemma3<Small: Gemma3Config, Large: Gemma3Config>(
    old: &mut (gemma3::Gemma3<Small>, gemma3::Layer<Small>, gemma3::Gemma3Cache<Batch, Small>),
    new: (gemma3::Gemma3<Small>, gemma3::Layer<Small>, gemma3::Gemma3Cache<Batch, Small>),
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
    old_text: &mut (t5::EncodedT5<'a, Batch, SeqLen, Small>, t5::T5Cache<Batch, SeqLen, Small>),
    new_text: (t5::EncodedT5<'a, Batch, SeqLen, Small>, t5::T5Cache<Batch, SeqLen, Small>),
) {
    *old = new;
    old.1.self_attention = attention;
    old.1.feed_forward = feed_forward;
    *old_text = new_text;
}
fn vit<Small: VitConfig, Large: VitConfig>(
    old: &mut (vit::Vit<Small>, vit::Embeddings<Small>, vit::Images<Batch, Small>),
    new: (vit::Vit<Small>, vit::Embeddings<Small>, vit::Images<Batch, Small>),
    old_places: &mut (vit::NumPatches<Small>, vit::ClassAndPatches<Small>),
    new_places: (vit::NumPatches<Small>, vit::ClassAndPatches<Small>),
) {
    *old = new;
    *old_places = new_places;
}
fn vit_layer<Function: Activation, Other: Activation>(
    old: &mut vit::Layer<NumHeads, OutDim, InDim, Function>,
    new: vit::Layer<NumHeads, OutDim, InDim, Function>,
    attention: vit::Attention<NumHeads, OutDim>,
    feed_forward: vit::FeedForward<NumHeads, InDim>,
) {
    *old = new;
    old.attention = attention;
    old.feed_forward = feed_forward;
}
fn clip<Small: ClipConfig, Large: ClipConfig>(
    old: &mut (clip::Clip<Small>, clip::TextEncoder<Small>, clip::VisionEncoder<Small>),
    new: (clip::Clip<Small>, clip::TextEncoder<Small>, clip::VisionEncoder<Small>),
) {
    *old = new;
}

fn sharded_layers<A: Arch, Other: Arch, Axis: DividesLayersOf<A>, OtherAxis: DividesLayersOf<Model>>(
    old: (&mut ShardedAttention<InDim, KeyDim, ValueDim, OutDim, A, Axis>, &mut ShardedFeedForward<InDim, A, Axis>),
    new: (ShardedAttention<InDim, KeyDim, ValueDim, OutDim, A, Axis>, ShardedFeedForward<InDim, A, Axis>),
) {
    *old.0 = new.0;
    *old.1 = new.1;
}
fn sharded_decoder_only<
    M: SingleStack,
    Other: SingleStack,
    Axis: DividesLayersOf<M>,
    OtherAxis: DividesLayersOf<Model>,
>(
    old: &mut ShardedDecoderOnly<M, Axis>,
    new: ShardedDecoderOnly<M, Axis>,
) {
    *old = new;
}
fn sharded_lm<M: Seq2Seq, Other: Seq2Seq, Axis: DividesLayersOf<M>, OtherAxis: DividesLayersOf<Model>>(
    old: &mut ShardedLM<M, Axis>,
    new: ShardedLM<M, Axis>,
) {
    *old = new;
}
