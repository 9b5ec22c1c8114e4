//! Parts of models as the tables of `docs/porting.md` write them, against plain loops.

use crate::finite_differences::{check, weighted_sum};
use crate::numbers::{assert_close, positive_like as random};
use crate::recorded::Recorded;
use typed_transformer::backend::Tape;
use typed_transformer::dims::{StaticSize, Windows};
use typed_transformer::ops::{
    Activation, Exp, Sqrt, div, full, offset, slice, sub, take, unflatten, where_, windows, zeros,
};
use typed_transformer::prelude::*;
use typed_transformer::tokens::Indices;

dims! {
    EmbedDim = 2; Kernel = 5; Side = 2; NumHeads = 3; HeadDim = 2; NumFeatures = 4; VocabSize = 5; Batch; SeqLen;
    Places; NumKinds = 4; Queries = 2; Keys = 3; Edges = 5; Nodes = 4; Degree = 2; Zeros = 1;
    Rows; Columns; Slots;
}

/// `nn.Conv1d(M, M, W, padding=Side, groups=M)`, which keeps the length: each window times the kernel, channel by channel.
fn depthwise<Side: ConstDim, B: Dim, S: Dim, W: StaticSize, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, S, M), E, D, T>,
    kernel: &Tensor<(W, M), E, D>,
) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
    let (batch, len, width) = *x.shape();
    let side: Tensor<(B, Side, M), E, D, T> = zeros(x.device(), (batch, Side::default(), width))?.retaped::<T>();
    let x: Tensor<(B, Sum<Side, S>, M), E, D, T> = concat(side.clone(), x, along::<Side, S>())?;
    let x: Tensor<(B, Sum<Sum<Side, S>, Side>, M), E, D, T> = concat(x, side, along::<Sum<Side, S>, Side>())?;
    let places = Places::new(x.shape().1.size());
    let x = rename(x, axis::<Sum<Sum<Side, S>, Side>>(), places)?;
    let x: Tensor<(B, Windows<Places, W>, W, M), E, D, T> = windows(x, axis::<Places>(), W::default())?;
    let y = einsum!(x: (B, Windows<Places, W>, W, M), kernel: (W, M) -> (B, Windows<Places, W>, M))?;
    slice(y, axis::<Windows<Places, W>>(), 0, len)
}

#[test]
fn a_padded_depthwise_convolution() {
    let (x, kernel) = (random(1, (Batch::new(2), SeqLen::new(6), EmbedDim)), random(2, (Kernel, EmbedDim)));
    let found = depthwise::<Side, _, _, _, _, _, _, _>(x.clone(), &kernel).unwrap();
    let (x, kernel) = (x.as_vec(), kernel.as_vec());
    let at = |b: usize, place: usize, m: usize| -> f64 {
        let inside = (0..5).filter(|j| (2..8).contains(&(place + j)));
        inside.map(|j| x[(b * 6 + place + j - 2) * 2 + m] * kernel[j * 2 + m]).sum()
    };
    let places = (0..2).flat_map(|b| (0..6).flat_map(move |place| (0..2).map(move |m| (b, place, m))));
    assert_close(&found.as_vec(), &Vec::from_iter(places.map(|(b, place, m)| at(b, place, m))), 1e-9);
}

/// Attention by positive features (Choromanski et al., 2020, arXiv:2009.14794). Those of a key that is padding are 0.
fn favor<B: Dim, H: ConstDim, S: Dim, K: ConstDim, F: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    [query, key, value]: [Tensor<(B, S, Product<H, K>), E, D, T>; 3],
    directions: &Tensor<(F, K), E, D>,
    padding: &PaddingMask<B, S>,
) -> Result<Tensor<(B, S, Product<H, K>), E, D, T>, OpError> {
    let features = |x: Tensor<(B, H, S, K), E, D, T>| {
        let half_square = scale(sum_over(mul(x.clone(), x.clone())?, axis::<K>())?, 0.5)?;
        Exp::apply(sub(einsum!(x: (B, H, S, K), directions: (F, K) -> (B, H, S, F))?, half_square)?)
    };
    let is_token: Tensor<(B, S), E, D> = where_(padding, full(query.device(), padding.shape(), 1.0)?, 0.0)?;
    let query = features(split_heads(query)?)?;
    let key = mul(features(split_heads(key)?)?, &is_token)?;
    let value = split_heads(value)?;
    let sums = einsum!(key.clone(): (B, H, S, F), value: (B, H, S, K) -> (B, H, F, K))?;
    let sums = einsum!(query.clone(): (B, H, S, F), sums: (B, H, F, K) -> (B, H, S, K))?;
    let counts = einsum!(query: (B, H, S, F), sum_over(key, axis::<S>())?: (B, H, F) -> (B, H, S))?;
    merge_heads(div(sums, counts)?)
}

