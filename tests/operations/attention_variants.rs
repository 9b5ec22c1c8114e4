//! Biases, groups of heads, rotary positions and sliding windows, against definitions by plain loops; gradients
//! against finite differences.

use crate::finite_differences::{check, random, weighted_sum};
use crate::numbers::{F64, Taped, assert_close, device};
use dfdx::tensor::TensorFromVec;
use proptest::prelude::*;
use typed_transformer::mask::SlidingWindow;
use typed_transformer::ops::{self, Activation, AttentionScale, Rotary, RotaryPairs, Silu};
use typed_transformer::prelude::*;

dims! {
    Batch = 2; NumKeyValueHeads = 2; GroupSize = 3; HeadDim = 4; VODim = 5; QLen = 4; KLen = 7;
    Rows; Len; Keys; Width = 3;
}
type NumHeads = Product<NumKeyValueHeads, GroupSize>;

fn numbers<Dims: Shape>(seed: usize, shape: Dims) -> F64<Dims> {
    let number = |i: usize| ((i * 31 + seed * 17) % 23) as f64 / 8.0 - 1.25;
    device().tensor_from_vec((0..shape.num_elements()).map(number).collect(), shape)
}

/// The output of one head for one query: the logits are `logit(key)`, `None` for a hidden key.
fn attend(keys: usize, logit: impl Fn(usize) -> Option<f64>, value: impl Fn(usize) -> f64) -> f64 {
    let weights: Vec<f64> = (0..keys).map(|k| logit(k).map_or(0.0, f64::exp)).collect();
    (0..keys).map(|k| weights[k] * value(k)).sum::<f64>() / weights.iter().sum::<f64>()
}

