//! The kernels of the CPU beside the definitions that they stand in for, at the sizes of the rot13 model
//! and at those of nanoGPT's configuration for a CPU, and the training steps of whole models.
//!
//! `cargo bench --bench kernels` prints both times; forward and backward are measured together.

use criterion::{Criterion, criterion_group, criterion_main};
use dfdx::{tensor::*, tensor_ops::*};
use std::{hint::black_box, marker::PhantomData};
use typed_transformer::{
    backend::Backend,
    models::nano_gpt::NanoGpt,
    nn::{FeedForward, SelfAttention},
    ops::{self, Activation, GeluErf},
    prelude::*,
};

mod models;

/// A tensor of random numbers.
fn random<S: HasShape<Shape = S> + Shape + Default>() -> Tensor<S, f32, Cpu> {
    Cpu::default().sample_like(&S::default(), rand_distr::StandardNormal)
}

/// Measures the kernel and the definition under one name.
fn both<S: Shape>(
    criterion: &mut Criterion,
    name: String,
    kernel: impl Fn() -> Tensor<S, f32, Cpu, OwnedTape<f32, Cpu>>,
    definition: impl Fn() -> Tensor<S, f32, Cpu, OwnedTape<f32, Cpu>>,
) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(20);
    group.bench_function("kernel", |bencher| {
        bencher.iter(|| black_box(kernel().square().sum().backward()));
    });
    group.bench_function("definition", |bencher| {
        bencher.iter(|| black_box(definition().square().sum().backward()));
    });
    group.finish();
}

