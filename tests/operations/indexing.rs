//! Operations on the places of an axis, against definitions by plain loops.

use crate::numbers::device;
use dfdx::tensor::{AutoDevice, TensorFromVec};
use proptest::prelude::*;
use rand::{SeedableRng, rngs::StdRng};
use typed_transformer::dims::Windows;
use typed_transformer::ops::{
    argmax, cumsum, eq, full, gather, ge, gt, iota, le, lt, mean, ne, normal, one_hot, select, slice, slice_last, take,
    top_k, unstack, where_, windows, zeros,
};
use typed_transformer::prelude::*;
use typed_transformer::tokens::Indices;

dims! { Rows; Len; Columns; Count; Width = 3; Half = 2; Five = 5; }

type X<Dims> = Tensor<Dims, f64, AutoDevice>;
type Shape3 = (Rows, Len, Columns);

/// Numbers of which some are equal.
fn numbers<Dims: Shape>(seed: usize, shape: Dims) -> X<Dims> {
    let number = |i: usize| ((i * 7 + seed * 5 + i * i) % 11) as f64 - 5.0;
    device().tensor_from_vec((0..shape.num_elements()).map(number).collect(), shape)
}

fn at<A: Dim, B: Dim, C: Dim>(x: &X<(A, B, C)>, [a, b, c]: [usize; 3]) -> f64 {
    let (_, len, width) = *x.shape();
    x.as_vec()[(a * len.size() + b) * width.size() + c]
}

/// The places of a shape, in row-major order.
fn places(sizes: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    let [rows, len, columns] = sizes;
    (0..rows).flat_map(move |a| (0..len).flat_map(move |b| (0..columns).map(move |c| [a, b, c])))
}

prop_compose! {
    /// A seed and sizes from 1 to 4.
    fn call()(seed in 0usize..100, rows in 1usize..5, len in 1usize..5, columns in 1usize..5)
        -> (usize, [usize; 3], X<Shape3>) {
        (seed, [rows, len, columns], numbers(seed, (Rows::new(rows), Len::new(len), Columns::new(columns))))
    }
}

