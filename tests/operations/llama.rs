//! The layers of Llama: attention in groups of heads, with a cache, and a gated feed-forward layer.

use crate::finite_differences::{check, random, weighted_sum};
use crate::numbers::{F64, assert_close, device};
use dfdx::tensor::AutoDevice;
use std::collections::BTreeSet;
use typed_transformer::nn::{Conventions, GroupedKeyValueCache, Module, NormKind, NormPlacement, RotaryPositions};
use typed_transformer::ops::{self, Rotary, Silu};
use typed_transformer::prelude::*;

dims! {
    Batch = 2; NumKeyValueHeads = 2; GroupSize = 3; HeadDim = 4; VODim = 5; QLen = 4; KLen = 7; EmbedDim = 6;
    HiddenDim = 11; MaxLen = 8; Width = 3;
}

/// The conventions of Llama.
struct Llama;

impl Conventions for Llama {
    type Activation = Silu;
    type Positions = RotaryPositions;
    type PaddingRule = PadQueriesAndKeys;
    const NORM: NormKind = NormKind::RmsNorm;
    const NORM_PLACEMENT: NormPlacement = NormPlacement::Pre;
    const FEED_FORWARD_BIAS: bool = false;
    const ROTARY: Option<Rotary> = Some(Rotary::halves(500.0));
}

macro_rules! arch {
    ($name:ident, $conventions:ty) => {
        struct $name;
        impl Arch for $name {
            type NumHeads = Product<NumKeyValueHeads, GroupSize>;
            type QKDim = HeadDim;
            type VODim = VODim;
            type HiddenDim = HiddenDim;
            type Conventions = $conventions;
        }
        impl GroupedQuery for $name {
            type NumKeyValueHeads = NumKeyValueHeads;
            type GroupSize = GroupSize;
        }
    };
}
arch!(Rotated, Llama);
arch!(Plain, TypedTransformer);

#[test]
fn only_rotated_conventions_are_stored_as_such() {
    let of_llama = Llama::conventions();
    assert_eq!(of_llama.last().unwrap().1, "Rotary { base: 500.0, pairs: Halves }");
    assert!(TypedTransformer::conventions().iter().all(|(name, _)| *name != "rotary positions"));
    let mut of_layer = BTreeSet::new();
    GroupedQueryAttention::<EmbedDim, SlidingWindow<Width>, Rotated, f64, AutoDevice>::conventions(&mut of_layer);
    assert!(of_layer.contains(&("mask", "earlier positions in a window of 3".into())), "{of_layer:?}");
}

fn decoding_gives_the_same<A: GroupedQuery>() {
    let device = AutoDevice::seed_from_u64(3);
    let layer = GroupedQueryAttention::<EmbedDim, CausalMask, A, f64, AutoDevice>::build(&device);
    let x = random::<(Batch, KLen, EmbedDim)>(1);
    let whole = layer.forward(x.clone(), &PaddingMask::without_padding((Batch, KLen))).unwrap();
    let mut cache = GroupedKeyValueCache::<Batch, MaxLen, A, f64, AutoDevice>::new(&device, Batch).unwrap();
    let prompt: F64<(Batch, QLen, EmbedDim)> = narrow(x.clone(), axis::<KLen>(), 0, QLen).unwrap();
    let rest: F64<(Batch, Width, EmbedDim)> = narrow(x, axis::<KLen>(), 4, Width).unwrap();
    let prompt = layer.forward_cached(prompt, &mut cache).unwrap();
    let rest = layer.forward_cached(rest, &mut cache).unwrap();
    // The cache holds the heads of the keys alone, for the 7 positions so far.
    assert_eq!(cache.keys().as_vec().len(), 2 * 7 * 2 * 4);
    let both: F64<(Batch, Sum<QLen, Width>, EmbedDim)> = concat(prompt, rest, along::<QLen, Width>()).unwrap();
    assert_close(&both.as_vec(), &whole.as_vec(), 1e-10);
    let error = layer.forward_cached(random::<(Batch, Width, EmbedDim)>(2), &mut cache).unwrap_err();
    assert_eq!(error.to_string(), "cache: Width=3 from 7 on is not inside MaxLen=8");
}

#[test]
fn a_cache_of_fewer_heads_gives_the_same() {
    decoding_gives_the_same::<Rotated>();
    decoding_gives_the_same::<Plain>();
}

