//! The few highest of many elements.

use crate::numbers::device;
use dfdx::tensor::AutoDevice;
use typed_transformer::{ops::top_k, prelude::*};

dims! { Few = 40; Most = 280; All = 300; }

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
