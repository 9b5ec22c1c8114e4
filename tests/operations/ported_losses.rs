//! Losses as the tables of `docs/porting.md` write them, against plain loops.

use crate::finite_differences::{check, check_parameter, weighted_sum};
use crate::numbers::{F64, Taped, assert_close, device, random_like as random, softmax};
use crate::recorded::Recorded;
use dfdx::tensor::AutoDevice;
use typed_transformer::backend::Tape;
use typed_transformer::dims::{AxesAmong, DataShape};
use typed_transformer::ops::{
    Abs, Activation, Exp, Ln, NamedAxes, Tanh, detach, full, gather, kl_divergence, linear, lt, maximum, ne, offset,
    select, slice, stack, sub, unstack, where_,
};
use typed_transformer::prelude::*;

dims! {
    Batch = 2; InDim = 3; HiddenDim = 4; VocabSize = 5; Images; Texts; Frames = 5; Letters = 3; States; One = 1;
    Two = 2; Three = 3;
}

/// The sum of the squares of the critic's gradients at `x`, in a loss.
#[test]
fn a_gradient_penalty() {
    let (x, weight) = (random(1, (Batch, InDim)), random(2, (HiddenDim, InDim)));
    let critic = |x: Taped<(Batch, InDim)>, weight: &F64<(HiddenDim, InDim)>| {
        weighted_sum(Tanh::apply(linear(x, weight, None).unwrap()).unwrap())
    };
    let gradient = |weight: &_| critic(x.recorded(), weight).backward().unwrap().of(&x).unwrap();
    let (v, step) = (scale(gradient(&weight), 2.0).unwrap(), 1e-5);
    let ahead = add(x.clone(), &scale(v.clone(), step).unwrap()).unwrap();
    let back = sub(x.clone(), &scale(v, step).unwrap()).unwrap();
    let [ahead, back] = [ahead, back].map(|x| critic(x.recorded(), &weight));
    let penalty = scale(sub(ahead, back).unwrap(), 0.5 / step).unwrap();
    let value = |weight: &_| gradient(weight).as_vec().into_iter().map(|g| g * g).sum();
    check_parameter(&weight, &mut penalty.backward().unwrap(), value);
}

/// Huber's loss of each element.
fn huber<Dims, Order, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<Dims, E, D, T>,
    y: &Tensor<Dims, E, D>,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: NamedAxes + AxesAmong<Dims, Order, Others: DataShape>,
{
    let difference = sub(x, y)?;
    let size = Abs::apply(difference.clone())?;
    let is_small = lt(&size, 1.0)?;
    where_(is_small, scale(mul(difference.clone(), difference)?, 0.5)?, offset(size, -0.5)?)
}

#[test]
fn a_loss_of_any_shape() {
    let (x, y) = (random(3, (Batch, VocabSize)), scale(random(4, (Batch, VocabSize)), 3.0).unwrap());
    let expected = x.as_vec().into_iter().zip(y.as_vec()).map(|(x, y)| {
        let size = (x - y).abs();
        if size < 1.0 { size * size / 2.0 } else { size - 0.5 }
    });
    assert_close(&huber(x.clone(), &y).unwrap().as_vec(), &Vec::from_iter(expected), 1e-9);
    check(x, |x| weighted_sum(huber(x, &y).unwrap()));
    let [x, y] = [5, 6].map(|seed| random(seed, (InDim,)));
    assert_eq!(huber(x, &y).unwrap().as_vec().len(), 3);
}

/// `F.cross_entropy(scores, torch.arange(n))`, both ways (CLIP).
fn contrastive<I: Dim, J: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    scores: Tensor<(I, J), E, D, T>,
) -> Result<Tensor<(), E, D, T>, OpError> {
    let (images, texts) = *scores.shape();
    let own = Vec::from_iter(0..images.size());
    let of_texts: Tensor<(J, I), E, D, T> = permute(scores.clone())?;
    let of_images = cross_entropy(scores, &Indices::new(&own, (images,), texts)?, Reduction::MeanAll)?;
    add(of_images, cross_entropy(of_texts, &Indices::new(&own, (texts,), images)?, Reduction::MeanAll)?)
}

