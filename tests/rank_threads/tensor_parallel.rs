//! The collective operations on the tape: numbers and gradients, on 1 to 4 ranks.

use crate::finite_differences::{random, weighted_sum};
use crate::numbers::F64;
use crate::recorded::{OwnTape, Recorded};
use dfdx::{shapes::Shape, tensor::*, tensor_ops::*};
use typed_transformer::dims::{DataDim, Factor};
use typed_transformer::ops::{Activation, GeluTanh};
use typed_transformer::prelude::*;
use typed_transformer::ranks;
use typed_transformer::ranks::{ConstRankAxis, Partial, Ranks, Shard};
use typed_transformer::tensor_parallel::{
    add, all_gather, all_gather_entered, all_reduce, enter, linear_column, linear_row, reduce_scatter, scale, shard,
};

ranks! { One = 1; Two = 2; Three = 3; Four = 4; }
dims! { Batch = 2; SeqLen = 3; EmbedDim = 5; HiddenDim = 12; NumHeads = 12; HeadDim = 2; }

type Taped<Dims> = F64<Dims, OwnTape<f64>>;

/// Runs a check on 1, 2, 3 and 4 ranks.
macro_rules! on_ranks {
    ($check:ident) => {
        $check::<One>();
        $check::<Two>();
        $check::<Three>();
        $check::<Four>();
    };
}

/// The parts of an input that the ranks hold.
#[derive(Clone, Copy, PartialEq)]
enum Input {
    /// All have the same, and the same gradient.
    Same,
    /// Each has its own.
    Own,
}

/// The parts of the loss that the ranks hold.
#[derive(Clone, Copy, PartialEq)]
enum Loss {
    /// All have the same.
    Same,
    /// The loss is the sum of theirs.
    Sum,
}

/// Compares the recorded gradients of all ranks' inputs with finite differences of the loss.
#[track_caller]
fn check<Dims: Shape + Default, Tp: ConstRankAxis>(
    input: Input,
    loss: Loss,
    function: impl Fn(Taped<Dims>, &Ranks<Tp>) -> Taped<()> + Sync,
) {
    const STEP: f64 = 1e-5;
    let size = Tp::EXPECTED_SIZE.unwrap();
    let seed = |rank| if input == Input::Same { 7 } else { 7 + rank as u64 };
    let inputs: Vec<Vec<f64>> = (0..size).map(|rank| random::<Dims>(seed(rank)).as_vec()).collect();
    let run = |inputs: &[Vec<f64>]| {
        let results = Ranks::<Tp>::in_threads(size, |ranks| {
            let x: F64<Dims> = Cpu::default().tensor_from_vec(inputs[ranks.rank()].clone(), Dims::default());
            let loss = function(x.recorded(), ranks);
            let value = loss.array();
            (value, loss.backward().unwrap().of(&x).unwrap().as_vec())
        });
        let (losses, gradients): (Vec<f64>, Vec<Vec<f64>>) = results.into_iter().unzip();
        match loss {
            Loss::Sum => (losses.iter().sum::<f64>(), gradients),
            Loss::Same => {
                assert!(losses.iter().all(|loss| *loss == losses[0]), "{losses:?}");
                (losses[0], gradients)
            }
        }
    };
    let (_, gradients) = run(&inputs);
    for index in 0..inputs[0].len() {
        for rank in 0..size {
            let at = |step: f64| {
                let mut inputs = inputs.clone();
                match input {
                    Input::Same => inputs.iter_mut().for_each(|input| input[index] += step),
                    Input::Own => inputs[rank][index] += step,
                }
                run(&inputs).0
            };
            let expected = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            let found = gradients[rank][index];
            assert!(
                (found - expected).abs() <= 1e-6 * expected.abs().max(1.0),
                "{} ranks, rank {rank}, element {index}: {found} and not {expected}",
                size,
            );
        }
    }
}

/// A rank's own weights.
fn weights<Dims: Shape + Default, Tp: ConstRankAxis>(ranks: &Ranks<Tp>, seed: u64) -> F64<Dims> {
    random(100 * seed + ranks.rank() as u64)
}

/// From a tensor that has entered to a loss of each rank.
fn loss_of_entered<B: DataDim, S: Dim, M: ConstDim, Tp, T>(
    entered: impl typed_transformer::tensor_parallel::EnteredOver<Tp, Tensor = F64<(B, S, M), OwnTape<f64>>>,
    ranks: &Ranks<Tp>,
) -> Taped<()>
where
    Tp: ConstRankAxis + Divides<T>,
    T: ConstDim,
{
    let weight: F64<(Shard<T, Tp>, M)> = weights(ranks, 1);
    weighted_sum(linear_column(entered, &weight, None).unwrap())
}

fn check_enter<Tp: ConstRankAxis + Divides<HiddenDim>>() {
    // The loss is the sum of what the ranks compute with their parts.
    check::<(Batch, SeqLen, EmbedDim), Tp>(Input::Same, Loss::Sum, |x, ranks| {
        loss_of_entered::<_, _, _, _, HiddenDim>(enter(x, ranks).unwrap(), ranks)
    });
}

