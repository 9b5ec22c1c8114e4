//! Losses beside cross-entropy: values against plain loops, and gradients against finite differences.

use crate::finite_differences::{check, random, weighted_sum};
use crate::numbers::{F64, device};
use crate::recorded::Recorded;
use dfdx::tensor::TensorFromVec;
use proptest::prelude::*;
use typed_transformer::ops::{
    Activation, Exp, Ln, binary_cross_entropy, binary_cross_entropy_by_element, cross_entropy,
    cross_entropy_by_position, cross_entropy_with_label_smoothing, detach, ge, kl_divergence, mean, mean_squared_error,
    rename, sub,
};
use typed_transformer::prelude::*;
use typed_transformer::tokens::Indices;
use typed_transformer::train::{Evaluation, Recording};

dims! { Batch; Len; Two = 2; Three = 3; VocabSize = 5; }

fn numbers<Dims: Shape>(seed: usize, shape: Dims) -> F64<Dims> {
    let number = |i: usize| ((i * 31 + seed * 17) % 23) as f64 / 4.0 - 2.5;
    device().tensor_from_vec((0..shape.num_elements()).map(number).collect(), shape)
}

fn log_softmax(logits: &[f64]) -> Vec<f64> {
    let total: f64 = logits.iter().map(|x| x.exp()).sum();
    logits.iter().map(|x| x - total.ln()).collect()
}

proptest! {
    #[test]
    fn losses_are_those_of_plain_loops(seed in 0usize..100, batch in 1usize..5, len in 1usize..5) {
        let shape = (Batch::new(batch), Len::new(len));
        let (x, y) = (numbers(seed, shape), numbers(seed + 1, shape));
        let pairs = || x.as_vec().into_iter().zip(y.as_vec());
        let count = (batch * len) as f64;
        let squares: f64 = pairs().map(|(x, y)| (x - y) * (x - y)).sum();
        prop_assert!((mean_squared_error(x.clone(), &y).unwrap().array() - squares / count).abs() < 1e-12);

        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let target = device().tensor_from_vec(y.as_vec().into_iter().map(sigmoid).collect(), shape);
        let log_likelihood = |(x, y): (f64, f64)| sigmoid(y) * sigmoid(x).ln() + (1.0 - sigmoid(y)) * (1.0 - sigmoid(x)).ln();
        let expected: Vec<f64> = pairs().map(|pair| -log_likelihood(pair)).collect();
        let by_element: F64<(Batch, Len)> = binary_cross_entropy_by_element(x.clone(), &target).unwrap();
        let differences = by_element.as_vec().into_iter().zip(&expected).map(|(x, y)| (x - y).abs());
        prop_assert!(differences.fold(0.0, f64::max) < 1e-12);
        let expected = expected.iter().sum::<f64>() / count;
        prop_assert!((binary_cross_entropy(x, &target).unwrap().array() - expected).abs() < 1e-12);
    }

    #[test]
    fn the_divergence_counts_tokens_alone(seed in 0usize..100, batch in 1usize..4, len in 1usize..4) {
        let shape = (Batch::new(batch), Len::new(len), VocabSize);
        let (x, y) = (numbers(seed, shape), numbers(seed + 3, shape));
        let ids: Vec<usize> = (0..batch * len).map(|i| (i + seed) % 5).collect();
        let ids = TokenIds::from_ids(&ids, Some(Fin::<VocabSize>::literal::<2>()), (Batch::new(batch), Len::new(len)));
        let padding = ids.unwrap().padding_mask();
        let of_position: Vec<f64> = x.as_vec().chunks(5).zip(y.as_vec().chunks(5)).map(|(x, y)| {
            let (q, p) = (log_softmax(x), log_softmax(y));
            p.iter().zip(q).map(|(p, q)| p.exp() * (p - q)).sum()
        }).collect();
        let loss = |reduction| kl_divergence(x.clone(), &y, &padding, reduction).unwrap().array();
        let mean = of_position.iter().sum::<f64>() / of_position.len() as f64;
        prop_assert!((loss(Reduction::MeanAll) - mean).abs() < 1e-12);
        let of_sequences = of_position.chunks(len).zip(padding.as_slice().chunks(len)).map(|(losses, is_token)| {
            let tokens = is_token.iter().filter(|t| **t).count().max(1);
            losses.iter().zip(is_token).filter(|(_, t)| **t).map(|(loss, _)| loss).sum::<f64>() / tokens as f64
        });
        let mean = of_sequences.sum::<f64>() / batch as f64;
        prop_assert!((loss(Reduction::MeanPerSequence) - mean).abs() < 1e-12);
        let of_tokens = of_position.iter().zip(padding.as_slice()).filter(|(_, is_token)| **is_token);
        let (sum, tokens) = of_tokens.fold((0.0, 0), |(sum, tokens), (loss, _)| (sum + loss, tokens + 1));
        prop_assert!((loss(Reduction::Sum) - sum).abs() < 1e-12);
        prop_assert!((loss(Reduction::MeanTokens) - sum / f64::from(tokens.max(1))).abs() < 1e-12);
    }

    #[test]
    fn losses_by_position_add_up(seed in 0usize..100, batch in 1usize..4, len in 1usize..4) {
        let shape = (Batch::new(batch), Len::new(len));
        let logits = numbers(seed, (shape.0, shape.1, VocabSize));
        let ids: Vec<usize> = (0..batch * len).map(|i| (i + seed) % 5).collect();
        let labels = LabelIds::from_ids(&ids, Some(Fin::<VocabSize>::literal::<2>()), shape).unwrap();
        let expected = logits.as_vec().chunks(5).zip(&ids).map(|(logits, &id)| match id {
            2 => 0.0,
            id => -log_softmax(logits)[id],
        }).collect::<Vec<f64>>();
        let by_position: F64<(Batch, Len)> = cross_entropy_by_position(logits.clone(), &labels).unwrap();
        let differences = by_position.as_vec().into_iter().zip(&expected).map(|(x, y)| (x - y).abs());
        prop_assert!(differences.fold(0.0, f64::max) < 1e-12);

        let sum: f64 = expected.iter().sum();
        let tokens = ids.iter().filter(|id| **id != 2).count();
        let loss = |reduction| cross_entropy(logits.clone(), &labels, reduction).unwrap().array();
        prop_assert!((loss(Reduction::Sum) - sum).abs() < 1e-12);
        prop_assert!((loss(Reduction::MeanTokens) - sum / tokens.max(1) as f64).abs() < 1e-12);

        let mut evaluation = Evaluation::default();
        evaluation.add(&logits, &labels).unwrap();
        prop_assert_eq!(evaluation.tokens(), tokens);
        if tokens > 0 {
            prop_assert!((evaluation.loss() - sum / tokens as f64).abs() < 1e-12);
            let predicted = argmax(&logits, axis::<VocabSize>()).unwrap();
            let right = predicted.as_slice().iter().zip(&ids).filter(|(found, id)| found == id && **id != 2).count();
            prop_assert_eq!(evaluation.accuracy(), right as f64 / tokens as f64);
        }
    }
}

