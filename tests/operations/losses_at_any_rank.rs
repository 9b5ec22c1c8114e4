//! Losses and means that leave out padding, at every rank: results against plain loops, and gradients against finite
//! differences.

use crate::finite_differences::{check, random, weighted_sum};
use crate::numbers::{F64, assert_close, device, random_like, softmax, to_single};
use dfdx::shapes::Shape;
use dfdx::tensor::{AsArray, AutoDevice, TensorFromVec};
use typed_transformer::nn::Linear;
use typed_transformer::ops::{Padding, gt, kl_divergence, masked_mean, partial_cross_entropy};
use typed_transformer::prelude::*;
use typed_transformer::ranks;
use typed_transformer::ranks::Ranks;
use typed_transformer::tokens::Indices;

ranks! { World; }
// Every compile-time dimension has its own size, so that confusing two of them fails.
dims! { Rows = 2; Columns = 3; Height = 4; Width = 5; NumClasses = 7; Batch; Len; }

/// `true` at about two of three positions, and nowhere in the first sequence of more than one.
fn padding<Positions: Shape + Default>(len: usize) -> Tensor<Positions, bool, AutoDevice> {
    let shape = Positions::default();
    let count = shape.num_elements();
    let number = |i: usize| if i % 3 == 1 || (i < len && len < count) { 0.0 } else { 1.0 };
    let numbers: F64<Positions> = device().tensor_from_vec((0..count).map(number).collect(), shape);
    gt(&numbers, 0.5).unwrap()
}

/// The mean over the axis of `len` elements that has `inner` elements after each of its own.
fn mean_of_tokens(x: &[f64], is_token: &[bool], len: usize, inner: usize) -> Vec<f64> {
    let of_sequence = |(x, is_token): (&[f64], &[bool])| -> Vec<f64> {
        let count = is_token.iter().filter(|is_token| **is_token).count().max(1) as f64;
        let at =
            |element: usize| (0..len).filter(|s| is_token[*s]).map(|s| x[s * inner + element]).sum::<f64>() / count;
        (0..inner).map(at).collect()
    };
    x.chunks(len * inner).zip(is_token.chunks(len)).flat_map(of_sequence).collect()
}

macro_rules! check_mean {
    (($($before:ty),*), $len:ty, ($($after:ty),*)) => {{
        let len = <$len>::default().size();
        let padding = padding::<($($before,)* $len,)>(len);
        let x = random::<($($before,)* $len, $($after,)*)>(1);
        let inner = <($($after,)*)>::default().num_elements();
        let expected = mean_of_tokens(&x.as_vec(), &padding.as_vec(), len, inner);
        let mean: F64<($($before,)* $($after,)*)> = masked_mean(x.clone(), &padding).unwrap();
        assert_close(&mean.as_vec(), &expected, 1e-12);
        check(x, |x| weighted_sum(masked_mean(x, &padding).unwrap()));
    }};
}

#[test]
fn a_masked_mean_is_over_the_last_axis_of_its_padding() {
    check_mean!((), Height, ());
    check_mean!((), Height, (Rows));
    check_mean!((Rows), Height, ());
    check_mean!((Rows), Height, (Width));
    check_mean!((), Height, (Columns, Width));
    check_mean!((Rows, Columns), Height, (Width));
    check_mean!((Rows), Height, (Columns, Width));
    check_mean!((Rows, Const<1>, Columns), Height, (Const<2>, Width));
    check_mean!((Rows, Const<2>, Const<1>, Columns, Const<1>), Height, ());
    check_mean!((), Height, (Rows, Const<2>, Const<1>, Columns, Const<1>));
}

#[test]
fn a_padding_mask_is_the_same_as_its_booleans() {
    let ids = [3, 6, 6, 1, 0, 6];
    let ids =
        TokenIds::from_ids(&ids, Some(Fin::<NumClasses>::literal::<6>()), (Rows, Columns)).unwrap().padding_mask();
    let numbers = ids.as_slice().iter().map(|&is_token| f64::from(is_token)).collect();
    let booleans = gt(&Cpu::default().tensor_from_vec(numbers, (Rows, Columns)), 0.5).unwrap();
    assert_eq!(Padding::is_token(&booleans), ids.as_slice());
    let x = random::<(Rows, Columns, NumClasses)>(3);
    assert_eq!(masked_mean(x.clone(), &booleans).unwrap().as_vec(), masked_mean(x.clone(), &ids).unwrap().as_vec());
    let loss = |reduction| kl_divergence(x.clone(), &random(4), &booleans, reduction).unwrap().array();
    for reduction in [Reduction::MeanAll, Reduction::MeanPerSequence] {
        assert_eq!(loss(reduction), kl_divergence(x.clone(), &random(4), &ids, reduction).unwrap().array());
    }
}

macro_rules! check_divergence {
    ($($axis:ty),*) => {{
        let sizes: Vec<usize> = <($($axis,)*)>::default().concrete().into();
        let len = *sizes.last().unwrap_or(&1);
        let padding = padding::<($($axis,)*)>(len);
        let (logits, target) = (random::<($($axis,)* NumClasses,)>(5), random::<($($axis,)* NumClasses,)>(6));
        let (x, y, is_token) = (logits.as_vec(), target.as_vec(), padding.as_vec());
        let divergence = |(q, p): (&[f64], &[f64])| -> f64 {
            softmax(p).into_iter().zip(softmax(q)).map(|(p, q)| p * (p / q).ln()).sum()
        };
        let losses: Vec<f64> = x.chunks(7).zip(y.chunks(7)).map(divergence).collect();
        let loss = |reduction| kl_divergence(logits.clone(), &target, &padding, reduction).unwrap().array();
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        assert!((loss(Reduction::MeanAll) - mean).abs() < 1e-12);
        let of_sequences = mean_of_tokens(&losses, &is_token, len, 1);
        let mean = of_sequences.iter().sum::<f64>() / of_sequences.len() as f64;
        assert!((loss(Reduction::MeanPerSequence) - mean).abs() < 1e-12);
        for reduction in [Reduction::MeanAll, Reduction::MeanPerSequence] {
            check(logits.clone(), |x| kl_divergence(x, &target, &padding, reduction).unwrap());
        }
    }};
}

