//! A layer whose heads and hidden columns are divided between two ranks, in operations on shards.

use typed_transformer::ops::{Activation, GeluTanh};
use typed_transformer::prelude::*;
use typed_transformer::ranks;
use typed_transformer::ranks::{Partial, Ranks, Shard};
use typed_transformer::tensor_parallel::{
    Entered, all_gather_entered, all_reduce, enter, linear_column, linear_row, multi_head_attention, reduce_scatter,
    shard,
};

dims! {
    /// Width of the layer.
    EmbedDim = 6;
    /// Heads of the attention.
    NumHeads = 4;
    /// Size of a head's queries and keys.
    QKDim = 3;
    /// Size of a head's values.
    VODim = 5;
    /// Columns inside the feed-forward layer.
    HiddenDim = 8;
    /// Sequences.
    Batch;
    /// Their length.
    SeqLen;
}

ranks! {
    /// The ranks among which the layer is divided.
    Tp = 2;
}

type Plain<Dims> = Tensor<Dims, f32, Cpu>;
type In<Dims> = Entered<Tensor<Dims, f32, Cpu>, Tp>;
type Terms<Dims> = Partial<Tensor<Dims, f32, Cpu>, Tp>;

/// The attention of this rank's heads, and the sum of what the heads of all ranks write.
fn attend<B: Dim, S: Dim, M: ConstDim>(
    x: Plain<(B, S, M)>,
    query_weight: &Plain<(Product<Shard<NumHeads, Tp>, QKDim>, M)>,
    key_weight: &Plain<(Product<Shard<NumHeads, Tp>, QKDim>, M)>,
    value_weight: &Plain<(Product<Shard<NumHeads, Tp>, VODim>, M)>,
    output_weight: &Plain<(M, Product<Shard<NumHeads, Tp>, VODim>)>,
    mask: &AttentionMask<B, S, S>,
    tp: &Ranks<Tp>,
) -> Plain<(B, S, M)> {
    let x: In<(B, S, M)> = enter(x, tp).unwrap();
    let query: Plain<(B, S, Product<Shard<NumHeads, Tp>, QKDim>)> =
        linear_column(x.clone(), query_weight, None).unwrap();
    let key: Plain<(B, S, Product<Shard<NumHeads, Tp>, QKDim>)> = linear_column(x.clone(), key_weight, None).unwrap();
    let value: Plain<(B, S, Product<Shard<NumHeads, Tp>, VODim>)> = linear_column(x, value_weight, None).unwrap();
    let attended: Plain<(B, S, Product<Shard<NumHeads, Tp>, VODim>)> =
        multi_head_attention(query, key, value, mask, AttentionOptions::default(), tp).unwrap();
    let terms: Terms<(B, S, M)> = linear_row(attended, output_weight).unwrap();
    all_reduce(terms, tp).unwrap()
}

/// A feed-forward layer with two hidden layers of shards.
fn transform<B: Dim, S: Dim, M: ConstDim>(
    x: Plain<(B, S, M)>,
    first: &Plain<(Shard<HiddenDim, Tp>, M)>,
    bias: &Plain<(Shard<HiddenDim, Tp>,)>,
    inner: &Plain<(Shard<HiddenDim, Tp>, HiddenDim)>,
    second: &Plain<(M, Shard<HiddenDim, Tp>)>,
    tp: &Ranks<Tp>,
) -> Plain<(B, S, M)> {
    let hidden: Plain<(B, S, Shard<HiddenDim, Tp>)> = linear_column(enter(x, tp).unwrap(), first, Some(bias)).unwrap();
    let hidden: Plain<(B, S, Shard<HiddenDim, Tp>)> = GeluTanh::apply(hidden).unwrap();
    let whole: In<(B, S, HiddenDim)> = all_gather_entered(hidden, axis::<HiddenDim>(), tp).unwrap();
    let hidden: Plain<(B, S, Shard<HiddenDim, Tp>)> = linear_column(whole, inner, None).unwrap();
    let terms: Terms<(B, S, M)> = linear_row(hidden, second).unwrap();
    all_reduce(terms, tp).unwrap()
}

/// This rank's columns of the sum of all ranks' vectors, and of one that all have.
fn share<B: Dim, S: Dim>(x: Plain<(B, S, EmbedDim)>, tp: &Ranks<Tp>) -> Plain<(B, S, Shard<EmbedDim, Tp>)> {
    let own: Plain<(B, S, Shard<EmbedDim, Tp>)> = shard(enter(x.clone(), tp).unwrap(), axis::<EmbedDim>(), tp).unwrap();
    let sum: Plain<(B, S, Shard<EmbedDim, Tp>)> = reduce_scatter(Partial::term(x), axis::<EmbedDim>(), tp).unwrap();
    sum + own
}

pub fn main() {
    Ranks::<Tp>::in_threads(2, |tp| {
        let device = Cpu::default();
        let (batch, len) = (Batch::new(2), SeqLen::new(3));
        let x: Plain<(Batch, SeqLen, EmbedDim)> =
            typed_transformer::ops::full(&device, (batch, len, EmbedDim), 0.5).unwrap();
        let mask: AttentionMask<Batch, SeqLen, SeqLen> = AttentionMask::all_visible((batch, len, len));
        let query: Plain<(Product<Shard<NumHeads, Tp>, QKDim>, EmbedDim)> = device.zeros();
        let value: Plain<(Product<Shard<NumHeads, Tp>, VODim>, EmbedDim)> = device.zeros();
        let output: Plain<(EmbedDim, Product<Shard<NumHeads, Tp>, VODim>)> = device.zeros();
        let x: Plain<(Batch, SeqLen, EmbedDim)> =
            residual(x.clone(), attend(x, &query, &query, &value, &output, &mask, tp)).unwrap();
        let first: Plain<(Shard<HiddenDim, Tp>, EmbedDim)> = device.zeros();
        let bias: Plain<(Shard<HiddenDim, Tp>,)> = device.zeros();
        let inner: Plain<(Shard<HiddenDim, Tp>, HiddenDim)> = device.zeros();
        let second: Plain<(EmbedDim, Shard<HiddenDim, Tp>)> = device.zeros();
        let x: Plain<(Batch, SeqLen, EmbedDim)> =
            residual(x.clone(), transform(x, &first, &bias, &inner, &second, tp)).unwrap();
        let part: Plain<(Batch, SeqLen, Shard<EmbedDim, Tp>)> = share(x, tp);
        assert_eq!(part.as_vec(), [1.5; 18]);
    });
}
