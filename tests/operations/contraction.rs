//! Contractions and rearrangements by name: their results against the definition, their gradients against finite
//! differences, and their run-time errors.

use crate::finite_differences::{assert_slopes, weighted_sum};
use crate::numbers::{F64, Taped, assert_close, device, random_like as random};
use crate::recorded::{OwnTape, Recorded};
use dfdx::{shapes::Shape, tensor::*, tensor_ops::*};
use std::collections::BTreeMap;
use typed_transformer::{backend::Tape, dims::Dim, prelude::*};

// Every dimension has its own size, so that confusing two of them fails.
dims! {
    Batch = 2; SrcLen = 3; TgtLen = 4; NumHeads = 5; HeadDim = 6; EmbedDim = 7; HiddenDim = 8; Groups = 9; Free;
}

/// The size of each axis, by name.
type AxisSizes = BTreeMap<&'static str, usize>;

/// Σ of the products over all indices, by definition.
fn contracted(operands: &[(&[&'static str], Vec<f64>)], to: &[&'static str], sizes: &AxisSizes) -> Vec<f64> {
    let mut sum = vec![0.0; to.iter().map(|axis| sizes[axis]).product()];
    let axes: Vec<&str> = sizes.keys().copied().collect();
    for mut place in 0..sizes.values().product() {
        let mut index = BTreeMap::new();
        for axis in &axes {
            index.insert(*axis, place % sizes[axis]);
            place /= sizes[axis];
        }
        let at = |axes: &[&str]| axes.iter().fold(0, |flat, axis| flat * sizes[axis] + index[axis]);
        sum[at(to)] += operands.iter().map(|(axes, elements)| elements[at(axes)]).product::<f64>();
    }
    sum
}

/// Compares a gradient with finite differences.
#[track_caller]
fn check_gradient<Dims: Shape>(input: &F64<Dims>, gradient: Vec<f64>, value: impl Fn(F64<Dims>) -> f64) {
    let at = |elements| value(device().tensor_from_vec(elements, *input.shape()));
    assert_slopes(&gradient, &input.as_vec(), gradient.len() / 7 + 1, 1e-6, &at);
}

/// Compares a contraction with its definition, and its gradients with finite differences.
macro_rules! check {
    (($($x:ident),*), ($($w:ident),*) -> ($($to:ident),*)) => {{
        let (x, w) = (random(1, ($($x,)*)), random(2, ($($w,)*)));
        let run = |x: Taped<($($x,)*)>, w: Taped<($($w,)*)>| -> Taped<($($to,)*)> {
            einsum!(x: ($($x),*), w: ($($w),*) -> ($($to),*)).unwrap()
        };
        #[allow(unused_mut, reason = "some tensors have no axes")]
        let mut sizes = AxisSizes::new();
        $(sizes.insert(stringify!($x), $x.size());)*
        $(sizes.insert(stringify!($w), $w.size());)*
        let y = run(x.recorded(), w.recorded());
        let expected = contracted(
            &[(&[$(stringify!($x)),*], x.as_vec()), (&[$(stringify!($w)),*], w.as_vec())],
            &[$(stringify!($to)),*],
            &sizes,
        );
        assert_close(&y.as_vec(), &expected, 1e-9);
        let mut gradients = weighted_sum(y).backward().unwrap();
        let value = |x: F64<_>, w: F64<_>| weighted_sum(run(x.recorded(), w.recorded())).array();
        check_gradient(&x, gradients.of(&x).unwrap().as_vec(), |x| value(x, w.clone()));
        check_gradient(&w, gradients.of(&w).unwrap().as_vec(), |w| value(x.clone(), w));
    }};
}

#[test]
fn a_contraction_is_the_sum_of_products() {
    // A linear map, with its weight either way round, and its transpose.
    check!((Batch, SrcLen, EmbedDim), (HiddenDim, EmbedDim) -> (Batch, SrcLen, HiddenDim));
    check!((Batch, SrcLen, EmbedDim), (EmbedDim, HiddenDim) -> (Batch, SrcLen, HiddenDim));
    check!((HiddenDim, EmbedDim), (Batch, SrcLen, EmbedDim) -> (Batch, SrcLen, HiddenDim));
    check!((Batch, EmbedDim), (HiddenDim, EmbedDim) -> (HiddenDim, Batch));
    // Attention scores and weighted values, for either order of axes.
    check!((Batch, NumHeads, TgtLen, HeadDim), (Batch, NumHeads, SrcLen, HeadDim) -> (Batch, NumHeads, TgtLen, SrcLen));
    check!((Batch, TgtLen, NumHeads, HeadDim), (Batch, SrcLen, NumHeads, HeadDim) -> (Batch, NumHeads, TgtLen, SrcLen));
    check!((Batch, NumHeads, TgtLen, SrcLen), (Batch, NumHeads, SrcLen, HeadDim) -> (Batch, NumHeads, TgtLen, HeadDim));
    check!((Batch, NumHeads, TgtLen, SrcLen), (Batch, SrcLen, NumHeads, HeadDim) -> (Batch, TgtLen, NumHeads, HeadDim));
    // Projections to and from heads.
    check!((Batch, SrcLen, EmbedDim), (NumHeads, HeadDim, EmbedDim) -> (Batch, NumHeads, SrcLen, HeadDim));
    check!((Batch, NumHeads, SrcLen, HeadDim), (EmbedDim, NumHeads, HeadDim) -> (Batch, SrcLen, EmbedDim));
    // Several summed axes in different orders, several batch axes, a batch axis in the last place.
    check!((Batch, SrcLen, TgtLen), (TgtLen, HeadDim, SrcLen) -> (HeadDim, Batch));
    check!((Batch, SrcLen, NumHeads, TgtLen), (SrcLen, Batch, NumHeads, TgtLen) -> (NumHeads, SrcLen, Batch));
    check!((SrcLen, EmbedDim, Batch), (HeadDim, EmbedDim, Batch) -> (SrcLen, Batch, HeadDim));
    check!((Batch, SrcLen, TgtLen, NumHeads, HeadDim), (Batch, SrcLen, TgtLen, EmbedDim, HeadDim)
        -> (Batch, SrcLen, TgtLen, NumHeads, EmbedDim));
    check!((Batch, SrcLen, TgtLen, NumHeads, HeadDim, EmbedDim), (HeadDim, TgtLen)
        -> (EmbedDim, Batch, SrcLen, NumHeads));
    // No summed axis: products by element, of fewer axes, and outer products.
    check!((Batch, SrcLen, EmbedDim), (EmbedDim) -> (Batch, SrcLen, EmbedDim));
    check!((SrcLen, EmbedDim), (EmbedDim, SrcLen) -> (EmbedDim, SrcLen));
    check!((Batch, SrcLen), (Batch, HeadDim, EmbedDim) -> (HeadDim, Batch, SrcLen, EmbedDim));
    check!((SrcLen), (TgtLen) -> (TgtLen, SrcLen));
    check!((Batch, SrcLen, EmbedDim), (Batch, SrcLen, EmbedDim) -> (Batch, SrcLen));
    // No axis at all.
    check!((SrcLen), (SrcLen) -> ());
    check!((), (SrcLen) -> (SrcLen));
    check!((SrcLen, EmbedDim), () -> (EmbedDim, SrcLen));
    check!((), () -> ());
}

/// Compares the sum of one operand with its definition, and its gradient with finite differences.
macro_rules! check_one {
    (($($x:ident),*) -> ($($to:ident),*)) => {{
        let x = random(1, ($($x,)*));
        let run = |x: Taped<($($x,)*)>| -> Taped<($($to,)*)> { einsum!(x: ($($x),*) -> ($($to),*)).unwrap() };
        let sizes: AxisSizes = [$((stringify!($x), $x.size())),*].into();
        let y = run(x.recorded());
        assert_close(&y.as_vec(), &contracted(&[(&[$(stringify!($x)),*], x.as_vec())], &[$(stringify!($to)),*], &sizes), 1e-9);
        let gradient = weighted_sum(y).backward().unwrap().of(&x).unwrap().as_vec();
        check_gradient(&x, gradient, |x| weighted_sum(run(x.recorded())).array());
    }};
}

#[test]
fn one_operand_is_permuted_and_summed() {
    check_one!((Batch, SrcLen, EmbedDim) -> (Batch, SrcLen, EmbedDim));
    check_one!((Batch, SrcLen, EmbedDim) -> (EmbedDim, Batch, SrcLen));
    check_one!((Batch, SrcLen, EmbedDim) -> (EmbedDim));
    check_one!((Batch, SrcLen, TgtLen, NumHeads, HeadDim, EmbedDim) -> (EmbedDim, SrcLen, NumHeads));
    check_one!((Batch, SrcLen) -> ());
    check_one!(() -> ());
    let empty = random(1, (Free::new(0), EmbedDim));
    let error = einsum!(empty: (Free, EmbedDim) -> (EmbedDim)).unwrap_err();
    assert_eq!(error.to_string(), "einsum: (Free=0, EmbedDim=7) has no elements");
}

#[test]
fn three_operands_are_contracted_at_once() {
    let x = random(1, (Batch, SrcLen, EmbedDim));
    let w = random(2, (Batch, TgtLen, EmbedDim));
    let v = random(3, (HeadDim, EmbedDim, TgtLen));
    let run = |x: Taped<(Batch, SrcLen, EmbedDim)>, w: Taped<(Batch, TgtLen, EmbedDim)>, v: Taped<_>| -> Taped<_> {
        einsum!(
            x: (Batch, SrcLen, EmbedDim), w: (Batch, TgtLen, EmbedDim), v: (HeadDim, EmbedDim, TgtLen)
            -> (SrcLen, HeadDim)
        )
        .unwrap()
    };
    let y = run(x.recorded(), w.recorded(), v.recorded());
    let sizes = [("B", 2), ("S", 3), ("T", 4), ("H", 6), ("M", 7)].into();
    let operands: [(&[&str], _); 3] =
        [(&["B", "S", "M"], x.as_vec()), (&["B", "T", "M"], w.as_vec()), (&["H", "M", "T"], v.as_vec())];
    assert_close(&y.as_vec(), &contracted(&operands, &["S", "H"], &sizes), 1e-9);
    let mut gradients = weighted_sum(y).backward().unwrap();
    let value =
        |x: &F64<_>, w: &F64<_>, v: &F64<_>| weighted_sum(run(x.recorded(), w.recorded(), v.recorded())).array();
    check_gradient(&x, gradients.of(&x).unwrap().as_vec(), |x| value(&x, &w, &v));
    check_gradient(&w, gradients.of(&w).unwrap().as_vec(), |w| value(&x, &w, &v));
    check_gradient(&v, gradients.of(&v).unwrap().as_vec(), |v| value(&x, &w, &v));

    // The first two share all axes, and the third is a scalar.
    let (a, b, c) = (random(1, (SrcLen,)), random(2, (SrcLen,)), random(3, ()));
    let y: F64<()> = einsum!(&a: (SrcLen), &b: (SrcLen), &c: () -> ()).unwrap();
    let product: f64 = a.as_vec().iter().zip(b.as_vec()).map(|(a, b)| a * b).sum();
    assert_close(&[y.array()], &[product * c.array()], 1e-9);
}

#[test]
fn a_view_is_read_by_its_axes() {
    let x = random(1, (Batch, SrcLen, NumHeads, HeadDim));
    let w = random(2, (Batch, TgtLen, NumHeads, HeadDim));
    let heads: F64<(Batch, NumHeads, SrcLen, HeadDim)> = permute(x.clone()).unwrap();
    let keys: F64<(HeadDim, NumHeads, TgtLen, Batch)> = permute(w.clone()).unwrap();
    let direct: F64<(Batch, NumHeads, SrcLen, TgtLen)> = einsum!(
        &x: (Batch, SrcLen, NumHeads, HeadDim), &w: (Batch, TgtLen, NumHeads, HeadDim)
        -> (Batch, NumHeads, SrcLen, TgtLen)
    )
    .unwrap();
    let of_views: F64<(Batch, NumHeads, SrcLen, TgtLen)> = einsum!(
        heads: (Batch, NumHeads, SrcLen, HeadDim), keys: (HeadDim, NumHeads, TgtLen, Batch)
        -> (Batch, NumHeads, SrcLen, TgtLen)
    )
    .unwrap();
    assert_close(&direct.as_vec(), &of_views.as_vec(), 1e-9);
}

#[test]
fn a_tensor_is_contracted_with_itself() {
    let x = random(1, (SrcLen, EmbedDim));
    let run = |x: Taped<(SrcLen, EmbedDim)>| -> Taped<()> {
        let again: Taped<(TgtLen2, EmbedDim)> = renamed(x.retaped());
        weighted_sum(einsum!(x: (SrcLen, EmbedDim), again: (TgtLen2, EmbedDim) -> (SrcLen, TgtLen2)).unwrap())
    };
    let gradient = run(x.recorded()).backward().unwrap().of(&x).unwrap().as_vec();
    check_gradient(&x, gradient, |x| run(x.recorded()).array());
}

dims! { TgtLen2 = 3; }
fn renamed(x: Taped<(SrcLen, EmbedDim)>) -> Taped<(TgtLen2, EmbedDim)> {
    x.try_realize().unwrap_or_else(|_| panic!())
}

#[test]
fn a_run_time_size_that_differs_is_an_error_with_both_operands() {
    let (x, w) = (random(1, (Free::new(3), EmbedDim)), random(2, (Free::new(4), EmbedDim)));
    let v = random(3, (HiddenDim, EmbedDim));
    let two = einsum!(x.clone(): (Free, EmbedDim), &w: (Free, EmbedDim) -> (Free));
    assert_eq!(two.unwrap_err().to_string(), "einsum: `Free` is 3 in `x.clone()` and 4 in `&w`");
    let three = einsum!(&x: (Free, EmbedDim), &v: (HiddenDim, EmbedDim), &w: (Free, EmbedDim) -> (Free, HiddenDim));
    assert_eq!(three.unwrap_err().to_string(), "einsum: `Free` is 3 in `&x` and 4 in `&w`");
    let nothing = random(1, (Free::new(0), EmbedDim));
    let empty = einsum!(nothing: (Free, EmbedDim), v: (HiddenDim, EmbedDim) -> (Free, HiddenDim));
    assert_eq!(empty.unwrap_err().to_string(), "einsum: (Free=0, EmbedDim=7) has no elements");
}

#[test]
fn dimensions_may_be_generic_symbolic_or_without_a_name() {
    fn map<B: Dim, H: ConstDim, K: ConstDim, A: Widths, E: Real, D: Backend<E>, T: Tape<E, D>>(
        x: Tensor<(B, Product<H, K>, Const<2>), E, D, T>,
        w: &Tensor<(Const<2>, A::Width), E, D>,
    ) -> Tensor<(A::Width, B, Product<H, K>), E, D, T> {
        einsum!(x: (B, Product<H, K>, Const<2>), w: (Const<2>, A::Width) -> (A::Width, B, Product<H, K>)).unwrap()
    }
    trait Widths {
        type Width: ConstDim;
    }
    struct Model;
    impl Widths for Model {
        type Width = EmbedDim;
    }
    let x = random(1, (Free::new(2), Product::default(), Const));
    let w = random(2, (Const, EmbedDim));
    let y = map::<Free, NumHeads, HeadDim, Model, _, _, _>(x.clone(), &w);
    let sizes = [("B", 2), ("HK", 30), ("C", 2), ("M", 7)].into();
    let operands: [(&[&str], _); 2] = [(&["B", "HK", "C"], x.as_vec()), (&["C", "M"], w.as_vec())];
    assert_close(&y.as_vec(), &contracted(&operands, &["M", "B", "HK"], &sizes), 1e-9);
}

/// Compares a rearrangement, given also the place of each element, and its gradient with finite differences.
macro_rules! check_rearranged {
    ($from:expr, ($($f:tt)*) -> ($($t:tt)*), $leaves:expr => $moved:expr) => {{
        type To = ($($t)*);
        let x = random(1, $from);
        let run = |x: Taped<_>| -> Taped<To> { rearrange!(x: ($($f)*) -> ($($t)*)).unwrap() };
        let (leaves, moved): (Vec<(&str, usize)>, Vec<&str>) = ($leaves.to_vec(), $moved.to_vec());
        let sizes: AxisSizes = leaves.iter().copied().collect();
        let names: Vec<&'static str> = leaves.iter().map(|leaf| leaf.0).collect();
        let y = run(x.recorded());
        assert_close(&y.as_vec(), &contracted(&[(&names, x.as_vec())], &moved, &sizes), 1e-9);
        let gradient = weighted_sum(y).backward().unwrap().of(&x).unwrap().as_vec();
        check_gradient(&x, gradient, |x| weighted_sum(run(x.recorded())).array());
    }};
}

#[test]
fn a_rearrangement_moves_each_element_with_its_axes() {
    let (b, f) = (("B", 2), ("F", 3));
    let (h, k, m, g, s) = (("H", 5), ("K", 6), ("M", 7), ("G", 9), ("S", 3));
    let free = Free::new(3);
    check_rearranged!((Batch, free, Product::default()), (Batch, Free, Product<NumHeads, HeadDim>)
        -> (Batch, NumHeads, Free, HeadDim), [b, f, h, k] => ["B", "H", "F", "K"]);
    check_rearranged!((Batch, NumHeads, free, HeadDim), (Batch, NumHeads, Free, HeadDim)
        -> (Batch, Free, Product<NumHeads, HeadDim>), [b, h, f, k] => ["B", "F", "H", "K"]);
    check_rearranged!((Product::default(), Batch), (Product<Groups, Product<NumHeads, HeadDim>>, Batch)
        -> (Product<Product<HeadDim, Batch>, NumHeads>, Groups), [g, h, k, b] => ["K", "B", "H", "G"]);
    check_rearranged!((Product::default(),), (Product<Batch, Product<SrcLen, Product<NumHeads, HeadDim>>>,)
        -> (Product<Product<HeadDim, Batch>, Product<NumHeads, SrcLen>>,), [b, s, h, k] => ["K", "B", "H", "S"]);
    check_rearranged!((Batch, free, SrcLen, EmbedDim), (Batch, Free, SrcLen, EmbedDim)
        -> (EmbedDim, SrcLen, Free, Batch), [b, f, s, m] => ["M", "S", "F", "B"]);
    check_rearranged!((Batch, free), (Batch, Free) -> (Batch, Free), [b, f] => ["B", "F"]);
    check_rearranged!((EmbedDim,), (EmbedDim,) -> (EmbedDim,), [m] => ["M"]);
}

#[test]
fn a_rearrangement_has_up_to_six_axes_and_may_be_generic() {
    fn patches<B: Dim, R: ConstDim, C: ConstDim, H: ConstDim, W: ConstDim, E: Real, D: Backend<E>>(
        image: &Tensor<(B, Const<2>, Product<R, H>, Product<C, W>), E, D>,
    ) -> Tensor<(B, Product<R, C>, Product<H, Product<W, Const<2>>>), E, D> {
        rearrange!(
            image: (B, Const<2>, Product<R, H>, Product<C, W>) -> (B, Product<R, C>, Product<H, Product<W, Const<2>>>)
        )
        .unwrap()
    }
    let image = random(1, (Free::new(2), Const, Product::default(), Product::default()));
    let sizes = [("B", 2), ("C", 2), ("R", 3), ("H", 4), ("Q", 5), ("W", 6)].into();
    let found = patches::<Free, SrcLen, NumHeads, TgtLen, HeadDim, _, _>(&image);
    let axes: [&str; 6] = ["B", "C", "R", "H", "Q", "W"];
    assert_close(
        &found.as_vec(),
        &contracted(&[(&axes, image.as_vec())], &["B", "R", "Q", "H", "W", "C"], &sizes),
        1e-9,
    );
    // A product that both have is one axis.
    fn heads<B: Dim, R: ConstDim, C: ConstDim, H: ConstDim, W: ConstDim, N: ConstDim, K: ConstDim>(
        image: &F64<(Product<R, H>, B, Product<C, W>, Product<N, K>)>,
    ) -> F64<(B, Product<R, H>, Product<C, W>, K, N)> {
        rearrange!(
            image: (Product<R, H>, B, Product<C, W>, Product<N, K>) -> (B, Product<R, H>, Product<C, W>, K, N)
        )
        .unwrap()
    }
    let image = random(2, (Product::default(), Free::new(2), Product::default(), Product::default()));
    let sizes = [("R", 6), ("B", 2), ("C", 8), ("N", 5), ("K", 6)].into();
    let found = heads::<Free, SrcLen, Batch, Batch, TgtLen, NumHeads, HeadDim>(&image);
    let axes: [&str; 5] = ["R", "B", "C", "N", "K"];
    assert_close(&found.as_vec(), &contracted(&[(&axes, image.as_vec())], &["B", "R", "C", "K", "N"], &sizes), 1e-9);
    // A permuted tensor is split by its axes, not by its place in memory.
    let turned: F64<(Product<SrcLen, TgtLen>, Free)> = permute(random(1, (Free::new(2), Product::default()))).unwrap();
    let split: F64<(TgtLen, Free, SrcLen)> =
        rearrange!(&turned: (Product<SrcLen, TgtLen>, Free) -> (TgtLen, Free, SrcLen)).unwrap();
    let sizes = [("S", 3), ("T", 4), ("F", 2)].into();
    let axes: [&str; 3] = ["S", "T", "F"];
    assert_close(&split.as_vec(), &contracted(&[(&axes, turned.as_vec())], &["T", "F", "S"], &sizes), 1e-9);
}

#[test]
fn a_contraction_that_is_a_linear_map_runs_the_kernel_of_one() {
    type F32<Dims, T = NoneTape> = Tensor<Dims, f32, AutoDevice, T>;
    let device = device();
    let x: F32<(Batch, SrcLen, EmbedDim)> = device.sample_normal();
    let weight: F32<(HiddenDim, EmbedDim)> = device.sample_normal();
    let gradients = |y: F32<(Batch, SrcLen, HiddenDim), OwnTape<f32>>| {
        let mut gradients = y.square().sum().backward().unwrap();
        (gradients.of(&x).unwrap().as_vec(), gradients.of(&weight).unwrap().as_vec())
    };
    let by_name = || {
        einsum!(x.recorded(): (Batch, SrcLen, EmbedDim), &weight: (HiddenDim, EmbedDim)
        -> (Batch, SrcLen, HiddenDim))
        .unwrap()
    };
    let linear = || typed_transformer::ops::linear(x.recorded(), &weight, None).unwrap();
    assert_eq!(by_name().as_vec(), linear().as_vec());
    assert_eq!(gradients(by_name()), gradients(linear()));

    // The weight may come first, and the result be transposed.
    let turned: F32<(HiddenDim, SrcLen, Batch)> =
        einsum!(&weight: (HiddenDim, EmbedDim), &x: (Batch, SrcLen, EmbedDim) -> (HiddenDim, SrcLen, Batch)).unwrap();
    let back: F32<(Batch, SrcLen, HiddenDim)> = permute(turned).unwrap();
    for (found, expected) in back.as_vec().into_iter().zip(linear().as_vec()) {
        assert!((found - expected).abs() < 1e-5, "{found}, not {expected}");
    }
}