fn check_all_reduce<Tp: ConstRankAxis + Divides<HiddenDim>>() {
    check::<(Batch, SeqLen, EmbedDim), Tp>(Input::Own, Loss::Same, |x, ranks| {
        let terms = add(scale(Partial::term(x.clone()), 0.5).unwrap(), Partial::term(x * 2.0)).unwrap();
        weighted_sum(all_reduce(terms, ranks).unwrap())
    });
}

fn check_entered_all_reduce<Tp: ConstRankAxis + Divides<HiddenDim>>() {
    check::<(Batch, SeqLen, EmbedDim), Tp>(Input::Own, Loss::Sum, |x, ranks| {
        let sum = all_reduce(Partial::term(x), ranks).unwrap();
        loss_of_entered::<_, _, _, _, HiddenDim>(enter(sum, ranks).unwrap(), ranks)
    });
}

fn check_all_gather<Tp: ConstRankAxis + Divides<HiddenDim> + Divides<NumHeads>>() {
    // An operation that needs all columns, and then one with shards, in one pass.
    check::<(Batch, SeqLen, Shard<HiddenDim, Tp>), Tp>(Input::Own, Loss::Same, |x, ranks| {
        let whole = softmax_over(all_gather(x, axis::<HiddenDim>(), ranks).unwrap(), axis::<HiddenDim>()).unwrap();
        let first: F64<(Shard<NumHeads, Tp>, HiddenDim)> = weights(ranks, 1);
        let second: F64<(EmbedDim, Shard<NumHeads, Tp>)> = weights(ranks, 2);
        let part = linear_column(enter(whole, ranks).unwrap(), &first, None).unwrap();
        weighted_sum(all_reduce(linear_row(part, &second).unwrap(), ranks).unwrap())
    });
    // Along another axis than the last.
    check::<(Batch, Shard<HiddenDim, Tp>, EmbedDim), Tp>(Input::Own, Loss::Same, |x, ranks| {
        let whole: Taped<(Batch, HiddenDim, EmbedDim)> = all_gather(x, axis::<HiddenDim>(), ranks).unwrap();
        weighted_sum(softmax_over(whole, axis::<HiddenDim>()).unwrap())
    });
}

fn check_all_gather_entered<Tp: ConstRankAxis + Divides<HiddenDim>>() {
    check::<(Batch, SeqLen, Shard<HiddenDim, Tp>), Tp>(Input::Own, Loss::Sum, |x, ranks| {
        loss_of_entered::<_, _, _, _, HiddenDim>(all_gather_entered(x, axis::<HiddenDim>(), ranks).unwrap(), ranks)
    });
    check::<(Batch, Shard<HiddenDim, Tp>, EmbedDim), Tp>(Input::Own, Loss::Sum, |x, ranks| {
        loss_of_entered::<_, _, _, _, HiddenDim>(all_gather_entered(x, axis::<HiddenDim>(), ranks).unwrap(), ranks)
    });
}

fn check_reduce_scatter<Tp: ConstRankAxis + Divides<HiddenDim>>() {
    check::<(Batch, HiddenDim, EmbedDim), Tp>(Input::Own, Loss::Sum, |x, ranks| {
        let part: Taped<(Batch, Shard<HiddenDim, Tp>, EmbedDim)> =
            reduce_scatter(Partial::term(x), axis::<HiddenDim>(), ranks).unwrap();
        let weights = weights::<(Batch, Shard<HiddenDim, Tp>, EmbedDim), Tp>(ranks, 2);
        (part * weights).sum()
    });
}

fn check_shard<Tp: ConstRankAxis + Divides<HiddenDim>>() {
    check::<(Batch, HiddenDim, EmbedDim), Tp>(Input::Same, Loss::Sum, |x, ranks| {
        let part: Taped<(Batch, Shard<HiddenDim, Tp>, EmbedDim)> =
            shard(enter(x, ranks).unwrap(), axis::<HiddenDim>(), ranks).unwrap();
        let weights = weights::<(Batch, Shard<HiddenDim, Tp>, EmbedDim), Tp>(ranks, 2);
        (part * weights).sum()
    });
}

fn check_linear<Tp: ConstRankAxis + Divides<HiddenDim>>() {
    check::<(Batch, SeqLen, EmbedDim), Tp>(Input::Same, Loss::Same, |x, ranks| {
        let (first, bias) = (weights(ranks, 1), weights(ranks, 2));
        let hidden: Taped<(Batch, SeqLen, Shard<HiddenDim, Tp>)> =
            GeluTanh::apply(linear_column(enter(x, ranks).unwrap(), &first, Some(&bias)).unwrap()).unwrap();
        let second: F64<(EmbedDim, Shard<HiddenDim, Tp>)> = weights(ranks, 3);
        weighted_sum(all_reduce(linear_row(hidden, &second).unwrap(), ranks).unwrap())
    });
}