/// The kernel and the definition of one name, with the same arguments.
macro_rules! both {
    ($criterion:ident, $name:expr, $op:ident($($argument:expr),*)) => {
        both(
            $criterion,
            format!("{}/{}", $name, stringify!($op).trim_start_matches("try_")),
            || Cpu::$op($($argument),*).unwrap(),
            || ops::$op($($argument),*).unwrap(),
        );
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

fn operations<B: ConstDim, S: ConstDim, M: ConstDim, V: ConstDim, H: ConstDim, Head: ConstDim>(
    criterion: &mut Criterion,
    name: &str,
) {
    let x: Tensor<(B, S, M), f32, Cpu> = random();
    let weight: Tensor<(V, M), f32, Cpu> = random();
    let bias: Tensor<(V,), f32, Cpu> = random();
    let scale: Tensor<(M,), f32, Cpu> = random();
    let shift: Tensor<(M,), f32, Cpu> = random();
    let positions: Tensor<(S, M), f32, Cpu> = random();
    let logits: Tensor<(B, S, V), f32, Cpu> = random();
    let heads: Tensor<(B, S, Product<H, Head>), f32, Cpu> = random();
    let ids: Vec<usize> = (0..B::SIZE * S::SIZE).map(|i| i * 7 % V::SIZE).collect();
    let ids: TokenIds<B, S, V> = TokenIds::from_ids(&ids, None, Default::default()).unwrap();
    let mask = AttentionMask::from_fn(Default::default(), |_, q, k| k <= q);

    let tape = OwnedTape::default;
    both!(criterion, name, try_embed(&weight, &ids, tape()));
    both!(criterion, name, try_add_positions(x.leaky_trace(), positions.retaped()));
    both!(criterion, name, try_linear(x.leaky_trace(), &weight, Some(&bias)));
    both!(criterion, name, try_layer_norm(x.leaky_trace(), &scale, Some(&shift), 1e-5));
    both!(criterion, name, try_rms_norm(x.leaky_trace(), &scale, 1e-5));
    both!(criterion, name, try_residual(x.leaky_trace(), x.retaped()));
    both!(
        criterion,
        name,
        try_multi_head_attention(
            heads.leaky_trace(),
            heads.retaped(),
            heads.retaped(),
            &mask,
            AttentionScale::HeadDim,
            MaskFill::MinValue,
            0.0
        )
    );
    let average = Reduction::MeanAll;
    both!(criterion, name, try_cross_entropy_with_label_smoothing(logits.leaky_trace(), &ids, average, 0.0));
}

fn sublayers<B: ConstDim, S: ConstDim, M: ConstDim, H: ConstDim, Head: ConstDim, Hidden: ConstDim>(
    criterion: &mut Criterion,
    name: &str,
) {
    type Sublayer<Sizes, M> = SelfAttention<M, CausalMask, Sizes, f32, Cpu>;
    let device = Cpu::default();
    let x: Tensor<(B, S, M), f32, Cpu> = random();
    let scale: Tensor<(M,), f32, Cpu> = random();
    let norm = |x| ops::try_layer_norm(x, &scale, None, 1e-5).unwrap();

    let up: Tensor<(Hidden, M), f32, Cpu> = random();
    let down: Tensor<(M, Hidden), f32, Cpu> = random();
    let module = FeedForward::<M, Sizes<H, Head, Hidden>, f32, Cpu>::build(&device);
    let definition = || {
        let hidden = ops::try_linear(norm(x.leaky_trace()), &up, None).unwrap();
        let output = ops::try_linear(GeluErf::try_apply(hidden).unwrap(), &down, None).unwrap();
        ops::try_residual(x.retaped(), output).unwrap()
    };
    let kernel = || module.forward(x.leaky_trace());
    both(criterion, format!("{name}/feed_forward"), kernel, definition);

    let into: Tensor<(Product<H, Head>, M), f32, Cpu> = random();
    let out: Tensor<(M, Product<H, Head>), f32, Cpu> = random();
    let padding = PaddingMask::without_padding(Default::default());
    let mask = mk_mask::<CausalMask, PadQueriesAndKeys, B, S>(&padding);
    let definition = || {
        let normal = norm(x.leaky_trace());
        let map = |x| ops::try_linear(x, &into, None).unwrap();
        let (k, v) = (map(normal.with_empty_tape()), map(normal.with_empty_tape()));
        let (scale, masked) = (AttentionScale::HeadDim, MaskFill::MinValue);
        let attended = ops::try_multi_head_attention(map(normal), k, v, &mask, scale, masked, 0.0).unwrap();
        let output = ops::try_linear(attended, &out, None).unwrap();
        ops::try_residual(x.retaped(), output).unwrap()
    };
    let module = Sublayer::<Sizes<H, Head, Hidden>, M>::build(&device);
    let kernel = || module.forward(x.leaky_trace(), &padding);
    both(criterion, format!("{name}/self_attention"), kernel, definition);
}

fn rot13(criterion: &mut Criterion) {
    dims! {
        VocabSize = 28; EmbedDim = 8; NumHeads = 7; HeadDim = 5; HiddenDim = 5; SeqLen = 15;
        Batch = 50;
    }
    operations::<Batch, SeqLen, EmbedDim, VocabSize, NumHeads, HeadDim>(criterion, "rot13");
    sublayers::<Batch, SeqLen, EmbedDim, NumHeads, HeadDim, HiddenDim>(criterion, "rot13");
}

fn gpt(criterion: &mut Criterion) {
    dims! {
        VocabSize = 65; EmbedDim = 128; NumHeads = 4; HeadDim = 32; HiddenDim = 512; SeqLen = 64;
        Batch = 12;
    }
    operations::<Batch, SeqLen, EmbedDim, VocabSize, NumHeads, HeadDim>(criterion, "gpt");
    sublayers::<Batch, SeqLen, EmbedDim, NumHeads, HeadDim, HiddenDim>(criterion, "gpt");
}

fn steps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("training_step");
    group.sample_size(20);
    for (name, (_, mut step)) in
        [("rot13", models::rot13()), ("typed", models::typed()), ("gpt", models::gpt())]
    {
        group.bench_function(name, |bencher| bencher.iter(&mut step));
    }
}

criterion_group!(benches, rot13, gpt, steps);
criterion_main!(benches);
