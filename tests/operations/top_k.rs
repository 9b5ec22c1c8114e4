//! The few highest of many elements.

use crate::numbers::device;
use dfdx::tensor::AutoDevice;
use typed_transformer::ops::{argmax, top_k};
use typed_transformer::prelude::*;

dims! { Few = 40; Most = 280; All = 300; Lines = 3; Long = 5000; Wide = 7; }

/// Only the highest are sorted, and yet they stand as in a stable sort of all: the first of equal ones first, NaNs last.
#[test]
fn top_k_is_the_beginning_of_a_stable_sort() {
    let elements: Vec<f64> = (0..300).map(|i| if i % 7 == 3 { f64::NAN } else { (i * i % 23) as f64 }).collect();
    let mut order: Vec<usize> = (0..300).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (elements[a], elements[b]);
        b.partial_cmp(&a).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
    });
    let x: Tensor<(All,), f64, AutoDevice> = device().tensor(elements);
    assert_eq!(top_k(x.clone(), axis::<All>(), Few).unwrap().1.as_slice(), &order[..40]);
    assert_eq!(top_k(x.clone(), axis::<All>(), Most).unwrap().1.as_slice(), &order[..280]);
    assert_eq!(top_k(x, axis::<All>(), All).unwrap().1.as_slice(), order);
}

/// Lines that are longer than what is selected at once, for several threads; along an axis in the middle, too.
#[test]
fn top_k_of_long_lines_is_that_of_each() {
    let number = |i: usize| match i * 7919 % 10_007 {
        i if i % 11 == 3 => f64::NAN,
        i => (i % 4001) as f64,
    };
    let x: Tensor<(Lines, Long, Wide), f64, AutoDevice> = device().tensor((0..105_000).map(number).collect::<Vec<_>>());
    let (all, elements) = (top_k(x.clone(), axis::<Long>(), Few).unwrap().1, x.as_vec());
    let highest = argmax(&x, axis::<Long>()).unwrap();
    for line in 0..21 {
        let at = |index: usize| elements[(line / 7 * 5000 + index) * 7 + line % 7];
        let mut order: Vec<usize> = (0..5000).filter(|index| !at(*index).is_nan()).collect();
        order.sort_by(|&a, &b| at(b).total_cmp(&at(a)));
        let found: Vec<usize> = (0..40).map(|rank| all.as_slice()[(line / 7 * 40 + rank) * 7 + line % 7]).collect();
        assert_eq!(found, order[..40]);
        assert_eq!(highest.as_slice()[line], order[0]);
    }
}

/// Each element is above those before it, but the first two are -0, which is equal to 0.
#[test]
fn top_k_of_rising_lines_is_their_end_in_reverse() {
    let number = |i: usize| if i % 5000 < 2 { -0.0 } else { (i % 5000 - 2) as f32 - 2000.0 };
    let x: Tensor<(Lines, Long), f32, AutoDevice> = device().tensor((0..15_000).map(number).collect::<Vec<_>>());
    let order: Vec<usize> = (2003..5000).rev().chain([0, 1, 2002]).chain((2..2002).rev()).collect();
    let found = top_k(x.clone(), axis::<Long>(), Long).unwrap().1;
    assert!(found.as_slice().chunks(5000).all(|line| line == order));
    let found = top_k(x, axis::<Long>(), Few).unwrap().1;
    assert!(found.as_slice().chunks(40).all(|line| line == &order[..40]));
}