#[test]
fn a_divergence_is_the_mean_over_positions() {
    check_divergence!();
    check_divergence!(Height);
    check_divergence!(Rows, Height);
    check_divergence!(Rows, Columns, Height);
    check_divergence!(Rows, Const<1>, Columns, Const<2>);
    check_divergence!(Const<1>, Rows, Const<2>, Columns, Const<1>);
}

#[test]
fn run_time_sizes_of_padding_are_compared() {
    let shape = |batch, len| (Batch::new(batch), Rows, Len::new(len));
    let padding = gt(&random_like(1, shape(2, 3)), 0.0).unwrap();
    let x = |batch, len| {
        let (batch, rows, len) = shape(batch, len);
        random_like(2, (batch, rows, len, NumClasses))
    };
    assert!(masked_mean(x(2, 3), &padding).is_ok());
    assert_eq!(
        masked_mean(x(4, 3), &padding).unwrap_err().to_string(),
        "masked mean: `Batch` is 4 in the input and 2 in the padding",
    );
    assert_eq!(
        kl_divergence(x(2, 5), &x(2, 5), &padding, Reduction::MeanAll).unwrap_err().to_string(),
        "KL divergence: `Len` is 5 in the logits and 3 in the padding",
    );
}

// There is a head in `f64`, and one in `f32` with the same numbers, whose loss has a kernel.
macro_rules! check_sharded_loss {
    ($($axis:ty),*) => {{
        let of_row = <($($axis,)*)>::default().num_elements();
        let head = Linear::<Width, NumClasses, f64, Cpu>::build(&Cpu::seed_from_u64(9));
        let mut single = Linear::<Width, NumClasses, f32, Cpu>::build(&Cpu::default());
        single.weight.copy_from(&to_single(head.weight.as_vec()));
        single.bias.copy_from(&to_single(head.bias.as_vec()));
        for (count, batch) in [(1, 3), (2, 3), (3, 4), (2, 4)] {
            let whole = Batch::new(batch);
            let ids: Vec<usize> = (0..batch * of_row).map(|i| (i * 5 + 3) % 7).collect();
            let shape = (whole, $(<$axis>::default(),)* Width);
            // Ranks are on the CPU.
            let x: Tensor<_, f64, Cpu> = Cpu::default().tensor_from_vec(random_like(8, shape).as_vec(), shape);
            let labels = Indices::new(&ids, (whole, $(<$axis>::default(),)*), NumClasses).unwrap();
            for reduction in [Reduction::MeanAll, Reduction::MeanPerSequence] {
                let loss = cross_entropy(head.forward(x.clone().put_tape(head.recording())).unwrap(), &labels, reduction).unwrap();
                let expected = loss.array();
                let gradient = loss.backward().unwrap().of(&head.weight).unwrap().as_vec();
                let results = Ranks::<World>::in_threads(count, |ranks| {
                    let (head, single) = (ranks.replicate(head.clone()).unwrap(), ranks.replicate(single.clone()).unwrap());
                    let rows = ranks.shard(whole);
                    let (start, end) = (rows.range().unwrap().start * of_row, rows.range().unwrap().end * of_row);
                    let part = &x.as_vec()[start * 5..end * 5];
                    let shape = (rows, $(<$axis>::default(),)* Width);
                    let labels = Indices::new(&ids[start..end], (rows, $(<$axis>::default(),)*), NumClasses).unwrap();
                    let part32: Tensor<_, f32, Cpu> = Cpu::default().tensor_from_vec(to_single(part.to_vec()), shape);
                    let part: Tensor<_, f64, Cpu> = Cpu::default().tensor_from_vec(part.to_vec(), shape);
                    let fused = partial_cross_entropy(single.forward(part32).unwrap(), &labels, reduction).unwrap();
                    let term = partial_cross_entropy(head.forward(part.put_tape(head.recording())).unwrap(), &labels, reduction).unwrap();
                    let loss = term.value().all_reduce(ranks).unwrap().into_inner();
                    let mut gradients = term.backward().unwrap().all_reduce(ranks, &head).unwrap().into_inner();
                    let fused = fused.all_reduce(ranks).unwrap().array();
                    (loss, f64::from(fused), gradients.of(&head.weight).unwrap().as_vec())
                });
                for (loss, fused, sums) in results {
                    assert!((loss - expected).abs() < 1e-12, "{loss}, expected {expected}");
                    assert!((fused - expected).abs() < 1e-5, "{fused}, expected {expected}");
                    assert_close(&sums, &gradient, 1e-12);
                }
            }
        }
    }};
}

#[test]
fn the_terms_of_a_sharded_batch_sum_to_its_loss() {
    check_sharded_loss!();
    check_sharded_loss!(Height);
    check_sharded_loss!(Columns, Height);
    check_sharded_loss!(Columns, Const<2>, Const<1>);
    check_sharded_loss!(Const<1>, Columns, Const<2>, Const<1>);
}
