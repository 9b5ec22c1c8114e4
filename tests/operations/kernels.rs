//! Each kernel against the definition of its operation, forward and backward. An operation runs its kernel in `f32` and
//! its definition in `f64`. In a build with `cuda` the definition in `f32` on the GPU takes the place of the kernel.

use crate::finite_differences::sum_weighted_by;
use crate::numbers::{device, weights};
use crate::recorded::{OwnTape, Recorded};
use dfdx::shapes::{Axes3, Axis, Shape};
use dfdx::tensor::*;
use dfdx::tensor_ops::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use rand::{Rng, SeedableRng, rngs::StdRng};
use typed_transformer::{backend::Tape as _, dims::Unchecked, ops, ops::Real, prelude::*, train::GradientsOf};

type Untaped<Dims, E, D = AutoDevice> = Tensor<Dims, E, D>;
type Taped<Dims, E, D = AutoDevice> = Tensor<Dims, E, D, OwnTape<E, D>>;

/// The sizes of a call: batch, queries and keys.
type Call = (usize, usize, usize);

const CALLS: [Call; 6] = [(1, 1, 1), (2, 3, 5), (3, 16, 16), (1, 17, 15), (5, 2, 33), (64, 15, 15)];

/// Runs on the calls above and on random ones. `run` is a trait object, so that proptest is compiled once.
fn on_calls(run: &dyn Fn(&mut StdRng, (Unchecked, Unchecked, Unchecked))) {
    let run = |rng: &mut StdRng, (batch, queries, keys): Call| {
        run(rng, (Unchecked(batch), Unchecked(queries), Unchecked(keys)))
    };
    for (seed, call) in CALLS.into_iter().enumerate() {
        run(&mut StdRng::seed_from_u64(seed as u64), call);
    }
    let config = Config { failure_persistence: None, rng_seed: RngSeed::Fixed(0), ..Config::with_cases(8) };
    let batch = prop_oneof![3 => 1..6usize, 1 => 7..70usize];
    let len = || prop_oneof![3 => 1..9usize, 1 => 15..36usize];
    let run = |(seed, call): (u64, Call)| {
        run(&mut StdRng::seed_from_u64(seed), call);
        Ok(())
    };
    TestRunner::new(config).run(&(any::<u64>(), (batch, len(), len())), run).unwrap();
}

/// Inputs in both precisions, filled with the same numbers.
struct Both<Dims: Shape> {
    single: Untaped<Dims, f32>,
    double: Untaped<Dims, f64, Cpu>,
}

fn both<Dims: Shape>(rng: &mut StdRng, shape: Dims, size: f32) -> Both<Dims> {
    let (elements, exact) = draw(rng, shape.num_elements(), size);
    Both { single: device().tensor_from_vec(elements, shape), double: Cpu::default().tensor_from_vec(exact, shape) }
}

/// The same numbers in both precisions.
fn draw(rng: &mut StdRng, count: usize, size: f32) -> (Vec<f32>, Vec<f64>) {
    let elements: Vec<f32> = (0..count).map(|_| rng.gen_range(-size..size)).collect();
    let exact = elements.iter().map(|&x| f64::from(x)).collect();
    (elements, exact)
}

/// The gradients of a scalar that depends on every element of the output differently.
fn gradients<Dims: Shape, E: Real + From<i8>, D: Backend<E>>(output: Taped<Dims, E, D>) -> GradientsOf<(), E, D> {
    let weights = weights(output.shape().num_elements());
    sum_weighted_by(output, weights).backward().unwrap()
}

#[track_caller]
fn assert_close(what: &str, kernel: &[f32], definition: &[f64]) {
    assert_eq!(kernel.len(), definition.len(), "{what}");
    let largest = definition.iter().fold(1f64, |largest, x| largest.max(x.abs()));
    for (i, (k, d)) in kernel.iter().zip(definition).enumerate() {
        let difference = (f64::from(*k) - d).abs();
        assert!(difference <= 1e-5 * largest, "{what}[{i}]: kernel {k}, definition {d}");
    }
}

