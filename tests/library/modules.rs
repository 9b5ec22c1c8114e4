//! Behaviour of the modules that their types do not show.

use crate::fixture::*;
use crate::numbers::device;
use crate::recorded::{OwnTape, Recorded, of_model};
use dfdx::tensor::AutoDevice;
use dfdx::{nn::ToDtype, tensor::*, tensor_ops::*};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use typed_transformer::dims::Unchecked;
use typed_transformer::generate::{Sampler, generate_target};
use typed_transformer::models::another_annotated::Annotated;
use typed_transformer::nn::{Linear, Module};
use typed_transformer::ops::{DropoutSeed, dropout, residual};
use typed_transformer::prelude::*;
use typed_transformer::train::{Adam, Schedule, WarmupCosine, update};
use typed_transformer::weights;

model!(DroppingModel: Annotated, DROPOUT = 0.3, ATTENTION_DROPOUT = 0.3);

const SRC_PAD: Fin<SrcVocab> = Fin::literal::<10>();
const TGT_PAD: Fin<VocabSize> = Fin::literal::<12>();

fn source<const S: usize>(rows: &[[usize; S]]) -> TokenIds<Batch, SrcLen, SrcVocab> {
    let shape = (Batch::new(rows.len()), SrcLen::new(S).unwrap());
    TokenIds::from_ids(rows.as_flattened(), Some(SRC_PAD), shape).unwrap()
}

fn target<const S: usize>(rows: &[[usize; S]]) -> TokenIds<Batch, SeqLen, VocabSize> {
    let shape = (Batch::new(rows.len()), SeqLen::new(S).unwrap());
    TokenIds::from_ids(rows.as_flattened(), Some(TGT_PAD), shape).unwrap()
}

fn logits<M: Seq2Seq, E: Real, D: Backend<E>>(
    model: &LM<M, E, D>,
    source: &TokenIds<Batch, SrcLen, M::SrcVocab>,
    target: &TokenIds<Batch, SeqLen, M::TgtVocab>,
) -> Vec<E>
where
    SrcLen: AtMost<M::MaxSrcLen>,
    SeqLen: AtMost<M::MaxTgtLen>,
{
    model.forward(source, target, NoneTape).unwrap().logit_output.as_vec()
}

#[test]
fn the_length_can_change_between_calls() {
    let model = LM::<TypedModel, f32, AutoDevice>::build(&device());
    assert_eq!(logits(&model, &source(&[[1]]), &target(&[[1]])).len(), 13);
    let (long_source, long_target) = (source(&[[1; 9]; 3]), target(&[[1; 12]; 3]));
    assert_eq!(logits(&model, &long_source, &long_target).len(), 3 * 12 * 13);
}

#[test]
fn padding_does_not_change_the_output() {
    fn check<M>()
    where
        M: Seq2Seq<SrcVocab = SrcVocab, TgtVocab = VocabSize, MaxSrcLen = MaxSrcLen, MaxTgtLen = MaxSeqLen>,
    {
        let model = LM::<M, f64, AutoDevice>::build(&device());
        let short = logits(&model, &source(&[[1, 2, 3]]), &target(&[[4, 5]]));
        let padded = logits(&model, &source(&[[1, 2, 3, 10, 10]]), &target(&[[4, 5, 12, 12]]));
        for (short, padded) in short.iter().zip(&padded) {
            assert!((short - padded).abs() < 1e-12, "{short} {padded}");
        }
    }
    check::<TypedModel>();
    check::<AnnotatedModel>();
}

#[test]
fn a_decoder_ignores_later_positions() {
    let model = LM::<TypedModel, f32, AutoDevice>::build(&device());
    let one = logits(&model, &source(&[[1, 2, 3]]), &target(&[[4, 5, 6]]));
    let other = logits(&model, &source(&[[1, 2, 3]]), &target(&[[4, 5, 9]]));
    assert_eq!(one[..2 * 13], other[..2 * 13]);
    assert_ne!(one[2 * 13..], other[2 * 13..]);
}

