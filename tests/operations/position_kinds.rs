//! Kinds of positions in the standard attention and in the embedder, decoding in a sliding window, and a bias for
//! groups of heads.

use crate::finite_differences::{check, random, weighted_sum};
use crate::numbers::{F64, Taped, assert_close, device};
use dfdx::tensor::AutoDevice;
use typed_transformer::mask::{CausalKind, SlidingWindow};
use typed_transformer::nn::{
    Block, Conventions, HasPositionsFor, KeyValueCache, NoPositions, NormPlacement, PositionKind, RotaryPositions,
    Sinusoidal,
};
use typed_transformer::ops::{self, GeluTanh, Rotary, RotaryPairs};
use typed_transformer::prelude::*;

dims! {
    Batch = 2; NumHeads = 3; One = 1; HeadDim = 4; VODim = 5; QLen = 4; KLen = 7; EmbedDim = 6; HiddenDim = 11; MaxLen = 8;
    VocabSize = 9; Width = 3; GroupSize = 2;
}

/// Conventions with a kind of positions.
struct With<Positions>(std::marker::PhantomData<fn() -> Positions>);

impl<Positions: PositionKind> Conventions for With<Positions> {
    type Activation = GeluTanh;
    type Positions = Positions;
    type PaddingRule = PadQueriesAndKeys;
    const NORM_PLACEMENT: NormPlacement = NormPlacement::Pre;
    const EMBEDDING_NORM: bool = false;
    const ROTARY: Option<Rotary> = match Positions::IS_ROTARY {
        true => Some(Rotary { base: 300.0, pairs: RotaryPairs::Halves, scaling: None }),
        false => None,
    };
}

macro_rules! arch {
    ($name:ident, $positions:ty, $head_dim:ty) => {
        struct $name;
        impl Arch for $name {
            type NumHeads = Product<NumHeads, One>;
            type QKDim = $head_dim;
            type VODim = VODim;
            type HiddenDim = HiddenDim;
            type Conventions = With<$positions>;
        }
        impl GroupedQuery for $name {
            type NumKeyValueHeads = NumHeads;
            type GroupSize = One;
        }
    };
}
arch!(Rotated, RotaryPositions, HeadDim);
arch!(Unordered, NoPositions, HeadDim);
arch!(Waves, Sinusoidal, HeadDim);
// Rotary positions could not pair up the columns of these heads.
arch!(OddHeads, NoPositions, VODim);

type Standard<A, Mask> = SelfAttention<EmbedDim, Mask, A, f64, AutoDevice>;
type Grouped<A> = GroupedQueryAttention<EmbedDim, CausalMask, A, f64, AutoDevice>;

/// Gives the grouped attention, which has one group for each head, the weights of the standard one.
fn grouped<A>(standard: &Standard<A, CausalMask>) -> Grouped<A>
where
    A: GroupedQuery<NumKeyValueHeads = NumHeads, GroupSize = One, VODim = VODim>
        + Arch<NumHeads = Product<NumHeads, One>>,
{
    let mut grouped = Grouped::<A>::build(&device());
    let attention = &standard.attention;
    grouped.query_proj.weight.copy_from(&attention.query_proj.weight.as_vec());
    grouped.key_proj.weight.copy_from(&attention.key_proj.weight.as_vec());
    grouped.value_proj.weight.copy_from(&attention.value_proj.weight.as_vec());
    grouped.output_proj.weight.copy_from(&attention.output_proj.weight.as_vec());
    grouped
}

