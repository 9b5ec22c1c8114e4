//! Operations that copy elements to other places, against their definitions.

use super::*;
use typed_transformer::ops::{
    broadcast, concat, cumsum, narrow, patches, permute, rename, reshape, scale, select, slice, slice_last, split,
    stack, unstack, where_, windows,
};

dims! {
    Batch; QLen; KLen; EmbedDim = 7; NumHeads = 3; HeadDim = 5; First = 2; Last = 5; Part; Other; Height = 4; Width = 6;
    PatchHeight = 2; PatchWidth = 3;
}

/// The dimensions of a call.
fn on_dims(run: impl Fn(&mut StdRng, Batch, QLen, KLen)) {
    on_calls(&|rng, (batch, queries, keys)| {
        run(rng, Batch::new(batch.size()), QLen::new(queries.size()), KLen::new(keys.size()))
    });
}

#[test]
fn concat_agrees_along_every_axis() {
    on_dims(|rng, b, q, k| {
        let x = both(rng, (b, q, EmbedDim), 1.0);
        let y = both(rng, (b, k, EmbedDim), 1.0);
        compare!(
            concat::<_, _, _, _, Sum<QLen, KLen>, _, _, _, _>(
                x.single.recorded(),
                y.single.recorded(),
                along::<QLen, KLen>()
            ),
            concat::<_, _, _, _, Sum<QLen, KLen>, _, _, _, _>(
                x.double.recorded(),
                y.double.recorded(),
                along::<QLen, KLen>()
            ),
            [x, y]
        );
        let z = both(rng, (b, q, NumHeads), 1.0);
        compare!(
            concat::<_, _, _, _, Sum<EmbedDim, NumHeads>, _, _, _, _>(
                x.single.recorded(),
                z.single.recorded(),
                along::<EmbedDim, NumHeads>()
            ),
            concat::<_, _, _, _, Sum<EmbedDim, NumHeads>, _, _, _, _>(
                x.double.recorded(),
                z.double.recorded(),
                along::<EmbedDim, NumHeads>()
            ),
            [x, z]
        );
        let other = Other::new(3);
        let rows = both(rng, (other, q, EmbedDim), 1.0);
        compare!(
            concat::<_, _, _, _, Sum<Other, Batch>, _, _, _, _>(
                rows.single.recorded(),
                x.single.recorded(),
                along::<Other, Batch>()
            ),
            concat::<_, _, _, _, Sum<Other, Batch>, _, _, _, _>(
                rows.double.recorded(),
                x.double.recorded(),
                along::<Other, Batch>()
            ),
            [rows, x]
        );
        // A tensor after itself.
        compare_map!(x, |x| concat::<_, _, _, _, Sum<QLen, QLen>, _, _, _, _>(x.clone(), x, along::<QLen, QLen>()));
    });
}

#[test]
fn parts_of_an_axis_agree() {
    on_dims(|rng, b, q, k| {
        let x = both(rng, (b, q, EmbedDim), 1.0);
        let part = Part::new(q.size().div_ceil(2));
        let start = q.size() - part.size();
        compare_map!(x, |x| slice(x, axis::<QLen>(), start, part));
        compare_map!(x, |x| slice_last(x, axis::<QLen>(), part));
        compare_map!(x, |x| narrow(x, axis::<EmbedDim>(), 3, First));
        compare_map!(x, |x| select(x, axis::<QLen>(), start));
        compare_map!(x, |x| select(x, axis::<Batch>(), b.size() - 1));
        compare_map!(x, |x| select(x, axis::<EmbedDim>(), 4));
        compare_map!(x, |x| {
            let steps = permute(x).unwrap();
            let steps = unstack::<(QLen, Batch, EmbedDim), _, _, _, _, _>(steps, axis::<QLen>()).unwrap();
            ops::mul(steps[0].clone(), steps[q.size() - 1].clone())
        });
        let x = both(rng, (k, Sum::<First, Last>::default(), q), 1.0);
        compare_map!(x, |x| {
            let (first, last) = split(x, First, Last, axis::<Sum<First, Last>>()).unwrap();
            // Both parts have an effect on the loss.
            let last = scale(narrow(last, axis::<Last>(), 1, First).unwrap(), 3.0).unwrap();
            ops::mul(first, last)
        });
        // The second part alone has one.
        compare_map!(x, |x| split(x, First, Last, axis::<Sum<First, Last>>()).map(|(_, last)| last));
    });
}