#[test]
fn an_encoder_decoder_prints_shapes_instead_of_numbers() {
    let model = LM::<TypedModel, f32, AutoDevice>::build(&device());
    let (source, target, targets) = (source(&[[1, 2, 3]]), target(&[[4, 5]]), target(&[[4, 5]; 2]));
    let output = model.forward(&source, &target, NoneTape).unwrap();
    assert_eq!(format!("{:?}", output.clone()), "Output (Batch=1, SeqLen=2, VocabSize=13)");
    let weights = model.attention_weights(&source, &target).unwrap();
    assert_eq!(format!("{:?}", weights.clone()), "AttentionWeights of 2 encoder and 2 decoder layers");
    let error = model.forward(&source, &targets, NoneTape).unwrap_err();
    assert!(matches!(error, OpError::Dim { .. }), "{error}");
    let options = AttentionOptions::<NumHeads, SeqLen, SeqLen>::default();
    assert_eq!(format!("{options:?}"), "AttentionOptions (HeadDim, MinValue, dropout 0, bias None)");
}

#[test]
fn an_encoder_attends_to_later_positions() {
    let model = LM::<TypedModel, f32, AutoDevice>::build(&device());
    let first = |ids| model.encoder.forward(&source(&[ids]), NoneTape).unwrap().as_vec()[..6].to_vec();
    assert_ne!(first([1, 2, 3]), first([1, 2, 4]));
}

#[test]
fn a_fully_padded_sequence_gives_no_nan() {
    fn check<M, E>()
    where
        M: Seq2Seq<SrcVocab = SrcVocab, TgtVocab = VocabSize, MaxSrcLen = MaxSrcLen, MaxTgtLen = MaxSeqLen>,
        E: Real,
        AutoDevice: Backend<E>,
    {
        let mut model = LM::<M, E, AutoDevice>::build(&device());
        let (source, target) = (source(&[[1, 2], [10, 10]]), target(&[[4, 5], [12, 12]]));
        let (inputs, labels) = (target.clone(), LabelIds::from(target.clone()));
        let output = model.forward(&source, &inputs, OwnTape::default()).unwrap();
        assert!(output.logit_output.as_vec().iter().all(|x| x.is_finite()));
        let loss = cross_entropy(output.logit_output, &labels, Reduction::MeanPerSequence).unwrap();
        assert!(loss.as_vec()[0].is_finite());
        let gradients = of_model(loss, &model).backward().unwrap();
        update(&mut model, gradients, &mut Adam::default(), 0.1, 1.0).unwrap();
        assert!(logits(&model, &source, &target).iter().all(|x| x.is_finite()));
    }
    check::<TypedModel, f32>();
    check::<TypedModel, f64>();
    check::<AnnotatedModel, f32>();
    check::<AnnotatedModel, f64>();
}

#[test]
fn dropout_is_active_only_in_training() {
    let model = LM::<DroppingModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(1));
    let (source, target) = (source(&[[1, 2, 3]]), target(&[[4, 5]]));
    let inference = || logits(&model, &source, &target);
    let training = || {
        let output = model.forward(&source, &target, OwnTape::default()).unwrap();
        output.logit_output.as_vec()
    };
    assert_eq!(inference(), inference());
    assert_ne!(training(), training());
    assert_ne!(training(), inference());
}

/// What dropout leaves of ones on a device with this seed.
fn dropped(device_seed: u64) -> Vec<f64> {
    let x: Tensor<(Const<64>,), f64, AutoDevice> = AutoDevice::seed_from_u64(device_seed).ones();
    dropout(x.recorded(), 0.5).unwrap().as_vec()
}

