//! Times of operations and of two layers, forward and backward together.
//!
//! The sizes are those of the rot13 model and of nanoGPT's configuration for a CPU. An operation runs its kernel in
//! `f32` and its definition in `f64`: `cargo bench --bench kernels` prints both.

use crate::recorded::{OwnTape, Recorded};
use criterion::{Criterion, criterion_group, criterion_main};
use dfdx::{tensor::*, tensor_ops::*};
use rand_distr::{Distribution, StandardNormal};
use std::{any::type_name, hint::black_box, marker::PhantomData};
use typed_transformer::models::nano_gpt::NanoGpt;
use typed_transformer::nn::{FeedForward, SelfAttention};
use typed_transformer::ops;
use typed_transformer::prelude::*;

#[path = "../tests/support/recorded.rs"]
mod recorded;

/// A tensor of random numbers.
fn random<S: HasShape<Shape = S> + Shape + Default, E: Real>() -> Tensor<S, E, Cpu>
where
    Cpu: Backend<E>,
    StandardNormal: Distribution<E>,
{
    Cpu::default().sample_like(&S::default(), StandardNormal)
}

/// Measures one operation forward and backward.
fn measure<S: Shape, E: Real>(
    criterion: &mut Criterion,
    name: String,
    run: impl Fn() -> Result<Tensor<S, E, Cpu, OwnTape<E>>, OpError>,
) where
    Cpu: Backend<E>,
{
    let mut group = criterion.benchmark_group(name);
    group.sample_size(20);
    group.bench_function(type_name::<E>(), |bencher| {
        bencher.iter(|| black_box(run().unwrap().square().sum().backward().unwrap()));
    });
    group.finish();
}

/// Measures an operation under its own name.
macro_rules! measure {
    ($criterion:ident, $name:expr, $op:ident($($argument:expr),*)) => {
        measure($criterion, format!("{}/{}", $name, stringify!($op)), || ops::$op($($argument),*));
    };
}

struct Sizes<H, Head, Hidden>(PhantomData<(H, Head, Hidden)>);
impl<H: ConstDim, Head: ConstDim, Hidden: ConstDim> Arch for Sizes<H, Head, Hidden> {
    type NumHeads = H;
    type QKDim = Head;
    type VODim = Head;
    type HiddenDim = Hidden;
    type Conventions = NanoGpt;
}

fn operations<B: ConstDim, S: ConstDim, M: ConstDim, V: ConstDim, H: ConstDim, Head: ConstDim, E: Real>(
    criterion: &mut Criterion,
    name: &str,
) where
    Cpu: Backend<E>,
    StandardNormal: Distribution<E>,
{
    let x: Tensor<(B, S, M), E, Cpu> = random();
    let weight: Tensor<(V, M), E, Cpu> = random();
    let bias: Tensor<(V,), E, Cpu> = random();
    let scale: Tensor<(M,), E, Cpu> = random();
    let shift: Tensor<(M,), E, Cpu> = random();
    let positions: Tensor<(S, M), E, Cpu> = random();
    let logits: Tensor<(B, S, V), E, Cpu> = random();
    let heads: Tensor<(B, S, Product<H, Head>), E, Cpu> = random();
    let ids: Vec<usize> = (0..B::SIZE * S::SIZE).map(|i| i * 7 % V::SIZE).collect();
    let ids: TokenIds<B, S, V> = TokenIds::from_ids(&ids, None, Default::default()).unwrap();
    let labels = LabelIds::from(ids.clone());
    let mask = AttentionMask::from_fn(Default::default(), |_, q, k| k <= q);

    let tape = OwnTape::default;
    measure!(criterion, name, embed(&weight, &ids, tape()));
    measure!(criterion, name, add_positions(x.recorded(), positions.retaped()));
    measure!(criterion, name, linear(x.recorded(), &weight, Some(&bias)));
    measure!(criterion, name, layer_norm(x.recorded(), &scale, Some(&shift), 1e-5));
    measure!(criterion, name, rms_norm(x.recorded(), &scale, 1e-5));
    measure!(criterion, name, residual(x.recorded(), x.retaped()));
    measure!(
        criterion,
        name,
        multi_head_attention(heads.recorded(), heads.retaped(), heads.retaped(), &mask, AttentionOptions::default())
    );
    measure!(criterion, name, cross_entropy(logits.recorded(), &labels, Reduction::MeanAll));
}

fn layers<B: ConstDim, S: ConstDim, M: ConstDim, H: ConstDim, Head: ConstDim, Hidden: ConstDim, E: Real>(
    criterion: &mut Criterion,
    name: &str,
) where
    Cpu: Backend<E>,
    StandardNormal: Distribution<E>,
{
    let device = Cpu::default();
    let x: Tensor<(B, S, M), E, Cpu> = random();
    let layer = FeedForward::<M, Sizes<H, Head, Hidden>, E, Cpu>::build(&device);
    measure(criterion, format!("{name}/feed_forward"), || layer.forward(x.recorded()));

    let padding = PaddingMask::without_padding(Default::default());
    let layer = SelfAttention::<M, CausalMask, Sizes<H, Head, Hidden>, E, Cpu>::build(&device);
    measure(criterion, format!("{name}/self_attention"), || layer.forward(x.recorded(), &padding));
}

fn rot13(criterion: &mut Criterion) {
    dims! {
        VocabSize = 28; EmbedDim = 8; NumHeads = 7; HeadDim = 5; HiddenDim = 5; SeqLen = 15;
        Batch = 50;
    }
    operations::<Batch, SeqLen, EmbedDim, VocabSize, NumHeads, HeadDim, f32>(criterion, "rot13");
    operations::<Batch, SeqLen, EmbedDim, VocabSize, NumHeads, HeadDim, f64>(criterion, "rot13");
    layers::<Batch, SeqLen, EmbedDim, NumHeads, HeadDim, HiddenDim, f32>(criterion, "rot13");
    layers::<Batch, SeqLen, EmbedDim, NumHeads, HeadDim, HiddenDim, f64>(criterion, "rot13");
}

fn gpt(criterion: &mut Criterion) {
    dims! {
        VocabSize = 65; EmbedDim = 128; NumHeads = 4; HeadDim = 32; HiddenDim = 512; SeqLen = 64;
        Batch = 12;
    }
    operations::<Batch, SeqLen, EmbedDim, VocabSize, NumHeads, HeadDim, f32>(criterion, "gpt");
    operations::<Batch, SeqLen, EmbedDim, VocabSize, NumHeads, HeadDim, f64>(criterion, "gpt");
    layers::<Batch, SeqLen, EmbedDim, NumHeads, HeadDim, HiddenDim, f32>(criterion, "gpt");
    layers::<Batch, SeqLen, EmbedDim, NumHeads, HeadDim, HiddenDim, f64>(criterion, "gpt");
}

criterion_group!(benches, rot13, gpt);
criterion_main!(benches);
