//! Times of contractions written with `einsum!` beside the operations that compute the same, forward and backward
//! together: a linear map, attention scores and weighted values.
//!
//! The sizes are those of the rot13 model, of nanoGPT's configuration for a CPU, and of a wider model.

use criterion::{Criterion, criterion_group, criterion_main};
use dfdx::{shapes::Axes4, tensor::*, tensor_ops::*};
use rand_distr::StandardNormal;
use std::hint::black_box;
use typed_transformer::{ops::linear, prelude::*};

type Taped<Dims> = Tensor<Dims, f32, Cpu, OwnedTape<f32, Cpu>>;

/// A tensor of random numbers.
fn random<Dims: Shape + Default>() -> Tensor<Dims, f32, Cpu> {
    Cpu::default().sample_like(&Dims::default(), StandardNormal)
}

/// Measures the contraction and the operation, forward and backward.
fn compare<Dims: Shape>(
    criterion: &mut Criterion,
    name: &str,
    contraction: impl Fn() -> Taped<Dims>,
    operation: impl Fn() -> Taped<Dims>,
) {
    let mut group = criterion.benchmark_group(name);
    group.bench_function("einsum", |bencher| bencher.iter(|| black_box(contraction().square().sum().backward())));
    group.bench_function("operation", |bencher| bencher.iter(|| black_box(operation().square().sum().backward())));
    group.finish();
}

fn contractions<B: ConstDim, S: ConstDim, M: ConstDim, Hidden: ConstDim, H: ConstDim, Head: ConstDim, K: ConstDim>(
    criterion: &mut Criterion,
    name: &str,
) {
    let x: Tensor<(B, S, M), f32, Cpu> = random();
    let weight: Tensor<(Hidden, M), f32, Cpu> = random();
    compare(
        criterion,
        &format!("{name}/linear"),
        || einsum!(x.leaky_trace(): (B, S, M), &weight: (Hidden, M) -> (B, S, Hidden)),
        || linear(x.leaky_trace(), &weight, None),
    );

    let query: Tensor<(B, H, S, Head), f32, Cpu> = random();
    let key: Tensor<(B, H, K, Head), f32, Cpu> = random();
    compare(
        criterion,
        &format!("{name}/scores"),
        || einsum!(query.leaky_trace(): (B, H, S, Head), &key: (B, H, K, Head) -> (B, H, S, K)),
        || query.leaky_trace().matmul(key.clone().permute::<_, Axes4<0, 1, 3, 2>>()),
    );

    let weights: Tensor<(B, H, S, K), f32, Cpu> = random();
    compare(
        criterion,
        &format!("{name}/values"),
        || einsum!(weights.leaky_trace(): (B, H, S, K), &key: (B, H, K, Head) -> (B, H, S, Head)),
        || weights.leaky_trace().matmul(key.clone()),
    );
}

fn all(criterion: &mut Criterion) {
    dims! { Batch = 50; SeqLen = 15; KeyLen = 15; EmbedDim = 8; HiddenDim = 5; NumHeads = 7; HeadDim = 5; }
    contractions::<Batch, SeqLen, EmbedDim, HiddenDim, NumHeads, HeadDim, KeyLen>(criterion, "rot13");
    contractions::<Const<12>, Const<64>, Const<128>, Const<512>, Const<4>, Const<32>, Const<64>>(criterion, "gpt");
    contractions::<Const<8>, Const<128>, Const<512>, Const<2048>, Const<8>, Const<64>, Const<128>>(criterion, "wide");
}

criterion_group!(benches, all);
criterion_main!(benches);