#[test]
fn a_dropout_seed_applies_to_its_scope_and_thread() {
    let by_device = dropped(1);
    let outer = DropoutSeed::new(7);
    let (first, second) = (dropped(1), dropped(1));
    assert!(first != by_device && first != second, "one sequence of numbers");
    {
        let _inner = DropoutSeed::new(7);
        // Another device and another position in the outer sequence make no difference.
        assert_eq!([dropped(2), dropped(3)], [first, second]);
        let elsewhere = std::thread::spawn(|| dropped(1)).join().unwrap();
        assert_eq!(elsewhere, by_device);
    }
    let third = dropped(1);
    drop(outer);
    assert_eq!(dropped(1), by_device);
    let _again = DropoutSeed::new(7);
    assert_eq!([dropped(1), dropped(1), dropped(1)][2], third);
}

// As in `step = trainer.next_step()`: the next step is made before the one that it replaces is dropped.
#[test]
fn a_dropout_seed_goes_on_after_an_older_one_has_ended() {
    let by_device = dropped(1);
    let expected = {
        let _seed = DropoutSeed::new(8);
        dropped(1)
    };
    let older = DropoutSeed::new(7);
    let newer = DropoutSeed::new(8);
    drop(older);
    assert_eq!(dropped(1), expected);
    drop(newer);
    assert_eq!(dropped(1), by_device);
}

/// The random numbers of a seed go on behind a pass without dropout. A newer seed does not turn dropout on.
#[test]
fn a_recorded_pass_without_dropout_computes_what_inference_does() {
    let model = LM::<DroppingModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(1));
    let (source, target) = (source(&[[1, 2, 3]]), target(&[[4, 5]]));
    let recorded = || {
        let output = model.forward(&source, &target, OwnTape::default()).unwrap();
        output.logit_output.as_vec()
    };
    let inference = logits(&model, &source, &target);
    let none = DropoutSeed::none();
    assert_eq!(recorded(), inference);
    let _seed = DropoutSeed::new(7);
    assert_eq!(recorded(), inference);
    drop(none);
    let first = recorded();
    let _again = DropoutSeed::new(7);
    {
        let _none = DropoutSeed::none();
        assert_eq!(recorded(), inference);
    }
    assert_eq!(recorded(), first);
    assert_ne!(first, inference);
}

#[test]
fn dropout_scales_the_kept_elements() {
    const COUNT: usize = 100_000;
    for rate in [0.001, 0.1, 0.5, 0.9] {
        let x: Tensor<(Const<COUNT>,), f64, AutoDevice> = device().ones();
        let dropped = dropout(x.recorded(), rate).unwrap();
        let elements = dropped.as_vec();
        let zeros = elements.iter().filter(|x| **x == 0.0).count() as f64;
        // Within five standard deviations.
        let deviation = (COUNT as f64 * rate * (1.0 - rate)).sqrt();
        assert!((zeros - COUNT as f64 * rate).abs() < 5.0 * deviation, "{rate}");
        assert!(elements.iter().all(|x| *x == 0.0 || *x == 1.0 / (1.0 - rate)));
        assert_eq!(dropped.sum::<(), _>().backward().unwrap().of(&x).unwrap().as_vec(), elements);
    }
}

#[test]
fn without_dropout_training_computes_what_inference_does() {
    let model = LM::<AnnotatedModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(1));
    let (source, target) = (source(&[[1, 2, 3]]), target(&[[4, 5]]));
    let output = model.forward(&source, &target, OwnTape::default()).unwrap();
    assert_eq!(output.logit_output.as_vec(), logits(&model, &source, &target));
}

#[test]
fn single_and_double_precision_agree() {
    let double = LM::<AnnotatedModel, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(1));
    let single: LM<AnnotatedModel, f32, AutoDevice> = double.to_dtype::<f32>();
    let (source, target) = (source(&[[1, 2, 10], [3, 4, 5]]), target(&[[4, 5], [6, 12]]));
    let (exact, rounded) = (logits(&double, &source, &target), logits(&single, &source, &target));
    for (exact, rounded) in exact.iter().zip(rounded) {
        assert!((exact - f64::from(rounded)).abs() < 1e-5);
    }
}