#[test]
fn padding_of_heads() {
    let (batch, len) = (Batch::new(2), SeqLen::new(5));
    let inputs = [1, 2, 3].map(|seed| random(seed, (batch, len, Product::<NumHeads, HeadDim>::default())));
    let directions = random(4, (NumFeatures, HeadDim));
    let pad: Option<Fin<VocabSize>> = Some(Fin::literal::<0>());
    let ids = TokenIds::from_ids(&[1, 2, 3, 4, 1, 2, 3, 4, 0, 0], pad, (batch, len)).unwrap();
    let found = favor(inputs.clone(), &directions, &ids.padding_mask()).unwrap();

    let ([query, key, value], directions) = (inputs.map(|x| x.as_vec()), directions.as_vec());
    let features = |x: &[f64]| -> Vec<f64> {
        let half_square = x.iter().map(|x| x * x).sum::<f64>() / 2.0;
        directions.chunks(2).map(|w| (w[0] * x[0] + w[1] * x[1] - half_square).exp()).collect()
    };
    let at = |b: usize, s: usize, h: usize| ((b * 5 + s) * 3 + h) * 2;
    let mut expected = Vec::new();
    for (b, i, h) in (0..2).flat_map(|b| (0..5).flat_map(move |i| (0..3).map(move |h| (b, i, h)))) {
        let of_query = features(&query[at(b, i, h)..][..2]);
        let weight = |j: usize| -> f64 {
            features(&key[at(b, j, h)..][..2]).iter().zip(&of_query).map(|(key, query)| key * query).sum()
        };
        let weights: Vec<f64> = (0..[5, 3][b]).map(weight).collect();
        let sum = |k: usize| -> f64 { weights.iter().enumerate().map(|(j, w)| w * value[at(b, j, h) + k]).sum() };
        expected.extend((0..2).map(|k| sum(k) / weights.iter().sum::<f64>()));
    }
    assert_close(&found.as_vec(), &expected, 1e-9);
}

/// `nn.Embedding` of the kinds of the edges between queries and keys: a vector for each edge.
fn vectors_of_kinds<B: Dim, Q: Dim, K: Dim, V: ConstDim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    table: Tensor<(V, M), E, D, T>,
    kinds: &[usize],
    (batch, queries, keys): (B, Q, K),
) -> Result<Tensor<(B, Q, K, M), E, D, T>, OpError> {
    let kinds = Indices::new(kinds, (Places::new(kinds.len()),), V::default())?;
    unflatten(take(table, axis::<V>(), &kinds)?, (batch, queries, keys, M::default()))
}

#[test]
fn an_embedding_of_the_kinds_of_edges() {
    let table = random(5, (NumKinds, NumHeads));
    let kinds = [3, 0, 1, 1, 2, 3, 0, 0, 2, 3, 1, 0];
    let shape = (Batch::new(2), Queries, Keys);
    let expected = Vec::from_iter(kinds.iter().flat_map(|kind| table.as_vec()[3 * kind..][..3].to_vec()));
    assert_eq!(vectors_of_kinds(table.clone(), &kinds, shape).unwrap().as_vec(), expected);
    check(table, |table| weighted_sum(vectors_of_kinds(table, &kinds, shape).unwrap()));
}

/// `index_add` of messages to nodes, each of which has up to `Degree` of them.
fn add_to_nodes<A: Dim, N: Dim, K: Dim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    messages: Tensor<(A, M), E, D, T>,
    targets: &[usize],
    (nodes, degree): (N, K),
) -> Result<Tensor<(N, M), E, D, T>, OpError> {
    let (edges, width) = *messages.shape();
    let mut edges_of = vec![Vec::new(); nodes.size()];
    targets.iter().enumerate().for_each(|(edge, &node)| edges_of[node].push(edge));
    // The row of zeros stands behind those of the edges.
    edges_of.iter_mut().for_each(|of_node| of_node.resize(degree.size(), edges.size()));
    let slots = Places::new(nodes.size() * degree.size());
    let edges_of = Indices::new(&edges_of.concat(), (slots,), Sum::of(edges, Zeros))?;
    let none: Tensor<(Zeros, M), E, D, T> = zeros(messages.device(), (Zeros, width))?.retaped::<T>();
    let rows: Tensor<(Sum<A, Zeros>, M), E, D, T> = concat(messages, none, along::<A, Zeros>())?;
    let rows = take(rows, axis::<Sum<A, Zeros>>(), &edges_of)?;
    let of_nodes: Tensor<(N, K, M), E, D, T> = unflatten(rows, (nodes, degree, width))?;
    sum_over(of_nodes, axis::<K>())
}