#[test]
fn labels_of_pairs() {
    let scores = random(7, (Images::new(3), Texts::new(3)));
    let found = contrastive(scores.clone()).unwrap().array();
    let scores = scores.as_vec();
    let of_images = |i: usize| softmax(&scores[3 * i..][..3])[i].ln();
    let of_texts = |i: usize| softmax(&[0, 3, 6].map(|row| scores[row + i]))[i].ln();
    let expected = (0..3).map(|i| -(of_images(i) + of_texts(i)) / 3.0).sum();
    assert_close(&[found], &[expected], 1e-9);
}

/// `F.kl_div` of logits without a length.
fn divergence<B: Dim, V: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    logits: Tensor<(B, V), E, D, T>,
    target: &Tensor<(B, V), E, D>,
) -> Result<Tensor<(), E, D, T>, OpError> {
    let all: Tensor<(B,), E, D> = full(logits.device(), (logits.shape().0,), 1.0)?;
    kl_divergence(logits, target, &ne(&all, 0.0)?, Reduction::MeanAll)
}

#[test]
fn a_divergence_without_a_length() {
    let [logits, target] = [8, 9].map(|seed| random(seed, (Batch, VocabSize)));
    let found = divergence(logits.clone(), &target).unwrap().array();
    let [q, p] = [logits, target].map(|logits| logits.as_vec().chunks(5).flat_map(softmax).collect::<Vec<_>>());
    let expected = p.iter().zip(q).map(|(p, q)| p * (p / q).ln()).sum::<f64>() / 2.0;
    assert_close(&[found], &[expected], 1e-9);
}

/// `torch.logsumexp(x, -1)`, where -1e30 stands for -∞.
fn log_sum_exp<B: Dim, S: Dim, C: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, S, C), E, D, T>,
) -> Result<Tensor<(B, S), E, D, T>, OpError> {
    let lowest = full(x.device(), (), -1e30)?;
    let x = maximum(x, &lowest)?;
    let largest = detach(&max_over(x.clone(), axis::<C>())?)?;
    add(Ln::apply(sum_over(Exp::apply(sub(x, &largest)?)?, axis::<C>())?)?, &largest)
}

#[test]
fn a_sum_of_hidden_numbers() {
    fn sums_and_gradients<E: Real>()
    where
        AutoDevice: Backend<E>,
    {
        let hidden = E::neg_infinity();
        let numbers = [hidden, hidden, hidden, hidden, E::one(), E::one()];
        let x: Tensor<(One, Two, Three), E, AutoDevice> = tensor(&device(), numbers, (One, Two, Three)).unwrap();
        let sums = log_sum_exp(x.recorded()).unwrap();
        let expected = [-1e30, 2f64.ln() + 1.0].map(|x| E::from_f64(x).unwrap());
        assert!(
            sums.as_vec().into_iter().zip(expected).all(|(x, y)| (x / y - E::one()).abs() < E::from_f64(1e-6).unwrap())
        );
        let gradient = einsum!(sums: (One, Two) -> ()).unwrap().backward().unwrap().of(&x).unwrap();
        assert_eq!(gradient.as_vec(), [0.0, 0.0, 0.0, 0.0, 0.5, 0.5].map(|x| E::from_f64(x).unwrap()));
    }
    sums_and_gradients::<f64>();
    sums_and_gradients::<f32>();
}