#[test]
fn equal_seeds_build_equal_models() {
    let weights = |seed| {
        let model = LM::<TypedModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(seed));
        (model.logit.weight.unwrap().as_vec(), model.encoder.embedder.token_embedder.weight.as_vec())
    };
    assert_eq!(weights(3), weights(3));
    assert_ne!(weights(3), weights(4));
}

#[test]
fn different_batch_sizes_are_an_error() {
    let model = LM::<TypedModel, f32, AutoDevice>::build(&device());
    let error = model.forward(&source(&[[1, 2]; 2]), &target(&[[1, 2]; 3]), NoneTape);
    assert_eq!(
        error.err().unwrap().to_string(),
        "cross-attention: `Batch` is 3 in the query padding and 2 in the key padding",
    );
    let device = device();
    let batch = |rows| device.zeros_like(&(Batch::new(rows), MaxSrcLen, EmbedDim));
    let x: Tensor<(Batch, MaxSrcLen, EmbedDim), f32, AutoDevice> = batch(2);
    assert!(residual(x, batch(3)).is_err());
}

#[test]
fn greedy_decoding_of_a_batch_equals_decoding_each_sequence() {
    let model = LM::<TypedModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(5));
    let source = source(&[[1, 2, 3], [4, 5, 10], [6, 7, 8]]);
    let len = SeqLen::new(12).unwrap();
    let start = Fin::literal::<11>();
    let generated = generate_target(&model, &source, start, TGT_PAD, len, &mut Sampler::greedy()).unwrap();

    for row in 0..3 {
        let alone: Vec<_> = source.row(row).unwrap();
        let alone = TokenIds::padded(&[alone], SRC_PAD, (Batch::new(1), source.shape().1)).unwrap();
        let mut so_far = vec![start];
        loop {
            let shape = (Batch::new(1), SeqLen::new(so_far.len()).unwrap());
            let ids = so_far.iter().map(|token| token.value()).collect::<Vec<_>>();
            let ids = TokenIds::from_ids(&ids, None, shape).unwrap();
            let logits = logits(&model, &alone, &ids);
            let last = &logits[logits.len() - VocabSize::SIZE..];
            let best = (0..VocabSize::SIZE).max_by(|&a, &b| last[a].total_cmp(&last[b])).unwrap();
            assert_eq!(generated.row(row).unwrap()[so_far.len() - 1].value(), best);
            if best == TGT_PAD.value() || so_far.len() == 12 {
                break;
            }
            so_far.push(Fin::new(best).unwrap());
        }
    }
}

#[test]
fn a_model_learns() {
    dims! { MaxTgtLen = 7; TgtLen <= MaxTgtLen; NumDecoderLayers = 1; }
    struct Shallow;
    impl Arch for Shallow {
        type NumHeads = NumHeads;
        type QKDim = QKDim;
        type VODim = VODim;
        type HiddenDim = HiddenDim;
        type Conventions = TypedTransformer;
    }
    impl Seq2Seq for Shallow {
        type SrcVocab = SrcVocab;
        type TgtVocab = VocabSize;
        type MaxSrcLen = MaxSrcLen;
        type MaxTgtLen = MaxTgtLen;
        type EmbedDim = EmbedDim;
        type NumEncoderLayers = NumLayers;
        type NumDecoderLayers = NumDecoderLayers;
    }
    let mut model = LM::<Shallow, f32, AutoDevice>::build(&device());
    let source = source(&[[1, 2, 3], [4, 5, 6]]);
    let len = TgtLen::new(2).unwrap();
    let target = TokenIds::from_ids(&[7, 8, 9, 10], Some(TGT_PAD), (Batch::new(2), len)).unwrap();
    let (inputs, labels) = target.teacher_forcing(Fin::literal::<11>());
    let schedule = WarmupCosine { peak_value: 0.02, end_value: 0.001, warmup_steps: 5, steps: 60 };
    let mut adam = Adam::default();
    let mut losses = Vec::new();
    for step in 0..60 {
        let output = model.forward(&source, &inputs, OwnTape::default()).unwrap();
        let loss = cross_entropy(output.logit_output, &labels, Reduction::MeanAll).unwrap();
        losses.push(loss.array());
        let gradients = of_model(loss, &model).backward().unwrap();
        update(&mut model, gradients, &mut adam, schedule.learning_rate(step), 1.0).unwrap();
    }
    assert!(losses[0] > 2.0 && losses[59] < 0.05, "{losses:?}");
    let generated =
        generate_target(&model, &source, Fin::literal::<11>(), TGT_PAD, len, &mut Sampler::greedy()).unwrap();
    assert_eq!(generated.indices(), labels.indices());
}

