//! The gradient of every operation's definition against finite differences, in `f64`.

use crate::finite_differences::{check, check_parameter, random, weighted_sum};
use crate::numbers::{F64, Taped};
use crate::recorded::{OwnTape, Recorded};
use dfdx::tensor::AutoDevice;
use dfdx::tensor::*;
use typed_transformer::ops::{self, Activation, Gelu, GeluTanh, Relu};
use typed_transformer::prelude::*;

// Every dimension has its own size, so that confusing two of them fails.
dims! {
    QKDim = 2; NumHeads = 3; Batch = 2; VODim = 5; QLen = 4; KLen = 7; EmbedDim = 6; OutDim: Sum<QLen, KLen>;
    VocabSize = 13; MaxSeqLen = 9;
}

#[test]
fn linear() {
    let input = random::<(Batch, QLen, EmbedDim)>(1);
    let weight = random::<(OutDim, EmbedDim)>(2);
    let bias = random::<(OutDim,)>(3);
    check(input.clone(), |x| weighted_sum(ops::linear(x, &weight, Some(&bias)).unwrap()));
    check(input.clone(), |x| weighted_sum(ops::linear(x, &weight, None).unwrap()));
    check(weight.clone(), |w| weighted_sum(ops::linear(w.clone(), &w, None).unwrap()));
    // A parameter's gradient is recorded under the parameter's id.
    let mut gradients = weighted_sum(ops::linear(input.recorded(), &weight, Some(&bias)).unwrap()).backward().unwrap();
    check_parameter(&weight, &mut gradients, |weight| {
        weighted_sum(ops::linear(input.recorded(), weight, Some(&bias)).unwrap()).array()
    });
    check_parameter(&bias, &mut gradients, |bias| {
        weighted_sum(ops::linear(input.recorded(), &weight, Some(bias)).unwrap()).array()
    });
}

#[test]
fn embed() {
    let table = random::<(VocabSize, EmbedDim)>(1);
    // Token 12 occurs three times, so its gradients add up.
    let ids = TokenIds::from_ids(&[0, 12, 3, 3, 7, 1, 12, 12], None, (Batch, QLen)).unwrap();
    let value = |table: &F64<_>| weighted_sum(ops::embed(table, &ids, OwnTape::default()).unwrap());
    check_parameter(&table, &mut value(&table).backward().unwrap(), |table| value(table).array());
}

#[test]
fn positions() {
    let table = random::<(MaxSeqLen, EmbedDim)>(1);
    let value = |table: &F64<_>| weighted_sum(ops::learned_positions(table, QLen).unwrap());
    check_parameter(&table, &mut value(&table).backward().unwrap(), |table| value(table).array());

    let input = random::<(Batch, QLen, EmbedDim)>(2);
    let positions = random::<(QLen, EmbedDim)>(3);
    check(input.clone(), |x| weighted_sum(ops::add_positions(x, positions.retaped()).unwrap()));
    check(positions, |p| weighted_sum(ops::add_positions(input.retaped(), p).unwrap()));
}

#[test]
fn residual_and_scale() {
    let (input, output) = (random::<(Batch, QLen, EmbedDim)>(1), random(2));
    check(input.clone(), |x| weighted_sum(ops::residual(x, output.retaped()).unwrap()));
    check(output, |y| weighted_sum(ops::residual(input.retaped(), y).unwrap()));
    check(input, |x| weighted_sum(ops::scale(x, -1.75).unwrap()));
}

#[test]
fn activations() {
    let input = random::<(Batch, QLen, EmbedDim)>(1);
    check(input.clone(), |x| weighted_sum(Relu::apply(x).unwrap()));
    check(input.clone(), |x| weighted_sum(GeluTanh::apply(x).unwrap()));
    check(input, |x| weighted_sum(Gelu::apply(x).unwrap()));
}

#[test]
fn layer_norm() {
    let input = random::<(Batch, QLen, EmbedDim)>(1);
    let (weight, bias) = (random::<(EmbedDim,)>(2), random::<(EmbedDim,)>(3));
    let value = |x: Taped<_>, w: &F64<_>, b: &F64<_>| weighted_sum(ops::layer_norm(x, w, Some(b), 1e-5).unwrap());
    check(input.clone(), |x| value(x, &weight, &bias));
    let mut gradients = value(input.recorded(), &weight, &bias).backward().unwrap();
    check_parameter(&weight, &mut gradients, |w| value(input.recorded(), w, &bias).array());
    check_parameter(&bias, &mut gradients, |b| value(input.recorded(), &weight, b).array());
}

