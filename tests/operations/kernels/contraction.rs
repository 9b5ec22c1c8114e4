//! The kernel of `einsum!` against its definition.

use super::*;

dims! { Batch; QLen; KLen; NumHeads = 3; HeadDim = 5; EmbedDim = 7; Repeats = 2; }

/// The dimensions of a call.
fn on_dims(run: impl Fn(&mut StdRng, Batch, QLen, KLen)) {
    on_calls(&|rng, (batch, queries, keys)| {
        run(rng, Batch::new(batch.size()), QLen::new(queries.size()), KLen::new(keys.size()))
    });
}

/// Compares a contraction of two tensors `$x` and `$w`, in every order of the axes of the result that is given.
macro_rules! compare_einsum {
    ($x:ident: $xd:tt, $w:ident: $wd:tt -> $($od:tt)|+) => {
        $(compare!(
            einsum!($x.single.recorded(): $xd, &$w.single: $wd -> $od),
            einsum!($x.double.recorded(): $xd, &$w.double: $wd -> $od),
            [$x, $w]
        );)+
    };
}

#[test]
fn attention_by_name_agrees() {
    on_dims(|rng, b, q, k| {
        let query = both(rng, (b, NumHeads, q, HeadDim), 1.0);
        let key = both(rng, (b, NumHeads, k, HeadDim), 1.0);
        compare_einsum!(query: (Batch, NumHeads, QLen, HeadDim), key: (Batch, NumHeads, KLen, HeadDim)
            -> (Batch, NumHeads, QLen, KLen) | (QLen, Batch, KLen, NumHeads) | (KLen, QLen, NumHeads, Batch));
        let query = both(rng, (b, q, NumHeads, HeadDim), 1.0);
        let key = both(rng, (k, HeadDim, b, NumHeads), 1.0);
        compare_einsum!(query: (Batch, QLen, NumHeads, HeadDim), key: (KLen, HeadDim, Batch, NumHeads)
            -> (Batch, NumHeads, QLen, KLen) | (Batch, QLen, KLen, NumHeads));
    });
}

#[test]
fn projections_by_name_agree() {
    on_dims(|rng, b, q, _| {
        let x = both(rng, (b, q, EmbedDim), 1.0);
        let weight = both(rng, (EmbedDim, HeadDim), 1.0);
        compare_einsum!(x: (Batch, QLen, EmbedDim), weight: (EmbedDim, HeadDim)
            -> (Batch, QLen, HeadDim) | (HeadDim, QLen, Batch));
        let weight = both(rng, (NumHeads, EmbedDim, HeadDim), 1.0);
        compare_einsum!(x: (Batch, QLen, EmbedDim), weight: (NumHeads, EmbedDim, HeadDim)
            -> (Batch, NumHeads, QLen, HeadDim) | (Batch, QLen, NumHeads, HeadDim));
        let heads = both(rng, (b, NumHeads, q, HeadDim), 1.0);
        compare_einsum!(heads: (Batch, NumHeads, QLen, HeadDim), weight: (NumHeads, EmbedDim, HeadDim)
            -> (Batch, QLen, EmbedDim) | (EmbedDim, Batch, QLen));
    });
}

#[test]
fn products_without_rows_or_sums_agree() {
    on_dims(|rng, b, q, k| {
        let (x, y) = (both(rng, (b, q), 1.0), both(rng, (b, k), 1.0));
        compare_einsum!(x: (Batch, QLen), y: (Batch, KLen) -> (QLen, KLen) | (Batch, KLen, QLen));
        let z = both(rng, (b, k, q), 1.0);
        compare_einsum!(x: (Batch, QLen), z: (Batch, KLen, QLen) -> (Batch, KLen) | (KLen, Batch) | (QLen, KLen));
        let z = both(rng, (q, b), 1.0);
        compare_einsum!(x: (Batch, QLen), z: (QLen, Batch) -> () | (Batch) | (QLen));
        let z = both(rng, (k,), 1.0);
        compare_einsum!(x: (Batch, QLen), z: (KLen) -> (Batch, KLen, QLen) | (KLen, QLen, Batch));
    });
}

