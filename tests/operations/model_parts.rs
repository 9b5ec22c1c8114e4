//! Operations and layers that only the models of `models` use: patches, relative positions, scaled rotary positions,
//! low-rank adaptation, and names of files whose axes merge.

use crate::finite_differences::{check, check_parameter, random, weighted_sum};
use crate::numbers::{F64, assert_close, device};
use crate::recorded::OwnTape;
use dfdx::tensor::{AutoDevice, SplitTape};
use typed_transformer::models::llama::{Llama, LlamaConfig};
use typed_transformer::nn::{Linear, Lora};
use typed_transformer::ops::{self, Activation, Exp, Ln, RelativeBuckets, Rotary, RotaryScaling, Sqrt, Tanh};
use typed_transformer::prelude::*;
use typed_transformer::train::{Adam, update};

dims! {
    Batch = 2; Channels = 3; Height = 6; Width = 8; PatchHeight = 2; PatchWidth = 4; NumBuckets = 6; NumHeads = 3;
    QLen = 4; KLen = 7; EmbedDim = 12; HiddenDim = 5; Rank = 2; VocabSize = 11; MaxSeqLen = 9; NumLayers = 2;
    NumKeyValueHeads = 1; HeadDim = 4;
}

#[test]
fn patches_are_read_row_by_row() {
    let image = random::<(Batch, Channels, Height, Width)>(1);
    let pixels = image.as_vec();
    let patches = ops::patches::<_, _, _, _, PatchHeight, PatchWidth, _, _, _>(image.clone()).unwrap().as_vec();
    let mut expected = Vec::new();
    for (b, top) in (0..2).flat_map(|b| (0..6).step_by(2).map(move |top| (b, top))) {
        for (left, c) in (0..8).step_by(4).flat_map(|left| (0..3).map(move |c| (left, c))) {
            for row in top..top + 2 {
                expected.extend_from_slice(&pixels[((b * 3 + c) * 6 + row) * 8 + left..][..4]);
            }
        }
    }
    assert_eq!(patches, expected);
    check(image, |x| weighted_sum(ops::patches::<_, _, _, _, PatchHeight, PatchWidth, _, _, _>(x).unwrap()));
}

#[test]
fn every_distance_has_a_bucket() {
    for (bidirectional, count) in [(true, 12), (false, 12), (true, 32), (false, 32)] {
        let buckets = RelativeBuckets { bidirectional, max_distance: 40 };
        for query in 0..100 {
            let row: Vec<usize> = (0..100).map(|key| buckets.bucket(query, key, count)).collect();
            assert!(row.iter().all(|&bucket| bucket < count));
            // Before the query, distances grow to the left and so do buckets.
            assert!(row[..query].is_sorted_by(|one, next| one >= next));
            let half = if bidirectional { count / 2 } else { 0 };
            assert!(row[query + 1..].iter().all(|&bucket| if bidirectional { bucket > half } else { bucket == 0 }));
        }
        let last = if bidirectional { count / 2 - 1 } else { count - 1 };
        assert_eq!(buckets.bucket(99, 59, count), last);
        assert_eq!(buckets.bucket(99, 0, count), last);
    }
}

#[test]
fn ranges_of_no_length_leave_the_last_bucket() {
    // The buckets of one distance each reach as far as the largest distance.
    let buckets = RelativeBuckets { bidirectional: false, max_distance: 16 };
    assert_eq!([5, 15, 17, 400].map(|query| buckets.bucket(query, 0, 32)), [5, 15, 31, 31]);
}

#[test]
fn relative_positions_are_learned() {
    let table = random::<(NumBuckets, NumHeads)>(1);
    let buckets = RelativeBuckets { bidirectional: true, max_distance: 5 };
    let bias = |tape| ops::relative_position_bias(&table, buckets, 2, (QLen, KLen), tape).unwrap();
    let numbers = table.as_vec();
    let expected: Vec<f64> = (0..3)
        .flat_map(|head| (0..4).flat_map(move |query| (0..7).map(move |key| (head, query, key))))
        .map(|(head, query, key)| numbers[buckets.bucket(query + 2, key, 6) * 3 + head])
        .collect();
    assert_eq!(bias(OwnTape::default()).as_vec(), expected);
    let mut gradients = weighted_sum(bias(OwnTape::default())).backward().unwrap();
    check_parameter(&table, &mut gradients, |table| {
        let tape = OwnTape::default();
        weighted_sum(ops::relative_position_bias(table, buckets, 2, (QLen, KLen), tape).unwrap()).array()
    });
}

#[test]
fn slow_pairs_of_rotary_positions_rotate_more_slowly() {
    let (factor, low, high, original_len) = (8.0, 1.0, 4.0, 64);
    let scaling = RotaryScaling { factor, low_frequency_factor: low, high_frequency_factor: high, original_len };
    let rotary = Rotary { scaling: Some(scaling), ..Rotary::halves(1000.0) };
    let ones: F64<(Batch, Const<1>, EmbedDim)> = dfdx::tensor::OnesTensor::ones(&device());
    let rotated = ops::rotary_positions(ones, axis::<Const<1>>(), 3, rotary).unwrap().as_vec();
    for pair in 0..6 {
        // `_compute_llama3_parameters` of transformers.
        let frequency = 1.0 / 1000f64.powf(pair as f64 / 6.0);
        let wavelength = 2.0 * std::f64::consts::PI / frequency;
        let len = original_len as f64;
        let frequency = if wavelength < len / high {
            frequency
        } else if wavelength > len / low {
            frequency / factor
        } else {
            let smooth = (len / wavelength - low) / (high - low);
            (1.0 - smooth) * frequency / factor + smooth * frequency
        };
        let angle = 3.0 * frequency;
        assert_close(
            &[rotated[pair], rotated[pair + 6]],
            &[angle.cos() - angle.sin(), angle.sin() + angle.cos()],
            1e-10,
        );
    }
}