#[test]
fn rotary_positions_are_those_of_groups_of_one_head() {
    let x = random::<(Batch, KLen, EmbedDim)>(1);
    let padding = PaddingMask::without_padding((Batch, KLen));
    let rotated = Standard::<Rotated, CausalMask>::build(&AutoDevice::seed_from_u64(1));
    assert_close(
        &rotated.forward(x.clone(), &padding).unwrap().as_vec(),
        &grouped(&rotated).forward(x.clone(), &padding).unwrap().as_vec(),
        1e-10,
    );
    // Without rotary positions the same weights give something else.
    let mut unordered = Standard::<Unordered, CausalMask>::build(&device());
    unordered.attention.query_proj.weight.copy_from(&rotated.attention.query_proj.weight.as_vec());
    unordered.attention.key_proj.weight.copy_from(&rotated.attention.key_proj.weight.as_vec());
    let weights = |layer: Vec<f64>| layer.iter().sum::<f64>();
    let (of_rotated, of_unordered) = (
        rotated.attention_weights(x.clone(), &padding).unwrap().as_vec(),
        unordered.attention_weights(x, &padding).unwrap().as_vec(),
    );
    assert!(of_rotated.iter().zip(&of_unordered).any(|(a, b)| (a - b).abs() > 1e-3));
    assert!((weights(of_rotated) - weights(of_unordered)).abs() < 1e-9);
}

#[test]
fn without_rotary_positions_grouped_heads_may_have_an_odd_size() {
    let x = random::<(Batch, KLen, EmbedDim)>(1);
    let padding = PaddingMask::without_padding((Batch, KLen));
    let standard = Standard::<OddHeads, CausalMask>::build(&AutoDevice::seed_from_u64(1));
    assert_close(
        &standard.forward(x.clone(), &padding).unwrap().as_vec(),
        &grouped(&standard).forward(x, &padding).unwrap().as_vec(),
        1e-10,
    );
}

#[test]
fn the_kernel_of_the_processor_leaves_rotary_positions_to_the_definition() {
    let x = random::<(Batch, KLen, EmbedDim)>(2);
    let single: Tensor<(Batch, KLen, EmbedDim), f32, AutoDevice> =
        device().tensor(x.as_vec().iter().map(|x| *x as f32).collect::<Vec<_>>());
    let padding = PaddingMask::without_padding((Batch, KLen));
    let double = Standard::<Rotated, CausalMask>::build(&AutoDevice::seed_from_u64(4));
    let layer = SelfAttention::<EmbedDim, CausalMask, Rotated, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(4));
    let (found, expected) =
        (layer.forward(single, &padding).unwrap().as_vec(), double.forward(x, &padding).unwrap().as_vec());
    for (found, expected) in found.iter().zip(expected) {
        assert!((f64::from(*found) - expected).abs() < 1e-4, "{found}, {expected}");
    }
}

#[test]
fn without_positions_a_token_is_its_embedding() {
    let ids = TokenIds::from_ids(&[1, 5, 5, 0, 8, 5, 5, 1], None, (Batch, QLen)).unwrap();
    fn embeds<A: HasPositionsFor<EmbedDim>>(ids: &TokenIds<Batch, QLen, VocabSize>) -> [Vec<f64>; 2] {
        let embedder =
            Embedder::<VocabSize, MaxLen, EmbedDim, A, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(5));
        let tokens = embedder.token_embedder.forward(ids, NoneTape).unwrap().as_vec();
        [embedder.forward(ids, NoneTape).unwrap().as_vec(), tokens]
    }
    let [rotated, tokens] = embeds::<Rotated>(&ids);
    assert_eq!(rotated, tokens);
    let [unordered, tokens] = embeds::<Unordered>(&ids);
    assert_eq!(unordered, tokens);
    let [waves, tokens] = embeds::<Waves>(&ids);
    assert_ne!(waves, tokens);
}

/// The output of a layer for a whole sequence, and for its parts one after the other.
fn in_parts<A: Arch, Mask: CausalKind>() {
    let device = AutoDevice::seed_from_u64(3);
    let layer = Block::<EmbedDim, Mask, A, f64, AutoDevice>::build(&device);
    let x = random::<(Batch, KLen, EmbedDim)>(1);
    let whole = layer.forward(x.clone(), &PaddingMask::without_padding((Batch, KLen))).unwrap();
    let mut cache = KeyValueCache::<Batch, MaxLen, A, f64, AutoDevice>::new(&device, Batch).unwrap();
    let prompt: F64<(Batch, QLen, EmbedDim)> = narrow(x.clone(), axis::<KLen>(), 0, QLen).unwrap();
    let mut parts = vec![layer.forward_cached(prompt, &mut cache).unwrap().as_vec()];
    for start in 4..7 {
        let next: F64<(Batch, One, EmbedDim)> = narrow(x.clone(), axis::<KLen>(), start, One).unwrap();
        parts.push(layer.forward_cached(next, &mut cache).unwrap().as_vec());
    }
    let row = |sequence: usize| parts.iter().flat_map(move |part| &part[sequence * part.len() / 2..][..part.len() / 2]);
    let parts: Vec<f64> = row(0).chain(row(1)).copied().collect();
    assert_close(&parts, &whole.as_vec(), 1e-10);
}

