//! The kernel of attention with a bias.

use super::*;
use dfdx::shapes::Axes2;

type Width<const HEADS: usize, const SIZE: usize> = Product<Const<HEADS>, Const<SIZE>>;
type Heads<const KEY_HEADS: usize, const GROUPS: usize> = Width<KEY_HEADS, GROUPS>;
type GroupedWidth<const KEY_HEADS: usize, const GROUPS: usize, const SIZE: usize> =
    Product<Heads<KEY_HEADS, GROUPS>, Const<SIZE>>;

const WITH_BIAS: [(AttentionScale, MaskFill); 2] =
    [(AttentionScale::One, MaskFill::MinValue), (AttentionScale::Constant(0.3), MaskFill::Subtract(50.0))];
const WITHOUT_BIAS: [(AttentionScale, MaskFill); 2] =
    [(AttentionScale::EmbedDim, MaskFill::MinValue), (AttentionScale::HeadDim, MaskFill::Subtract(50.0))];

/// `size` is that of queries and keys.
pub fn agrees_on_call<const KEY_HEADS: usize, const GROUPS: usize, const QK: usize, const VO: usize>(
    rng: &mut StdRng,
    (batch, queries, keys): (Unchecked, Unchecked, Unchecked),
    size: f32,
    has_bias: bool,
) {
    let query = both(rng, (batch, queries, GroupedWidth::<KEY_HEADS, GROUPS, QK>::default()), size);
    let key = both(rng, (batch, keys, Width::<KEY_HEADS, QK>::default()), size);
    let value = both(rng, (batch, keys, Width::<KEY_HEADS, VO>::default()), 1.0);
    let bias = both(rng, (Heads::<KEY_HEADS, GROUPS>::default(), queries, keys), 3.0);
    // Some calls have an even number of keys and some an odd one, so each mask meets both conventions.
    let conventions = if has_bias { WITH_BIAS } else { WITHOUT_BIAS };
    let conventions = conventions.iter().cycle().skip(keys.0 % 2);
    for (mask, &(scale, fill)) in masks(rng, (batch, queries, keys)).iter().zip(conventions) {
        compare!(
            ops::grouped_query_attention(
                query.single.recorded(),
                key.single.retaped(),
                value.single.retaped(),
                mask,
                AttentionOptions {
                    scale,
                    mask_fill: fill,
                    bias: has_bias.then(|| bias.single.retaped()),
                    ..AttentionOptions::default()
                }
            ),
            ops::grouped_query_attention(
                query.double.recorded(),
                key.double.retaped(),
                value.double.retaped(),
                mask,
                AttentionOptions {
                    scale,
                    mask_fill: fill,
                    bias: has_bias.then(|| bias.double.retaped()),
                    ..AttentionOptions::default()
                }
            ),
            [query, key, value, bias]
        );
    }
}

#[test]
fn attention_with_a_bias_agrees() {
    on_calls(&|rng, call| agrees_on_call::<1, 1, 1, 1>(rng, call, 1.0, true));
    on_calls(&|rng, call| agrees_on_call::<3, 2, 5, 3>(rng, call, 1.0, true));
    on_calls(&|rng, call| agrees_on_call::<7, 1, 16, 17>(rng, call, 1.0, true));
    on_calls(&|rng, call| agrees_on_call::<2, 3, 8, 13>(rng, call, 2.0, true));
}

#[test]
fn attention_with_a_bias_agrees_beyond_a_block() {
    let calls: [Call; 6] = [(1, 33, 129), (2, 64, 256), (1, 1, 300), (1, 131, 131), (3, 3, 257), (5, 37, 130)];
    for (seed, (batch, queries, keys)) in calls.into_iter().enumerate() {
        let rng = &mut StdRng::seed_from_u64(seed as u64);
        let call = (Unchecked(batch), Unchecked(queries), Unchecked(keys));
        agrees_on_call::<2, 1, 5, 17>(rng, call, 1.0, true);
        agrees_on_call::<1, 3, 16, 16>(rng, call, 2.0, true);
    }
}