#[test]
fn gradients() {
    check(random::<(Batch, QLen, EmbedDim)>(1), |x| weighted_sum(Tanh::apply(x).unwrap()));
    check(random::<(Batch, QLen, EmbedDim)>(1), |x| weighted_sum(Exp::apply(x).unwrap()));
    let positive = Exp::apply(random::<(Batch, QLen, EmbedDim)>(1)).unwrap();
    check(positive.clone(), |x| weighted_sum(Sqrt::apply(x).unwrap()));
    check(positive, |x| weighted_sum(Ln::apply(x).unwrap()));
    let device = AutoDevice::seed_from_u64(1);
    let map = Linear::<EmbedDim, HiddenDim, f64, AutoDevice>::build(&device);
    let mut lora = Lora::<EmbedDim, HiddenDim, Rank, f64, AutoDevice>::build(&device);
    lora.b = random(2);
    let x = random::<(Batch, QLen, EmbedDim)>(3);
    check(x.clone(), |x| weighted_sum(lora.forward(x, &map.weight, Some(&map.bias), 3.0).unwrap()));
    let of_rows = random::<(Batch, EmbedDim)>(3);
    check(of_rows, |x| weighted_sum(lora.forward(x, &map.weight, Some(&map.bias), 3.0).unwrap()));
    // The merged weight computes the same.
    let merged = lora.merged(&map.weight, 3.0, NoneTape).unwrap();
    let of_merged = ops::linear(x.clone(), &merged, Some(&map.bias)).unwrap();
    assert_close(&of_merged.as_vec(), &lora.forward(x, &map.weight, Some(&map.bias), 3.0).unwrap().as_vec(), 1e-10);
}

struct Small;
impl LlamaConfig for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers;
    type NumHeads = NumHeads;
    type NumKeyValueHeads = NumKeyValueHeads;
    type HeadDim = HeadDim;
    const NORM_EPSILON: f64 = 1e-5;
    const ROTARY: Rotary = Rotary::halves(10_000.0);
    const TIED_LOGITS: bool = true;
}

#[module]
struct Adapters<E, D> {
    gates: Layers<NumLayers, Lora<EmbedDim, HiddenDim, Rank, E, D>>,
}

/// The model with the adapters merged into its gates, and the tape.
fn adapted<T: Tape<f32, AutoDevice>>(
    base: &Llama<Small, f32, AutoDevice>,
    adapters: &Adapters<f32, AutoDevice>,
    mut tape: T,
) -> (Llama<Small, f32, AutoDevice>, T) {
    let mut model = base.clone();
    for (layer, gate) in model.layers.iter_mut().zip(&adapters.gates) {
        (layer.feed_forward.gate, tape) = gate.merged(&layer.feed_forward.gate, 8.0, tape).unwrap().split_tape();
    }
    (model, tape)
}

#[test]
fn adapters_train_alone() {
    let device = AutoDevice::seed_from_u64(5);
    let base = Llama::<Small, f32, AutoDevice>::build(&device);
    let mut adapters = Adapters::<f32, AutoDevice>::build(&device);
    let before = base.layers[0].feed_forward.gate.as_vec();
    let ids: Vec<usize> = (0..14).map(|i| i * 5 % 11).collect();
    let ids = TokenIds::from_ids(&ids, None, (Batch, KLen)).unwrap();
    let (ids, labels) = ids.teacher_forcing(Fin::literal::<0>());
    let mut adam = Adam::default();
    let mut losses = Vec::new();
    for _ in 0..30 {
        let (model, tape) = adapted(&base, &adapters, adapters.recording());
        let loss = cross_entropy(model.forward(&ids, tape).unwrap(), &labels, Reduction::MeanAll).unwrap();
        losses.push(loss.array());
        update(&mut adapters, loss.backward().unwrap(), &mut adam, 0.05, 1.0).unwrap();
    }
    // New adapters change nothing.
    let of_base = cross_entropy(base.forward(&ids, NoneTape).unwrap(), &labels, Reduction::MeanAll).unwrap();
    assert!((losses[0] - of_base.array()).abs() < 1e-6);
    assert!(losses[29] < losses[0] - 0.005, "{losses:?}");
    assert_eq!(base.layers[0].feed_forward.gate.as_vec(), before);
    let (merged, NoneTape) = adapted(&base, &adapters, NoneTape);
    let of_merged =
        cross_entropy(merged.forward(&ids, NoneTape).unwrap(), &labels, Reduction::MeanAll).unwrap().array();
    assert!(of_merged < losses[0] - 0.005);
}
