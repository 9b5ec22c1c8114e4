//! How the cost of nanoGPT's configuration for a CPU grows: a training step with batch size and length, each
//! over a decade, and sampling, with and without a cache, with the number of tokens.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use dfdx::tensor::*;
use std::hint::black_box;
use typed_transformer::{
    generate::{Sampler, try_generate_from_prompt},
    models::nano_gpt::NanoGpt,
    prelude::*,
};

dims! {
    VocabSize = 65; MaxSeqLen = 256; EmbedDim = 128; NumHeads = 4; HeadDim = 32; HiddenDim = 512;
    NumLayers = 4; SeqLen <= MaxSeqLen; Batch;
}

struct Gpt;
impl Arch for Gpt {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = NanoGpt;
}
impl SingleStack for Gpt {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumLayers = NumLayers;
}
type Model = DecoderOnly<Gpt, f32, Cpu>;

fn model() -> Model {
    let device = Cpu::default();
    device.enable_cache();
    Model::build(&device)
}

fn ids(batch: usize, len: usize) -> TokenIds<Batch, SeqLen, VocabSize> {
    let ids: Vec<usize> = (0..batch * len).map(|i| i * 7919 % 65).collect();
    let shape = (Batch::new(batch), SeqLen::new(len).unwrap());
    TokenIds::from_ids(&ids, None, shape).unwrap()
}

/// Forward, loss and backward.
fn step(model: &Model, ids: &TokenIds<Batch, SeqLen, VocabSize>) {
    let logits = model.forward(ids, model.recording());
    black_box(cross_entropy(logits, ids, Reduction::MeanAll).backward());
}

fn training(criterion: &mut Criterion) {
    let model = model();
    let sizes = [
        ("batch", [(2, 64), (4, 64), (8, 64), (12, 64), (20, 64)]),
        ("length", [(8, 20), (8, 40), (8, 80), (8, 120), (8, 200)]),
    ];
    for (what, sizes) in sizes {
        let mut group = criterion.benchmark_group(format!("training_step_by_{what}"));
        group.sample_size(10);
        for (batch, len) in sizes {
            let ids = ids(batch, len);
            let size = if what == "batch" { batch } else { len };
            group.throughput(Throughput::Elements((batch * len) as u64));
            group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
                bencher.iter(|| step(&model, &ids));
            });
        }
    }
}

fn decoding(criterion: &mut Criterion) {
    let model = model();
    let prompt = ids(1, 1);
    let mut group = criterion.benchmark_group("tokens_written");
    group.sample_size(10);
    for len in [32, 64, 128, 256] {
        group.throughput(Throughput::Elements(len as u64 - 1));
        group.bench_function(BenchmarkId::new("with_cache", len), |bencher| {
            let len = SeqLen::new(len).unwrap();
            let mut sampler = Sampler::greedy();
            bencher.iter(|| try_generate_from_prompt(&model, &prompt, None, len, &mut sampler).unwrap());
        });
        group.bench_function(BenchmarkId::new("without_cache", len), |bencher| {
            bencher.iter(|| without_cache(&model, len));
        });
    }
}

/// The same tokens; each one reads all earlier tokens again.
fn without_cache(model: &Model, len: usize) -> Vec<usize> {
    let mut written = vec![0];
    let mut sampler = Sampler::<VocabSize>::greedy();
    while written.len() < len {
        let shape = (Batch::new(1), SeqLen::new(written.len()).unwrap());
        let ids = TokenIds::from_ids(&written, None, shape).unwrap();
        let logits = model.forward(&ids, NoneTape).as_vec();
        let last = &logits[logits.len() - VocabSize::SIZE..];
        written.push(sampler.choose(last).unwrap().value());
    }
    written
}

criterion_group!(benches, training, decoding);
criterion_main!(benches);
