//! Functions of elements, lines, parameters and experts, as the tables of `docs/porting.md` write them, against plain
//! loops.

use crate::finite_differences::{check, check_parameter, weighted_sum};
use crate::numbers::{assert_close, device, random_like as random};
use crate::recorded::Recorded;
use typed_transformer::backend::Tape;
use typed_transformer::ops::{
    Activation, Exp, Relu, Sigmoid, Softplus, Tanh, detach, div, full, gather, linear, maximum, minimum, offset,
    select, top_k, zeros,
};
use typed_transformer::prelude::*;

dims! {
    Batch = 2; NumLabels = 3; NumKeys = 4; InDim = 3; OutDim = 2; Tokens = 7; NumExperts = 5; NumChosen = 2; One = 1;
}

/// `F.leaky_relu(x, 0.1)`, `F.elu(x)` and `F.mish(x)`.
fn activated<B: Dim, S: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, S), E, D, T>,
) -> Result<[Tensor<(B, S), E, D, T>; 3], OpError> {
    let zero = zeros(x.device(), ())?;
    let leaky = maximum(x.clone(), scale(x.clone(), 0.1)?)?;
    let elu = add(Relu::apply(x.clone())?, offset(Exp::apply(minimum(x.clone(), &zero)?)?, -1.0)?)?;
    let mish = mul(x.clone(), Tanh::apply(Softplus::apply(x)?)?)?;
    Ok([leaky, elu, mish])
}

#[test]
fn activations_without_a_kernel() {
    let x = random(1, (Batch, NumLabels));
    let functions: [fn(f64) -> f64; 3] = [
        |x| if x > 0.0 { x } else { 0.1 * x },
        |x| if x > 0.0 { x } else { x.exp() - 1.0 },
        |x| x * x.exp().ln_1p().tanh(),
    ];
    for (i, function) in functions.into_iter().enumerate() {
        let found = activated(x.clone()).unwrap()[i].as_vec();
        assert_close(&found, &Vec::from_iter(x.as_vec().into_iter().map(function)), 1e-9);
        check(x.clone(), |x| weighted_sum(activated(x).unwrap()[i].clone()));
    }
}

/// A linear map whose weight is `weight_norm` of a direction and a size for each output.
fn linear_of_norm<B: Dim, I: ConstDim, O: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, I), E, D, T>,
    direction: &Tensor<(O, I), E, D>,
    size: &Tensor<(O,), E, D>,
) -> Result<Tensor<(B, O), E, D, T>, OpError> {
    let scale = full(x.device(), (I::default(),), (I::SIZE as f64).powf(-0.5))?;
    let unit = rms_norm(direction.retaped::<T>(), &scale, 0.0)?;
    linear(x, &mul(unit, size)?, None)
}

#[test]
fn a_parameter_that_goes_through_a_function() {
    let (x, direction, size) = (random(2, (Batch, InDim)), random(3, (OutDim, InDim)), random(4, (OutDim,)));
    let found = linear_of_norm(x.recorded(), &direction, &size).unwrap();
    let (numbers, directions, sizes) = (x.as_vec(), direction.as_vec(), size.as_vec());
    let expected = (0..4).map(|i| {
        let (x, v) = (&numbers[i / 2 * 3..][..3], &directions[i % 2 * 3..][..3]);
        let length = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        sizes[i % 2] * x.iter().zip(v).map(|(x, v)| x * v / length).sum::<f64>()
    });
    assert_close(&found.as_vec(), &Vec::from_iter(expected), 1e-9);
    let mut gradients = weighted_sum(found).backward().unwrap();
    let value = |direction: &_, size: &_| weighted_sum(linear_of_norm(x.recorded(), direction, size).unwrap()).array();
    check_parameter(&direction, &mut gradients, |direction| value(direction, &size));
    check_parameter(&size, &mut gradients, |size| value(&direction, size));
}

/// `x.gather(-1, chosen[:, None])[:, 0]`: a number of each line.
fn picked<B: Dim, V: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, V), E, D, T>,
    chosen: &Indices<(B, One), V>,
) -> Result<Tensor<(B,), E, D, T>, OpError> {
    select(gather(x, axis::<V>(), chosen)?, axis::<One>(), 0)
}

