//! Parts of attention as the tables of `docs/porting.md` write them, against plain loops and the definition.

use crate::finite_differences::{check, weighted_sum};
use crate::numbers::{F64, assert_close, device, random_like as random};
use typed_transformer::backend::Tape;
use typed_transformer::ops::{Activation, Exp, Rotary, flatten, rotary_positions, sub, unflatten, unstack};
use typed_transformer::prelude::*;

dims! {
    Batch = 2; Len = 5; KeyLen = 6; NumHeads = 3; HeadDim = 4; ValueDim = 2; One = 1; Height = 2; Width = 3;
    Places; AllHeads;
}

/// Attention with a bias for each head of each sequence, which is -∞ at a hidden key.
fn biased<B: Dim, H: ConstDim, Q: Dim, S: Dim, K: ConstDim, V: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    (query, key, value): (Tensor<(B, H, Q, K), E, D, T>, Tensor<(B, H, S, K), E, D, T>, Tensor<(B, H, S, V), E, D, T>),
    bias: Tensor<(B, H, Q, S), E, D, T>,
) -> Result<Tensor<(B, H, Q, V), E, D, T>, OpError> {
    let (batch, num_heads, queries, keys) = *bias.shape();
    let heads = AllHeads::new(batch.size() * num_heads.size());
    let [of_queries, of_keys] = [queries.size(), keys.size()].map(|len| Places::new(heads.size() * len));
    let query = unflatten(flatten(query, of_queries)?, (One, heads, queries, K::default()))?;
    let key = unflatten(flatten(key, of_keys)?, (One, heads, keys, K::default()))?;
    let value = unflatten(flatten(value, of_keys)?, (One, heads, keys, V::default()))?;
    let bias = Some(unflatten(flatten(bias, of_queries)?, (heads, queries, keys))?);
    let mask = AttentionMask::all_visible((One, queries, keys));
    let attended = attention(query, key, value, &mask, AttentionOptions { bias, ..Default::default() })?;
    unflatten(flatten(attended, of_queries)?, (batch, num_heads, queries, V::default()))
}

#[test]
fn a_bias_of_each_sequence() {
    let query = random(1, (Batch, NumHeads, Len, HeadDim));
    let (key, value) = (random(2, (Batch, NumHeads, KeyLen, HeadDim)), random(3, (Batch, NumHeads, KeyLen, ValueDim)));
    // Each head of each sequence sees other keys.
    let hidden = (0..2 * 3 * 5 * 6).map(|i| if i % 6 != 0 && i * 7 % 5 == 0 { f64::NEG_INFINITY } else { 0.0 });
    let hidden = tensor(&device(), Vec::from_iter(hidden), (Batch, NumHeads, Len, KeyLen)).unwrap();
    let bias = add(random(4, (Batch, NumHeads, Len, KeyLen)), &hidden).unwrap();
    let found = biased((query.clone(), key.clone(), value.clone()), bias.clone()).unwrap();

    let scores = einsum!(query: (Batch, NumHeads, Len, HeadDim), key: (Batch, NumHeads, KeyLen, HeadDim)
        -> (Batch, NumHeads, Len, KeyLen))
    .unwrap();
    let weights = softmax_over(add(scale(scores, 0.5).unwrap(), &bias).unwrap(), axis::<KeyLen>()).unwrap();
    let expected = einsum!(weights: (Batch, NumHeads, Len, KeyLen), value: (Batch, NumHeads, KeyLen, ValueDim)
        -> (Batch, NumHeads, Len, ValueDim))
    .unwrap();
    assert_close(&found.as_vec(), &expected.as_vec(), 1e-9);
}

/// `exp(x)` where the key is not behind the query, and 0 elsewhere: a mask over fewer axes than `x`.
fn causal_exp<B: Dim, H: ConstDim, Q: Dim, K: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, H, Q, K), E, D, T>,
) -> Result<Tensor<(B, H, Q, K), E, D, T>, OpError> {
    let (.., queries, keys) = *x.shape();
    let is_behind = |i: usize| i % keys.size() > i / keys.size();
    let hidden = (0..queries.size() * keys.size()).map(|i| if is_behind(i) { E::neg_infinity() } else { E::zero() });
    let hidden = tensor(x.device(), Vec::from_iter(hidden), (queries, keys))?;
    Exp::apply(add(x, &hidden)?)
}

#[test]
fn a_mask_over_fewer_axes() {
    let x = random(5, (Batch, One, Height, Width));
    let expected = x.as_vec().into_iter().enumerate().map(|(i, x)| if i % 3 > i / 3 % 2 { 0.0 } else { x.exp() });
    assert_close(&causal_exp(x.clone()).unwrap().as_vec(), &Vec::from_iter(expected), 1e-9);
    check(x, |x| weighted_sum(causal_exp(x).unwrap()));
}