#[test]
fn query_key_value_and_output_widths_can_all_differ() {
    dims! { QDim = 2; KDim = 3; VDim = 5; OutputDim = 7; }
    type Attention = MHAttention<QDim, KDim, VDim, OutputDim, AnnotatedModel, f32, AutoDevice>;
    const _: () = assert!(Attention::NUM_PARAMS == (2 + 1) * 12 + (3 + 1) * 12 + (5 + 1) * 15 + (15 + 1) * 7);
    let device = device();
    let attention = Attention::build(&device);
    let (batch, queries, keys) = (Batch::new(2), SeqLen::new(3).unwrap(), SrcLen::new(4).unwrap());
    let query: Tensor<_, f32, AutoDevice> = device.zeros_like(&(batch, queries, QDim));
    let key: Tensor<_, f32, AutoDevice> = device.zeros_like(&(batch, keys, KDim));
    let value: Tensor<_, f32, AutoDevice> = device.zeros_like(&(batch, keys, VDim));
    let mask = AttentionMask::all_visible((batch, queries, keys));
    let output = attention.forward(query, key, value, &mask).unwrap();
    assert_eq!(*output.shape(), (batch, queries, OutputDim));
}

#[test]
fn sinusoidal_positions_match_the_post() {
    // The values that the post prints for `sin_pos_enc(5, 2)`.
    let positions: Tensor<(Const<5>, Const<2>), f32, AutoDevice> =
        sinusoidal_positions(&device(), Const, Const).unwrap();
    let printed = [
        [0.0, 1.0],
        [0.841471, 0.5403023],
        [0.9092974, -0.41614684],
        [0.14112002, -0.9899925],
        [-0.7568025, -0.6536436],
    ];
    for (ours, theirs) in positions.array().as_flattened().iter().zip(printed.as_flattened()) {
        assert!((ours - theirs).abs() < 1e-6);
    }
}

#[test]
fn an_empty_batch_or_sequence_is_an_error() {
    for shape in [(0, 3), (2, 0)] {
        let rows = vec![Vec::new(); shape.0];
        let shape = (Unchecked(shape.0), Unchecked(shape.1));
        let error = TokenIds::<_, _, SrcVocab>::from_ids(&[], None, shape).unwrap_err();
        assert!(error.to_string().starts_with("a batch needs at least one row and one position"));
        assert!(TokenIds::<_, _, SrcVocab>::padded(&rows, SRC_PAD, shape).is_err());
    }
    assert!(TokenIds::<_, _, SrcVocab>::from_ids(&[], None, (Unchecked(1 << 63), Unchecked(2))).is_err());
}