proptest! {
    #[test]
    fn select_drops_the_axis((seed, [rows, len, columns], x) in call()) {
        let index = seed % len;
        let of_len: X<(Rows, Columns)> = select(x.clone(), axis::<Len>(), index).unwrap();
        let expected: Vec<f64> = places([rows, 1, columns]).map(|[a, _, c]| at(&x, [a, index, c])).collect();
        prop_assert_eq!(of_len.as_vec(), expected);
        let of_rows: X<(Len, Columns)> = select(x.clone(), axis::<Rows>(), seed % rows).unwrap();
        let expected: Vec<f64> = places([1, len, columns]).map(|[_, b, c]| at(&x, [seed % rows, b, c])).collect();
        prop_assert_eq!(of_rows.as_vec(), expected);
        let of_each: Vec<X<(Rows, Columns)>> = unstack(x.clone(), axis::<Len>()).unwrap();
        prop_assert_eq!((of_each.len(), of_each[index].as_vec()), (len, of_len.as_vec()));
        let error = select(x, axis::<Len>(), len).unwrap_err();
        prop_assert_eq!(error.to_string(), format!("select: {len} is not an index of Len={len}"));
    }

    #[test]
    fn slice_is_checked((seed, [rows, len, columns], x) in call(), part in 1usize..5) {
        let start = seed % len;
        let sliced = slice(x.clone(), axis::<Len>(), start, Count::new(part));
        if start + part > len {
            let error = format!("slice: Count={part} from {start} on is not inside Len={len}");
            prop_assert_eq!(sliced.unwrap_err().to_string(), error);
        } else {
            let sliced: X<(Rows, Count, Columns)> = sliced.unwrap();
            for [a, b, c] in places([rows, part, columns]) {
                prop_assert_eq!(at(&sliced, [a, b, c]), at(&x, [a, start + b, c]));
            }
        }
        let end = slice_last(x.clone(), axis::<Len>(), Count::new(part));
        if part > len {
            let error = format!("slice: Count={part} from 0 on is not inside Len={len}");
            prop_assert_eq!(end.unwrap_err().to_string(), error);
        } else {
            let end: X<(Rows, Count, Columns)> = end.unwrap();
            for [a, b, c] in places([rows, part, columns]) {
                prop_assert_eq!(at(&end, [a, b, c]), at(&x, [a, len - part + b, c]));
            }
        }
    }

    #[test]
    fn gather_and_take_read_at_the_indices((seed, [rows, len, columns], x) in call(), count in 1usize..6) {
        let count = Count::new(count);
        let shape = (Rows::new(rows), count, Columns::new(columns));
        let indices: Vec<usize> = (0..shape.num_elements()).map(|i| (i * 3 + seed) % len).collect();
        let indices = Indices::new(&indices, shape, Len::new(len)).unwrap();
        let gathered: X<(Rows, Count, Columns)> = gather(x.clone(), axis::<Len>(), &indices).unwrap();
        let expected = places([rows, count.size(), columns]).zip(indices.to_vec());
        let expected: Vec<f64> = expected.map(|([a, _, c], index)| at(&x, [a, index.value(), c])).collect();
        prop_assert_eq!(gathered.as_vec(), expected);

        let indices: Vec<usize> = (0..count.size()).map(|i| (i * 3 + seed) % len).collect();
        let indices = Indices::new(&indices, (count,), Len::new(len)).unwrap();
        let taken: X<(Rows, Count, Columns)> = take(x.clone(), axis::<Len>(), &indices).unwrap();
        for [a, b, c] in places([rows, count.size(), columns]) {
            prop_assert_eq!(at(&taken, [a, b, c]), at(&x, [a, indices.as_slice()[b], c]));
        }
    }

    #[test]
    fn top_k_sorts_and_argmax_is_its_first((seed, [rows, _, columns], _) in call()) {
        let x = numbers(seed, (Rows::new(rows), Five, Columns::new(columns)));
        let (values, indices) = top_k(x.clone(), axis::<Five>(), Width).unwrap();
        let (values, indices): (X<(Rows, Width, Columns)>, Indices<_, Five>) = (values, indices);
        for [a, _, c] in places([rows, 1, columns]) {
            // A plain selection: each time the first of the highest elements that are left.
            let mut left: Vec<usize> = (0..5).collect();
            for rank in 0..3 {
                let best = left.iter().copied().reduce(|i, j| if at(&x, [a, j, c]) > at(&x, [a, i, c]) { j } else { i });
                let best = best.unwrap();
                left.retain(|index| *index != best);
                prop_assert_eq!(at(&values, [a, rank, c]), at(&x, [a, best, c]));
                prop_assert_eq!(indices.as_slice()[(a * 3 + rank) * columns + c], best);
            }
        }
        let highest: Indices<(Rows, Columns), Five> = argmax(&x, axis::<Five>()).unwrap();
        let (_, first) = top_k(x, axis::<Five>(), Const::<1>).unwrap();
        prop_assert_eq!(highest.as_slice(), first.as_slice());
    }

    #[test]
    fn one_hot_is_one_at_the_index((seed, [rows, len, columns], x) in call()) {
        let highest: Indices<(Rows, Columns), Len> = argmax(&x, axis::<Len>()).unwrap();
        let device = device();
        let middle: X<Shape3> = one_hot(&device, &highest).unwrap();
        let last: X<(Rows, Columns, Len)> = one_hot(&device, &highest).unwrap();
        for [a, b, c] in places([rows, len, columns]) {
            let is_index = highest.as_slice()[a * columns + c] == b;
            prop_assert_eq!(at(&middle, [a, b, c]), f64::from(u8::from(is_index)), "{}", seed);
            prop_assert_eq!(at(&last, [a, c, b]), at(&middle, [a, b, c]));
        }
    }

    #[test]
    fn cumsum_adds_up((_, [rows, len, columns], x) in call()) {
        let of_len = cumsum(x.clone(), axis::<Len>()).unwrap();
        let of_rows = cumsum(x.clone(), axis::<Rows>()).unwrap();
        for [a, b, c] in places([rows, len, columns]) {
            let sum: f64 = (0..=b).map(|b| at(&x, [a, b, c])).sum();
            prop_assert_eq!(at(&of_len, [a, b, c]), sum);
            let sum: f64 = (0..=a).map(|a| at(&x, [a, b, c])).sum();
            prop_assert_eq!(at(&of_rows, [a, b, c]), sum);
        }
    }

    #[test]
    fn windows_hold_neighbours((seed, [rows, len, columns], _) in call()) {
        let x = numbers(seed, (Rows::new(rows), Len::new(len + 2), Columns::new(columns)));
        let last: Tensor<(Rows, Windows<Len, Width>, Columns, Width), f64, AutoDevice> =
            windows(x.clone(), axis::<Len>(), Width).unwrap();
        let next: Tensor<(Rows, Windows<Len, Width>, Width, Columns), f64, AutoDevice> =
            windows(x.clone(), axis::<Len>(), Width).unwrap();
        let first: Tensor<(Width, Rows, Windows<Len, Width>, Columns), f64, AutoDevice> =
            windows(x.clone(), axis::<Len>(), Width).unwrap();
        for [a, b, c] in places([rows, len, columns]) {
            for w in 0..3 {
                let expected = at(&x, [a, b + w, c]);
                prop_assert_eq!(last.as_vec()[((a * len + b) * columns + c) * 3 + w], expected);
                prop_assert_eq!(next.as_vec()[((a * len + b) * 3 + w) * columns + c], expected);
                prop_assert_eq!(first.as_vec()[((w * rows + a) * len + b) * columns + c], expected);
            }
        }
    }

    #[test]
    fn comparisons_are_those_of_numbers((seed, _, x) in call()) {
        let y = numbers(seed + 1, *x.shape());
        let pairs = || x.as_vec().into_iter().zip(y.as_vec());
        let expected = |compare: fn(&f64, &f64) -> bool| pairs().map(|(x, y)| compare(&x, &y)).collect::<Vec<_>>();
        prop_assert_eq!(eq(&x, &y).unwrap().as_vec(), expected(f64::eq));
        prop_assert_eq!(ne(&x, &y).unwrap().as_vec(), expected(f64::ne));
        prop_assert_eq!(gt(&x, &y).unwrap().as_vec(), expected(f64::gt));
        prop_assert_eq!(ge(&x, &y).unwrap().as_vec(), expected(f64::ge));
        prop_assert_eq!(lt(&x, &y).unwrap().as_vec(), expected(f64::lt));
        prop_assert_eq!(le(&x, &y).unwrap().as_vec(), expected(f64::le));
        let number = x.as_vec()[0];
        prop_assert_eq!(lt(&x, number).unwrap().as_vec(), x.as_vec().iter().map(|x| *x < number).collect::<Vec<_>>());
        let larger = pairs().map(|(x, y)| x.max(y)).collect::<Vec<_>>();
        let is_larger = ge(&x, &y).unwrap();
        prop_assert_eq!(&where_(&is_larger, x.clone(), &y).unwrap().as_vec(), &larger);
        prop_assert_eq!(where_(is_larger, x.clone(), &y).unwrap().as_vec(), larger);
        let total: f64 = x.as_vec().iter().sum();
        prop_assert!((mean(x.clone()).unwrap().array() - total / x.as_vec().len() as f64).abs() < 1e-12);
    }

    #[test]
    fn a_mask_keeps_what_it_shows((seed, [rows, len, columns], x) in call()) {
        let visible = |b: usize, q: usize, k: usize| (b * 3 + q * 5 + k * 7 + seed).is_multiple_of(3);
        let mask = AttentionMask::from_fn(*x.shape(), visible);
        let kept = where_(&mask, x.clone(), f64::NEG_INFINITY).unwrap();
        let of_heads = full::<_, f64, _>(&device(), (x.shape().0, Half, x.shape().1, x.shape().2), 4.0).unwrap();
        let of_heads = where_(&mask, of_heads, 9.0).unwrap();
        for [a, b, c] in places([rows, len, columns]) {
            let is_visible = visible(a, b, c);
            prop_assert_eq!(at(&kept, [a, b, c]), if is_visible { at(&x, [a, b, c]) } else { f64::NEG_INFINITY });
            for head in 0..2 {
                let number = of_heads.as_vec()[((a * 2 + head) * len + b) * columns + c];
                prop_assert_eq!(number, if is_visible { 4.0 } else { 9.0 });
            }
        }
    }
}

