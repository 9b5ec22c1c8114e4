//! Gradients that are summed over the ranks while the backward pass goes on, and models that differ.

use dfdx::tensor::{Tape as _, ZerosTensor};
use dfdx::tensor_ops::{PermuteTo, SumTo};
use std::cell::Cell;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};
use typed_transformer::nn::Linear;
use typed_transformer::prelude::*;
use typed_transformer::ranks::{Partial, Ranks, RanksError};
use typed_transformer::train::{GradientsOf, Recording, Sgd, update_replicated};
use typed_transformer::{ops, ranks, tensor_parallel};

ranks! { World; }
dims! { EmbedDim = 1024; HiddenDim = 1100; OutputDim = 300; SeqLen = 3; Batch = 2; }

/// Two buckets: each layer alone is larger than one.
type Model = (Linear<EmbedDim, HiddenDim, f32, Cpu>, Linear<HiddenDim, OutputDim, f32, Cpu>);
type Loss = Tensor<(), f32, Cpu, Recording<Model, f32, Cpu>>;

fn build(seed: u64) -> Model {
    let device = Cpu::seed_from_u64(seed);
    (Linear::build(&device), Linear::build(&device))
}

fn input(rank: usize) -> Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> {
    let len = Batch::SIZE * SeqLen::SIZE * EmbedDim::SIZE;
    Cpu::default()
        .tensor_from_vec((0..len).map(|i| (i + rank) as f32).map(f32::sin).collect(), (Batch, SeqLen, EmbedDim))
}

/// A loss whose operations on parameters are all the crate's own.
fn loss(model: &Model, rank: usize) -> Partial<Loss, World> {
    let hidden = model.0.forward(input(rank).put_tape(model.recording())).unwrap();
    Partial::term(model.1.forward(hidden).unwrap().square().sum())
}

/// A loss to which dfdx's operation on a weight adds: its gradient comes after that of the layer.
fn loss_with_penalty(model: &Model, rank: usize) -> Partial<Loss, World> {
    let (penalty, tape) = model.0.weight.clone().put_tape(model.recording()).square().sum::<(), _>().split_tape();
    let hidden = model.0.forward(input(rank).put_tape(tape)).unwrap();
    let loss: Loss = model.1.forward(hidden).unwrap().square().sum();
    Partial::term(loss + penalty)
}

/// The gradients of all parameters and the bytes that this rank has sent for each sum, of three passes: overlapped with
/// the backward pass, and after it.
fn sums(loss: fn(&Model, usize) -> Partial<Loss, World>) -> Vec<[(Vec<u32>, u64); 2]> {
    let passes = Ranks::<World>::in_threads(3, |ranks| {
        let model = ranks.replicate(build(0)).unwrap();
        let pass = |_| {
            [true, false].map(|is_overlapped| {
                let before = ranks.sent_bytes();
                let loss = loss(&model, ranks.rank());
                let gradients = match is_overlapped {
                    true => loss.backward_all_reduce(ranks, &model).unwrap(),
                    false => loss.backward().unwrap().all_reduce(ranks, &model).unwrap(),
                };
                let sent = ranks.sent_bytes() - before;
                let mut gradients = gradients.into_inner();
                let weights =
                    [gradients.of(&model.0.weight).unwrap().as_vec(), gradients.of(&model.1.weight).unwrap().as_vec()];
                let biases =
                    [gradients.of(&model.0.bias).unwrap().as_vec(), gradients.of(&model.1.bias).unwrap().as_vec()];
                let bits: Vec<u32> = weights.concat().into_iter().chain(biases.concat()).map(f32::to_bits).collect();
                (bits, sent)
            })
        };
        (0..3).map(pass).collect::<Vec<_>>()
    });
    for rank in &passes {
        for ([overlapped, after], [first, _]) in rank.iter().zip(&passes[0]) {
            assert!(overlapped.0 == after.0, "the overlapped sums are other bits");
            assert!(overlapped.0 == first.0, "the ranks have other bits");
            assert!(overlapped.0.iter().any(|&bits| bits != 0));
        }
    }
    passes.into_iter().next().unwrap()
}

#[test]
fn overlapped_sums_are_those_after_the_backward_pass() {
    for [overlapped, after] in sums(loss) {
        assert_eq!(overlapped.1, after.1, "a gradient was summed twice");
    }
}

#[test]
fn gradients_that_change_after_their_sum_are_summed_again() {
    for [overlapped, after] in sums(loss_with_penalty) {
        assert_eq!(overlapped.1, 2 * after.1);
    }
}

/// A loss of two recordings of one model, which become one pass. Both read the weights of the model.
fn loss_of_two_recordings(model: &Model, rank: usize) -> Partial<Loss, World> {
    let hidden = model.0.forward(input(rank).put_tape(model.recording())).unwrap();
    let other_hidden = model.0.forward(input(rank + 7).put_tape(model.recording())).unwrap();
    let outputs = [hidden, other_hidden].map(|hidden| model.1.forward(hidden).unwrap().square().sum::<(), _>());
    let [loss, other_loss] = outputs;
    Partial::term(loss + other_loss)
}