#[test]
fn gradients() {
    let (input, target) = (random::<(Two, Three)>(1), random::<(Two, Three)>(2));
    check(input.clone(), |x| mean_squared_error(x, &target).unwrap());
    check(input.clone(), |x| binary_cross_entropy(x, &target).unwrap());
    check(input, |x| weighted_sum(binary_cross_entropy_by_element(x, &target).unwrap()));
    let (logits, target) = (random::<(Two, Three, VocabSize)>(3), random::<(Two, Three, VocabSize)>(4));
    let ids = TokenIds::from_ids(&[0, 1, 2, 2, 2, 2], Some(Fin::<VocabSize>::literal::<2>()), (Two, Three)).unwrap();
    let (padding, labels) = (ids.padding_mask(), LabelIds::from(ids));
    for reduction in [Reduction::MeanAll, Reduction::MeanPerSequence, Reduction::MeanTokens, Reduction::Sum] {
        check(logits.clone(), |x| kl_divergence(x, &target, &padding, reduction).unwrap());
        check(logits.clone(), |x| cross_entropy(x, &labels, reduction).unwrap());
    }
    // Each position has its own weight.
    let weights = random::<(Two, Three)>(5);
    check(logits, |x| mean(mul(cross_entropy_by_position(x, &labels).unwrap(), &weights).unwrap()).unwrap());
}

