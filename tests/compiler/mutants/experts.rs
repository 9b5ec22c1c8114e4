//! A layer with grouped-query attention, a mixture of experts and a pointer into its source, in operations on places
//! and indices.

use typed_transformer::dims::Windows;
use typed_transformer::mask::SlidingWindow;
use typed_transformer::nn::{
    CacheCapacity, GatedFeedForward, GroupedKeyValueCache, GroupedQuery, GroupedQueryAttention,
};
use typed_transformer::ops::{
    Rotary, alibi, argmax, cumsum, full, gather, grouped_query_attention, gt, iota, kl_divergence, mean_squared_error,
    one_hot, rotary_positions, select, slice, take, top_k, where_, windows,
};
use typed_transformer::prelude::*;
use typed_transformer::tokens::Indices;

dims! {
    /// Width of the layer.
    EmbedDim = 8;
    /// Heads of the keys and values.
    NumKeyValueHeads = 2;
    /// Heads of the query for each of them.
    GroupSize = 3;
    /// Size of a head's queries and keys.
    QKDim = 4;
    /// Size of a head's values.
    VODim = 5;
    /// Width inside a feed-forward layer.
    HiddenDim = 11;
    /// Positions that a position sees.
    Width = 3;
    /// The number of experts of the mixture.
    NumExperts = 7;
    /// The number of experts of a token.
    ExpertsPerToken = 6;
    /// Tokens that the pointer can name.
    VocabSize = 13;
    /// Positions in a cache.
    MaxLen = 12;
    /// Sequences.
    Batch;
    /// Their length.
    SeqLen;
    /// The positions that are kept.
    Kept;
}

type Plain<Dims> = Tensor<Dims, f32, Cpu>;

struct Layer;

impl Arch for Layer {
    type NumHeads = Product<NumKeyValueHeads, GroupSize>;
    type QKDim = QKDim;
    type VODim = VODim;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}

impl GroupedQuery for Layer {
    type NumKeyValueHeads = NumKeyValueHeads;
    type GroupSize = GroupSize;
}

/// Attention of the window of each position.
type Attention = GroupedQueryAttention<EmbedDim, SlidingWindow<Width>, Layer, f32, Cpu>;

/// The attention of a layer, in operations.
fn attend<B: Dim, S: Dim, KV: ConstDim, G: ConstDim, QK: Even, VO: ConstDim>(
    query: Plain<(B, S, Product<Product<KV, G>, QK>)>,
    key: Plain<(B, S, Product<KV, QK>)>,
    value: Plain<(B, S, Product<KV, VO>)>,
    mask: &AttentionMask<B, S, S>,
) -> Plain<(B, S, Product<Product<KV, G>, VO>)> {
    let rotary = Rotary::default();
    let query: Plain<(B, Product<KV, G>, S, QK)> = split_heads(query).unwrap();
    let query: Plain<(B, Product<KV, G>, S, QK)> = rotary_positions(query, axis::<S>(), 0, rotary).unwrap(); // or over B
    let key: Plain<(B, KV, S, QK)> = split_heads(key).unwrap();
    let key: Plain<(B, KV, S, QK)> = rotary_positions(key, axis::<S>(), 0, rotary).unwrap(); // or over B, KV
    let query: Plain<(B, S, Product<Product<KV, G>, QK>)> = merge_heads(query).unwrap();
    let key: Plain<(B, S, Product<KV, QK>)> = merge_heads(key).unwrap();
    grouped_query_attention(query, key, value, mask, AttentionOptions::default()).unwrap()
}

