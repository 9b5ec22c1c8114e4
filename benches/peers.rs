//! One training step (forward, loss, backward, clipping, update) of several models on the CPU, or on the GPU in a build
//! with the feature `cuda`: this crate, PyTorch and JAX side by side, at the same sizes. Of some models it is a forward
//! pass, or the decoding of a text, for which `generate` of `transformers` is another peer.
//!
//! `cargo bench --bench peers` prints a table. It includes the peers that are installed for the Python that
//! `PYTHON` names (by default `python3`):
//!
//! ```text
//! python3 -m venv .venv && .venv/bin/pip install torch transformers jax flax optax
//! PYTHON=.venv/bin/python cargo bench --bench peers
//! ```
//!
//! Every measurement is a process of its own. The frameworks take turns, so that other load on the machine
//! affects all of them. `-- gpt gpt2 decode_gpt2` chooses models, `-- --rounds 5` the number of measurements.
//! `RAYON_NUM_THREADS=1` is the number of threads of all. `peers.py` says which files llama.cpp and CTranslate2 need.
//!
//! The row `lower bound` is the time that the necessary work takes at the rates of this machine, which are measured in
//! turn with the frameworks: multiply-adds at the rate of a large matrix product, and bytes at that of memory.
//! Memory has two rates: one of bytes that are only read, as in decoding, and one of bytes that an optimizer updates.

use clap::Parser;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, fs};

#[macro_use]
mod models;
#[path = "models/large.rs"]
mod large;
#[path = "models/variants.rs"]
mod variants;

use dfdx::tensor::{AutoDevice, Synchronize};
use models::work::{Rates, Work, threads};
use typed_transformer::nn::{Bf16, F16, FullPrecision, MixedBf16, Q8, Q8Rows};