#[test]
fn a_number_of_each_line() {
    let x = random(8, (Batch, NumLabels));
    let chosen = Indices::new(&[2, 0], (Batch, One), NumLabels).unwrap();
    assert_eq!(picked(x.clone(), &chosen).unwrap().as_vec(), [x.as_vec()[2], x.as_vec()[3]]);
    check(x, |x| weighted_sum(picked(x, &chosen).unwrap()));
    // The others may be hidden.
    let numbers = [f64::NEG_INFINITY, 0.5, 2.0, 3.0, f64::NEG_INFINITY, 1.0];
    let x = tensor(&device(), numbers, (Batch, NumLabels)).unwrap();
    assert_eq!(picked(x, &chosen).unwrap().as_vec(), [2.0, 3.0]);
}

/// `x[:, :, None] + y[:, None]`.
fn outer_sum<B: Dim, Q: Dim, K: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, Q), E, D, T>,
    y: Tensor<(B, K), E, D, T>,
) -> Result<Tensor<(B, Q, K), E, D, T>, OpError> {
    let ((batch, queries), (_, keys)) = (*x.shape(), *y.shape());
    add(broadcast(x, (batch, queries, keys), axis::<K>())?, y)
}

#[test]
fn sums_of_all_pairs() {
    let (x, y) = (random(6, (Batch, NumLabels)), random(7, (Batch, NumKeys)));
    let found = outer_sum(x.clone(), y.clone()).unwrap();
    let expected = (0..24).map(|i| x.as_vec()[i / 4] + y.as_vec()[i / 12 * 4 + i % 4]);
    assert_eq!(found.as_vec(), Vec::from_iter(expected));
}

/// The weights of the experts that each token chooses, and the loss that balances the experts. The bias only chooses.
fn routed<A: Dim, N: ConstDim, K: ConstDim + AtMost<N>, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(A, M), E, D, T>,
    router: &Tensor<(N, M), E, D>,
    bias: &Tensor<(N,), E, D>,
) -> Result<(Tensor<(A, K), E, D, T>, Indices<(A, K), N>, Tensor<(), E, D, T>), OpError> {
    let scores = Sigmoid::apply(linear(x, router, None)?)?;
    let chosen: Indices<(A, K), N> = top_k(add(detach(&scores)?, bias)?, axis::<N>(), K::default())?.1;
    let weights: Tensor<(A, K), E, D, T> = gather(scores.clone(), axis::<N>(), &chosen)?;
    let weights = div(weights.clone(), sum_over(weights, axis::<K>())?)?;
    let share = |expert: usize| chosen.as_slice().iter().filter(|chosen| **chosen == expert).count() as f64;
    let shares = (0..N::SIZE).map(|expert| E::from_f64(share(expert) / chosen.as_slice().len() as f64).unwrap());
    let shares = tensor(bias.device(), Vec::from_iter(shares), (N::default(),))?;
    let balance = einsum!(mean_over(scores, axis::<A>())?: (N), &shares: (N) -> ())?;
    Ok((weights, chosen, scale(balance, (N::SIZE * K::SIZE) as f64)?)) // as `load_balancing_loss_func`
}

#[test]
fn a_bias_that_only_chooses() {
    let (x, router) = (random(8, (Tokens, InDim)), random(9, (NumExperts, InDim)));
    let bias = tensor(&device(), [1.0, 0.0, -1.0, 0.0, 0.0], (NumExperts,)).unwrap();
    let (weights, chosen, balance) = routed::<_, _, NumChosen, _, _, _, _>(x.clone(), &router, &bias).unwrap();
    let scores = Sigmoid::apply(linear(x.clone(), &router, None).unwrap()).unwrap().as_vec();
    let (mut expected, mut counts) = (Vec::new(), [0.0; 5]);
    for (scores, chosen) in scores.chunks(5).zip(chosen.as_slice().chunks(2)) {
        // Expert 0 is always the first, and expert 2 is never chosen.
        let second = [1, 3, 4].into_iter().max_by(|a: &usize, b| scores[*a].total_cmp(&scores[*b])).unwrap();
        assert_eq!(chosen, [0, second]);
        expected.extend([0, second].map(|expert| scores[expert] / (scores[0] + scores[second])));
        chosen.iter().for_each(|expert| counts[*expert] += 1.0);
    }
    assert_close(&weights.as_vec(), &expected, 1e-9);
    let expected = (0..35).map(|i| 5.0 * counts[i % 5] / 7.0 * scores[i] / 7.0).sum();
    assert_close(&[balance.array()], &[expected], 1e-9);
    check(x, |x| {
        let (weights, _, balance) = routed::<_, _, NumChosen, _, _, _, _>(x, &router, &bias).unwrap();
        add(weighted_sum(weights), balance).unwrap()
    });
}