#[test]
fn stack_agrees_for_every_place_of_the_new_axis() {
    on_dims(|rng, b, q, _| {
        let [x, y, z] = [1.0, 2.0, 3.0].map(|size| both(rng, (b, q), size));
        macro_rules! compare_stack {
            ($Stacked:ty) => {
                compare!(
                    stack::<_, $Stacked, _, _, _, _, _>(
                        vec![x.single.recorded(), y.single.recorded(), z.single.recorded()],
                        NumHeads
                    ),
                    stack::<_, $Stacked, _, _, _, _, _>(
                        vec![x.double.recorded(), y.double.recorded(), z.double.recorded()],
                        NumHeads
                    ),
                    [x, y, z]
                );
            };
        }
        compare_stack!((NumHeads, Batch, QLen));
        compare_stack!((Batch, NumHeads, QLen));
        compare_stack!((Batch, QLen, NumHeads));
    });
}

#[test]
fn a_permuting_einsum_agrees() {
    on_dims(|rng, b, q, k| {
        let x = both(rng, (b, q, k), 1.0);
        compare_map!(x, |x| einsum!(x: (Batch, QLen, KLen) -> (KLen, Batch, QLen)));
        compare_map!(x, |x| {
            let y = x.clone();
            einsum!(x: (Batch, QLen, KLen), y: (Batch, QLen, KLen) -> (QLen, Batch, KLen))
        });
    });
}

#[test]
fn a_reshaped_view_agrees() {
    on_dims(|rng, b, q, k| {
        let x = both(rng, (b, q, NumHeads, HeadDim), 1.0);
        compare_map!(x, |x| {
            let heads = permute::<_, (Batch, NumHeads, QLen, HeadDim), _, _, _, _>(x).unwrap();
            ops::merge_heads(heads)
        });
        compare_map!(x, |x| {
            let swapped = permute::<_, (QLen, Batch, NumHeads, HeadDim), _, _, _, _>(x).unwrap();
            reshape(swapped, (q, b, Product::<NumHeads, HeadDim>::default()))
        });
        compare_map!(x, |x| rearrange!(
            x: (Batch, QLen, NumHeads, HeadDim) -> (Batch, Product<HeadDim, NumHeads>, QLen)
        ));
        let row = both(rng, (q, EmbedDim), 1.0);
        compare_map!(row, |row| {
            let rows = broadcast(row, (q, k, EmbedDim), axis::<KLen>()).unwrap();
            rename(rows, axis::<KLen>(), Other::new(k.size()))
        });
    });
}

/// Only axes of one element have moved, so the elements are in row-major order; dfdx's strides are not.
#[test]
fn a_view_whose_axes_of_one_element_have_moved_keeps_its_gradient() {
    let mut rng = StdRng::seed_from_u64(0);
    let (one, q, k) = (Batch::new(1), QLen::new(3), KLen::new(4));
    let x = both(&mut rng, (one, q, k), 1.0);
    compare_map!(x, |x| {
        let moved = permute::<_, (QLen, Batch, KLen), _, _, _, _>(x).unwrap();
        scale(moved, 2.0)
    });
}

#[test]
fn patches_and_windows_agree() {
    on_dims(|rng, b, q, _| {
        let image = both(rng, (b, NumHeads, Height, Width), 1.0);
        compare_map!(image, |image| patches::<_, _, _, _, PatchHeight, PatchWidth, _, _, _>(image));
        let x = both(rng, (q, EmbedDim), 1.0);
        compare_map!(x, |x| windows::<_, _, _, (QLen, dims::Windows<EmbedDim, NumHeads>, NumHeads), _, _, _, _, _>(
            x,
            axis::<EmbedDim>(),
            NumHeads
        ));
        let x = both(rng, (EmbedDim, q), 1.0);
        compare_map!(x, |x| windows::<_, _, _, (dims::Windows<EmbedDim, NumHeads>, NumHeads, QLen), _, _, _, _, _>(
            x,
            axis::<EmbedDim>(),
            NumHeads
        ));
    });
}