#[test]
fn messages_of_edges_add_up_at_their_nodes() {
    let messages = random(6, (Edges, EmbedDim));
    let targets = [2, 0, 2, 3, 0];
    let mut expected = vec![0.0; 4 * 2];
    for (message, node) in messages.as_vec().chunks(2).zip(targets) {
        expected[2 * node..][..2].iter_mut().zip(message).for_each(|(sum, x)| *sum += x);
    }
    let found = add_to_nodes(messages.clone(), &targets, (Nodes, Degree)).unwrap();
    assert_close(&found.as_vec(), &expected, 1e-9);
    check(messages, |messages| weighted_sum(add_to_nodes(messages, &targets, (Nodes, Degree)).unwrap()));
}

/// `nn.GroupNorm(G, G * C)` over a length: a mean and a variance for each group of a sequence.
fn group_norm<B: Dim, S: Dim, G: ConstDim, C: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, S, Product<G, C>), E, D, T>,
    weight: &Tensor<(Product<G, C>,), E, D>,
    bias: &Tensor<(Product<G, C>,), E, D>,
) -> Result<Tensor<(B, S, Product<G, C>), E, D, T>, OpError> {
    let x = rearrange!(x: (B, S, Product<G, C>) -> (B, S, G, C))?;
    let x = sub(x.clone(), mean_over(mean_over(x, axis::<C>())?, axis::<S>())?)?;
    let variance = mean_over(mean_over(mul(x.clone(), x.clone())?, axis::<C>())?, axis::<S>())?;
    let x = div(x, Sqrt::apply(offset(variance, 1e-5)?)?)?;
    let x = rearrange!(x: (B, S, G, C) -> (B, S, Product<G, C>))?;
    add(mul(x, weight)?, bias)
}

#[test]
fn a_norm_of_groups() {
    let x = random(7, (Queries, Edges, Product::<NumHeads, HeadDim>::default()));
    let [weight, bias] = [8, 9].map(|seed| random(seed, (Product::<NumHeads, HeadDim>::default(),)));
    let found = group_norm(x.clone(), &weight, &bias).unwrap();

    let (numbers, weights, biases) = (x.as_vec(), weight.as_vec(), bias.as_vec());
    let expected = numbers.iter().enumerate().map(|(i, x)| {
        let (b, column) = (i / 30, i % 6);
        let group = || (0..10).map(|j| numbers[b * 30 + j / 2 * 6 + column / 2 * 2 + j % 2]);
        let mean = group().sum::<f64>() / 10.0;
        let variance = group().map(|x| (x - mean).powi(2)).sum::<f64>() / 10.0;
        (x - mean) / (variance + 1e-5).sqrt() * weights[column] + biases[column]
    });
    assert_close(&found.as_vec(), &Vec::from_iter(expected), 1e-9);
    check(x, |x| weighted_sum(group_norm(x, &weight, &bias).unwrap()));
}

/// `F.normalize(x, dim=-1)`.
fn normalize<B: Dim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, M), E, D, T>,
) -> Result<Tensor<(B, M), E, D, T>, OpError> {
    let scale = full(x.device(), (M::default(),), (M::SIZE as f64).powf(-0.5))?;
    rms_norm(x, &scale, 1e-24)
}

/// `x.round()`, which has no gradient.
fn rounded<B: Dim, M: Dim, E: Real, D: Backend<E>>(x: &Tensor<(B, M), E, D>) -> Result<Tensor<(B, M), E, D>, OpError> {
    tensor(x.device(), Vec::from_iter(x.as_vec().into_iter().map(|x| x.round())), *x.shape())
}

#[test]
fn vectors_of_length_1_and_whole_numbers() {
    let x = random(10, (Edges, Keys));
    let found = normalize(x.clone()).unwrap().as_vec();
    for (found, x) in found.chunks(3).zip(x.as_vec().chunks(3)) {
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert_close(found, &Vec::from_iter(x.iter().map(|x| x / length)), 1e-9);
    }
    let expected = Vec::from_iter(x.as_vec().into_iter().map(f64::round));
    assert_eq!(rounded(&x).unwrap().as_vec(), expected);
}

#[test]
fn one_less_x_and_one_over_x() {
    let x = random(16, (Edges, Keys));
    let less = offset(scale(x.clone(), -1.0).unwrap(), 1.0).unwrap();
    let over = div(&full(x.device(), *x.shape(), 1.0).unwrap(), x.clone()).unwrap();
    assert_close(&less.as_vec(), &Vec::from_iter(x.as_vec().into_iter().map(|x| 1.0 - x)), 1e-12);
    assert_close(&over.as_vec(), &Vec::from_iter(x.as_vec().into_iter().map(|x| 1.0 / x)), 1e-12);
}

