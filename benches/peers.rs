//! One training step of three models, here and in PyTorch and JAX, side by side: the same step
//! (forward, loss, backward, clipping, update), the same sizes, on the CPU.
//!
//! `cargo bench --bench peers` prints a table. The peers take part if the Python that `PYTHON` names
//! (by default `python3`) has them:
//!
//! ```text
//! python3 -m venv .venv && .venv/bin/pip install torch jax flax optax
//! PYTHON=.venv/bin/python cargo bench --bench peers
//! ```
//!
//! Every measurement is a process of its own, and they take turns, so that what else the machine
//! does meets all of them. `-- rot13 typed gpt` chooses models, `-- --rounds 5` how often each is
//! measured.

use clap::Parser;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    env, fs,
    process::{Command, Stdio},
    time::Instant,
};
use typed_transformer::{
    models::{another_annotated::Annotated, nano_gpt::NanoGpt},
    nn::Module,
    prelude::*,
    train::{Adam, AdamW, Optimizer, Sgd, update},
};

#[derive(Parser)]
struct Arguments {
    /// rot13, typed or gpt.
    #[arg(default_values = ["rot13", "typed", "gpt"])]
    configs: Vec<String>,
    /// How often each is measured.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Measures one model in this process and prints its numbers.
    #[arg(long)]
    ours: bool,
    /// Steps that are timed; by default as many as take a few seconds.
    #[arg(long)]
    steps: Option<usize>,
    /// What cargo tells every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

/// What one process measured.
#[derive(Serialize, Deserialize)]
struct Measurement {
    config: String,
    framework: String,
    params: usize,
    median_ms: f64,
    min_ms: f64,
    peak_mb: Option<f64>,
}

fn main() {
    let arguments = Arguments::parse();
    if arguments.ours {
        for config in &arguments.configs {
            let measurement = measure(config, arguments.steps);
            println!("{}", serde_json::to_string(&measurement).unwrap());
        }
        return;
    }
    println!(
        "| model | framework | parameters | step, ms | fastest, ms | peak, MB | ours / theirs |"
    );
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: |");
    for config in &arguments.configs {
        compare(config, &arguments);
    }
}

/// Lets ours and the peers take turns, and prints a row for each.
fn compare(config: &str, arguments: &Arguments) {
    let python = env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let peers = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers.py");
    let steps: Vec<String> = arguments
        .steps
        .iter()
        .flat_map(|steps| ["--steps".to_string(), steps.to_string()])
        .collect();
    let mut found: BTreeMap<String, Vec<Measurement>> = BTreeMap::new();
    for _ in 0..arguments.rounds {
        let mut ours = Command::new(env::current_exe().unwrap());
        ours.arg("--ours").arg(config);
        let mut commands = vec![ours];
        for framework in ["torch", "jax"] {
            let mut peer = Command::new(&python);
            peer.args([peers, config, "--only", framework]);
            commands.push(peer);
        }
        for mut command in commands {
            // A peer that is not installed says so on its error output, and takes no part.
            let output = command.args(&steps).stderr(Stdio::null()).output();
            let text = output.map(|output| output.stdout).unwrap_or_default();
            for line in String::from_utf8_lossy(&text).lines() {
                if let Ok(measurement) = serde_json::from_str::<Measurement>(line) {
                    let of = found.entry(measurement.framework.clone()).or_default();
                    of.push(measurement);
                }
            }
        }
    }
    let step = |of: &[Measurement]| median(of.iter().map(|m| m.median_ms).collect());
    let ours = found
        .iter()
        .find(|(framework, _)| framework.starts_with("typed-transformer"))
        .map(|(_, of)| step(of));
    for (framework, of) in &found {
        let fastest = of.iter().map(|m| m.min_ms).fold(f64::INFINITY, f64::min);
        let peak = median(of.iter().filter_map(|m| m.peak_mb).collect());
        println!(
            "| {config} | {framework} | {} | {:.2} | {fastest:.2} | {peak:.0} | {:.2} |",
            of[0].params,
            step(of),
            ours.unwrap_or(f64::NAN) / step(of),
        );
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

fn measure(config: &str, steps: Option<usize>) -> Measurement {
    match config {
        "rot13" => rot13(steps.unwrap_or(1_000)),
        "typed" => typed(steps.unwrap_or(15)),
        "gpt" => gpt(steps.unwrap_or(80)),
        other => panic!("there are rot13, typed and gpt, and no {other}"),
    }
}

/// Times `steps` steps, after some that are not timed.
fn timed(config: &str, params: usize, steps: usize, mut step: impl FnMut()) -> Measurement {
    let mut times = Vec::new();
    for _ in 0..steps + 5 {
        let start = Instant::now();
        step();
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let times = times.split_off(5);
    Measurement {
        config: config.into(),
        framework: concat!("typed-transformer ", env!("CARGO_PKG_VERSION")).into(),
        params,
        min_ms: times.iter().copied().fold(f64::INFINITY, f64::min),
        median_ms: median(times),
        peak_mb: peak_mb(),
    }
}

/// The most memory that this process ever held, where the system says so.
fn peak_mb() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}

/// Ids of no pattern, without the last two of the vocabulary.
fn ids<Batch: ConstDim, Len: ConstDim, Vocab: ConstDim>(
    seed: usize,
) -> TokenIds<Batch, Len, Vocab> {
    let next = |i: usize| (i + seed).wrapping_mul(2_654_435_761) / 65_536 % (Vocab::SIZE - 2);
    let ids: Vec<usize> = (0..Batch::SIZE * Len::SIZE).map(next).collect();
    TokenIds::from_ids(&ids, None, (Batch::default(), Len::default())).unwrap()
}

/// The step of an encoder-decoder.
fn seq2seq_step<M, Batch, Src, Tgt>(
    optimizer: &mut impl Optimizer<LM<M, f32, Cpu>, f32>,
    rate: f64,
) -> impl FnMut()
where
    M: Seq2Seq,
    Batch: ConstDim,
    Src: ConstDim + AtMost<M::MaxSrcLen>,
    Tgt: ConstDim + AtMost<M::MaxTgtLen>,
{
    let mut model = LM::<M, f32, Cpu>::build(&Cpu::default());
    let source = ids::<Batch, Src, M::SrcVocab>(1);
    let (inputs, labels) = (ids::<Batch, Tgt, M::TgtVocab>(2), ids(3));
    move || {
        let output = model.forward(&source, &inputs, OwnedTape::default());
        let loss = cross_entropy(output.logit_output, &labels, Average::EveryPosition);
        update(&mut model, loss.backward(), optimizer, rate, 1.0).unwrap();
    }
}

/// The encoder-decoder of *Another annotated transformer*.
fn rot13(steps: usize) -> Measurement {
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
    let mut sgd = Sgd::default();
    let step = seq2seq_step::<Rot13, Batch, SeqLen, SeqLen>(&mut sgd, 0.5);
    timed("rot13", LM::<Rot13, f32, Cpu>::NUM_PARAMS, steps, step)
}

/// The encoder-decoder of *The Typed Transformer*.
fn typed(steps: usize) -> Measurement {
    dims! {
        VocabSize = 128; MaxSeqLen = 16; EmbedDim = 128; NumHeads = 2; HeadDim = 64; HiddenDim = 512;
        NumLayers = 4; SrcLen = 16; TgtLen = 2; Batch = 256;
    }
    struct Typed;
    impl Arch for Typed {
        type NumHeads = NumHeads;
        type QKDim = HeadDim;
        type VODim = HeadDim;
        type HiddenDim = HiddenDim;
        type Style = TypedTransformer;
    }
    impl Seq2Seq for Typed {
        type SrcVocab = VocabSize;
        type TgtVocab = VocabSize;
        type MaxSrcLen = MaxSeqLen;
        type MaxTgtLen = MaxSeqLen;
        type EmbedDim = EmbedDim;
        type EncoderLayers = NumLayers;
        type DecoderLayers = NumLayers;
    }
    let mut adam = Adam::default();
    let step = seq2seq_step::<Typed, Batch, SrcLen, TgtLen>(&mut adam, 1e-3);
    timed("typed", LM::<Typed, f32, Cpu>::NUM_PARAMS, steps, step)
}

/// nanoGPT's configuration for a CPU.
fn gpt(steps: usize) -> Measurement {
    dims! {
        VocabSize = 65; BlockSize = 64; EmbedDim = 128; NumHeads = 4; HeadDim = 32; HiddenDim = 512;
        NumLayers = 4; Batch = 12;
    }
    struct Gpt;
    impl Arch for Gpt {
        type NumHeads = NumHeads;
        type QKDim = HeadDim;
        type VODim = HeadDim;
        type HiddenDim = HiddenDim;
        type Style = NanoGpt;
    }
    impl OneStack for Gpt {
        type VocabSize = VocabSize;
        type MaxSeqLen = BlockSize;
        type EmbedDim = EmbedDim;
        type NumLayers = NumLayers;
    }
    let mut model = DecoderOnly::<Gpt, f32, Cpu>::build(&Cpu::default());
    let (inputs, labels) = (ids::<Batch, BlockSize, VocabSize>(1), ids(2));
    let mut adam = AdamW::default();
    adam.adam.beta2 = 0.99;
    adam.weight_decay = 0.1;
    timed(
        "gpt",
        DecoderOnly::<Gpt, f32, Cpu>::NUM_PARAMS,
        steps,
        || {
            let logits = model.forward(&inputs, OwnedTape::default());
            let loss = cross_entropy(logits, &labels, Average::EveryPosition);
            update(&mut model, loss.backward(), &mut adam, 1e-3, 1.0).unwrap();
        },
    )
}