/// The outer products of an outer-product mean, which are one product of matrices if the short axes come last.
#[test]
fn sums_of_outer_products_agree() {
    on_dims(|rng, b, q, k| {
        let (x, y) = (both(rng, (k, b, NumHeads), 1.0), both(rng, (k, q, HeadDim), 1.0));
        compare_einsum!(x: (KLen, Batch, NumHeads), y: (KLen, QLen, HeadDim)
            -> (Batch, QLen, NumHeads, HeadDim) | (HeadDim, Batch, QLen, NumHeads) | (Batch, NumHeads, QLen, HeadDim));
        macro_rules! scaled {
            ($x:expr, $y:expr) => {{
                let (x, y) = ($x.recorded(), &$y);
                scale(einsum!(x: (KLen, Batch, NumHeads), y: (KLen, QLen, HeadDim)
                    -> (Batch, QLen, NumHeads, HeadDim)).unwrap(), 0.5)
            }};
        }
        compare!(scaled!(x.single, y.single), scaled!(x.double, y.double), [x, y]);
        let (x, y) = (both(rng, (b, EmbedDim, NumHeads), 1.0), both(rng, (b, q, EmbedDim, HeadDim), 1.0));
        compare_einsum!(x: (Batch, EmbedDim, NumHeads), y: (Batch, QLen, EmbedDim, HeadDim)
            -> (Batch, QLen, NumHeads, HeadDim) | (NumHeads, Batch, QLen, HeadDim));
    });
}

#[test]
fn sums_of_one_operand_agree() {
    on_dims(|rng, b, q, k| {
        let x = both(rng, (b, EmbedDim, q, k), 1.0);
        macro_rules! compare_sum {
            ($($od:tt)|+) => {
                $(compare!(
                    einsum!(x.single.recorded(): (Batch, EmbedDim, QLen, KLen) -> $od),
                    einsum!(x.double.recorded(): (Batch, EmbedDim, QLen, KLen) -> $od),
                    [x]
                );)+
            };
        }
        compare_sum!((KLen, Batch) | (EmbedDim) | () | (QLen, KLen, EmbedDim, Batch) | (Batch, QLen, EmbedDim));
    });
}

#[test]
fn views_are_read_by_their_strides() {
    on_dims(|rng, b, q, k| {
        let (x, weight) = (both(rng, (q, EmbedDim, b), 1.0), both(rng, (EmbedDim, k), 1.0));
        // Permuted, repeated along an axis of the sum, and along one of the result.
        macro_rules! product {
            ([$($dtype_and_device:ty),+], $x:expr, $weight:expr) => {{
                let x: Taped<(Batch, QLen, EmbedDim), $($dtype_and_device),+> = permute($x.recorded()).unwrap();
                let shape = (b, q, EmbedDim, Repeats, NumHeads);
                let x: Taped<(Batch, QLen, EmbedDim, Repeats), $($dtype_and_device),+> =
                    broadcast(x, (b, q, EmbedDim, Repeats), axis::<Repeats>()).unwrap();
                let x: Taped<(Batch, QLen, EmbedDim, Repeats, NumHeads), $($dtype_and_device),+> =
                    broadcast(x, shape, axis::<NumHeads>()).unwrap();
                let weight: Untaped<(EmbedDim, Repeats, KLen), $($dtype_and_device),+> =
                    broadcast($weight.clone(), (EmbedDim, Repeats, k), axis::<Repeats>()).unwrap();
                einsum!(x: (Batch, QLen, EmbedDim, Repeats, NumHeads), weight: (EmbedDim, Repeats, KLen)
                    -> (Batch, KLen, NumHeads, QLen))
            }};
        }
        compare!(product!([f32], x.single, weight.single), product!([f64, Cpu], x.double, weight.double), [x, weight]);
    });
}