/// The attention of one group of heads, with linear biases.
fn attend_nearby<B: Dim, S: Dim, H: ConstDim, QK: ConstDim, VO: ConstDim>(
    query: Plain<(B, S, Product<H, QK>)>,
    key: Plain<(B, S, Product<H, QK>)>,
    value: Plain<(B, S, Product<H, VO>)>,
    mask: &AttentionMask<B, S, S>,
) -> Plain<(B, S, Product<H, VO>)> {
    let (_, len, _): (B, S, Product<H, QK>) = *query.shape();
    let bias: Plain<(H, S, S)> = alibi(&Cpu::default(), H::default(), 0, len, len).unwrap();
    multi_head_attention(
        query,
        key,
        value,
        mask,
        AttentionOptions { scale: AttentionScale::One, bias: Some(bias), ..AttentionOptions::default() },
    )
    .unwrap()
}

/// The tensors of a layer, and what it makes of its input and of the next token.
fn layer(
    device: &Cpu,
    input: Plain<(Batch, SeqLen, EmbedDim)>,
    padding: &PaddingMask<Batch, SeqLen>,
) -> Plain<(Batch, SeqLen, EmbedDim)> {
    let attention: GroupedQueryAttention<EmbedDim, SlidingWindow<Width>, Layer, f32, Cpu> = Attention::build(device);
    let query: &Plain<(Product<Product<NumKeyValueHeads, GroupSize>, QKDim>, EmbedDim)> = &attention.query_proj.weight;
    let key: &Plain<(Product<NumKeyValueHeads, QKDim>, EmbedDim)> = &attention.key_proj.weight;
    let value: &Plain<(Product<NumKeyValueHeads, VODim>, EmbedDim)> = &attention.value_proj.weight;
    let (batch, len): (Batch, SeqLen) = padding.shape();
    let mask: AttentionMask<Batch, SeqLen, SeqLen> = AttentionMask::from_fn((batch, len, len), |_, q, k| k <= q);
    let query: Plain<(Batch, SeqLen, Product<Product<NumKeyValueHeads, GroupSize>, QKDim>)> =
        typed_transformer::ops::linear(input.clone(), query, None).unwrap();
    let key: Plain<(Batch, SeqLen, Product<NumKeyValueHeads, QKDim>)> =
        typed_transformer::ops::linear(input.clone(), key, None).unwrap();
    let value: Plain<(Batch, SeqLen, Product<NumKeyValueHeads, VODim>)> =
        typed_transformer::ops::linear(input.clone(), value, None).unwrap();
    let nearby: Plain<(Batch, SeqLen, Product<NumKeyValueHeads, VODim>)> =
        attend_nearby(key.clone(), key.clone(), value.clone(), &mask);
    let shown: &Plain<(Batch, SeqLen, Product<NumKeyValueHeads, VODim>)> = &nearby;
    assert!(shown.as_vec().iter().all(|number| number.is_finite()));
    let attended: Plain<(Batch, SeqLen, Product<Product<NumKeyValueHeads, GroupSize>, VODim>)> =
        attend(query, key, value, &mask);
    let output: Plain<(Batch, SeqLen, EmbedDim)> = attention.output_proj.forward(attended).unwrap();

    let feed_forward: GatedFeedForward<EmbedDim, Layer, f32, Cpu> = GatedFeedForward::build(device);
    let gate: &Plain<(HiddenDim, EmbedDim)> = &feed_forward.gate.weight;
    assert_eq!(gate.as_vec().len(), feed_forward.hidden.weight.as_vec().len());
    let forwarded: Plain<(Batch, SeqLen, EmbedDim)> = attention.forward(input, padding).unwrap();
    feed_forward.forward(residual(forwarded, output).unwrap()).unwrap()
}

/// The next vector of a sequence in a cache of fewer heads.
fn decode<S: Dim>(device: &Cpu, input: Plain<(Batch, S, EmbedDim)>) -> Result<Plain<(Batch, S, EmbedDim)>, OpError> {
    let attention = GroupedQueryAttention::<EmbedDim, CausalMask, Layer, f32, Cpu>::build(device);
    let (batch, _, _): (Batch, S, EmbedDim) = *input.shape();
    let mut cache = GroupedKeyValueCache::<Batch, MaxLen, Layer, f32, Cpu>::new(device, batch)?;
    let decoded: Plain<(Batch, S, EmbedDim)> = attention.forward_cached(input, &mut cache)?;
    let keys: &Plain<(Batch, CacheCapacity<MaxLen>, Product<NumKeyValueHeads, QKDim>)> = cache.keys();
    assert_eq!(keys.as_vec().len(), cache.keys().as_vec().len());
    Ok(decoded)
}