#[test]
fn a_gradient_is_complete_when_both_recordings_of_a_pass_have_added_to_it() {
    for [overlapped, after] in sums(loss_of_two_recordings) {
        assert_eq!(overlapped.1, after.1, "a gradient was summed twice");
    }
}

/// The elements of the parameters lie elsewhere after an update, because the recording keeps those that it read.
#[test]
fn a_model_that_was_updated_since_its_forward_pass_is_summed_during_the_backward_pass() {
    let has_begun = Ranks::<World>::in_threads(2, |ranks| {
        let mut model = ranks.replicate(build(0)).unwrap();
        let first = loss(&model, ranks.rank()).backward_all_reduce(ranks, &model).unwrap();
        // The backward pass runs this operation last.
        let (mut tape, counter) = (model.recording(), ranks.clone());
        let sent_bytes = Rc::new(Cell::new([0; 2]));
        let seen = sent_bytes.clone();
        tape.add_backward_op(move |_| {
            let begin = Instant::now();
            while counter.sent_bytes() == seen.get()[0] && begin.elapsed() < Duration::from_secs(20) {
                thread::yield_now();
            }
            seen.set([seen.get()[0], counter.sent_bytes()]);
            Ok(())
        });
        let hidden = model.0.forward(input(ranks.rank()).put_tape(tape)).unwrap();
        let second = Partial::term(model.1.forward(hidden).unwrap().square().sum());
        update_replicated(&mut model, first, &mut Sgd::default(), 0.1, 1.0).unwrap();
        sent_bytes.set([ranks.sent_bytes(); 2]);
        second.backward_all_reduce(ranks, &model).unwrap();
        let [before, after] = sent_bytes.get();
        after > before
    });
    assert_eq!(has_begun, [true, true], "no sum began during the backward pass");
}

#[test]
fn models_that_differ_are_named() {
    let errors = Ranks::<World>::in_threads(3, |ranks| {
        let mut model = ranks.replicate(build(0)).unwrap();
        ranks.ensure_replicated(&model).unwrap();
        let gradients = loss(&model, ranks.rank()).backward().unwrap().all_reduce(ranks, &model).unwrap();
        // The types do not see that the ranks have other learning rates.
        let learning_rate = if ranks.rank() == 1 { 0.2 } else { 0.1 };
        update_replicated(&mut model, gradients, &mut Sgd::default(), learning_rate, 1.0).unwrap();
        ranks.ensure_replicated(&model)
    });
    let expected = RanksError::Differs { axis: "World", what: "the model", ranks: vec![1] };
    assert_eq!(errors, vec![Err(expected.clone()); 3]);
    assert_eq!(expected.to_string(), "the model differs between rank 0 and rank 1 of `World`");
}

#[test]
fn a_parameter_in_another_order_is_replicated_in_its_own() {
    let parameters = Ranks::<World>::in_threads(2, |ranks| {
        let device = Cpu::default();
        let mut model = Linear::<SeqLen, Batch, f32, Cpu>::build(&device);
        let elements: Vec<f32> = (0..6).map(|i| (10 * ranks.rank() + i) as f32).collect();
        let transposed: Tensor<(SeqLen, Batch), f32, Cpu> = device.tensor(elements);
        model.weight = transposed.permute();
        let before = model.weight.as_vec();
        (before, ranks.replicate(model).unwrap().weight.as_vec())
    });
    let [(first, _), _] = &parameters[..] else { panic!("there are two ranks") };
    assert_eq!(first, &[0.0, 2.0, 4.0, 1.0, 3.0, 5.0]);
    assert!(parameters.iter().all(|(_, replicated)| replicated == first));
}

/// A rank without rows uses no parameter. That is an error only if no rank uses it.
#[test]
fn all_ranks_decide_alike_which_parameters_are_unused() {
    type Layer = Linear<SeqLen, OutputDim, f32, Cpu>;
    let cases = [(true, true, false), (true, false, false), (false, true, false), (false, false, false)];
    for (has_rows, is_overlapped, is_allowed) in cases.into_iter().chain([(false, false, true)]) {
        let updates = Ranks::<World>::in_threads(3, |ranks| {
            let device = Cpu::default();
            let mut model = ranks.replicate(Layer::build(&device)).unwrap();
            let loss: Partial<_, World> = if has_rows && ranks.rank() == 1 {
                // The gradient of the weight is 0, but it is one.
                let input: Tensor<(Batch, SeqLen), f32, Cpu> = device.zeros();
                Partial::term(model.forward(input.put_tape(model.recording())).unwrap().sum())
            } else {
                Partial::of_no_rows(&device, model.recording()).unwrap()
            };
            let gradients = match is_overlapped {
                true => loss.backward_all_reduce(ranks, &model).unwrap(),
                false => loss.backward().unwrap().all_reduce(ranks, &model).unwrap(),
            };
            let gradients = if is_allowed { gradients.allow_unused(&*model) } else { gradients };
            update_replicated(&mut model, gradients, &mut Sgd::default(), 0.1, 1.0)
        });
        let expected = match has_rows {
            // The gradient of each of the 300 biases is 2.
            true => Ok(1_200f64.sqrt()),
            false if is_allowed => Ok(0.0),
            false => Err(OpError::Unused { parameters: vec!["weight".into(), "bias".into()] }),
        };
        assert_eq!(updates, vec![expected; 3]);
    }
}