#[test]
fn layer_norm_without_bias_and_rms_norm() {
    let input = random::<(Batch, QLen, EmbedDim)>(1);
    let weight = random::<(EmbedDim,)>(2);
    let norms: [fn(Taped<(Batch, QLen, EmbedDim)>, &F64<(EmbedDim,)>) -> Taped<_>; 2] =
        [|x, w| ops::layer_norm(x, w, None, 1e-5).unwrap(), |x, w| ops::rms_norm(x, w, 1e-5).unwrap()];
    for norm in norms {
        check(input.clone(), |x| weighted_sum(norm(x, &weight)));
        let mut gradients = weighted_sum(norm(input.recorded(), &weight)).backward().unwrap();
        check_parameter(&weight, &mut gradients, |w| weighted_sum(norm(input.recorded(), w)).array());
    }
}

#[test]
fn masked_mean() {
    // One sequence ends in padding, the other is all padding.
    let ids = [0, 12, 3, 12, 12, 12, 12, 12];
    let ids = TokenIds::from_ids(&ids, Some(Fin::<VocabSize>::literal::<12>()), (Batch, QLen));
    let padding = ids.unwrap().padding_mask();
    check(random::<(Batch, QLen, EmbedDim)>(1), |x| weighted_sum(ops::masked_mean(x, &padding).unwrap()));
}

#[test]
fn heads() {
    check(random::<(Batch, QLen, Product<NumHeads, VODim>)>(1), |x| {
        weighted_sum(ops::split_heads::<_, _, NumHeads, VODim, _, _, _>(x).unwrap())
    });
    check(random::<(Batch, NumHeads, QLen, VODim)>(1), |x| weighted_sum(ops::merge_heads(x).unwrap()));
}

#[test]
fn attention_under_every_mask() {
    let query = random::<(Batch, NumHeads, QLen, QKDim)>(1);
    let key = random::<(Batch, NumHeads, KLen, QKDim)>(2);
    let value = random::<(Batch, NumHeads, KLen, VODim)>(3);
    let shape = (Batch, QLen, KLen);
    let masks = [
        AttentionMask::all_visible(shape),
        AttentionMask::from_fn(shape, |_, q, k| k <= q),
        // The second query of the first sequence sees no key.
        AttentionMask::from_fn(shape, |b, q, k| (b, q) != (0, 1) && (b + q + k) % 3 != 0),
    ];
    for mask in masks {
        for (scale, masked) in
            [(AttentionScale::HeadDim, MaskFill::MinValue), (AttentionScale::EmbedDim, MaskFill::Subtract(10.0))]
        {
            let attend = |q, k, v| {
                weighted_sum(
                    ops::attention(
                        q,
                        k,
                        v,
                        &mask,
                        AttentionOptions { scale, mask_fill: masked, ..AttentionOptions::default() },
                    )
                    .unwrap(),
                )
            };
            check(query.clone(), |q| attend(q, key.retaped(), value.retaped()));
            check(key.clone(), |k| attend(query.retaped(), k, value.retaped()));
            check(value.clone(), |v| attend(query.retaped(), key.retaped(), v));
            check(query.clone(), |q| {
                let key = key.retaped();
                weighted_sum(
                    ops::attention_weights(
                        q,
                        key,
                        &mask,
                        AttentionOptions { scale, mask_fill: masked, ..AttentionOptions::default() },
                    )
                    .unwrap(),
                )
            });
        }
    }
}

#[test]
fn multi_head_attention() {
    let query = random::<(Batch, QLen, Product<NumHeads, QKDim>)>(1);
    let key = random::<(Batch, KLen, Product<NumHeads, QKDim>)>(2);
    let value = random::<(Batch, KLen, Product<NumHeads, VODim>)>(3);
    let mask = AttentionMask::from_fn((Batch, QLen, KLen), |_, q, k| k <= q + 2);
    let attend =
        |q, k, v| weighted_sum(ops::multi_head_attention(q, k, v, &mask, AttentionOptions::default()).unwrap());
    check(query.clone(), |q| attend(q, key.retaped(), value.retaped()));
    check(key.clone(), |k| attend(query.retaped(), k, value.retaped()));
    check(value, |v| attend(query.retaped(), key.retaped(), v));
}