proptest! {
    #[test]
    fn a_bias_is_added_to_each_logit(seed in 0usize..50, rows in 1usize..3, len in 1usize..4, keys in 1usize..5) {
        let (batch, q_len, k_len) = (Rows::new(rows), Len::new(len), Keys::new(keys));
        let query = numbers(seed, (batch, GroupSize, q_len, HeadDim));
        let key = numbers(seed + 1, (batch, GroupSize, k_len, HeadDim));
        let value = numbers(seed + 2, (batch, GroupSize, k_len, VODim));
        let bias = numbers(seed + 3, (GroupSize, q_len, k_len));
        // Every query sees its first key.
        let visible = |b: usize, q: usize, k: usize| k == 0 || !(b + q + k).is_multiple_of(3);
        let mask = AttentionMask::from_fn((batch, q_len, k_len), visible);
        let scale = AttentionScale::Constant(0.7);
        let (q, k, v, p) = (query.as_vec(), key.as_vec(), value.as_vec(), bias.as_vec());
        let attended = ops::attention(query, key, value, &mask, AttentionOptions { scale, bias: Some(bias), ..AttentionOptions::default() }).unwrap();
        let mut expected = Vec::new();
        for (b, h, i, column) in places(rows, 3, len, 5) {
            let logit = |j: usize| {
                let dot: f64 = (0..4).map(|c| q[((b * 3 + h) * len + i) * 4 + c] * k[((b * 3 + h) * keys + j) * 4 + c]).sum();
                visible(b, i, j).then(|| 0.7 * dot + p[(h * len + i) * keys + j])
            };
            expected.push(attend(keys, logit, |j| v[((b * 3 + h) * keys + j) * 5 + column]));
        }
        assert_close(&attended.as_vec(), &expected, 1e-10);
    }

    #[test]
    fn a_group_shares_its_key_and_value(seed in 0usize..50, rows in 1usize..3, len in 1usize..4, keys in 1usize..5) {
        let (batch, q_len, k_len) = (Rows::new(rows), Len::new(len), Keys::new(keys));
        let query = numbers(seed, (batch, q_len, <Product<NumHeads, HeadDim>>::default()));
        let key = numbers(seed + 1, (batch, k_len, <Product<NumKeyValueHeads, HeadDim>>::default()));
        let value = numbers(seed + 2, (batch, k_len, <Product<NumKeyValueHeads, VODim>>::default()));
        let visible = |b: usize, q: usize, k: usize| k == 0 || !(b + q + k).is_multiple_of(3);
        let mask = AttentionMask::from_fn((batch, q_len, k_len), visible);
        let (q, k, v) = (query.as_vec(), key.as_vec(), value.as_vec());
        let attended: F64<(Rows, Len, Product<NumHeads, VODim>)> = ops::grouped_query_attention(query, key, value, &mask, AttentionOptions::default()).unwrap();
        let mut expected = Vec::new();
        for (b, i, h, column) in places(rows, len, 6, 5) {
            let shared = h / 3;
            let logit = |j: usize| {
                let dot: f64 = (0..4).map(|c| q[(b * len + i) * 24 + h * 4 + c] * k[(b * keys + j) * 8 + shared * 4 + c]).sum();
                visible(b, i, j).then_some(dot / 2.0)
            };
            expected.push(attend(keys, logit, |j| v[(b * keys + j) * 10 + shared * 5 + column]));
        }
        assert_close(&attended.as_vec(), &expected, 1e-10);
    }

    #[test]
    fn pairs_of_columns_rotate(seed in 0usize..50, rows in 1usize..3, len in 1usize..4, start in 0usize..20) {
        let x = numbers(seed, (Rows::new(rows), GroupSize, Len::new(len), HeadDim));
        for (pairs, columns) in [(RotaryPairs::Adjacent, [(0, 1), (2, 3)]), (RotaryPairs::Halves, [(0, 2), (1, 3)])] {
            let rotary = Rotary { base: 50.0, pairs, scaling: None };
            let rotated = ops::rotary_positions(x.clone(), axis::<Len>(), start, rotary).unwrap().as_vec();
            let mut expected = x.as_vec();
            for (vector, x) in expected.chunks_mut(4).zip(x.as_vec().chunks(4)).enumerate().map(|(i, pair)| ((i, pair.0), pair.1)) {
                let (i, vector) = vector;
                for (pair, (a, b)) in columns.into_iter().enumerate() {
                    let angle = (start + i % len) as f64 / 50f64.powf(pair as f64 / 2.0);
                    vector[a] = x[a] * angle.cos() - x[b] * angle.sin();
                    vector[b] = x[a] * angle.sin() + x[b] * angle.cos();
                }
            }
            assert_close(&rotated, &expected, 1e-10);
        }
    }

    #[test]
    fn positions_may_stand_before_the_heads(seed in 0usize..50, rows in 1usize..3, len in 1usize..4, start in 0usize..20) {
        let x = numbers(seed, (Rows::new(rows), GroupSize, Len::new(len), HeadDim));
        let heads_first = ops::rotary_positions(x.clone(), axis::<Len>(), start, Rotary::default()).unwrap();
        let positions_first: F64<(Rows, Len, GroupSize, HeadDim)> = permute(x).unwrap();
        let positions_first =
            ops::rotary_positions(positions_first, axis::<Len>(), start, Rotary::default()).unwrap();
        let moved: F64<(Rows, GroupSize, Len, HeadDim)> = permute(positions_first).unwrap();
        assert_close(&moved.as_vec(), &heads_first.as_vec(), 1e-12);
    }

    #[test]
    fn the_product_of_rotated_vectors_depends_on_their_distance(seed in 0usize..50, start in 0usize..50) {
        let at = |x: &F64<(Batch, GroupSize, QLen, HeadDim)>, start| {
            ops::rotary_positions(x.clone(), axis::<QLen>(), start, Rotary::default()).unwrap().as_vec()
        };
        let (query, key) = (numbers(seed, Default::default()), numbers(seed + 1, Default::default()));
        let dot = |q: Vec<f64>, k: Vec<f64>| -> f64 { q.iter().zip(k).map(|(q, k)| q * k).sum() };
        let (here, there) = (dot(at(&query, 3), at(&key, 0)), dot(at(&query, start + 3), at(&key, start)));
        prop_assert!((here - there).abs() < 1e-9);
    }

    #[test]
    fn linear_biases_fall_with_the_distance(start in 0usize..5, len in 1usize..5, keys in 1usize..6) {
        let bias: F64<(QLen, Len, Keys)> = ops::alibi(&device(), QLen, start, Len::new(len), Keys::new(keys)).unwrap();
        let slopes = [0.25, 0.0625, 0.015625, 0.00390625];
        let places = slopes.into_iter().flat_map(|s| (0..len).flat_map(move |q| (0..keys).map(move |k| (s, q, k))));
        let expected: Vec<f64> = places.map(|(s, q, k)| -s * ((start + q) as f64 - k as f64).abs()).collect();
        assert_close(&bias.as_vec(), &expected, 1e-10);
    }

    #[test]
    fn a_window_slides(rows in 1usize..3, len in 1usize..7, pads in 0usize..3) {
        let ids: Vec<usize> = (0..rows * len).map(|i| usize::from(i % len + pads >= len)).collect();
        let ids = TokenIds::from_ids(&ids, Some(Fin::<Batch>::literal::<1>()), (Rows::new(rows), Len::new(len))).unwrap();
        let padding = ids.padding_mask();
        let mask = mk_mask::<SlidingWindow<Width>, PadSourceKeys, _, _>(&padding);
        let expected = (0..rows).flat_map(|_| (0..len).flat_map(|q| (0..len).map(move |k| (q, k))));
        let expected: Vec<bool> = expected.map(|(q, k)| k <= q && q < k + 3 && k + pads < len).collect();
        prop_assert_eq!(mask.as_slice(), expected);
    }

    #[test]
    fn a_causal_mask_begins_at_any_position(start in 0usize..6, len in 1usize..5, keys in 1usize..8) {
        let shape = (Batch, Len::new(len), Keys::new(keys));
        let [causal, last] = [0, usize::MAX].map(|far| AttentionMask::causal::<CausalMask>(shape, start.max(far)));
        let expected = AttentionMask::from_fn(shape, |_, q, k| k <= start + q);
        prop_assert_eq!(causal.as_slice(), expected.as_slice());
        prop_assert!(!last.as_slice().contains(&false));
        let [causal, last] =
            [0, usize::MAX].map(|far| AttentionMask::causal::<SlidingWindow<Width>>(shape, start.max(far)));
        let expected = AttentionMask::from_fn(shape, |_, q, k| k <= start + q && start + q < k + 3);
        prop_assert_eq!(causal.as_slice(), expected.as_slice());
        prop_assert!(!last.as_slice().contains(&true));
    }
}