#[test]
fn cumulative_sums_agree_along_every_axis() {
    on_dims(|rng, b, q, k| {
        let x = both(rng, (b, q, k), 1.0);
        compare_map!(x, |x| cumsum(x, axis::<Batch>()));
        compare_map!(x, |x| cumsum(x, axis::<QLen>()));
        compare_map!(x, |x| cumsum(x, axis::<KLen>()));
    });
}

#[test]
fn where_agrees_for_tensors_numbers_and_masks() {
    on_dims(|rng, b, q, k| {
        let (x, y) = (both(rng, (b, q, k), 1.0), both(rng, (b, q, k), 1.0));
        let (single, double) = (ops::gt(&x.single, 0.25).unwrap(), ops::gt(&x.double, 0.25).unwrap());
        compare!(
            where_(&single, x.single.recorded(), y.single.recorded()),
            where_(&double, x.double.recorded(), y.double.recorded()),
            [x, y]
        );
        compare!(
            where_(&single, x.single.recorded(), &y.single),
            where_(&double, x.double.recorded(), &y.double),
            [x, y]
        );
        compare_map!(x, |x| where_(AttentionMask::from_fn((b, q, k), |_, q, k| k <= q), x, -7.0));
        compare_map!(x, |x| where_(AttentionMask::from_fn((b, q, k), |_, q, k| k <= q), x.clone(), x));
        compare_map!(x, |x| where_(PaddingMask::from_fn((b, q), |b, q| (b + q) % 2 == 0), x, -7.0));
        let x = both(rng, (b, NumHeads, q, k), 1.0);
        compare_map!(x, |x| where_(AttentionMask::from_fn((b, q, k), |b, q, k| (b + k) % 3 <= q), x, -7.0));
    });
}

#[test]
fn an_element_that_is_not_chosen_has_no_effect() {
    let x: Tensor<(NumHeads,), f32, AutoDevice> = device().tensor(vec![f32::NAN, 2.0, f32::INFINITY]);
    let y: Tensor<(NumHeads,), f32, AutoDevice> = device().tensor(vec![5.0, f32::NAN, 6.0]);
    let chosen = where_(ops::eq(&x, 2.0).unwrap(), x.recorded(), y.recorded()).unwrap();
    assert_eq!(chosen.as_vec(), [5.0, 2.0, 6.0]);
    let mut gradients = scale(chosen, 3.0).unwrap().sum().backward().unwrap();
    assert_eq!(gradients.of(&x).unwrap().as_vec(), [0.0, 3.0, 0.0]);
    assert_eq!(gradients.of(&y).unwrap().as_vec(), [3.0, 0.0, 3.0]);
}

#[test]
fn gradient_of_rows_that_are_read_often_is_the_same_on_any_number_of_threads() {
    dims! { Columns = 17; }
    // No part of a thread begins with a row, and each row is read zero to three times.
    let (rows, reads) = (QLen::new(9_001), KLen::new(12_000));
    let read: Vec<usize> = (0..reads.size()).map(|i| i * i % rows.size()).collect();
    let gradient = || {
        let x = both(&mut StdRng::seed_from_u64(0), (rows, Columns), 1.0).single;
        let taken = ops::take(x.recorded(), axis::<QLen>(), &Indices::new(&read, (reads,), rows).unwrap()).unwrap();
        gradients(taken).of(&x).unwrap().as_vec()
    };
    let mut expected = vec![0.0; rows.size() * Columns::SIZE];
    for (i, &row) in read.iter().enumerate() {
        for (column, sum) in expected[row * Columns::SIZE..][..Columns::SIZE].iter_mut().enumerate() {
            *sum += (((i * Columns::SIZE + column) * 37 % 17) as f32 - 8.0) / 5.0;
        }
    }
    for num_threads in [1, 2, 3, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(num_threads).build().unwrap();
        assert!(pool.install(gradient) == expected, "{num_threads} threads");
    }
}