/// A bias may be any tensor of the graph: here each head and key has one number, whatever the query.
#[test]
fn a_bias_that_is_a_permuted_broadcast_gets_its_gradient() {
    on_calls(&|rng, (batch, queries, keys)| {
        let query = both(rng, (batch, queries, Width::<3, 4>::default()), 1.0);
        let key = both(rng, (batch, keys, Width::<3, 4>::default()), 1.0);
        let numbers = both(rng, (keys, Const::<3>), 2.0);
        let mask = AttentionMask::from_fn((batch, queries, keys), |b, q, k| (b + q + k) % 5 != 0);
        let shape = (Const::<3>, queries, keys);
        macro_rules! attended {
            ($precision:ident) => {
                ops::multi_head_attention(
                    query.$precision.recorded(),
                    key.$precision.retaped(),
                    key.$precision.retaped(),
                    &mask,
                    AttentionOptions {
                        bias: Some(
                            numbers
                                .$precision
                                .recorded()
                                .permute::<(Const<3>, Unchecked), Axes2<1, 0>>()
                                .broadcast_like::<_, Axis<1>>(&shape),
                        ),
                        ..AttentionOptions::default()
                    },
                )
            };
        }
        compare!(attended!(single), attended!(double), [query, key, numbers]);
    });
}

/// -∞ hides a key, as it does in a softmax, also where it fills the first block of a row.
#[test]
fn a_bias_of_minus_infinity_hides_a_key() {
    let rng = &mut StdRng::seed_from_u64(3);
    for (queries, keys, first) in [(1, 7, 3), (5, 300, 129), (40, 260, 256), (2, 131, 130)] {
        let (batch, queries, keys) = (Unchecked(2), Unchecked(queries), Unchecked(keys));
        let query = both(rng, (batch, queries, Width::<2, 8>::default()), 1.0);
        let key = both(rng, (batch, keys, Width::<2, 8>::default()), 1.0);
        let hidden = |i: usize| if i % keys.0 < first { f32::NEG_INFINITY } else { 0.0 };
        let bias: Vec<f32> = (0..2 * queries.0 * keys.0).map(hidden).collect();
        let bias = device().tensor_from_vec(bias, (Const::<2>, queries, keys));
        let visible = AttentionMask::from_fn((batch, queries, keys), |_, _, key| key >= first);
        let all = AttentionMask::all_visible((batch, queries, keys));
        let run = |output: Taped<(Unchecked, Unchecked, Width<2, 8>), f32>| {
            let elements = output.as_vec();
            let mut gradients = gradients(output);
            [elements, gradients.of(&query.single).unwrap().as_vec(), gradients.of(&key.single).unwrap().as_vec()]
        };
        let operands = || (query.single.recorded(), key.single.retaped(), key.single.retaped());
        let (q, k, v) = operands();
        let biased = ops::multi_head_attention(
            q,
            k,
            v,
            &all,
            AttentionOptions { bias: Some(bias.retaped()), ..AttentionOptions::default() },
        )
        .unwrap();
        let (q, k, v) = operands();
        let masked = ops::multi_head_attention(q, k, v, &visible, AttentionOptions::default()).unwrap();
        for (biased, masked) in run(biased).iter().zip(run(masked)) {
            let masked: Vec<f64> = masked.into_iter().map(f64::from).collect();
            assert_close("attention", biased, &masked);
        }
    }
}

// A sum on a GPU has no fixed order.
#[cfg(not(feature = "cuda"))]
#[test]
fn the_gradient_of_a_bias_is_reproducible() {
    let run = || {
        let rng = &mut StdRng::seed_from_u64(9);
        let (batch, queries, keys) = (Unchecked(37), Unchecked(33), Unchecked(65));
        let query = both(rng, (batch, queries, Width::<4, 16>::default()), 1.0).single;
        let key = both(rng, (batch, keys, Width::<4, 16>::default()), 1.0).single;
        let bias = both(rng, (Const::<4>, queries, keys), 1.0).single;
        let mask = AttentionMask::all_visible((batch, queries, keys));
        let y: Taped<_, f32> = ops::multi_head_attention(
            query.recorded(),
            key.retaped(),
            key.retaped(),
            &mask,
            AttentionOptions { bias: Some(bias.retaped()), ..AttentionOptions::default() },
        )
        .unwrap();
        gradients(y).of(&bias).unwrap().as_vec()
    };
    assert_eq!(run(), run());
}