/// All places of four axes, in row-major order.
fn places(a: usize, b: usize, c: usize, d: usize) -> impl Iterator<Item = (usize, usize, usize, usize)> {
    (0..a * b * c * d).map(move |i| (i / (b * c * d), i / (c * d) % b, i / d % c, i % d))
}

#[test]
fn gradients() {
    let query = random::<(Batch, GroupSize, QLen, HeadDim)>(1);
    let key = random::<(Batch, GroupSize, KLen, HeadDim)>(2);
    let value = random::<(Batch, GroupSize, KLen, VODim)>(3);
    let bias = random::<(GroupSize, QLen, KLen)>(4);
    let mask = AttentionMask::from_fn((Batch, QLen, KLen), |_, q, k| k <= q + 2);
    let with_bias = |q, k, v, p| {
        let (scale, mask_fill) = (AttentionScale::One, MaskFill::MinValue);
        weighted_sum(
            ops::attention(
                q,
                k,
                v,
                &mask,
                AttentionOptions { scale, mask_fill, bias: Some(p), ..AttentionOptions::default() },
            )
            .unwrap(),
        )
    };
    check(query.clone(), |q| with_bias(q, key.retaped(), value.retaped(), bias.retaped()));
    check(key.clone(), |k| with_bias(query.retaped(), k, value.retaped(), bias.retaped()));
    check(value.clone(), |v| with_bias(query.retaped(), key.retaped(), v, bias.retaped()));
    check(bias.clone(), |p| with_bias(query.retaped(), key.retaped(), value.retaped(), p));
    for pairs in [RotaryPairs::Adjacent, RotaryPairs::Halves] {
        check(query.clone(), |q| {
            let rotary = Rotary { base: 100.0, pairs, scaling: None };
            weighted_sum(ops::rotary_positions(q, axis::<QLen>(), 5, rotary).unwrap())
        });
    }
    check(query, |x| weighted_sum(Silu::apply(x).unwrap()));

    let query = random::<(Batch, QLen, Product<NumHeads, HeadDim>)>(5);
    let key = random::<(Batch, KLen, Product<NumKeyValueHeads, HeadDim>)>(6);
    let value = random::<(Batch, KLen, Product<NumKeyValueHeads, VODim>)>(7);
    let grouped = |q, k, v| -> Taped<()> {
        let (scale, mask_fill) = (AttentionScale::HeadDim, MaskFill::MinValue);
        let attended: Taped<(Batch, QLen, Product<NumHeads, VODim>)> = ops::grouped_query_attention(
            q,
            k,
            v,
            &mask,
            AttentionOptions { scale, mask_fill, ..AttentionOptions::default() },
        )
        .unwrap();
        weighted_sum(attended)
    };
    check(query.clone(), |q| grouped(q, key.retaped(), value.retaped()));
    check(key.clone(), |k| grouped(query.retaped(), k, value.retaped()));
    check(value, |v| grouped(query.retaped(), key.retaped(), v));
}