#[test]
fn only_rotary_positions_tell_the_order_of_keys() {
    let x = random::<(Batch, QLen, EmbedDim)>(1);
    let order = Indices::new(&[1, 0, 2, 3], (QLen,), QLen).unwrap();
    let swapped: F64<(Batch, QLen, EmbedDim)> = ops::take(x.clone(), axis::<QLen>(), &order).unwrap();
    let padding = PaddingMask::without_padding((Batch, QLen));
    fn last(x: F64<(Batch, QLen, EmbedDim)>) -> Vec<f64> {
        ops::select(x, axis::<QLen>(), 3).unwrap().as_vec()
    }
    let plain = GroupedQueryAttention::<EmbedDim, NoMask, Plain, f64, AutoDevice>::build(&device());
    assert_close(
        &last(plain.forward(x.clone(), &padding).unwrap()),
        &last(plain.forward(swapped.clone(), &padding).unwrap()),
        1e-10,
    );
    let rotated = GroupedQueryAttention::<EmbedDim, NoMask, Rotated, f64, AutoDevice>::build(&device());
    let (one, other) = (last(rotated.forward(x, &padding).unwrap()), last(rotated.forward(swapped, &padding).unwrap()));
    assert!(one.iter().zip(other).any(|(one, other)| (one - other).abs() > 1e-6));
}

#[test]
fn a_gate_multiplies_the_hidden_vector() {
    let layer = GatedFeedForward::<EmbedDim, Rotated, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(1));
    let x = random::<(Batch, QLen, EmbedDim)>(1);
    let norm = layer.norm.as_ref().unwrap();
    let matrix = |weight: Vec<f64>, x: &[f64]| -> Vec<f64> {
        weight.chunks(x.len()).map(|row| row.iter().zip(x).map(|(w, x)| w * x).sum()).collect()
    };
    let normalized = norm.forward(x.clone()).unwrap().as_vec();
    let expected: Vec<f64> = normalized
        .chunks(6)
        .flat_map(|x| {
            let (gate, hidden) = (matrix(layer.gate.weight.as_vec(), x), matrix(layer.hidden.weight.as_vec(), x));
            let gated: Vec<f64> = gate.iter().zip(hidden).map(|(g, h)| g / (1.0 + (-g).exp()) * h).collect();
            matrix(layer.output.weight.as_vec(), &gated)
        })
        .zip(x.as_vec())
        .map(|(y, x)| x + y)
        .collect();
    assert_close(&layer.forward(x.clone()).unwrap().as_vec(), &expected, 1e-10);
    check(x.clone(), |x| weighted_sum(layer.forward(x).unwrap()));
    let attention =
        GroupedQueryAttention::<EmbedDim, CausalMask, Rotated, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(1));
    check(x, |x| weighted_sum(attention.forward(x, &PaddingMask::without_padding((Batch, QLen))).unwrap()));
}

/// The block of `docs/llama.md`.
mod page {
    include!("../../examples/llama_block/program.rs");
    use dfdx::tensor::AutoDevice;

    #[test]
    fn block_of_the_page_is_that_of_the_modules() {
        let device = AutoDevice::seed_from_u64(0);
        let block = Block::<f64, AutoDevice>::build(&device);
        let mut attention = GroupedQueryAttention::<EmbedDim, CausalMask, Llama, f64, AutoDevice>::build(&device);
        attention.query_proj.weight = block.attention.query.clone();
        attention.key_proj.weight = block.attention.key.clone();
        attention.value_proj.weight = block.attention.value.clone();
        attention.output_proj.weight = block.attention.output.clone();
        let mut feed_forward = GatedFeedForward::<EmbedDim, Llama, f64, AutoDevice>::build(&device);
        feed_forward.gate.weight = rename(block.feed_forward.gate.clone(), axis::<GateDim>(), HiddenDim).unwrap();
        feed_forward.hidden.weight = block.feed_forward.hidden.clone();
        feed_forward.output.weight = block.feed_forward.output.clone();

        let x = super::random::<(super::Batch, super::KLen, EmbedDim)>(1);
        let padding = PaddingMask::without_padding((super::Batch, super::KLen));
        let expected = feed_forward.forward(attention.forward(x.clone(), &padding).unwrap()).unwrap();
        super::assert_close(&block.forward(x, &padding).unwrap().as_vec(), &expected.as_vec(), 1e-10);
    }
}