/// The gates of the chosen experts of each token; the others are 0.
fn gates<B: Dim, S: Dim>(
    logits: Plain<(B, S, NumExperts)>,
) -> (Plain<(B, S, NumExperts)>, Indices<(B, S), NumExperts>) {
    let (batch, len, _): (B, S, NumExperts) = *logits.shape();
    let best: Indices<(B, S), NumExperts> = argmax(&logits, axis::<NumExperts>()).unwrap();
    let (highest, experts): (Plain<(B, S, ExpertsPerToken)>, Indices<(B, S, ExpertsPerToken), NumExperts>) =
        top_k(logits.clone(), axis::<NumExperts>(), ExpertsPerToken).unwrap();
    let again: Plain<(B, S, ExpertsPerToken)> = gather(logits, axis::<NumExperts>(), &experts).unwrap();
    assert_eq!(highest.as_vec(), again.as_vec());
    let is_chosen: Plain<(B, S, ExpertsPerToken, NumExperts)> = one_hot(&Cpu::default(), &experts).unwrap();
    let spread: Plain<(B, S, ExpertsPerToken, NumExperts)> =
        broadcast(highest, (batch, len, ExpertsPerToken, NumExperts), axis::<NumExperts>()).unwrap();
    let chosen: Tensor<(B, S, ExpertsPerToken, NumExperts), bool, Cpu> = gt(&is_chosen, 0.5).unwrap();
    let kept: Plain<(B, S, ExpertsPerToken, NumExperts)> = where_(&chosen, spread, 0.0).unwrap();
    (sum_over(kept, axis::<ExpertsPerToken>()).unwrap(), best)
}

/// What a student loses against its teacher, and where its source has the token that it points to.
fn point(
    student: Plain<(Batch, SeqLen, VocabSize)>,
    teacher: &Plain<(Batch, SeqLen, VocabSize)>,
    ids: &TokenIds<Batch, SeqLen, VocabSize>,
    kept: &Indices<(Kept,), SeqLen>,
) -> Plain<(Batch, Kept)> {
    let padding: PaddingMask<Batch, SeqLen> = ids.padding_mask();
    let loss = kl_divergence(student.clone(), teacher, &padding, Reduction::MeanAll).unwrap();
    let error = mean_squared_error(student.clone(), teacher).unwrap();
    assert!(loss.array() >= 0.0 && error.array() >= 0.0);
    let visible: Plain<(Batch, SeqLen, VocabSize)> = where_(&padding, student, 0.0).unwrap();
    let of_first: Plain<(Batch, SeqLen)> =
        select(visible, axis::<VocabSize>(), Fin::<VocabSize>::literal::<0>()).unwrap();
    take(of_first, axis::<SeqLen>(), kept).unwrap()
}

/// The best head of each sequence.
fn best_head<B: Dim>(
    scores: Plain<(B, Product<NumKeyValueHeads, GroupSize>)>,
    heads: &Indices<(B,), Product<NumKeyValueHeads, GroupSize>>,
) -> Indices<(B,), Product<NumKeyValueHeads, GroupSize>> {
    let best: Indices<(B,), Product<NumKeyValueHeads, GroupSize>> =
        argmax(&scores, axis::<Product<NumKeyValueHeads, GroupSize>>()).unwrap();
    assert_eq!(&best, heads);
    assert!(cross_entropy(scores, heads, Reduction::MeanAll).unwrap().array() > 0.0);
    best
}