#[test]
fn cross_entropy() {
    let logits = random::<(Batch, QLen, VocabSize)>(1);
    let pad = Some(Fin::literal::<12>());
    let labels = LabelIds::from_ids(&[0, 5, 12, 12, 3, 3, 3, 12], pad, (Batch, QLen)).unwrap();
    for average in [Reduction::MeanAll, Reduction::MeanPerSequence] {
        check(logits.clone(), |x| ops::cross_entropy(x, &labels, average).unwrap());
        for smoothing in [0.1, 1.0] {
            check(logits.clone(), |x| ops::cross_entropy_with_label_smoothing(x, &labels, average, smoothing).unwrap());
        }
    }
}

#[test]
fn dropout_of_a_known_seed() {
    // Every call draws new numbers; a device with the same seed draws the same ones.
    let input = random::<(Batch, QLen, EmbedDim)>(1);
    let value = |x: Vec<f64>| {
        let device = AutoDevice::seed_from_u64(7);
        let x: F64<(Batch, QLen, EmbedDim)> = device.tensor_from_vec(x, Default::default());
        let loss = weighted_sum(ops::dropout(x.recorded(), 0.4).unwrap());
        (loss.array(), loss.backward().unwrap().of(&x).unwrap().as_vec())
    };
    let (_, gradient) = value(input.as_vec());
    for i in 0..gradient.len() {
        let mut shifted = input.as_vec();
        shifted[i] += 1.0;
        let slope = value(shifted).0 - value(input.as_vec()).0;
        assert!((slope - gradient[i]).abs() < 1e-9);
    }
    let dropped = gradient.iter().filter(|g| **g == 0.0).count();
    assert!((10..=30).contains(&dropped), "{dropped} of {}", gradient.len());
}

#[test]
fn axes() {
    type Dims = (Batch, QLen, EmbedDim);
    let input = random::<Dims>(61);
    check(input.clone(), |x| weighted_sum(sum_over(x, axis::<QLen>()).unwrap()));
    check(input.clone(), |x| weighted_sum(mean_over(x, axis::<Batch>()).unwrap()));
    check(input.clone(), |x| weighted_sum(max_over(x, axis::<EmbedDim>()).unwrap()));
    check(input.clone(), |x| weighted_sum(softmax_over(x, axis::<QLen>()).unwrap()));
    check(input.clone(), |x| weighted_sum(ops::log_softmax_over(x, axis::<QLen>()).unwrap()));
    check(input.clone(), |x| {
        let to: Taped<(QLen, EmbedDim, Batch)> = permute(x).unwrap();
        weighted_sum(to)
    });
    check(input.clone(), |x| {
        weighted_sum(broadcast(x, (Batch, NumHeads, QLen, EmbedDim), axis::<NumHeads>()).unwrap())
    });
    check(random::<(Batch, QLen, Product<NumHeads, QKDim>)>(62), |x| {
        weighted_sum(reshape(x, (Batch, QLen, NumHeads, QKDim)).unwrap())
    });
}

#[test]
fn concat_split_and_narrow() {
    type One = (Batch, QLen, EmbedDim);
    type Other = (Batch, KLen, EmbedDim);
    type Total = (Batch, OutDim, EmbedDim);
    let (one, other) = (random::<One>(71), random::<Other>(72));
    let parts = along::<QLen, KLen>;
    check(one.clone(), |x| -> Taped<()> {
        let total: Taped<Total> = concat(x, other.retaped(), parts()).unwrap();
        weighted_sum(total)
    });
    check(other, |x| -> Taped<()> {
        let total: Taped<Total> = concat(one.retaped(), x, parts()).unwrap();
        weighted_sum(total)
    });
    // A tensor concatenated with itself.
    check(one, |x| -> Taped<()> {
        let again = x.retaped();
        let twice: Taped<(Batch, Sum<QLen, QLen>, EmbedDim)> = concat(x, again, along::<QLen, QLen>()).unwrap();
        weighted_sum(twice)
    });
    let whole = random::<Total>(73);
    check(whole.clone(), |x| -> Taped<()> {
        let (one, other): (Taped<One>, Taped<Other>) = split(x, QLen, KLen, axis::<OutDim>()).unwrap();
        weighted_sum(one) * 3.0 + weighted_sum(other)
    });
    check(whole, |x| {
        let part: Taped<Other> = narrow(x, axis::<OutDim>(), 2, KLen).unwrap();
        weighted_sum(part)
    });
}
