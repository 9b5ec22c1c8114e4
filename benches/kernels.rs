//! Each kernel of the CPU beside the definition that it stands in for, and a whole training step of
//! the rot13 model.
//!
//! `cargo bench` prints both times; forward and backward are measured together.

use criterion::{Criterion, criterion_group, criterion_main};
use dfdx::{tensor::*, tensor_ops::*};
use std::hint::black_box;
use typed_transformer::{
    backend::Backend,
    models::another_annotated::Annotated,
    ops,
    prelude::*,
    train::{Adam, update},
};

dims! {
    VocabSize = 28; MaxSeqLen = 15; EmbedDim = 8; NumHeads = 7; HeadDim = 5; HiddenDim = 5;
    NumLayers = 1; SeqLen = 15; Batch = 50;
}

struct Rot13;
impl Arch for Rot13 {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Style = Annotated;
}
impl Seq2Seq for Rot13 {
    type SrcVocab = VocabSize;
    type TgtVocab = VocabSize;
    type MaxSrcLen = MaxSeqLen;
    type MaxTgtLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type EncoderLayers = NumLayers;
    type DecoderLayers = NumLayers;
}

type Heads = Product<NumHeads, HeadDim>;

fn random<S: HasShape<Shape = S> + Shape + Default>(device: &Cpu) -> Tensor<S, f32, Cpu> {
    device.sample_like(&S::default(), rand_distr::StandardNormal)
}

/// Measures the kernel and the definition under one name.
macro_rules! both {
    ($criterion:ident, $name:literal, $op:ident($($argument:expr),*)) => {
        let mut group = $criterion.benchmark_group($name);
        group.bench_function("kernel", |bencher| {
            bencher.iter(|| black_box(Cpu::$op($($argument),*).unwrap().square().sum().backward()));
        });
        group.bench_function("definition", |bencher| {
            bencher.iter(|| black_box(ops::$op($($argument),*).unwrap().square().sum().backward()));
        });
        group.finish();
    };
}

fn kernels(criterion: &mut Criterion) {
    let device = Cpu::default();
    let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = random(&device);
    let weight: Tensor<(Heads, EmbedDim), f32, Cpu> = random(&device);
    let bias: Tensor<(Heads,), f32, Cpu> = random(&device);
    both!(
        criterion,
        "linear",
        try_linear(x.leaky_trace(), &weight, Some(&bias))
    );

    let weight: Tensor<(EmbedDim,), f32, Cpu> = random(&device);
    let bias: Tensor<(EmbedDim,), f32, Cpu> = random(&device);
    both!(
        criterion,
        "layer_norm",
        try_layer_norm(x.leaky_trace(), &weight, Some(&bias), 1e-5)
    );

    let q: Tensor<(Batch, SeqLen, Heads), f32, Cpu> = random(&device);
    let mask = AttentionMask::none((Batch, SeqLen, SeqLen));
    let masked = MaskedLogit::Lowest;
    both!(
        criterion,
        "multi_head_attention",
        try_multi_head_attention(
            q.leaky_trace(),
            q.retaped(),
            q.retaped(),
            &mask,
            AttentionScale::HeadDim,
            masked,
            0.0
        )
    );

    let table: Tensor<(VocabSize, EmbedDim), f32, Cpu> = random(&device);
    let ids: Vec<usize> = (0..750).map(|i| i * 7 % 28).collect();
    let ids = TokenIds::from_ids(&ids, None, (Batch, SeqLen)).unwrap();
    both!(
        criterion,
        "embed",
        try_embed(&table, &ids, OwnedTape::default())
    );
}

fn step(criterion: &mut Criterion) {
    let mut model = LM::<Rot13, f32, Cpu>::build(&Cpu::default());
    let ids: Vec<usize> = (0..750).map(|i| i * 7 % 26).collect();
    let source = TokenIds::from_ids(&ids, None, (Batch, SeqLen)).unwrap();
    let inputs = source.shifted_right(Fin::literal::<26>());
    let mut adam = Adam::default();
    criterion.bench_function("rot13_step", |bencher| {
        bencher.iter(|| {
            let output = model.forward(&source, &inputs, OwnedTape::default());
            let loss = cross_entropy(output.logit_output, &source, Average::EveryPosition);
            update(&mut model, loss.backward(), &mut adam, 1e-3, 1.0).unwrap()
        });
    });
}

criterion_group!(benches, kernels, step);
criterion_main!(benches);
