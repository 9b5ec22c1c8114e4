//! Losses as the tables of `docs/porting.md` write them, against plain loops.

use crate::finite_differences::{check, check_parameter, weighted_sum};
use crate::numbers::{F64, Taped, assert_close, random_like as random, softmax};
use crate::recorded::Recorded;
use typed_transformer::backend::Tape;
use typed_transformer::dims::{AxesAmong, DataShape};
use typed_transformer::ops::{
    Activation, NamedAxes, Tanh, full, kl_divergence, linear, lt, maximum, ne, offset, sub, where_,
};
use typed_transformer::prelude::*;

dims! { Batch = 2; InDim = 3; HiddenDim = 4; VocabSize = 5; Images; Texts; }

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
    let size = maximum(difference.clone(), scale(difference.clone(), -1.0)?)?;
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
