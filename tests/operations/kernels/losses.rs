//! Losses, means and scores that are made of several kernels, against their definitions.

use super::*;
use typed_transformer::ops::{
    RelativeBuckets, attention, attention_weights, binary_cross_entropy, cross_entropy_by_position, kl_divergence,
    learned_positions, masked_mean, mean, mean_squared_error, relative_position_bias, top_k,
};

dims! { Batch; QLen <= MaxLen; KLen; MaxLen = 80; EmbedDim = 7; NumHeads = 3; NumBuckets = 8; Best = 2; }

/// The dimensions of a call.
fn on_dims(run: impl Fn(&mut StdRng, Batch, QLen, KLen)) {
    on_calls(&|rng, (batch, queries, keys)| {
        run(rng, Batch::new(batch.size()), QLen::new(queries.size()).unwrap(), KLen::new(keys.size()))
    });
}

/// Some positions are padding, or all of a row.
fn padding(b: Batch, q: QLen) -> PaddingMask<Batch, QLen> {
    let id = |position: usize| usize::from(position % q.size() >= position / q.size() * 2 % (q.size() + 1));
    let ids: Vec<usize> = (0..b.size() * q.size()).map(id).collect();
    let ids: TokenIds<Batch, QLen, Best> = TokenIds::from_ids(&ids, Some(Fin::literal::<0>()), (b, q)).unwrap();
    ids.padding_mask()
}

#[test]
fn the_cross_entropy_of_each_position_agrees() {
    on_dims(|rng, b, q, _| {
        let x = both(rng, (b, q, Best), 3.0);
        let ids: Vec<usize> = padding(b, q).as_slice().iter().map(|&is_token| usize::from(is_token)).collect();
        let labels = LabelIds::from_ids(&ids, Some(Fin::<Best>::literal::<0>()), (b, q)).unwrap();
        compare_map!(x, |x| cross_entropy_by_position(x, &labels));
    });
}

#[test]
fn the_mean_agrees() {
    on_dims(|rng, b, q, k| {
        let x = both(rng, (b, q, k), 3.0);
        compare_map!(x, |x| mean(x));
    });
}

#[test]
fn losses_of_a_prediction_and_a_target_agree() {
    on_dims(|rng, b, q, _| {
        let x = both(rng, (b, q), 9.0);
        let y = both(rng, (b, q), 1.0);
        compare!(
            mean_squared_error(x.single.recorded(), &y.single),
            mean_squared_error(x.double.recorded(), &y.double),
            [x, y]
        );
        let (targets, exact) = (y.single.clone().abs(), y.double.clone().abs());
        compare!(
            binary_cross_entropy(x.single.recorded(), &targets),
            binary_cross_entropy(x.double.recorded(), &exact),
            [x]
        );
    });
}

#[test]
fn binary_cross_entropy_of_a_sure_prediction_keeps_its_digits() {
    let x: Tensor<(Best,), f32, AutoDevice> = device().tensor(vec![12.0, -12.0]);
    let y: Tensor<(Best,), f32, AutoDevice> = device().tensor(vec![1.0, 0.0]);
    let loss = binary_cross_entropy(x.recorded(), &y).unwrap();
    let expected = (-12f64).exp().ln_1p();
    // A definition adds 1 before it takes the logarithm.
    let tolerance = if <AutoDevice as Backend<f32>>::HAS_KERNELS { 1e-5 * expected } else { 1e-7 };
    assert!((f64::from(loss.array()) - expected).abs() < tolerance, "{} for {expected}", loss.array());
}

#[test]
fn the_mean_of_tokens_and_the_divergence_agree() {
    on_dims(|rng, b, q, _| {
        let (x, y) = (both(rng, (b, q, EmbedDim), 3.0), both(rng, (b, q, EmbedDim), 3.0));
        let padding = padding(b, q);
        compare_map!(x, |x| masked_mean(x, &padding));
        for reduction in [Reduction::MeanAll, Reduction::MeanPerSequence, Reduction::MeanTokens, Reduction::Sum] {
            compare!(
                kl_divergence(x.single.recorded(), &y.single, &padding, reduction),
                kl_divergence(x.double.recorded(), &y.double, &padding, reduction),
                [x, y]
            );
        }
    });
}

#[test]
fn the_highest_elements_agree() {
    on_dims(|rng, b, q, _| {
        let x = both(rng, (b, EmbedDim, q), 3.0);
        compare_map!(x, |x| top_k(x, axis::<EmbedDim>(), Best).map(|(highest, _)| highest));
    });
}

#[test]
fn tables_of_positions_agree() {
    on_dims(|rng, _, q, k| {
        let table = both(rng, (MaxLen, EmbedDim), 1.0);
        compare!(
            learned_positions::<_, _, _, _, _, OwnTape<f32>>(&table.single, q),
            learned_positions::<_, _, _, _, _, OwnTape<f64, Cpu>>(&table.double, q),
            [table]
        );
        let table = both(rng, (NumBuckets, NumHeads), 1.0);
        let buckets = RelativeBuckets { bidirectional: true, max_distance: 20 };
        compare!(
            relative_position_bias(&table.single, buckets, 3, (q, k), OwnTape::<f32>::default()),
            relative_position_bias(&table.double, buckets, 3, (q, k), OwnTape::<f64, Cpu>::default()),
            [table]
        );
    });
}

#[test]
fn attention_of_split_heads_agrees() {
    on_dims(|rng, b, q, k| {
        let query = both(rng, (b, NumHeads, q, EmbedDim), 1.0);
        let (key, value) = (both(rng, (b, NumHeads, k, EmbedDim), 1.0), both(rng, (b, NumHeads, k, Best), 1.0));
        let bias = both(rng, (NumHeads, q, k), 1.0);
        let mask = AttentionMask::from_fn((b, q, k), |row, q, k| (row + q + k) % 3 > 0);
        for fill in [MaskFill::MinValue, MaskFill::Subtract(3.0)] {
            compare!(
                attention_weights(
                    query.single.recorded(),
                    key.single.recorded(),
                    &mask,
                    AttentionOptions { mask_fill: fill, ..AttentionOptions::default() }
                ),
                attention_weights(
                    query.double.recorded(),
                    key.double.recorded(),
                    &mask,
                    AttentionOptions { mask_fill: fill, ..AttentionOptions::default() }
                ),
                [query, key]
            );
            macro_rules! attended {
                ($precision:ident) => {{
                    let (query, key) = (query.$precision.recorded(), key.$precision.recorded());
                    let (value, bias) = (value.$precision.recorded(), bias.$precision.recorded());
                    attention(
                        query,
                        key,
                        value,
                        &mask,
                        AttentionOptions { mask_fill: fill, bias: Some(bias), ..AttentionOptions::default() },
                    )
                }};
            }
            compare!(attended!(single), attended!(double), [query, key, value, bias]);
        }
    });
}