#[test]
fn decoding_with_a_cache_gives_the_same() {
    in_parts::<Rotated, CausalMask>();
    in_parts::<Rotated, SlidingWindow<Width>>();
    in_parts::<Waves, SlidingWindow<Width>>();
    in_parts::<Unordered, SlidingWindow<One>>();
    in_parts::<Unordered, CausalMask>();
}

type QueryHeads = Product<NumHeads, GroupSize>;

/// The heads of keys or values, once for each group.
fn repeated<Len: Dim, Size: ConstDim>(
    heads: F64<(Batch, Len, Product<NumHeads, Size>)>,
) -> F64<(Batch, Len, Product<QueryHeads, Size>)> {
    let (batch, len, _) = *heads.shape();
    let split: F64<(Batch, Len, NumHeads, Size)> =
        rearrange!(heads: (Batch, Len, Product<NumHeads, Size>) -> (Batch, Len, NumHeads, Size)).unwrap();
    let shape = (batch, len, NumHeads, GroupSize, Size::default());
    let repeated: F64<(Batch, Len, NumHeads, GroupSize, Size)> = broadcast(split, shape, axis::<GroupSize>()).unwrap();
    rearrange!(
        repeated: (Batch, Len, NumHeads, GroupSize, Size) -> (Batch, Len, Product<Product<NumHeads, GroupSize>, Size>)
    )
    .unwrap()
}

#[test]
fn groups_of_heads_take_a_bias() {
    let query = random::<(Batch, QLen, Product<QueryHeads, HeadDim>)>(1);
    let key = random::<(Batch, KLen, Product<NumHeads, HeadDim>)>(2);
    let value = random::<(Batch, KLen, Product<NumHeads, VODim>)>(3);
    let bias = random::<(QueryHeads, QLen, KLen)>(4);
    let mask = AttentionMask::from_fn((Batch, QLen, KLen), |b, q, k| k <= q + b + 1);
    let scale = AttentionScale::Constant(0.6);
    let expected: F64<(Batch, QLen, Product<QueryHeads, VODim>)> = ops::multi_head_attention(
        query.clone(),
        repeated(key.clone()),
        repeated(value.clone()),
        &mask,
        AttentionOptions { scale, bias: Some(bias.clone()), ..AttentionOptions::default() },
    )
    .unwrap();
    let grouped = |q, k, v, p| -> Taped<()> {
        let attended: Taped<(Batch, QLen, Product<QueryHeads, VODim>)> = ops::grouped_query_attention(
            q,
            k,
            v,
            &mask,
            AttentionOptions { scale, bias: Some(p), ..AttentionOptions::default() },
        )
        .unwrap();
        weighted_sum(attended)
    };
    let found: F64<(Batch, QLen, Product<QueryHeads, VODim>)> = ops::grouped_query_attention(
        query.clone(),
        key.clone(),
        value.clone(),
        &mask,
        AttentionOptions { scale, bias: Some(bias.clone()), ..AttentionOptions::default() },
    )
    .unwrap();
    assert_close(&found.as_vec(), &expected.as_vec(), 1e-10);
    check(query.clone(), |q| grouped(q, key.retaped(), value.retaped(), bias.retaped()));
    check(bias.clone(), |p| grouped(query.retaped(), key.retaped(), value.retaped(), p));
    check(value.clone(), |v| grouped(query.retaped(), key.retaped(), v, bias.retaped()));
}