/// The logarithm of a sum of exponentials, as `docs/porting.md` writes it: its gradient is the softmax, also where the
/// exponentials are infinite, where two numbers are the largest, and where they differ by less than the result rounds.
#[test]
fn a_log_sum_of_exponentials_is_exact() {
    fn check<E: Real>()
    where
        Cpu: Backend<E>,
    {
        for (row, expected) in [
            ([1000.0, 1000.0, 999.0, -1e30, 0.0], 1000.0 + (2.0 + (-1f64).exp()).ln()),
            ([-1000.0, -1001.0, -1002.0, -1e30, -1e30], -1000.0 + (1.0 + (-1f64).exp() + (-2f64).exp()).ln()),
            ([1e-9, 0.0, 1e-9, 0.0, -1e-9], 5f64.ln()),
        ] {
            let x = tensor(&Cpu::default(), row.map(|x| E::from_f64(x).unwrap()), (Batch::new(1), VocabSize)).unwrap();
            let recorded = x.clone().put_tape(Recording::<(), E, Cpu>::default());
            let axis = axis::<VocabSize>();
            let largest = detach(&max_over(recorded.clone(), axis).unwrap()).unwrap();
            let exponentials = Exp::apply(sub(recorded, &largest).unwrap()).unwrap();
            let found = add(Ln::apply(sum_over(exponentials, axis).unwrap()).unwrap(), &largest).unwrap();
            assert!((found.as_vec()[0].to_f64().unwrap() / expected - 1.0).abs() < 1e-6);

            let gradient = mean(found).unwrap().backward().unwrap().of(&x).unwrap();
            let softmax = softmax_over(x, axis).unwrap().as_vec();
            let differences = gradient.as_vec().into_iter().zip(softmax).map(|(x, y)| (x - y).abs().to_f64().unwrap());
            assert!(differences.fold(0.0, f64::max) < 1e-6);
        }
    }
    check::<f32>();
    check::<f64>();
}

/// As `docs/porting.md` writes it; `torch.nn.functional.cross_entropy(logits, labels, weight=weights)` finds the same.
#[test]
fn each_class_may_have_a_weight() {
    let shape = (Batch::new(2), Len::new(3));
    let labels: LabelIds<Batch, Len, VocabSize> = LabelIds::from_ids(&[0, 4, 2, 2, 0, 1], None, shape).unwrap();
    let weights = labels.as_slice().iter().map(|&label| [0.1, 1.0, 2.0, 0.5, 3.0][label]).collect::<Vec<_>>();
    let sum: f64 = weights.iter().sum();
    let weights: F64<(Batch, Len)> = tensor(&device(), Vec::from_iter(weights.iter().map(|w| w / sum)), shape).unwrap();
    let losses = cross_entropy_by_position(numbers(1, (shape.0, shape.1, VocabSize)), &labels).unwrap();
    let loss = einsum!(losses: (Batch, Len), weights: (Batch, Len) -> ()).unwrap();
    assert!((loss.array() - 0.9512139687479162).abs() < 1e-12);
}

/// Distillation: the padding is that of the labels, also if the inputs have none.
#[test]
fn the_padding_of_labels_is_not_that_of_the_inputs() {
    const PAD: Fin<VocabSize> = Fin::literal::<0>();
    let rows = [vec![Fin::literal::<1>(), Fin::literal::<2>()], vec![Fin::literal::<3>()]];
    let shape = (Batch::new(2), Len::new(4));
    let (_, labels) = TokenIds::padded(&rows, PAD, shape).unwrap().teacher_forcing(PAD);
    let padding = labels.padding_mask();
    assert_eq!(padding.as_slice(), [true, true, false, false, true, false, false, false]);
    let [x, y] = [1, 2].map(|seed| numbers(seed, (shape.0, shape.1, VocabSize)));
    let of_position = |position: usize| -> f64 {
        let [q, p] = [&x, &y].map(|logits| log_softmax(&logits.as_vec()[position * 5..][..5]));
        p.iter().zip(q).map(|(p, q)| p.exp() * (p - q)).sum()
    };
    let expected = [0, 1, 4].map(of_position).iter().sum::<f64>() / 3.0;
    let found = kl_divergence(x.clone(), &y, &padding, Reduction::MeanTokens).unwrap().array();
    assert!((found - expected).abs() < 1e-12);
}

