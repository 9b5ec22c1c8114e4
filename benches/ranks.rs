//! One training step of nanoGPT's configuration for a CPU, on 1, 2 and 4 ranks of one thread each: against one process
//! of as many threads, and against PyTorch's DDP on gloo.
//!
//! `cargo bench --features mpi -p typed-transformer-benches --bench ranks` prints a table. `PYTHON` names a Python with
//! torch. Without it, or without `mpirun`, columns stay empty.
//!
//! Every measurement is a job of its own, and they take turns. `-- --rounds 5` chooses their number.

use clap::Parser;
use serde::{Deserialize, Serialize};
use std::env;
use std::process::{Command, Stdio};
use std::time::Instant;
use typed_transformer::models::nano_gpt::NanoGpt;
use typed_transformer::nn::Module;
use typed_transformer::ops::partial_cross_entropy;
use typed_transformer::prelude::*;
use typed_transformer::ranks;
use typed_transformer::ranks::{CommunicationTime, Ranks};
use typed_transformer::train::{AdamW, update_replicated};

ranks! { World; }
dims! {
    VocabSize = 65; MaxSeqLen = 64; EmbedDim = 128; NumHeads = 4; HeadDim = 32; NumLayers = 4; Batch = 12;
}

struct Gpt;
impl Arch for Gpt {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = Product<Const<4>, EmbedDim>;
    type Conventions = NanoGpt;
}
impl SingleStack for Gpt {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumLayers = NumLayers;
}
type Model = DecoderOnly<Gpt, f32, Cpu>;

#[derive(Parser)]
struct Arguments {
    /// Measurements of each kind
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Timed steps per measurement
    #[arg(long, default_value_t = 20)]
    steps: usize,
    /// Measure as a rank, and print the numbers as JSON
    #[arg(long)]
    rank: bool,
    /// Sum the gradients after the backward pass
    #[arg(long)]
    after: bool,
    /// `cargo bench` passes this to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// What rank 0 measured.
#[derive(Clone, Serialize, Deserialize)]
struct Measurement {
    median_ms: f64,
    /// Bytes that a rank sends in a step.
    #[serde(default)]
    sent_bytes: f64,
    /// Milliseconds of a step in which messages move.
    #[serde(default)]
    running_ms: f64,
    /// Milliseconds of a step in which the computation waits for messages.
    #[serde(default)]
    waited_ms: f64,
}

fn main() {
    let arguments = Arguments::parse();
    if arguments.rank {
        return measure(&arguments);
    }
    let steps = arguments.steps.to_string();
    println!(
        "| ranks | here, ms | sum after the pass, ms | one process of as many threads, ms | DDP on gloo, ms | sent, bytes | least | hidden |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for ranks in [1, 2, 4] {
        let mut found: [Vec<Measurement>; 4] = Default::default();
        for _ in 0..arguments.rounds {
            let threads = run(rank(1, ranks, &steps));
            let here = run(rank(ranks, 1, &steps));
            let mut after = rank(ranks, 1, &steps);
            after.arg("--after");
            let mut ddp = Command::new(env::var("PYTHON").unwrap_or_else(|_| "python3".into()));
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/ranks.py");
            ddp.args([script, "--steps", &steps, "--ranks", &ranks.to_string()]);
            for (found, measured) in found.iter_mut().zip([here, run(after), threads, run(ddp)]) {
                found.extend(measured);
            }
        }
        let [here, after, threads, ddp] = found.map(|runs| median(runs, |run| run.median_ms));
        let least = 2.0 * (ranks - 1) as f64 / ranks as f64 * 4.0 * Model::NUM_PARAMS as f64;
        let one = run(rank(ranks, 1, &steps));
        let (sent, hidden) =
            one.map_or((f64::NAN, f64::NAN), |run| (run.sent_bytes, 1.0 - run.waited_ms / run.running_ms));
        println!(
            "| {ranks} | {here:.1} | {after:.1} | {threads:.1} | {ddp:.1} | {sent:.0} | {least:.0} | {hidden:.2} |"
        );
    }
}

fn median(runs: Vec<Measurement>, number: fn(&Measurement) -> f64) -> f64 {
    let mut numbers: Vec<f64> = runs.iter().map(number).collect();
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// This program on some ranks of some threads each.
fn rank(ranks: usize, threads: usize, steps: &str) -> Command {
    let this = env::current_exe().unwrap();
    let mut command = match ranks {
        1 => Command::new(this),
        _ => {
            let mut mpirun = Command::new("mpirun");
            mpirun.args(["--oversubscribe", "--bind-to", "none", "-n", &ranks.to_string()]).arg(this);
            mpirun.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            mpirun
        }
    };
    command.args(["--rank", "--steps", steps]).env("RAYON_NUM_THREADS", threads.to_string());
    command
}

/// The line that a job prints; `None` if the program is missing or fails.
fn run(mut command: Command) -> Option<Measurement> {
    let output = command.stderr(Stdio::null()).stdin(Stdio::null()).output().ok()?;
    String::from_utf8_lossy(&output.stdout).lines().find_map(|line| serde_json::from_str(line).ok())
}

/// Times steps as one of the ranks; rank 0 prints the result.
fn measure(arguments: &Arguments) {
    let ranks = Ranks::<World>::start().unwrap();
    let mut model = ranks.replicate(Model::build(&Cpu::default())).unwrap();
    let mut adam = AdamW::default();
    adam.adam.beta2 = 0.99;
    adam.weight_decay = 0.1;
    let rows = ranks.shard(Batch);
    let ids = |seed: usize| {
        let next = |i: usize| (i + seed).wrapping_mul(2_654_435_761) / 65_536 % (VocabSize::SIZE - 2);
        let ids: Vec<usize> = (0..rows.size() * MaxSeqLen::SIZE).map(next).collect();
        TokenIds::<_, _, VocabSize>::from_ids(&ids, None, (rows, MaxSeqLen)).unwrap()
    };
    let (inputs, labels) = (ids(1), LabelIds::from(ids(2)));
    let mut times = Vec::new();
    let mut before = (0, CommunicationTime::default());
    const UNTIMED: usize = 5;
    for step in 0..arguments.steps + UNTIMED {
        if step == UNTIMED {
            before = (ranks.sent_bytes(), ranks.communication_time());
        }
        let start = Instant::now();
        let logits = model.forward(&inputs, model.recording()).unwrap();
        let loss = partial_cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
        let gradients = match arguments.after {
            true => loss.backward().unwrap().all_reduce(&ranks, &model),
            false => loss.backward_all_reduce(&ranks, &model),
        };
        update_replicated(&mut model, gradients.unwrap(), &mut adam, 1e-3, 1.0).unwrap();
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let mut times = times.split_off(UNTIMED);
    times.sort_by(f64::total_cmp);
    let steps = arguments.steps as f64;
    let CommunicationTime { running, waited } = ranks.communication_time();
    let measurement = Measurement {
        median_ms: times[times.len() / 2],
        sent_bytes: (ranks.sent_bytes() - before.0) as f64 / steps,
        running_ms: (running - before.1.running).as_secs_f64() * 1e3 / steps,
        waited_ms: (waited - before.1.waited).as_secs_f64() * 1e3 / steps,
    };
    ranks.ensure_replicated(&model).unwrap();
    ranks.end_together();
    if ranks.is_first() {
        println!("{}", serde_json::to_string(&measurement).unwrap());
    }
}