/// `F.max_pool1d(x, W, stride)`.
fn max_pool<B: Dim, S: Dim, W: StaticSize, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, S, M), E, D, T>,
    stride: usize,
) -> Result<Tensor<(B, Slots, M), E, D, T>, OpError> {
    let places = Places::new(x.shape().1.size());
    let x = rename(x, axis::<S>(), places)?;
    let x: Tensor<(B, Windows<Places, W>, W, M), E, D, T> = windows(x, axis::<Places>(), W::default())?;
    let x = max_over(x, axis::<W>())?;
    let all = x.shape().1;
    let kept = Vec::from_iter((0..all.size()).step_by(stride));
    take(x, axis::<Windows<Places, W>>(), &Indices::new(&kept, (Slots::new(kept.len()),), all)?)
}

/// `nn.Conv2d(M, M, (Y, X), groups=M)`.
fn depthwise_2d<B: Dim, Y: StaticSize, X: StaticSize, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, Rows, Columns, M), E, D, T>,
    kernel: &Tensor<(Y, X, M), E, D>,
) -> Result<Tensor<(B, Windows<Rows, Y>, Windows<Columns, X>, M), E, D, T>, OpError> {
    let x: Tensor<(B, Windows<Rows, Y>, Y, Columns, M), E, D, T> = windows(x, axis::<Rows>(), Y::default())?;
    let x: Tensor<(B, Windows<Rows, Y>, Y, Windows<Columns, X>, X, M), E, D, T> =
        windows(x, axis::<Columns>(), X::default())?;
    einsum!(x: (B, Windows<Rows, Y>, Y, Windows<Columns, X>, X, M), kernel: (Y, X, M)
        -> (B, Windows<Rows, Y>, Windows<Columns, X>, M))
}

#[test]
fn windows_with_a_stride_and_along_two_axes() {
    let x = random(11, (Batch::new(2), SeqLen::new(6), EmbedDim));
    let found = max_pool::<_, _, Keys, _, _, _, _>(x.clone(), 2).unwrap();
    let x = x.as_vec();
    let places = (0..2).flat_map(|b| [0, 2].into_iter().flat_map(move |s| [0, 1].map(|m| (b * 6 + s) * 2 + m)));
    let largest = places.map(|i| x[i].max(x[i + 2]).max(x[i + 4]));
    assert_eq!(found.as_vec(), Vec::from_iter(largest));

    let (x, kernel) =
        (random(12, (Batch::new(1), Rows::new(3), Columns::new(5), EmbedDim)), random(13, (Queries, Keys, EmbedDim)));
    let found = depthwise_2d(x.clone(), &kernel).unwrap();
    let (x, kernel) = (x.as_vec(), kernel.as_vec());
    let expected = (0..2 * 3 * 2).map(|i| {
        let (row, column, m) = (i / 6, i / 2 % 3, i % 2);
        let product = |j: usize| x[((row + j / 3) * 5 + column + j % 3) * 2 + m] * kernel[j * 2 + m];
        (0..6).map(product).sum::<f64>()
    });
    assert_close(&found.as_vec(), &Vec::from_iter(expected), 1e-9);
}

/// `x[masked] = self.mask_token`.
fn hide<B: Dim, S: Dim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, S, M), E, D, T>,
    stays: &PaddingMask<B, S>,
    mask_token: &Tensor<(M,), E, D>,
) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
    let ones: Tensor<(B, S), E, D, T> = full(x.device(), stays.shape(), 1.0)?.retaped::<T>();
    where_(stays, x, einsum!(ones: (B, S), mask_token: (M) -> (B, S, M))?)
}

#[test]
fn a_vector_in_the_places_of_hidden_ones() {
    let shape = (Batch::new(2), SeqLen::new(3));
    let (x, token) = (random(14, (shape.0, shape.1, EmbedDim)), random(15, (EmbedDim,)));
    let stays = PaddingMask::from_fn(shape, |b, s| b == s);
    let found = hide(x.recorded(), &stays, &token).unwrap();
    let (x, token_numbers) = (x.as_vec(), token.as_vec());
    let expected = (0..12).map(|i| if [0, 4].contains(&(i / 2)) { x[i] } else { token_numbers[i % 2] });
    assert_eq!(found.as_vec(), Vec::from_iter(expected));
    // Four of the six places are hidden.
    let sum = einsum!(found: (Batch, SeqLen, EmbedDim) -> ()).unwrap();
    assert_eq!(sum.backward().unwrap().of(&token).unwrap().as_vec(), [4.0; 2]);
}
