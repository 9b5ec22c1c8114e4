//! A value of each public type of layers and caches takes the place of another one of the same type only: one
//! with another width, architecture, configuration or mask has another type.

use typed_transformer::doctest::Model;
use typed_transformer::nn::{self, *};
use typed_transformer::prelude::*;
use typed_transformer::tensor_parallel::{DividesLayersOf, OnRanks};

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
    old: &mut GroupedKeyValueCache<Batch, MaxLen, A>,
    new: GroupedKeyValueCache<Batch, MaxLen, A>,
) {
    *old = new;
}
fn keys_and_values<A: Arch, Other: Arch>(
    old: (&mut Keys<Batch, SeqLen, A, f32, Cpu>, &mut Values<Batch, SeqLen, A, f32, Cpu>),
    new: (Keys<Batch, SeqLen, A, f32, Cpu>, Values<Batch, SeqLen, A, f32, Cpu>),
) {
    *old.0 = new.0;
    *old.1 = new.1;
}
fn pair_of_keys_and_values<A: Arch, Other: Arch>(
    old: &mut KeysAndValues<Batch, SeqLen, A, f32, Cpu>,
    new: KeysAndValues<Batch, SeqLen, A, f32, Cpu>,
) {
    *old = new;
}

fn latent_attention<A: LatentArch, Other: LatentArch>(
    old: &mut (LatentAttention<A>, LatentCache<Batch, MaxLen, A>, KeyValueCache<Batch, MaxLen, LatentHeads<A>>),
    new: (LatentAttention<A>, LatentCache<Batch, MaxLen, A>, KeyValueCache<Batch, MaxLen, LatentHeads<A>>),
) {
    *old = new;
}

fn on_ranks<A: Arch, Other: Arch, Axis: DividesLayersOf<A>, OtherAxis: DividesLayersOf<Model>>(
    old: &mut OnRanks<A, Axis>,
    new: OnRanks<A, Axis>,
) {
    *old = new;
}