/// Compares the outputs, then the gradients of the inputs. No operation of dfdx is recorded beside the kernels.
macro_rules! compare {
    ($kernel:expr, $definition:expr, [$($input:expr),*]) => {
        let (kernel, definition) = ($kernel.unwrap(), $definition.unwrap());
        let (kernel, mut tape) = kernel.split_tape();
        if <AutoDevice as Backend<f32>>::HAS_KERNELS {
            assert_eq!(tape.shared().unwrap().num_dfdx_operations(), 0, "an operation of dfdx in place of a kernel");
        }
        let kernel = kernel.put_tape(tape);
        assert_close("output", &kernel.as_vec(), &definition.as_vec());
        let (mut kernel, mut definition) = (gradients(kernel), gradients(definition));
        $(assert_close(
            stringify!($input),
            &kernel.of(&$input.single).unwrap().as_vec(),
            &definition.of(&$input.double).unwrap().as_vec(),
        );)*
    };
}

/// Compares a function of one tensor.
macro_rules! compare_map {
    ($x:ident, |$argument:ident| $body:expr) => {
        compare!(
            {
                let $argument = $x.single.recorded();
                $body
            },
            {
                let $argument = $x.double.recorded();
                $body
            },
            [$x]
        );
    };
}

mod biased_attention;
mod contraction;
mod convolution;
mod copies;
mod elementwise;
mod grouped_attention;
mod losses;

fn linear<const IN: usize, const OUT: usize>() {
    on_calls(&|rng, (batch, len, _)| {
        let input = both(rng, (batch, len, Const::<IN>), 1.0);
        let weight = both(rng, (Const::<OUT>, Const::<IN>), 1.0);
        let bias = both(rng, (Const::<OUT>,), 1.0);
        compare!(
            ops::linear(input.single.recorded(), &weight.single, Some(&bias.single)),
            ops::linear(input.double.recorded(), &weight.double, Some(&bias.double)),
            [input, weight, bias]
        );
        compare!(
            ops::linear(input.single.recorded(), &weight.single, None),
            ops::linear(input.double.recorded(), &weight.double, None),
            [input, weight]
        );
    });
}

#[test]
fn linear_agrees() {
    linear::<1, 1>();
    linear::<7, 3>();
    linear::<16, 33>();
    linear::<64, 128>();
    linear::<300, 17>();
}

/// Multiples of a half, each times 1.0005, which rounding to bfloat16 takes off again. Sums of their products are exact,
/// so a different order of the terms does not change what is rounded.
fn halves<Dims: Shape>(rng: &mut StdRng, shape: Dims) -> Both<Dims> {
    let halves: Vec<_> = (0..shape.num_elements()).map(|_| f32::from(rng.gen_range(-4..=4i8)) / 2.0 * 1.0005).collect();
    let exact = halves.iter().map(|&x| f64::from(x)).collect();
    Both { single: device().tensor_from_vec(halves, shape), double: Cpu::default().tensor_from_vec(exact, shape) }
}

fn linear_in_bf16<const IN: usize, const OUT: usize>() {
    on_calls(&|rng, (batch, len, _)| {
        let input = halves(rng, (batch, len, Const::<IN>));
        let weight = halves(rng, (Const::<OUT>, Const::<IN>));
        let bias = both(rng, (Const::<OUT>,), 1.0);
        compare!(
            ops::linear_in_bf16(input.single.recorded(), &weight.single, Some(&bias.single)),
            ops::linear_in_bf16(input.double.recorded(), &weight.double, Some(&bias.double)),
            [input, weight, bias]
        );
        compare!(
            ops::linear_in_bf16(input.single.recorded(), &weight.single, None),
            ops::linear_in_bf16(input.double.recorded(), &weight.double, None),
            [input, weight]
        );
    });
}