#[derive(Parser)]
struct Arguments {
    /// Models to measure: rot13, typed, gpt, gpt_mixed, length_1024, length_4096, gpt2, gpt2_mixed, decode_gpt,
    /// decode_gpt2, decode_gpt2_batch8, decode_gpt2_bf16, decode_gpt2_q8, decode_gpt2_q8_rows, decode_smollm,
    /// bert_forward, t5_128, t5_512, t5_128_forward, t5_512_forward, llama or qwen3; of this crate alone
    /// decode_gpt2_f16, and gpt_dropout and gpt_published, to be compared with gpt
    #[arg(default_values = ["rot13", "typed", "gpt"])]
    configs: Vec<String>,
    /// Measurements of each model
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Measure in this process, this crate only, and print the numbers as JSON
    #[arg(long)]
    ours: bool,
    /// Timed steps per measurement [default: a few seconds' worth]
    #[arg(long)]
    steps: Option<usize>,
    /// `cargo bench` passes this to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// The result of one process.
#[derive(Serialize, Deserialize)]
struct Measurement {
    config: String,
    framework: String,
    params: usize,
    median_ms: f64,
    min_ms: f64,
    peak_mb: Option<f64>,
    /// What a step cannot do without; of this crate only.
    work: Option<Work>,
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
    println!("| model | framework | parameters | step, ms | fastest, ms | peak, MB | ours / theirs |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: |");
    for config in &arguments.configs {
        compare(config, &arguments);
    }
}

/// Measures this crate and the peers in turns, and prints one row each.
fn compare(config: &str, arguments: &Arguments) {
    let python = env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let peers = concat!(env!("CARGO_MANIFEST_DIR"), "/peers.py");
    let steps: Vec<String> =
        arguments.steps.iter().flat_map(|steps| ["--steps".to_string(), steps.to_string()]).collect();
    let mut found: BTreeMap<String, Vec<Measurement>> = BTreeMap::new();
    // The bound is that of a CPU.
    let is_on_gpu = cfg!(feature = "cuda");
    let mut rates = (!is_on_gpu).then(Rates::measure);
    for _ in 0..arguments.rounds {
        let mut ours = Command::new(env::current_exe().unwrap());
        ours.arg("--ours").arg(config);
        let mut commands = vec![ours];
        for framework in ["torch", "transformers", "jax", "llama.cpp", "ctranslate2"] {
            let mut peer = Command::new(&python);
            peer.args([peers, config, "--only", framework, "--threads", &threads().to_string()]);
            // Published models of other precisions are on the CPU.
            if is_on_gpu && !config.starts_with("decode_gpt2") {
                peer.args(["--device", "cuda"]);
            }
            commands.push(peer);
        }
        for mut command in commands {
            // A peer that is not installed prints nothing to standard output.
            let output = command.args(&steps).stderr(Stdio::null()).output();
            let text = output.map(|output| output.stdout).unwrap_or_default();
            for line in String::from_utf8_lossy(&text).lines() {
                if let Ok(measurement) = serde_json::from_str::<Measurement>(line) {
                    found.entry(measurement.framework.clone()).or_default().push(measurement);
                }
            }
        }
        rates = rates.map(|rates| rates.or_faster(Rates::measure()));
    }
    let step_ms = |runs: &[Measurement]| median(runs.iter().map(|m| m.median_ms).collect());
    let ours =
        found.iter().find(|(framework, _)| framework.starts_with("typed-transformer")).map(|(_, runs)| step_ms(runs));
    for (framework, runs) in &found {
        let fastest = runs.iter().map(|m| m.min_ms).fold(f64::INFINITY, f64::min);
        let peak = median(runs.iter().filter_map(|m| m.peak_mb).collect());
        println!(
            "| {config} | {framework} | {} | {:.2} | {fastest:.2} | {peak:.0} | {:.2} |",
            runs[0].params,
            step_ms(runs),
            ours.unwrap_or(f64::NAN) / step_ms(runs),
        );
    }
    let work = found.values().flatten().find_map(|measurement| measurement.work);
    if let (Some(rates), Some(work)) = (rates, work) {
        let bound_ms = rates.bound_ms(work);
        let ratio = ours.unwrap_or(f64::NAN) / bound_ms;
        println!("| {config} | lower bound: {rates} | | {bound_ms:.2} | | | {ratio:.2} |");
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

fn measure(config: &str, steps: Option<usize>) -> Measurement {
    let (step, default) = match config {
        "rot13" => (models::rot13(), 1_000),
        "typed" => (models::typed(), 15),
        "gpt" => (models::gpt(), 80),
        "gpt_dropout" => (variants::gpt_dropout(), 80),
        "gpt_published" => (variants::gpt_published::<FullPrecision>(), 80),
        "gpt_mixed" => (variants::gpt_published::<MixedBf16>(), 80),
        "length_1024" => (large::length_1024(), 8),
        "length_4096" => (large::length_4096(), 5),
        "gpt2" => (large::gpt2(), 5),
        "gpt2_mixed" => (large::gpt2_published::<MixedBf16>(), 5),
        "decode_gpt" => (large::decode_gpt(), 10),
        "decode_gpt2" => (large::decode_gpt2::<FullPrecision, 1>(4.0), 1),
        "decode_gpt2_batch8" => (large::decode_gpt2::<FullPrecision, 8>(4.0), 1),
        "decode_gpt2_bf16" => (large::decode_gpt2::<Bf16, 1>(2.0), 1),
        "decode_gpt2_f16" => (large::decode_gpt2::<F16, 1>(2.0), 1),
        "decode_gpt2_q8" => (large::decode_gpt2::<Q8, 1>(34.0 / 32.0), 1),
        "decode_gpt2_q8_rows" => (large::decode_gpt2::<Q8Rows, 1>(1.0), 1),
        "decode_smollm" => (large::decode_smollm(), 1),
        "bert_forward" => (large::bert_forward(), 40),
        "t5_128" => (large::t5::<4, 128>(), 3),
        "t5_512" => (large::t5::<1, 512>(), 3),
        "t5_128_forward" => (large::t5_forward::<4, 128>(), 5),
        "t5_512_forward" => (large::t5_forward::<1, 512>(), 5),
        "llama" => (large::llama(), 5),
        "qwen3" => (large::qwen3(), 10),
        other => panic!("there is no model {other}"),
    };
    timed(config, step, steps.unwrap_or(default))
}

/// Times `steps` steps after at most 5 untimed ones.
fn timed(config: &str, mut step: models::Step, steps: usize) -> Measurement {
    let (mut times, untimed) = (Vec::new(), steps.min(5));
    let device = AutoDevice::default();
    for _ in 0..steps + untimed {
        let start = Instant::now();
        (step.run)();
        // A GPU may still be at work.
        device.synchronize();
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let times = times.split_off(untimed);
    Measurement {
        config: config.into(),
        framework: concat!("typed-transformer ", env!("CARGO_PKG_VERSION")).into(),
        params: step.params,
        work: Some(step.work),
        min_ms: times.iter().copied().fold(f64::INFINITY, f64::min),
        median_ms: median(times),
        peak_mb: peak_mb(),
    }
}

/// The peak resident memory of this process, on Linux.
fn peak_mb() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}
