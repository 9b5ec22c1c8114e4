//! Operations on named axes: their results on every axis, and their run-time errors.

use crate::finite_differences::{check, random, weighted_sum};
use crate::numbers::device;
use dfdx::tensor::{AutoDevice, TensorFromVec};
use proptest::prelude::*;
use typed_transformer::dims::Dim;
use typed_transformer::local_dims;
use typed_transformer::ops::{broadcast, concat, flatten, narrow, reshape, split, sum_over, unflatten};
use typed_transformer::prelude::*;

dims! { Rows; Past; Present; Columns; Width = 3; Half = 2; Twice = 6; }

type X<Dims> = Tensor<Dims, f64, AutoDevice>;

/// The elements `first`, `first + 1`, …
fn count_from<Dims: Shape>(first: usize, shape: Dims) -> X<Dims> {
    let elements = (first..first + shape.num_elements()).map(|i| i as f64);
    device().tensor_from_vec(elements.collect(), shape)
}

/// One element of a tensor of three axes.
fn element<A: Dim, B: Dim, C: Dim>(x: &X<(A, B, C)>, a: usize, b: usize, c: usize) -> f64 {
    let (_, len, width) = *x.shape();
    x.as_vec()[(a * len.size() + b) * width.size() + c]
}

proptest! {
    #[test]
    fn concat_keeps_the_order_and_split_undoes_it(
        rows in 1usize..4, past in 1usize..4, present in 1usize..4, columns in 1usize..4,
    ) {
        let (rows, past) = (Rows::new(rows), Past::new(past));
        let (present, columns) = (Present::new(present), Columns::new(columns));
        let all = Sum::of(past, present);
        let one = count_from(0, (rows, past, columns));
        let other = count_from(1000, (rows, present, columns));
        let whole: X<(Rows, Sum<Past, Present>, Columns)> =
            concat(one.clone(), other.clone(), along::<Past, Present>()).unwrap();
        prop_assert_eq!(*whole.shape(), (rows, all, columns));
        for (r, c) in (0..rows.size()).flat_map(|r| (0..columns.size()).map(move |c| (r, c))) {
            for s in 0..past.size() {
                prop_assert_eq!(element(&whole, r, s, c), element(&one, r, s, c));
            }
            for s in 0..present.size() {
                prop_assert_eq!(element(&whole, r, past.size() + s, c), element(&other, r, s, c));
            }
        }
        let (first, second) = split(whole, past, present, axis::<Sum<Past, Present>>()).unwrap();
        prop_assert_eq!(first.as_vec(), one.as_vec());
        prop_assert_eq!(second.as_vec(), other.as_vec());
    }

    #[test]
    fn reductions_remove_the_named_axis(
        rows in 1usize..4, past in 1usize..4, columns in 1usize..4,
    ) {
        let shape = (Rows::new(rows), Past::new(past), Columns::new(columns));
        let x = count_from(0, shape);
        let sum_of_rows: X<(Past, Columns)> = sum_over(x.clone(), axis::<Rows>()).unwrap();
        let mean_of_past: X<(Rows, Columns)> = mean_over(x.clone(), axis::<Past>()).unwrap();
        let max_of_columns: X<(Rows, Past)> = max_over(x.clone(), axis::<Columns>()).unwrap();
        let weights = softmax_over(x.clone(), axis::<Past>()).unwrap();
        for r in 0..rows {
            for s in 0..past {
                for c in 0..columns {
                    let column: f64 = (0..rows).map(|r| element(&x, r, s, c)).sum();
                    prop_assert_eq!(sum_of_rows.as_vec()[s * columns + c], column);
                    let middle = (element(&x, r, 0, c) + element(&x, r, past - 1, c)) / 2.0;
                    prop_assert!((mean_of_past.as_vec()[r * columns + c] - middle).abs() < 1e-9);
                    prop_assert_eq!(max_of_columns.as_vec()[r * past + s], element(&x, r, s, columns - 1));
                    let exp = |s: usize| (element(&x, r, s, c) - element(&x, r, 0, c)).exp();
                    let weight = exp(s) / (0..past).map(exp).sum::<f64>();
                    prop_assert!((element(&weights, r, s, c) - weight).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn a_permutation_moves_each_element_with_its_axes(
        rows in 1usize..4, past in 1usize..4, columns in 1usize..4,
    ) {
        let x = count_from(0, (Rows::new(rows), Past::new(past), Columns::new(columns)));
        let moved: X<(Columns, Rows, Past)> = permute(x.clone()).unwrap();
        for r in 0..rows {
            for s in 0..past {
                for c in 0..columns {
                    prop_assert_eq!(element(&moved, c, r, s), element(&x, r, s, c));
                }
            }
        }
        // Concatenation reads a permuted tensor by its axes, not by its memory order.
        let half = count_from(1000, (Columns::new(columns), Half, Past::new(past)));
        let longer: X<(Columns, Sum<Rows, Half>, Past)> =
            concat(moved.clone(), half, along::<Rows, Half>()).unwrap();
        let (rows_again, _) = split(longer, Rows::new(rows), Half, axis::<Sum<Rows, Half>>()).unwrap();
        prop_assert_eq!(rows_again.as_vec(), moved.as_vec());
        let back: X<(Rows, Past, Columns)> = permute(moved).unwrap();
        prop_assert_eq!(back.as_vec(), x.as_vec());
    }
}

#[test]
fn sum_over_removes_any_axis_of_any_rank() {
    let one = count_from(0, (Half,));
    let two = count_from(0, (Half, Width));
    let four = count_from(0, (Rows::new(2), Half, Width, Twice));
    assert_eq!(sum_over(one, axis::<Half>()).unwrap().array(), 1.0);
    assert_eq!(sum_over(two.clone(), axis::<Half>()).unwrap().as_vec(), [3.0, 5.0, 7.0]);
    assert_eq!(sum_over(two, axis::<Width>()).unwrap().as_vec(), [3.0, 12.0]);
    let shapes = (
        *sum_over(four.clone(), axis::<Rows>()).unwrap().shape(),
        *sum_over(four.clone(), axis::<Half>()).unwrap().shape(),
        *sum_over(four.clone(), axis::<Width>()).unwrap().shape(),
        *sum_over(four, axis::<Twice>()).unwrap().shape(),
    );
    assert_eq!(
        format!("{shapes:?}"),
        "((Half=2, Width=3, Twice=6), (Rows=2, Width=3, Twice=6), (Rows=2, Half=2, Twice=6), (Rows=2, Half=2, Width=3))",
    );
}

#[test]
fn the_size_of_a_sum_of_sums_is_found_at_once() {
    dims! { Patches = 100_000; Found = 100; }
    type Seen = Sum<Const<1>, Patches>;
    assert!(<(Sum<Seen, Found>,)>::from_concrete(&[100_101]).is_some());
    assert!(<(Sum<Seen, Found>,)>::from_concrete(&[100_100]).is_none());
    assert!(<(Sum<Seen, Past>, Sum<Past, Seen>)>::from_concrete(&[100_001, 200_000]).is_some());
    assert!(<(Sum<Seen, Past>,)>::from_concrete(&[100_000]).is_none());
    type Read = Sum<Sum<Sum<Past, Const<1>>, Const<1>>, Product<Half, Width>>;
    assert!(<(Read,)>::from_concrete(&[100_003]).is_some());
    assert!(<(Read,)>::from_concrete(&[7]).is_none());
    local_dims! { let _a: A = 30_000; let _b: B = 30_000; let _c: C = 30_000; }
    type Left = Sum<Sum<A, B>, C>;
    type Right = Sum<A, Sum<B, C>>;
    assert!(<(Left, Right)>::from_concrete(&[90_000, 90_000]).is_some());
    assert!(<(Left,)>::from_concrete(&[90_001]).is_none());
    assert!(<(Right,)>::from_concrete(&[90_001]).is_none());
}

#[test]
fn narrow_starts_at_the_given_position() {
    let x = count_from(0, (Half, Twice));
    let part: X<(Half, Width)> = narrow(x.clone(), axis::<Twice>(), 2, Width).unwrap();
    assert_eq!(part.as_vec(), [2.0, 3.0, 4.0, 8.0, 9.0, 10.0]);
    let error = narrow(x.clone(), axis::<Twice>(), 4, Width).unwrap_err();
    assert_eq!(error.to_string(), "narrow: Width=3 from 4 on is not inside Twice=6");
    assert!(narrow(x, axis::<Twice>(), usize::MAX, Width).is_err());
}

#[test]
fn run_time_sizes_are_compared() {
    let (two, three) = (Rows::new(2), Rows::new(3));
    let error = broadcast(count_from(0, (two,)), (three, Width), axis::<Width>()).unwrap_err();
    assert_eq!(error.to_string(), "broadcast: shape (Rows=2,) is not compatible with (Rows=3, Width=3)");
    let error = reshape(count_from(0, (two, Product::<Half, Width>::default())), (three, Half, Width)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "reshape: shape (Rows=2, Product<Half, Width>=6) is not compatible with (Rows=3, Half=2, Width=3)"
    );
    // As many elements, but tokens of one sequence would be in another.
    let error = reshape(
        count_from(0, (two, Past::new(3), Product::<Half, Width>::default())),
        (three, Past::new(2), Half, Width),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "reshape: shape (Rows=2, Past=3, Product<Half, Width>=6) is not compatible with (Rows=3, Past=2, Half=2, Width=3)"
    );
    let past = count_from(0, (two, Past::new(1)));
    let present = count_from(0, (three, Present::new(1)));
    let whole: Result<X<(Rows, Sum<Past, Present>)>, _> = concat(past, present, along::<Past, Present>());
    assert_eq!(
        whole.unwrap_err().to_string(),
        "concat: shape (Rows=2, Past=1) is not compatible with (Rows=3, Present=1)"
    );
    let whole = count_from(0, (Sum::of(Past::new(2), Present::new(3)),));
    let parts = split(whole, Past::new(2), Present::new(2), axis::<Sum<Past, Present>>());
    assert_eq!(
        parts.unwrap_err().to_string(),
        "split: Past=2 and Present=2 from 0 on is not inside Sum<Past, Present>=5"
    );
}

#[test]
fn flattened_axes_are_rows_in_their_order() {
    let x = count_from(0, (Rows::new(2), Half, Width));
    let rows: X<(Columns, Width)> = flatten(x.clone(), Columns::new(4)).unwrap();
    assert_eq!(rows.as_vec(), x.as_vec());
    let back = unflatten(rows.clone(), *x.shape()).unwrap();
    assert_eq!((back.shape(), back.as_vec()), (x.shape(), x.as_vec()));
    // A view has another order in memory.
    let moved: X<(Half, Rows, Width)> = permute(x.clone()).unwrap();
    let rows_of_moved: X<(Columns, Width)> = flatten(moved.clone(), Columns::new(4)).unwrap();
    assert_eq!(rows_of_moved.as_vec(), moved.as_vec());
    assert_eq!(
        flatten(x, Columns::new(3)).unwrap_err().to_string(),
        "flatten: shape (Rows=2, Half=2, Width=3) is not compatible with (Columns=3, Width=3)",
    );
    assert_eq!(
        unflatten(rows, (Rows::new(3), Half, Width)).unwrap_err().to_string(),
        "unflatten: shape (Columns=4, Width=3) is not compatible with (Rows=3, Half=2, Width=3)",
    );
    check(random::<(Half, Twice, Width)>(1), |x| weighted_sum(flatten(x, Columns::new(12)).unwrap()));
    check(random::<(Twice, Width)>(2), |x| weighted_sum(unflatten(x, (Width, Half, Width)).unwrap()));
}

#[test]
fn a_product_with_a_sum_is_split_and_merged() {
    // The fused queries, keys and values of a GPT-NeoX.
    type Fused = Sum<Half, Sum<Half, Half>>;
    let rows = Rows::new(2);
    let x = count_from(0, (rows, Product::<Width, Fused>::default()));
    let split: X<(Rows, Width, Fused)> = reshape(x.clone(), (rows, Width, Fused::default())).unwrap();
    assert_eq!(split.as_vec(), x.as_vec());
    let merged: X<(Rows, Product<Width, Fused>)> = reshape(split.clone(), *x.shape()).unwrap();
    assert_eq!(merged.as_vec(), x.as_vec());
    let error = reshape(split, (Rows::new(3), Product::<Width, Fused>::default())).unwrap_err();
    assert!(matches!(error, OpError::Shape { op: "reshape", .. }), "{error}");
}

#[test]
fn only_concat_accepts_an_empty_tensor() {
    let past = count_from(0, (Half, Past::new(0)));
    let present = count_from(0, (Half, Present::new(2)));
    let whole: X<(Half, Sum<Past, Present>)> = concat(past, present.clone(), along::<Past, Present>()).unwrap();
    assert_eq!(whole.as_vec(), present.as_vec());
    let parts = split(whole, Past::new(0), Present::new(2), axis::<Sum<Past, Present>>());
    assert_eq!(parts.unwrap_err().to_string(), "split: (Half=2, Past=0) has no elements");
    let nothing = count_from(0, (Half, Past::new(0)));
    assert_eq!(
        sum_over(nothing, axis::<Half>()).unwrap_err().to_string(),
        "sum_over: (Half=2, Past=0) has no elements"
    );
}

#[test]
fn a_local_dimension_keeps_its_bound_and_its_name() {
    local_dims! {
        let short: Short <= Half = 2;
        let long: Long <= Half = 3;
        let free: Free = 3;
    }
    assert_eq!(format!("{:?}", (short.unwrap(), free)), "(Short=2, Free=3)");
    assert_eq!(long.unwrap_err().to_string(), "`Long` of 3 is longer than `Half` of 2");
    assert_eq!(<Long as dfdx::shapes::Dim>::from_size(3), None);
    assert_eq!(std::mem::size_of::<Free>(), std::mem::size_of::<usize>());
}

#[test]
fn every_dimension_has_a_size() {
    let (product, quotient) = (Product::<Width, Half>::default(), Quotient::<Twice, Half>::default());
    assert_eq!((product.size(), quotient.size(), Sum::<Width, Half>::default().size()), (6, 3, 5));
}