#[test]
fn linear_in_bf16_agrees() {
    linear_in_bf16::<1, 1>();
    linear_in_bf16::<7, 3>();
    linear_in_bf16::<49, 130>();
    linear_in_bf16::<300, 17>();
}

fn norms<const WIDTH: usize>() {
    on_calls(&|rng, (batch, len, _)| {
        let input = both(rng, (batch, len, Const::<WIDTH>), 3.0);
        let weight = both(rng, (Const::<WIDTH>,), 1.0);
        let bias = both(rng, (Const::<WIDTH>,), 1.0);
        compare!(
            ops::layer_norm(input.single.recorded(), &weight.single, Some(&bias.single), 1e-2),
            ops::layer_norm(input.double.recorded(), &weight.double, Some(&bias.double), 1e-2),
            [input, weight, bias]
        );
        compare!(
            ops::layer_norm(input.single.recorded(), &weight.single, None, 1e-2),
            ops::layer_norm(input.double.recorded(), &weight.double, None, 1e-2),
            [input, weight]
        );
        compare!(
            ops::rms_norm(input.single.recorded(), &weight.single, 1e-2),
            ops::rms_norm(input.double.recorded(), &weight.double, 1e-2),
            [input, weight]
        );
    });
}

#[test]
fn norms_agree() {
    norms::<1>();
    norms::<7>();
    norms::<16>();
    norms::<129>();
}

fn embed_and_positions<const WIDTH: usize>() {
    on_calls(&|rng, (batch, len, _)| {
        let table = both(rng, (Const::<11>, Const::<WIDTH>), 1.0);
        let positions = both(rng, (len, Const::<WIDTH>), 1.0);
        let input = both(rng, (batch, len, Const::<WIDTH>), 1.0);
        let ids: Vec<usize> = (0..batch.0 * len.0).map(|_| rng.gen_range(0..11)).collect();
        let ids = TokenIds::from_ids(&ids, None, (batch, len)).unwrap();
        compare!(
            ops::embed(&table.single, &ids, OwnTape::default()),
            ops::embed(&table.double, &ids, OwnTape::default()),
            [table]
        );
        compare!(
            ops::add_positions(input.single.recorded(), positions.single.retaped()),
            ops::add_positions(input.double.recorded(), positions.double.retaped()),
            [input, positions]
        );
    });
}

#[test]
fn residual_agrees() {
    on_calls(&|rng, (batch, len, _)| {
        let input = both(rng, (batch, len, Const::<7>), 1.0);
        let output = both(rng, (batch, len, Const::<7>), 1.0);
        compare!(
            ops::residual(input.single.recorded(), output.single.retaped()),
            ops::residual(input.double.recorded(), output.double.retaped()),
            [input, output]
        );
    });
}

#[test]
fn embed_and_positions_agree() {
    embed_and_positions::<1>();
    embed_and_positions::<7>();
    embed_and_positions::<48>();
}

fn cross_entropy<const VOCAB: usize>(size: f32) {
    on_calls(&|rng, (batch, len, _)| {
        let logits = both(rng, (batch, len, Const::<VOCAB>), size);
        let ids: Vec<usize> = (0..batch.0 * len.0).map(|_| rng.gen_range(0..VOCAB)).collect();
        let pad = Some(Fin::new(VOCAB - 1).unwrap());
        let labels = LabelIds::from_ids(&ids, pad, (batch, len)).unwrap();
        for average in [Reduction::MeanAll, Reduction::MeanPerSequence] {
            for smoothing in [0.0, 0.1, 1.0] {
                let (single, double) = (logits.single.recorded(), logits.double.recorded());
                compare!(
                    ops::cross_entropy_with_label_smoothing(single, &labels, average, smoothing),
                    ops::cross_entropy_with_label_smoothing(double, &labels, average, smoothing),
                    [logits]
                );
            }
        }
    });
}

#[test]
fn cross_entropy_agrees() {
    cross_entropy::<1>(1.0);
    cross_entropy::<28>(1.0);
    cross_entropy::<65>(300.0);
}