/// 2-D rotary positions: one part of a head turns by its column, the other by its row.
fn axial<B: Dim, Y: Dim, X: Dim, K: Even, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, Y, X, Sum<K, K>), E, D, T>,
) -> Result<Tensor<(B, Y, X, Sum<K, K>), E, D, T>, OpError> {
    let rotary = Rotary { base: 100.0, ..Rotary::ROFORMER };
    let (of_column, of_row) = split(x, K::default(), K::default(), axis::<Sum<K, K>>())?;
    let of_column = rotary_positions(of_column, axis::<X>(), 0, rotary)?;
    let of_row = rotary_positions(of_row, axis::<Y>(), 0, rotary)?;
    concat(of_column, of_row, along::<K, K>())
}

#[test]
fn rotary_positions_along_two_axes() {
    let x = random(6, (One, Height, Width, Sum::<HeadDim, HeadDim>::default()));
    let found = axial(x.clone()).unwrap();
    let x = x.as_vec();
    let expected = (0..x.len()).map(|i| {
        let (row, column, part, at) = (i / 24, i / 8 % 3, i / 4 % 2, i % 4);
        let position = [column, row][part] as f64;
        // The pairs of a part turn by 1 and by 1/10.
        let (sin, cos) = (position * [1.0, 0.1][at / 2]).sin_cos();
        if at % 2 == 0 { x[i] * cos - x[i + 1] * sin } else { x[i] * cos + x[i - 1] * sin }
    });
    assert_close(&found.as_vec(), &Vec::from_iter(expected), 1e-9);
}

/// `x.chunk(3, dim=-1)`.
fn chunks<B: Dim, N: ConstDim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, Product<N, M>), E, D, T>,
) -> Result<Vec<Tensor<(B, M), E, D, T>>, OpError> {
    unstack(rearrange!(x: (B, Product<N, M>) -> (B, N, M))?, axis::<N>())
}

#[test]
fn parts_of_one_size() {
    let x: F64<(Batch, Product<NumHeads, ValueDim>)> = random(7, (Batch, Product::default()));
    let (found, x) = (chunks(x.clone()).unwrap(), x.as_vec());
    for (n, part) in found.iter().enumerate() {
        assert_eq!(part.as_vec(), [0, 1, 6, 7].map(|i| x[2 * n + i]));
    }
    assert_eq!(found.len(), 3);
}

/// `apply_rotary_pos_emb` by `position_ids` of one's own: `position(b, s, k)` is that of pair `k`, so the sections of
/// M-RoPE have positions of their own.
fn rotated<B: Dim, S: Dim, H: ConstDim, K: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, S, H, Sum<K, K>), E, D, T>,
    position: impl Fn(usize, usize, usize) -> usize,
    base: f64,
) -> Result<Tensor<(B, S, H, Sum<K, K>), E, D, T>, OpError> {
    let (batch, len, ..) = *x.shape();
    let table = |function: fn(f64) -> f64| -> Result<Tensor<(B, S, K), E, D>, OpError> {
        let numbers = (0..batch.size() * len.size() * K::SIZE).map(|i| {
            let (place, k) = (i / K::SIZE, i % K::SIZE);
            let angle =
                position(place / len.size(), place % len.size(), k) as f64 * base.powf(-(k as f64) / K::SIZE as f64);
            E::from_f64(function(angle)).unwrap()
        });
        tensor(x.device(), Vec::from_iter(numbers), (batch, len, K::default()))
    };
    let (cos, sin) = (table(f64::cos)?, table(f64::sin)?);
    let (left, right) = split(x, K::default(), K::default(), axis::<Sum<K, K>>())?;
    let turned_left = sub(mul(left.clone(), &cos)?, mul(right.clone(), &sin)?)?;
    let turned_right = add(mul(right, &cos)?, mul(left, &sin)?)?;
    concat(turned_left, turned_right, along::<K, K>())
}

#[test]
fn rotary_positions_of_ones_own() {
    let x: F64<(Batch, Len, NumHeads, Sum<ValueDim, ValueDim>)> = random(8, Default::default());
    let expected = rotary_positions(x.clone(), axis::<Len>(), 3, Rotary::halves(100.0)).unwrap();
    let found = rotated(x.clone(), |_, s, _| s + 3, 100.0).unwrap();
    assert_close(&found.as_vec(), &expected.as_vec(), 1e-12);
    // The second sequence begins anew at place 2, and its second pair stays.
    let position = |b: usize, s: usize, k: usize| if b == 0 { s } else { [s % 2, 0][k] };
    let found = rotated(x.clone(), position, 100.0).unwrap().as_vec();
    let [first, second] = [0, 1].map(|at| 4 * 3 * 5 + at * 4 * 3); // Places 0 and 1 of the second sequence.
    assert_close(&found[first..first + 4], &x.as_vec()[first..first + 4], 1e-12);
    let (numbers, (sin, cos)) = (x.as_vec(), 1f64.sin_cos());
    let turned = [numbers[second] * cos - numbers[second + 2] * sin, numbers[second + 1]];
    assert_close(&found[second..second + 2], &turned, 1e-12);
    check(x, |x| weighted_sum(rotated(x, position, 100.0).unwrap()));
}