/// Fine-tuning on answers, as `docs/porting.md` writes it: a prompt does not count, and the end of a text does.
#[test]
fn labels_of_a_prompt_do_not_count() {
    const NEXT: [usize; 6] = [0, 1, 4, 2, 0, 4];
    const IS_ANSWER: [bool; 6] = [false, true, true, false, false, true];
    let shape = (Batch::new(2), Len::new(3));
    let answers: Vec<Fin<VocabSize>> =
        NEXT.into_iter().zip(IS_ANSWER).filter(|(_, counts)| *counts).map(|(id, _)| Fin::new(id).unwrap()).collect();
    let pad = Fin::all().find(|token| !answers.contains(token));
    let id = |(id, counts): (usize, bool)| if counts { id } else { pad.unwrap().value() };
    let ids: Vec<usize> = NEXT.into_iter().zip(IS_ANSWER).map(id).collect();
    let labels = LabelIds::from_ids(&ids, pad, shape).unwrap();

    let logits = numbers(1, (shape.0, shape.1, VocabSize));
    let of_position = |i: usize| -log_softmax(&logits.as_vec()[i * 5..][..5])[NEXT[i]];
    let expected = [1, 2, 5].map(of_position).iter().sum::<f64>() / 3.0;
    let found = cross_entropy(logits.clone(), &labels, Reduction::MeanTokens).unwrap().array();
    assert!((found - expected).abs() < 1e-12);
    let mut evaluation = Evaluation::default();
    evaluation.add(&logits, &labels).unwrap();
    assert_eq!(evaluation.tokens(), 3);
}

#[test]
fn logits_at_padding_may_be_nan() {
    let labels = LabelIds::from_ids(&[0, 2], Some(Fin::<VocabSize>::literal::<2>()), (Batch::new(1), Two)).unwrap();
    let logits = [0.0, 0.0, 0.0, 0.0, 0.0, f64::NAN, 0.0, 0.0, 0.0, 0.0];
    let logits: F64<(Batch, Two, VocabSize)> = device().tensor_from_vec(logits.into(), (Batch::new(1), Two, VocabSize));
    let single = device().tensor_from_vec(logits.as_vec().iter().map(|x| *x as f32).collect(), *logits.shape());
    for reduction in [Reduction::MeanPerSequence, Reduction::MeanTokens, Reduction::Sum] {
        assert!((cross_entropy(logits.clone(), &labels, reduction).unwrap().array() - 5f64.ln()).abs() < 1e-12);
        assert!((cross_entropy(single.clone(), &labels, reduction).unwrap().array() - 5f32.ln()).abs() < 1e-6);
    }
    assert_eq!(cross_entropy_by_position(logits.clone(), &labels).unwrap().as_vec(), [5f64.ln(), 0.0]);
    assert_eq!(cross_entropy_by_position(single, &labels).unwrap().as_vec(), [5f32.ln(), 0.0]);
    let mut evaluation = Evaluation::default();
    evaluation.add(&logits, &labels).unwrap();
    assert_eq!((evaluation.tokens(), evaluation.accuracy()), (1, 1.0));
}

#[test]
fn a_tensor_is_its_own_target() {
    let x = random::<(Two, Three)>(1);
    let loss = mean_squared_error(x.recorded(), &x).unwrap();
    assert_eq!(loss.array(), 0.0);
    assert!(loss.backward().unwrap().of(&x).unwrap().as_vec().iter().all(|gradient| *gradient == 0.0));
    let logits = random::<(Two, Three, VocabSize)>(2);
    let padding = PaddingMask::without_padding((Two, Three));
    let loss = kl_divergence(logits.recorded(), &logits, &padding, Reduction::MeanAll).unwrap();
    assert!(loss.array().abs() < 1e-12);
    assert!(loss.backward().unwrap().of(&logits).unwrap().as_vec().iter().all(|gradient| gradient.abs() < 1e-12));
}

#[test]
fn extreme_logits_have_finite_losses_and_gradients() {
    let x: F64<(Three,)> = device().tensor(vec![-1000.0, 0.0, 1000.0]);
    let target: F64<(Three,)> = device().tensor(vec![1.0, 1.0, 0.0]);
    let loss = binary_cross_entropy(x.recorded(), &target).unwrap();
    assert!((loss.array() - (2000.0 + 2f64.ln()) / 3.0).abs() < 1e-9);
    assert_eq!(loss.backward().unwrap().of(&x).unwrap().as_vec(), [-1.0 / 3.0, -0.5 / 3.0, 1.0 / 3.0]);
}