fn attention<const HEADS: usize, const QK: usize, const VO: usize>(size: f32) {
    on_calls(&|rng, call| attention_on_call::<HEADS, QK, VO>(rng, call, size));
}

/// Masks of every kind, some of which hide whole rows.
fn masks(
    rng: &mut StdRng,
    shape: (Unchecked, Unchecked, Unchecked),
) -> [AttentionMask<Unchecked, Unchecked, Unchecked>; 6] {
    let (batch, queries, keys) = shape;
    let hidden: Vec<bool> = (0..batch.0 * queries.0 * keys.0).map(|_| rng.gen_bool(0.4)).collect();
    [
        AttentionMask::all_visible(shape),
        AttentionMask::from_fn(shape, |_, q, k| k <= q),
        AttentionMask::from_fn(shape, |b, q, k| !hidden[(b * queries.0 + q) * keys.0 + k]),
        // Whole sequences of padding.
        AttentionMask::from_fn(shape, |b, _, _| b % 2 == 1),
        // A window of keys that moves with the query.
        AttentionMask::from_fn(shape, |_, q, k| (q..q + 9).contains(&k)),
        // The same window, and one key that all queries see: no query sees most keys between the two.
        AttentionMask::from_fn(shape, |_, q, k| (q..q + 9).contains(&k) || k + 1 == keys.0),
    ]
}

fn attention_on_call<const HEADS: usize, const QK: usize, const VO: usize>(
    rng: &mut StdRng,
    (batch, queries, keys): (Unchecked, Unchecked, Unchecked),
    size: f32,
) {
    type Width<const H: usize, const N: usize> = Product<Const<H>, Const<N>>;
    let query = both(rng, (batch, queries, Width::<HEADS, QK>::default()), size);
    let key = both(rng, (batch, keys, Width::<HEADS, QK>::default()), size);
    let value = both(rng, (batch, keys, Width::<HEADS, VO>::default()), 1.0);
    // The widths of each test differ in parity, so each mask meets both conventions in each call.
    let conventions =
        [(AttentionScale::HeadDim, MaskFill::MinValue), (AttentionScale::EmbedDim, MaskFill::Subtract(50.0))];
    let conventions = conventions.into_iter().cycle().skip((keys.0 + QK) % 2);
    for (mask, (scale, mask_fill)) in masks(rng, (batch, queries, keys)).iter().zip(conventions) {
        compare!(
            ops::multi_head_attention(
                query.single.recorded(),
                key.single.retaped(),
                value.single.retaped(),
                mask,
                AttentionOptions { scale, mask_fill, ..AttentionOptions::default() }
            ),
            ops::multi_head_attention(
                query.double.recorded(),
                key.double.retaped(),
                value.double.retaped(),
                mask,
                AttentionOptions { scale, mask_fill, ..AttentionOptions::default() }
            ),
            [query, key, value]
        );
    }
}

#[test]
fn attention_agrees() {
    attention::<1, 1, 1>(1.0);
    attention::<7, 5, 3>(1.0);
    attention::<2, 16, 17>(1.0);
    attention::<3, 33, 8>(1.0);
}

#[test]
fn attention_agrees_beyond_a_block() {
    // The heads of the last call are divided among threads.
    let calls: [Call; 7] =
        [(1, 33, 129), (2, 64, 256), (1, 40, 400), (1, 1, 300), (1, 131, 131), (3, 3, 257), (1, 2, 1601)];
    for (seed, (batch, queries, keys)) in calls.into_iter().enumerate() {
        let rng = &mut StdRng::seed_from_u64(seed as u64);
        let call = (Unchecked(batch), Unchecked(queries), Unchecked(keys));
        attention_on_call::<2, 5, 17>(rng, call, 1.0);
        attention_on_call::<3, 16, 16>(rng, call, 4.0);
    }
}