/// In the second part rank 1 has no rows.
#[test]
fn gradients_of_parts_add_up_before_their_sum() {
    type Layer = Linear<SeqLen, OutputDim, f32, Cpu>;
    type LayerLoss = Tensor<(), f32, Cpu, Recording<Layer, f32, Cpu>>;
    let gradients = Ranks::<World>::in_threads(3, |ranks| {
        let device = Cpu::default();
        let model = ranks.replicate(Layer::build(&device)).unwrap();
        let loss = |part: usize, tape: Recording<Layer, f32, Cpu>| -> Partial<LayerLoss, World> {
            if part == 1 && ranks.rank() == 1 {
                return Partial::of_no_rows(&device, tape).unwrap();
            }
            // Sums of whole numbers have the same bits in every order.
            let x = vec![(1 + ranks.rank() + 4 * part) as f32; Batch::SIZE * SeqLen::SIZE];
            let x: Tensor<(Batch, SeqLen), f32, Cpu> = device.tensor_from_vec(x, (Batch, SeqLen));
            Partial::term(model.forward(x.put_tape(tape)).unwrap().sum())
        };
        let in_parts = |is_overlapped: bool| {
            let zeros = Partial::<_, World>::term(GradientsOf::zeros(&*model));
            let gradients = loss(0, zeros.into_recording()).backward().unwrap();
            let last = loss(1, gradients.into_recording());
            match is_overlapped {
                true => last.backward_all_reduce(ranks, &model).unwrap(),
                false => last.backward().unwrap().all_reduce(ranks, &model).unwrap(),
            }
        };
        let at_once = tensor_parallel::add(loss(0, model.recording()), loss(1, model.recording())).unwrap();
        let at_once = at_once.backward().unwrap().all_reduce(ranks, &model).unwrap();
        [in_parts(true), in_parts(false), at_once].map(|gradients| {
            let mut gradients = gradients.into_inner();
            [gradients.of(&model.weight).unwrap().as_vec(), gradients.of(&model.bias).unwrap().as_vec()].concat()
        })
    });
    // Two rows of 1, 2 and 3 in the first part, and of 5 and 7 in the second.
    let expected = [vec![36.0; 900], vec![10.0; 300]].concat();
    assert!(gradients.iter().flatten().all(|gradients| *gradients == expected), "{gradients:?}");
}

#[test]
fn sums_of_the_ranks_have_no_gradient_of_an_input() {
    let refused = Ranks::<World>::in_threads(2, |ranks| {
        let model = ranks.replicate(build(0)).unwrap();
        [true, false].map(|is_overlapped| {
            let x = input(ranks.rank());
            let y = model.0.forward(x.clone().put_tape(model.recording())).unwrap();
            let loss: Partial<Loss, World> = Partial::term(ops::mean(model.1.forward(y).unwrap()).unwrap());
            let gradients = match is_overlapped {
                true => loss.backward_all_reduce(ranks, &model).unwrap(),
                false => loss.backward().unwrap().all_reduce(ranks, &model).unwrap(),
            };
            matches!(gradients.into_inner().of(&x), Err(OpError::NoGradient { .. }))
        })
    });
    assert_eq!(refused, [[true; 2]; 2]);
}

#[test]
fn a_pass_that_adds_to_gradients_that_were_read_reaches_all_layers() {
    let gradients = Ranks::<World>::in_threads(2, |ranks| {
        let model = ranks.replicate(build(0)).unwrap();
        [true, false].map(|is_overlapped| {
            let mut zeros = GradientsOf::zeros(&*model);
            let _ = zeros.of(&model.0.bias).unwrap();
            let hidden = model.0.forward(input(ranks.rank()).put_tape(zeros.into_recording())).unwrap();
            // No operation of dfdx runs before the kernels.
            let loss: Partial<Loss, World> = Partial::term(ops::mean(model.1.forward(hidden).unwrap()).unwrap());
            let gradients = match is_overlapped {
                true => loss.backward_all_reduce(ranks, &model).unwrap(),
                false => loss.backward().unwrap().all_reduce(ranks, &model).unwrap(),
            };
            gradients.into_inner().of(&model.0.weight).unwrap().as_vec()
        })
    });
    for [overlapped, after] in gradients {
        assert!(overlapped == after && after.iter().any(|x| *x != 0.0));
    }
}