#[test]
fn all_axes_behind_the_indexed_one_are_read() {
    let x = numbers(1, (Rows::new(2), Len::new(3), Columns::new(2), Width));
    let indices = Indices::new(&[2, 0, 1, 1], (Rows::new(2), Half), Len::new(3)).unwrap();
    let gathered: X<(Rows, Half, Columns, Width)> = gather(x.clone(), axis::<Len>(), &indices).unwrap();
    let expected = [2, 0, 4, 4].into_iter().flat_map(|row| x.as_vec()[row * 6..][..6].to_vec());
    assert_eq!(gathered.as_vec(), expected.collect::<Vec<_>>());
    let x = numbers(2, (Len::new(3), Columns::new(2), Width));
    let between: X<(Windows<Len, Half>, Columns, Half, Width)> = windows(x.clone(), axis::<Len>(), Half).unwrap();
    let expected = places([2, 2, 2]).flat_map(|[n, c, w]| x.as_vec()[((n + w) * 2 + c) * 3..][..3].to_vec());
    assert_eq!(between.as_vec(), expected.collect::<Vec<_>>());
}

#[test]
fn padding_is_replaced() {
    let pad = Fin::<Five>::literal::<4>();
    let ids = TokenIds::from_ids(&[0, 4, 4, 3], Some(pad), (Rows::new(2), Half)).unwrap();
    let padding = ids.padding_mask();
    let x = numbers(1, (Rows::new(2), Half));
    let expected: Vec<f64> =
        x.as_vec().iter().zip([true, false, false, true]).map(|(x, t)| if t { *x } else { 0.5 }).collect();
    assert_eq!(where_(&padding, x.clone(), 0.5).unwrap().as_vec(), expected);
    assert_eq!(where_(ids.padding_mask(), x, 0.5).unwrap().as_vec(), expected);
    let x = full::<_, f64, _>(&device(), (Rows::new(2), Half, Half), 1.0).unwrap();
    assert_eq!(where_(&padding, x, 0.0).unwrap().as_vec(), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    let x = zeros::<_, f64, _>(&device(), (Rows::new(3), Half, Half)).unwrap();
    let error = where_(&padding, x, 0.0).unwrap_err();
    assert_eq!(error.to_string(), "where: shape (Rows=3, Half=2) is not compatible with (Rows=2, Half=2)");
}

#[test]
fn run_time_sizes_are_compared() {
    let x = numbers(0, (Rows::new(2), Len::new(3)));
    let indices = Indices::new(&[1, 0], (Rows::new(2), Const::<1>), Len::new(2)).unwrap();
    assert_eq!(
        gather(x.clone(), axis::<Len>(), &indices).unwrap_err().to_string(),
        "gather: `Len` is 3 in the input and 2 in the indices",
    );
    let indices = Indices::new(&[1], (Rows::new(1), Const::<1>), Len::new(3)).unwrap();
    assert_eq!(
        gather(x.clone(), axis::<Len>(), &indices).unwrap_err().to_string(),
        "gather: shape (Rows=2, Len=3) is not compatible with (Rows=1, Const)",
    );
    let indices = Indices::new(&[], (Count::new(0),), Len::new(3)).unwrap();
    assert_eq!(
        take(x.clone(), axis::<Len>(), &indices).unwrap_err().to_string(),
        "take: (Rows=2, Count=0) has no elements",
    );
    let y = numbers(0, (Rows::new(2), Len::new(4)));
    assert_eq!(gt(&x, &y).unwrap_err().to_string(), "gt: shape (Rows=2, Len=3) is not compatible with (Rows=2, Len=4)",);
    assert!(where_(gt(&y, 0.0).unwrap(), x, 0.0).is_err());
    let short = numbers(0, (Len::new(2),));
    let window: Result<X<(Windows<Len, Width>, Width)>, _> = windows(short, axis::<Len>(), Width);
    assert_eq!(window.unwrap_err().to_string(), "windows: Width=3 from 0 on is not inside Len=2");
}

#[test]
fn nothing_is_the_highest_of_nothing() {
    let nothing = zeros::<_, f64, _>(&device(), (Rows::new(2), Len::new(0))).unwrap();
    assert_eq!(argmax(&nothing, axis::<Len>()).unwrap_err().to_string(), "argmax: (Rows=2, Len=0) has no elements");
    assert!(mean(nothing).is_err());
    // A NaN is lower than every number.
    let x: X<(Width,)> = device().tensor(vec![f64::NAN, f64::NEG_INFINITY, -1.0]);
    assert_eq!(argmax(&x, axis::<Width>()).unwrap().as_slice(), [2]);
    let (values, indices) = top_k(x, axis::<Width>(), Width).unwrap();
    assert_eq!(indices.as_slice(), [2, 1, 0]);
    assert!(values.as_vec()[2].is_nan());
}

#[test]
fn iota_counts() {
    let positions: X<(Len,)> = iota(&device(), Len::new(4)).unwrap();
    assert_eq!(positions.as_vec(), [0.0, 1.0, 2.0, 3.0]);
    // The indices of a slice of a run-time axis are its positions.
    let middle: X<(Half,)> = slice(positions, axis::<Len>(), 1, Half).unwrap();
    assert_eq!(middle.as_vec(), [1.0, 2.0]);
}

#[test]
fn normal_numbers_follow_from_the_seed() {
    let draw = || normal(&device(), (Rows::new(100), Len::new(100)), &mut StdRng::seed_from_u64(7)).unwrap();
    let (x, again): (X<(Rows, Len)>, X<(Rows, Len)>) = (draw(), draw());
    assert_eq!(x.as_vec(), again.as_vec());
    let mean_of = |numbers: &[f64]| numbers.iter().sum::<f64>() / numbers.len() as f64;
    let squares: Vec<f64> = x.as_vec().iter().map(|x| x * x).collect();
    assert!(mean_of(&x.as_vec()).abs() < 0.05 && (mean_of(&squares) - 1.0).abs() < 0.07);
}