#[test]
fn heads_side_by_side_take_a_bias() {
    let query = random::<(Batch, QLen, Product<GroupSize, HeadDim>)>(1);
    let key = random::<(Batch, KLen, Product<GroupSize, HeadDim>)>(2);
    let value = random::<(Batch, KLen, Product<GroupSize, VODim>)>(3);
    let bias = random::<(GroupSize, QLen, KLen)>(4);
    let mask = AttentionMask::all_visible((Batch, QLen, KLen));
    let split = ops::attention(
        split_heads(query.clone()).unwrap(),
        split_heads(key.clone()).unwrap(),
        split_heads(value.clone()).unwrap(),
        &mask,
        AttentionOptions { bias: Some(bias.clone()), ..AttentionOptions::default() },
    )
    .unwrap();
    let merged = ops::multi_head_attention(
        query,
        key,
        value,
        &mask,
        AttentionOptions { bias: Some(bias), ..AttentionOptions::default() },
    )
    .unwrap();
    assert_close(&merged.as_vec(), &merge_heads(split).unwrap().as_vec(), 1e-10);
}

#[test]
fn run_time_sizes_are_compared() {
    let heads = |len| numbers(1, (Batch, GroupSize, Len::new(len), HeadDim));
    let mask = AttentionMask::all_visible((Batch, Len::new(2), Len::new(2)));
    let bias = numbers(2, (GroupSize, Len::new(3), Len::new(2)));
    let scale = AttentionScale::One;
    let attended = ops::attention(
        heads(2),
        heads(2),
        heads(2),
        &mask,
        AttentionOptions { scale, bias: Some(bias), ..AttentionOptions::default() },
    );
    assert_eq!(attended.unwrap_err().to_string(), "attention weights: `Len` is 2 in the query and 3 in the bias");
    let heads = |len| numbers(1, (Batch, Len::new(len), <Product<GroupSize, HeadDim>>::default()));
    let query = numbers(1, (Batch, Len::new(2), <Product<Product<GroupSize, GroupSize>, HeadDim>>::default()));
    let attended = ops::grouped_query_attention(
        query,
        heads(2),
        heads(3),
        &mask,
        AttentionOptions { scale, ..AttentionOptions::default() },
    );
    assert_eq!(attended.unwrap_err().to_string(), "attention: `Len` is 2 in the key and 3 in the value");
}

#[test]
fn attention_without_a_key_is_refused() {
    let (batch, keys) = (Rows::new(1), Keys::new(0));
    let query = device().tensor_from_vec(vec![1.0_f32; 48], (batch, QLen, Product::<GroupSize, HeadDim>::default()));
    let key = device().tensor_from_vec(Vec::new(), (batch, keys, Product::<GroupSize, HeadDim>::default()));
    let mask = AttentionMask::all_visible((batch, QLen, keys));
    let attended = ops::multi_head_attention(query, key.clone(), key, &mask, AttentionOptions::default());
    assert_eq!(attended.unwrap_err().to_string(), "attention: (QLen=4, Keys=0, HeadDim=4, HeadDim=4) has no elements");
}

/// Queries and keys without columns have equal scores. On the CPU: dfdx does not run kernels without elements on a GPU.
#[test]
fn attention_by_nothing_is_the_mean() {
    fn check<E: Real>()
    where
        Cpu: Backend<E>,
    {
        let (device, mask) = (Cpu::default(), AttentionMask::all_visible((Batch, QLen, KLen)));
        let query: Tensor<(Batch, GroupSize, QLen, Const<0>), E, Cpu> =
            device.tensor_from_vec(vec![], Default::default());
        let key: Tensor<(Batch, GroupSize, KLen, Const<0>), E, Cpu> =
            device.tensor_from_vec(vec![], Default::default());
        let weights = ops::attention_weights(query, key, &mask, AttentionOptions::default()).unwrap();
        for weight in weights.as_vec() {
            assert!((weight.to_f64().unwrap() - 1.0 / 7.0).abs() < 1e-7);
        }
    }
    check::<f32>();
    check::<f64>();
}
