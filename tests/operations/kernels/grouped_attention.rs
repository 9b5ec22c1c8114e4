//! The kernel of attention in which groups of the queries' heads share keys and values.

use super::biased_attention::agrees_on_call;
use super::*;

type Width<const HEADS: usize, const SIZE: usize> = Product<Const<HEADS>, Const<SIZE>>;
type GroupedWidth<const KEY_HEADS: usize, const GROUPS: usize, const SIZE: usize> =
    Product<Width<KEY_HEADS, GROUPS>, Const<SIZE>>;

#[test]
fn attention_in_groups_agrees() {
    on_calls(&|rng, call| agrees_on_call::<1, 1, 1, 1>(rng, call, 1.0, false));
    on_calls(&|rng, call| agrees_on_call::<3, 2, 5, 3>(rng, call, 1.0, false));
    on_calls(&|rng, call| agrees_on_call::<1, 7, 16, 17>(rng, call, 1.0, false));
    on_calls(&|rng, call| agrees_on_call::<2, 3, 8, 13>(rng, call, 6.0, false));
}

#[test]
fn attention_in_groups_agrees_beyond_a_block() {
    // The heads of the last call are divided among threads.
    let calls: [Call; 7] =
        [(1, 33, 129), (2, 64, 256), (1, 40, 400), (1, 1, 300), (1, 131, 131), (3, 3, 257), (1, 3, 1601)];
    for (seed, (batch, queries, keys)) in calls.into_iter().enumerate() {
        let rng = &mut StdRng::seed_from_u64(seed as u64);
        let call = (Unchecked(batch), Unchecked(queries), Unchecked(keys));
        agrees_on_call::<2, 2, 5, 17>(rng, call, 1.0, false);
        agrees_on_call::<1, 3, 16, 16>(rng, call, 4.0, false);
    }
}

/// The head of a query in group `h` reads head `h` of the key, and no other.
#[test]
fn a_group_reads_its_own_key() {
    let rng = &mut StdRng::seed_from_u64(1);
    let (batch, queries, keys) = (Const::<2>, Const::<5>, Const::<7>);
    let query = both(rng, (batch, queries, GroupedWidth::<3, 2, 4>::default()), 1.0).single;
    let key = both(rng, (batch, keys, Width::<3, 4>::default()), 1.0).single;
    let value = both(rng, (batch, keys, Width::<3, 4>::default()), 1.0).single;
    let mask = AttentionMask::all_visible((batch, queries, keys));
    let attended = |value: &Untaped<_, f32>| -> Vec<f32> {
        let (scale, fill) = (AttentionScale::HeadDim, MaskFill::MinValue);
        let attended: Untaped<(_, _, GroupedWidth<3, 2, 4>), f32> = ops::grouped_query_attention(
            query.clone(),
            key.clone(),
            value.clone(),
            &mask,
            AttentionOptions { scale, mask_fill: fill, ..AttentionOptions::default() },
        )
        .unwrap();
        attended.as_vec()
    };
    let before = attended(&value);
    let mut changed = value.clone();
    let elements = value.as_vec();
    // The columns of the second of three heads.
    let add_one = |(i, x): (usize, &f32)| if i % 12 / 4 == 1 { x + 1.0 } else { *x };
    changed.copy_from(&elements.iter().enumerate().map(add_one).collect::<Vec<_>>());
    for (i, (before, after)) in before.iter().zip(attended(&changed)).enumerate() {
        let expected = if [2, 3].contains(&(i % 24 / 4)) { before + 1.0 } else { *before };
        assert!((after - expected).abs() < 1e-5, "at {i}: {after}, expected {expected}");
    }
}
