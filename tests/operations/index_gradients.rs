//! The gradients of operations on the places of an axis, against finite differences in `f64`.

use crate::finite_differences::{check, random, weighted_sum};
use crate::numbers::Taped;
use typed_transformer::{dims::Windows, ops, prelude::*, tokens::Indices};

dims! { Batch = 2; Len = 5; Count = 3; EmbedDim = 4; }

type X = (Batch, Len, EmbedDim);

#[test]
fn one_place_or_some() {
    let input = random::<X>(1);
    check(input.clone(), |x| weighted_sum(ops::select(x, axis::<Len>(), Fin::<Len>::literal::<3>()).unwrap()));
    check(input.clone(), |x| weighted_sum(ops::slice(x, axis::<Len>(), 1, Count).unwrap()));
    check(input.clone(), |x| {
        let windows: Taped<(Batch, Windows<Len, Count>, EmbedDim, Count)> =
            ops::windows(x, axis::<Len>(), Count).unwrap();
        weighted_sum(windows)
    });
    check(input, |x| {
        let windows: Taped<(Count, Batch, Windows<Len, Count>, EmbedDim)> =
            ops::windows(x, axis::<Len>(), Count).unwrap();
        weighted_sum(windows)
    });
}

#[test]
fn steps_of_a_view() {
    check(random::<X>(7), |x| {
        let steps: Taped<(Len, Batch, EmbedDim)> = permute(x).unwrap();
        let steps: Vec<Taped<(Batch, EmbedDim)>> = ops::unstack(steps, axis::<Len>()).unwrap();
        assert_eq!(steps.len(), Len::SIZE);
        let sums = steps.into_iter().zip(1..).map(|(step, factor)| weighted_sum(step) * f64::from(factor));
        sums.reduce(|sum, next| sum + next).unwrap()
    });
}

#[test]
fn vectors_under_a_kernel() {
    dims! { Kernel = 3; Stride = 2; Padding = 1; HiddenDim = 2; }
    let (input, weight, image) = (random::<X>(3), random(4), random::<(Batch, Len, Count, EmbedDim)>(5));
    check(input.clone(), |x| weighted_sum(ops::conv1d(x, &weight, None, Stride, Padding).unwrap()));
    check::<(HiddenDim, EmbedDim, Kernel)>(weight, |weight| {
        weighted_sum(ops::conv1d(input.retaped(), &weight, None, Stride, Padding).unwrap())
    });
    let weight = random::<(HiddenDim, EmbedDim, Kernel, Stride)>(6);
    check(image.clone(), |x| weighted_sum(ops::conv2d(x, &weight, None, Stride, Padding).unwrap()));
    check(weight, |weight| weighted_sum(ops::conv2d(image.retaped(), &weight, None, Stride, Padding).unwrap()));
}

#[test]
fn a_part_is_not_the_only_use_of_a_tensor() {
    check(random::<X>(6), |x| {
        let part: Taped<(Batch, Count, EmbedDim)> = narrow(x.clone(), axis::<Len>(), 0, Count).unwrap();
        let overlapping: Taped<(Batch, Count, EmbedDim)> = narrow(x.clone(), axis::<Len>(), 1, Count).unwrap();
        weighted_sum(part) + weighted_sum(overlapping) * 3.0 + weighted_sum(x)
    });
}

#[test]
fn indices() {
    let input = random::<X>(2);
    // Index 4 occurs often, so its gradients add up.
    let numbers: Vec<usize> = (0..24).map(|i| if i % 3 == 0 { 4 } else { i % 5 }).collect();
    let each = Indices::new(&numbers, (Batch, Count, EmbedDim), Len).unwrap();
    check(input.clone(), |x| weighted_sum(ops::gather(x, axis::<Len>(), &each).unwrap()));
    let all = Indices::new(&[4, 0, 4], (Count,), Len).unwrap();
    check(input.clone(), |x| weighted_sum(ops::take(x, axis::<Len>(), &all).unwrap()));
    check(input, |x| weighted_sum(ops::top_k(x, axis::<Len>(), Count).unwrap().0));
}

#[test]
fn sums_and_means() {
    let input = random::<X>(3);
    check(input.clone(), |x| weighted_sum(ops::cumsum(x, axis::<Len>()).unwrap()));
    check(input.clone(), |x| weighted_sum(ops::cumsum(x, axis::<EmbedDim>()).unwrap()));
    check(input, |x| ops::mean(x).unwrap());
}

#[test]
fn alternatives() {
    let (input, other) = (random::<X>(4), random::<X>(5));
    let mask = ops::gt(&input, &other).unwrap();
    let recorded: Taped<X> = other.retaped();
    assert_eq!(ops::gt(&input, &recorded).unwrap().as_vec(), mask.as_vec());
    assert_eq!(ops::gt(&input, recorded).unwrap().as_vec(), mask.as_vec());
    check(input.clone(), |x| weighted_sum(ops::where_(&mask, x, 0.25).unwrap()));
    check(input.clone(), |x| weighted_sum(ops::where_(&mask, x, &other).unwrap()));
    check(other, |y| weighted_sum(ops::where_(&mask, input.retaped(), y).unwrap()));
}