#[test]
fn a_tensor_can_be_added_to_itself() {
    fn check<E: Real>()
    where
        AutoDevice: Backend<E>,
    {
        let x: Tensor<(Batch, MaxSrcLen, EmbedDim), E, AutoDevice> =
            device().zeros_like(&(Batch::new(1), MaxSrcLen, EmbedDim));
        let gradient = residual(x.recorded(), x.retaped()).unwrap().sum().backward().unwrap().of(&x).unwrap().as_vec();
        assert!(gradient.iter().all(|g| g.to_f64() == Some(2.0)));
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_dropout_rate_outside_0_to_1_is_an_error() {
    for rate in [1.0, 1.5, -0.1, f64::NAN] {
        let x: Tensor<(MaxSrcLen,), f32, AutoDevice> = device().zeros();
        let error = dropout(x.recorded(), rate).err().unwrap();
        assert!(error.to_string().contains("at least 0 and less than 1"), "{error}");
    }
}

#[test]
fn the_start_token_can_be_the_end_token() {
    let model = LM::<TypedModel, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(5));
    let source = source(&[[1, 2, 3]]);
    let start = Fin::literal::<4>();
    let generated =
        generate_target(&model, &source, start, start, SeqLen::new(3).unwrap(), &mut Sampler::greedy()).unwrap();
    let target = TokenIds::from_ids(&[4], None, (Batch::new(1), SeqLen::new(1).unwrap())).unwrap();
    let first = logits(&model, &source, &target);
    let best = (0..VocabSize::SIZE).max_by(|&a, &b| first[a].total_cmp(&first[b])).unwrap();
    assert_eq!(generated.as_slice()[0], best);
}

#[test]
fn greedy_decoding_of_nan_logits_is_an_error() {
    let mut model = LM::<TypedModel, f32, AutoDevice>::build(&device());
    model.logit.bias = Some(device().tensor(vec![f32::NAN; 13]));
    let len = SeqLen::new(3).unwrap();
    let error = generate_target(&model, &source(&[[1, 2]]), TGT_PAD, TGT_PAD, len, &mut Sampler::greedy()).unwrap_err();
    assert_eq!(error.to_string(), "choose: every element is NaN or -inf");
}

#[test]
#[should_panic(expected = "the field `bias` is `None`, but its module's type says that it is `Some`")]
fn an_optional_field_that_was_taken_away_is_named() {
    let mut model = LM::<TypedModel, f32, AutoDevice>::build(&device());
    model.logit.bias = None;
    let folder = tempfile::tempdir().unwrap();
    let _ = weights::save(&model, folder.path().join("model"));
}

#[module]
struct Stack<E, D> {
    #[layers(2)]
    layers: Vec<Linear<EmbedDim, EmbedDim, E, D>>,
}

#[test]
fn another_number_of_layers_than_that_of_the_type_is_refused() {
    let stack = Stack::<f32, AutoDevice>::build(&device());
    for len in [0, 1, 3] {
        let mut other = stack.clone();
        other.layers.resize(len, stack.layers[0].clone());
        let folder = tempfile::tempdir().unwrap();
        let save = || weights::save(&other, folder.path().join("model"));
        let panic = catch_unwind(AssertUnwindSafe(save)).unwrap_err();
        let message = panic.downcast::<String>().unwrap();
        assert!(message.contains("the field `layers` has not as many layers as its module's type"), "{message}");
    }
}

#[test]
fn a_decoder_follows_the_padding_rule_when_called_directly() {
    // With these conventions a decoder's self-attention is causal and does not mask padding.
    let model = LM::<AnnotatedModel, f64, AutoDevice>::build(&device());
    let (source, target) = (source(&[[1, 2]]), target(&[[4, 12, 5]]));
    let encoded = model.encoder.forward(&source, NoneTape).unwrap();
    let embeds = model.decoder.embedder.forward(&target, NoneTape).unwrap();
    let by_layers =
        model.decoder.decoder.forward(embeds, encoded.clone(), &target.padding_mask(), &source.padding_mask()).unwrap();
    let whole = model.decoder.forward(&target, encoded, &source.padding_mask()).unwrap();
    assert_eq!(by_layers.as_vec(), whole.as_vec());
    let unpadded = TokenIds::from_ids(target.as_slice(), None, target.shape()).unwrap();
    let unmasked = model.forward(&source, &unpadded, NoneTape).unwrap().decoder_output;
    assert_eq!(whole.as_vec(), unmasked.as_vec());
}

#[test]
fn a_model_crosses_a_thread_and_catch_unwind() {
    fn check<Model: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
    check::<DecoderOnly<DroppingModel, f32, Cpu>>();
    check::<LM<DroppingModel, f32, Cpu>>();
}