#[test]
fn the_number_of_classes_may_be_known_at_run_time() {
    for seed in 0..5 {
        let logits: F64<(Len, VocabSize)> = numbers(seed, (Len::new(4), VocabSize));
        let target: F64<(Len, VocabSize)> = numbers(seed + 1, (Len::new(4), VocabSize));
        let labels = [0, 4, 2, 4];
        let known = Indices::new(&labels, (Len::new(4),), VocabSize).unwrap();
        let at_run_time = Indices::new(&labels, (Len::new(4),), Batch::new(5)).unwrap();
        for smoothing in [0.0, 0.1] {
            let loss =
                cross_entropy_with_label_smoothing(logits.clone(), &known, Reduction::MeanAll, smoothing).unwrap();
            let renamed = rename(logits.clone(), axis::<VocabSize>(), Batch::new(5)).unwrap();
            let found =
                cross_entropy_with_label_smoothing(renamed, &at_run_time, Reduction::MeanAll, smoothing).unwrap();
            assert_eq!(found.array(), loss.array());
            let singles: Vec<f32> = logits.as_vec().into_iter().map(|x| x as f32).collect();
            let singles = device().tensor_from_vec(singles, (Len::new(4), Batch::new(5)));
            let single =
                cross_entropy_with_label_smoothing(singles, &at_run_time, Reduction::MeanAll, smoothing).unwrap();
            assert!((f64::from(single.array()) - loss.array()).abs() < 1e-6);
        }
        let renamed = |x: &F64<(Len, VocabSize)>| rename(x.clone(), axis::<VocabSize>(), Batch::new(5)).unwrap();
        let padding = ge(&numbers(0, (Len::new(4),)), -100.0).unwrap();
        let expected = kl_divergence(logits.clone(), &target, &padding, Reduction::MeanAll).unwrap().array();
        let found = kl_divergence(renamed(&logits), &renamed(&target), &padding, Reduction::MeanAll).unwrap().array();
        assert_eq!(found, expected);
    }
    check(random::<(Two, Three)>(7), |x| {
        let labels = Indices::new(&[2, 0], (Two,), Len::new(3)).unwrap();
        cross_entropy(rename(x, axis::<Three>(), Len::new(3)).unwrap(), &labels, Reduction::MeanAll).unwrap()
    });
}

#[test]
fn run_time_sizes_are_compared() {
    let labels = Indices::new(&[0, 2], (Batch::new(2),), Len::new(3)).unwrap();
    assert_eq!(
        cross_entropy(numbers(0, (Batch::new(2), Len::new(4))), &labels, Reduction::MeanAll).unwrap_err().to_string(),
        "cross-entropy: `Len` is 4 in the logits and 3 in the labels",
    );
    let x = |batch| numbers(0, (Batch::new(batch), Len::new(2)));
    assert_eq!(
        mean_squared_error(x(2), &x(3)).unwrap_err().to_string(),
        "mean squared error: shape (Batch=2, Len=2) is not compatible with (Batch=3, Len=2)",
    );
    assert!(mean_squared_error(x(0), &x(0)).is_err());
    assert!(binary_cross_entropy(x(2), &x(3)).is_err());
    let logits = |len| numbers(0, (Batch::new(1), Len::new(len), VocabSize));
    let padding = PaddingMask::without_padding((Batch::new(1), Len::new(2)));
    assert_eq!(
        kl_divergence(logits(2), &logits(3), &padding, Reduction::MeanAll).unwrap_err().to_string(),
        "KL divergence: `Len` is 2 in the logits and 3 in the target",
    );
    assert_eq!(
        kl_divergence(logits(3), &logits(3), &padding, Reduction::MeanAll).unwrap_err().to_string(),
        "KL divergence: `Len` is 3 in the logits and 2 in the padding",
    );
}

#[test]
fn a_loss_is_read_on_any_device() {
    fn read<E: Real, D: Backend<E>, T: Tape<E, D>>(loss: &Tensor<(), E, D, T>) -> E {
        loss.array()
    }
    let recorded = Cpu::default().tensor(2.5f32).put_tape(Recording::<()>::default());
    assert_eq!((read(&recorded), read(&device().tensor(2.5f64))), (2.5, 2.5));
}