/// The masks of self-attention and cross-attention are rules; a matrix of their elements must have the same effect.
#[test]
fn a_mask_given_by_a_rule_equals_its_matrix() {
    fn agrees<Q: Dim, K: Dim>(rng: &mut StdRng, mask: &AttentionMask<Unchecked, Q, K>) {
        let (batch, queries, keys) = mask.shape();
        let matrix = mask.as_slice().to_vec();
        let index = |b: usize, q: usize, k: usize| (b * queries.size() + q) * keys.size() + k;
        let matrix = AttentionMask::from_fn(mask.shape(), |b, q, k| matrix[index(b, q, k)]);
        let width = Product::<Const<2>, Const<8>>::default();
        let query = both(rng, (batch, queries, width), 1.0).single;
        let (key, value) = (both(rng, (batch, keys, width), 1.0).single, both(rng, (batch, keys, width), 1.0).single);
        for fill in [MaskFill::MinValue, MaskFill::Subtract(30.0)] {
            let [rule, matrix] = [mask, &matrix].map(|mask| {
                let (key_operand, value_operand) = (key.retaped(), value.retaped());
                let output = ops::multi_head_attention(
                    query.recorded(),
                    key_operand,
                    value_operand,
                    mask,
                    AttentionOptions { mask_fill: fill, ..AttentionOptions::default() },
                );
                let output: Taped<_, f32> = output.unwrap();
                let elements = output.as_vec();
                let mut gradients = gradients(output);
                [
                    elements,
                    gradients.of(&query).unwrap().as_vec(),
                    gradients.of(&key).unwrap().as_vec(),
                    gradients.of(&value).unwrap().as_vec(),
                ]
            });
            for (rule, matrix) in rule.iter().zip(&matrix) {
                if <AutoDevice as Backend<f32>>::HAS_KERNELS {
                    assert_eq!(rule, matrix);
                }
                // A sum on a GPU has no fixed order.
                assert_close("rule", rule, &matrix.iter().map(|&x| x.into()).collect::<Vec<_>>());
            }
        }
    }
    let mut rng = StdRng::seed_from_u64(11);
    for (batch, len, source_len) in [(1, 1, 1), (3, 7, 5), (2, 40, 150), (2, 131, 33)] {
        let mut padding = |len: usize| {
            let ids: Vec<usize> = (0..batch * len).map(|_| rng.gen_range(0..4)).collect();
            let pad: Fin<Const<4>> = Fin::literal::<3>();
            TokenIds::from_ids(&ids, Some(pad), (Unchecked(batch), Unchecked(len))).unwrap().padding_mask()
        };
        let (padding, source_padding) = (padding(len), padding(source_len));
        let no_padding = PaddingMask::without_padding((Unchecked(batch), Unchecked(len)));
        for padding in [&padding, &no_padding] {
            agrees(&mut rng, &mk_mask::<NoMask, PadQueriesAndKeys, _, _>(padding));
            agrees(&mut rng, &mk_mask::<CausalMask, PadQueriesAndKeys, _, _>(padding));
            agrees(&mut rng, &mk_mask::<NoMask, PadSourceKeys, _, _>(padding));
            agrees(&mut rng, &mk_mask::<CausalMask, PadSourceKeys, _, _>(padding));
            agrees(&mut rng, &mk_cross_mask::<PadQueriesAndKeys, _, _, _>(padding, &source_padding).unwrap());
        }
    }
}

#[test]
fn attention_agrees_on_large_logits() {
    attention::<2, 8, 8>(6.0);
}

#[test]
fn a_tensor_used_several_times_gets_the_sum_of_its_gradients() {
    let mut rng = StdRng::seed_from_u64(6);
    let x = both(&mut rng, (Const::<2>, Const::<5>, Product::<Const<2>, Const<3>>::default()), 1.0);
    let mask = AttentionMask::all_visible((Const, Const::<5>, Const::<5>));
    compare!(
        ops::multi_head_attention(
            x.single.recorded(),
            x.single.retaped(),
            x.single.retaped(),
            &mask,
            AttentionOptions::default()
        ),
        ops::multi_head_attention(
            x.double.recorded(),
            x.double.retaped(),
            x.double.retaped(),
            &mask,
            AttentionOptions::default()
        ),
        [x]
    );
}