/// `F.ctc_loss(.., blank=0, reduction="none")` of logits, labels and the number of frames of each row.
fn ctc<B: Dim, S: Dim, V: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    logits: Tensor<(B, S, V), E, D, T>,
    labels: &[&[usize]],
    lengths: &[usize],
) -> Result<Tensor<(B,), E, D, T>, OpError> {
    let (device, batch) = (logits.device().clone(), logits.shape().0);
    // A blank before, between and behind the labels; the blanks behind the last one are no states of a row.
    let states = States::new(1 + 2 * labels.iter().map(|labels| labels.len()).max().unwrap_or(0));
    let label =
        |row: usize, state: usize| if state % 2 == 1 { labels[row].get(state / 2).map_or(0, |id| *id) } else { 0 };
    let places = || (0..batch.size() * states.size()).map(|i| (i / states.size(), i % states.size()));
    // 0, or -1e30 in place of -∞, which times 0 is NaN.
    let only = |holds: &dyn Fn(usize, usize) -> bool| -> Result<Tensor<(B, States), E, D>, OpError> {
        let number = |(row, state)| E::from_f64(if holds(row, state) { 0.0 } else { -1e30 }).unwrap();
        tensor(&device, Vec::from_iter(places().map(number)), (batch, states))
    };
    let begins = only(&|_, state| state < 2)?;
    let skips = only(&|row, state| state > 2 && state % 2 == 1 && label(row, state) != label(row, state - 2))?;
    let ends = only(&|row, state| [0, 1].contains(&(2 * labels[row].len()).wrapping_sub(state)))?;

    let ids = Vec::from_iter(places().map(|(row, state)| label(row, state)));
    let logits: Tensor<(B, V, S), E, D, T> = permute(log_softmax_over(logits, axis::<V>())?)?;
    let emitted: Tensor<(B, States, S), E, D, T> =
        gather(logits, axis::<V>(), &Indices::new(&ids, (batch, states), V::default())?)?;
    let none: Tensor<(B, One), E, D, T> = full(&device, (batch, One), -1e30)?.retaped::<T>();
    let after = |x: Tensor<(B, States), E, D, T>| {
        let x: Tensor<(B, Sum<One, States>), E, D, T> = concat(none.clone(), x, along::<One, States>())?;
        slice(x, axis::<Sum<One, States>>(), 0, states)
    };
    let mut frames = unstack(emitted, axis::<S>())?.into_iter().enumerate();
    let mut paths = add(frames.next().expect("a tensor has elements").1, &begins)?;
    for (frame, emitted) in frames {
        let one_further = after(paths.clone())?;
        let two_further = add(after(one_further.clone())?, &skips)?;
        let all: Tensor<(B, States, Three), E, D, T> = stack(vec![paths.clone(), one_further, two_further], Three)?;
        // A row whose frames have ended keeps its paths.
        let [goes_on, has_ended] = [true, false].map(|goes_on| {
            let number = |&len: &usize| if (frame < len) == goes_on { E::one() } else { E::zero() };
            tensor(&device, Vec::from_iter(lengths.iter().map(number)), (batch,))
        });
        paths = add(mul(add(log_sum_exp(all)?, emitted)?, &goes_on?)?, mul(paths, &has_ended?)?)?;
    }
    let paths: Tensor<(B, One, States), E, D, T> = broadcast(add(paths, &ends)?, (batch, One, states), axis::<One>())?;
    scale(select(log_sum_exp(paths)?, axis::<One>(), 0)?, -1.0)
}

#[test]
fn labels_without_their_places() {
    let logits = random(7, (Batch, Frames, Letters));
    let (labels, lengths): ([&[usize]; 2], _) = ([&[1, 1], &[2]], [5, 3]);
    let found = ctc(logits.clone(), &labels, &lengths).unwrap();
    // All paths whose blanks and repetitions leave the labels.
    let log_p = log_softmax_over(logits.clone(), axis::<Letters>()).unwrap().as_vec();
    let expected = (0..2).map(|row| {
        let path = |n: usize| Vec::from_iter((0..lengths[row]).map(|frame| n / 3usize.pow(frame as u32) % 3));
        let probability = |path: Vec<usize>| {
            let mut read = path.clone();
            read.dedup();
            read.retain(|&id| id != 0);
            let log_p = path.iter().enumerate().map(|(frame, id)| log_p[(row * 5 + frame) * 3 + id]).sum::<f64>();
            if read == labels[row] { log_p.exp() } else { 0.0 }
        };
        -(0..3usize.pow(lengths[row] as u32)).map(|n| probability(path(n))).sum::<f64>().ln()
    });
    assert_close(&found.as_vec(), &Vec::from_iter(expected), 1e-9);
    check(logits, |logits| weighted_sum(ctc(logits, &labels, &lengths).unwrap()));
}