#[test]
fn gradients_agree_with_finite_differences() {
    on_ranks!(check_enter);
    on_ranks!(check_all_reduce);
    on_ranks!(check_entered_all_reduce);
    on_ranks!(check_all_gather);
    on_ranks!(check_all_gather_entered);
    on_ranks!(check_reduce_scatter);
    on_ranks!(check_shard);
    on_ranks!(check_linear);
}

/// Two linear maps with an activation between them: on the ranks, and on one.
fn check_feed_forward<Tp: ConstRankAxis + Divides<HiddenDim>>() {
    let first: F64<(HiddenDim, EmbedDim)> = random(1);
    let bias: F64<(HiddenDim,)> = random(2);
    let second: F64<(EmbedDim, HiddenDim)> = random(3);
    let x: F64<(Batch, SeqLen, EmbedDim)> = random(4);
    let hidden = GeluTanh::apply(typed_transformer::ops::linear(x.clone(), &first, Some(&bias)).unwrap()).unwrap();
    let whole = typed_transformer::ops::linear(hidden, &second, None).unwrap().as_vec();

    let outputs = Ranks::<Tp>::in_threads(Tp::EXPECTED_SIZE.unwrap(), |ranks| {
        let first = shard(enter(first.clone(), ranks).unwrap(), axis::<HiddenDim>(), ranks).unwrap();
        let bias = shard(enter(bias.clone(), ranks).unwrap(), axis::<HiddenDim>(), ranks).unwrap();
        let second = shard(enter(second.clone(), ranks).unwrap(), axis::<HiddenDim>(), ranks).unwrap();
        let hidden =
            GeluTanh::apply(linear_column(enter(x.clone(), ranks).unwrap(), &first, Some(&bias)).unwrap()).unwrap();
        all_reduce(linear_row(hidden, &second).unwrap(), ranks).unwrap().as_vec()
    });
    for output in outputs {
        assert!(output.iter().zip(&whole).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}

#[test]
fn a_feed_forward_layer_of_shards_is_that_of_one_rank() {
    on_ranks!(check_feed_forward);
}

#[test]
fn a_gather_joins_the_parts_in_the_order_of_the_ranks() {
    fn check<Tp: ConstRankAxis + Divides<HiddenDim>>() {
        let whole: F64<(Batch, HiddenDim, EmbedDim)> = random(1);
        Ranks::<Tp>::in_threads(Tp::EXPECTED_SIZE.unwrap(), |ranks| {
            let part = shard(enter(whole.clone(), ranks).unwrap(), axis::<HiddenDim>(), ranks).unwrap();
            let again = all_gather(part.clone(), axis::<HiddenDim>(), ranks).unwrap();
            assert_eq!(again.as_vec(), whole.as_vec());
            let again = all_gather_entered(part.clone(), axis::<HiddenDim>(), ranks).unwrap();
            let again = shard(again, axis::<HiddenDim>(), ranks).unwrap();
            assert_eq!(again.as_vec(), part.as_vec());
            let sum = reduce_scatter(Partial::term(whole.clone()), axis::<HiddenDim>(), ranks).unwrap();
            let times: Vec<f64> = part.as_vec().iter().map(|x| x * ranks.size() as f64).collect();
            assert!(sum.as_vec().iter().zip(times).all(|(a, b)| (a - b).abs() < 1e-12));
        });
    }
    on_ranks!(check);
}

#[test]
fn a_permuted_tensor_of_no_rows_enters_and_is_joined() {
    dims! { Rows; }
    Ranks::<Two>::in_threads(2, |ranks| {
        let x: F64<(Rows, EmbedDim)> = Cpu::default().zeros_like(&(Rows::new(0), EmbedDim));
        let permuted: Taped<(EmbedDim, Rows)> = permute(x.recorded()).unwrap();
        let _entered = enter(permuted.clone(), ranks).unwrap();
        assert_eq!(all_reduce(Partial::term(permuted), ranks).unwrap().shape().1.size(), 0);
        let x: F64<(Rows, Shard<HiddenDim, Two>)> = Cpu::default().zeros_like(&(Rows::new(0), Shard::default()));
        let permuted: Taped<(Shard<HiddenDim, Two>, Rows)> = permute(x.recorded()).unwrap();
        let whole: Taped<(HiddenDim, Rows)> = all_gather(permuted, axis::<HiddenDim>(), ranks).unwrap();
        assert_eq!(whole.shape().1.size(), 0);
    });
}

/// The sizes of shards are those that the types say.
const _: () = {
    const fn size<Dim: dfdx::shapes::ConstDim>() -> usize {
        Dim::SIZE
    }
    const fn whole<Columns: Factor>() -> usize {
        size::<Columns::Whole>()
    }
    assert!(size::<Shard<HiddenDim, Four>>() == 3);
    assert!(size::<Product<Shard<NumHeads, Two>, HeadDim>>() == 12);
    assert!(whole::<Product<Shard<NumHeads, Two>, HeadDim>>() == 24);
};