// On the CPU: dfdx does not run kernels without elements on a GPU.
#[test]
fn without_rows_the_gradient_is_zero() {
    let weight: Untaped<(Const<2>, Const<3>), f32, Cpu> = Cpu::default().ones();
    let bias = Cpu::default().ones::<(Const<2>,)>();
    let input = Cpu::default().zeros_like(&(Const::<0>, Const::<4>, Const::<3>));
    let output = ops::linear(input.recorded(), &weight, Some(&bias)).unwrap();
    // dfdx cannot sum an empty tensor, so the loss is another tensor on the same tape.
    let (_, tape) = output.split_tape();
    let mut gradients = bias.clone().put_tape(tape).sum().backward().unwrap();
    assert_eq!(gradients.of(&weight).unwrap().as_vec(), [0.0; 6]);
}

#[test]
fn permuted_and_broadcast_inputs_are_read_in_logical_order() {
    let mut rng = StdRng::seed_from_u64(7);
    let input = both(&mut rng, (Const::<4>, Const::<3>, Const::<6>), 1.0);
    let weight = both(&mut rng, (Const::<6>, Const::<5>), 1.0);
    let row = both(&mut rng, (Const::<3>, Const::<6>), 1.0);
    compare!(
        ops::linear(
            input.single.recorded().permute::<(Const<3>, Const<4>, Const<6>), Axes3<1, 0, 2>>(),
            &weight.single.clone().permute(),
            None,
        ),
        ops::linear(
            input.double.recorded().permute::<(Const<3>, Const<4>, Const<6>), Axes3<1, 0, 2>>(),
            &weight.double.clone().permute(),
            None,
        ),
        [input]
    );
    let equal_rows = (Const::<5>, Const::<6>);
    let vector = both(&mut rng, (Const::<6>,), 1.0);
    compare!(
        ops::linear(input.single.recorded(), &vector.single.clone().broadcast_like::<_, Axis<0>>(&equal_rows), None),
        ops::linear(input.double.recorded(), &vector.double.clone().broadcast_like::<_, Axis<0>>(&equal_rows), None),
        [input, vector]
    );
    let bias = both(&mut rng, (), 1.0);
    compare!(
        ops::linear(input.single.recorded(), &weight.single.clone().permute(), Some(&bias.single.clone().broadcast()),),
        ops::linear(input.double.recorded(), &weight.double.clone().permute(), Some(&bias.double.clone().broadcast()),),
        [input, bias]
    );
    let positions = both(&mut rng, (Const::<3>, Const::<6>), 1.0);
    let shape = (Const::<2>, Const::<3>, Const::<6>);
    compare!(
        ops::add_positions(row.single.recorded().broadcast_like::<_, Axis<0>>(&shape), positions.single.retaped(),),
        ops::add_positions(row.double.recorded().broadcast_like::<_, Axis<0>>(&shape), positions.double.retaped(),),
        [row, positions]
    );
}

// A sum on a GPU has no fixed order.
#[cfg(not(feature = "cuda"))]
#[test]
fn results_are_reproducible() {
    let run = || {
        let mut rng = StdRng::seed_from_u64(8);
        let x = both(&mut rng, (Const::<64>, Const::<33>, Product::<Const<4>, Const<16>>::default()), 1.0).single;
        let mask = AttentionMask::all_visible((Const, Const::<33>, Const::<33>));
        let (k, v) = (x.retaped(), x.retaped());
        let y: Taped<_, f32> =
            ops::multi_head_attention(x.recorded(), k, v, &mask, AttentionOptions::default()).unwrap();
        gradients(y).of(&x).unwrap().as_vec()
    };
    assert_eq!(run(), run());
}