/// The vectors at some places of each sequence.
fn at_places<B: Dim, S: Dim>(
    input: Plain<(B, S, EmbedDim)>,
    places: &Indices<(B, Kept), S>,
) -> Plain<(B, Kept, EmbedDim)> {
    gather(input, axis::<S>(), places).unwrap()
}

/// The positions of the neighbours of each position.
fn neighbours<L: Dim>(len: L) -> Plain<(Windows<SeqLen, Width>, Width)> {
    let long: Plain<(L,)> = cumsum(full(&Cpu::default(), (len,), 1.0).unwrap(), axis::<L>()).unwrap();
    let counted: Plain<(L,)> = iota(&Cpu::default(), len).unwrap();
    assert_eq!(long.as_vec().len(), counted.as_vec().len());
    let short: Plain<(SeqLen,)> = slice(counted, axis::<L>(), 0, SeqLen::new(len.size() - 1)).unwrap();
    windows(short, axis::<SeqLen>(), Width).unwrap()
}

pub fn main() {
    let device = Cpu::seed_from_u64(1);
    let (batch, len) = (Batch::new(2), SeqLen::new(5));
    let padding: PaddingMask<Batch, SeqLen> = PaddingMask::without_padding((batch, len));
    let input: Plain<(Batch, SeqLen, EmbedDim)> = full(&device, (batch, len, EmbedDim), 0.5).unwrap();
    let output: Plain<(Batch, SeqLen, EmbedDim)> = layer(&device, input.clone(), &padding);
    let decoded: Plain<(Batch, SeqLen, EmbedDim)> = decode(&device, input).unwrap();
    assert_eq!(output.as_vec().len(), decoded.as_vec().len());

    let logits: Plain<(Batch, SeqLen, NumExperts)> = full(&device, (batch, len, NumExperts), 2.0).unwrap();
    let (gates, best): (Plain<(Batch, SeqLen, NumExperts)>, Indices<(Batch, SeqLen), NumExperts>) = gates(logits);
    assert_eq!(gates.as_vec()[..7], [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 0.0]);
    assert_eq!(best.as_slice(), [0; 10]);

    let student: Plain<(Batch, SeqLen, VocabSize)> = full(&device, (batch, len, VocabSize), 1.0).unwrap();
    let ids: TokenIds<Batch, SeqLen, VocabSize> =
        TokenIds::from_ids(&[3; 10], Some(Fin::literal::<4>()), (batch, len)).unwrap();
    let kept: Indices<(Kept,), SeqLen> = Indices::new(&[4, 0], (Kept::new(2),), len).unwrap();
    let pointed: Plain<(Batch, Kept)> = point(student.clone(), &student, &ids, &kept);
    assert_eq!(pointed.as_vec(), [1.0; 4]);

    let scores: Plain<(Batch, Product<NumKeyValueHeads, GroupSize>)> =
        full(&device, (batch, Product::default()), 1.0).unwrap();
    let heads: Indices<(Batch,), Product<NumKeyValueHeads, GroupSize>> =
        Indices::new(&[0; 2], (batch,), Product::default()).unwrap();
    let best: Indices<(Batch,), Product<NumKeyValueHeads, GroupSize>> = best_head(scores, &heads);
    assert_eq!(best.as_slice(), [0, 0]);
    let places: Indices<(Batch, Kept), SeqLen> = Indices::new(&[4; 2], (batch, Kept::new(1)), len).unwrap();
    let vectors: Plain<(Batch, Kept, EmbedDim)> = at_places(output, &places);
    assert_eq!(vectors.as_vec().len(), 16);

    local_dims! { let longer: Longer = 6; }
    let windows: Plain<(Windows<SeqLen, Width>, Width)> = neighbours(longer);
    assert_eq!(windows.as_vec(), [0.0, 1.0, 2.0, 1.0, 2.0, 3.0, 2.0, 3.0, 4.0]);
}
