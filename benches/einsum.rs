//! Times of contractions written with `einsum!`, forward and backward together, beside the operation that computes
//! the same and beside `torch.einsum`.
//!
//! `cargo bench --bench einsum` prints a table. Its last column needs PyTorch for the Python that `PYTHON` names:
//!
//! ```text
//! python3 -m venv .venv && .venv/bin/pip install torch numpy
//! PYTHON=.venv/bin/python cargo bench --bench einsum -- --seconds 1
//! ```
//!
//! The sizes are those of the rot13 model, of nanoGPT's configuration for a CPU, and of a wider model. `einsum!` and the
//! operation take turns. All numbers are the fastest of a measurement, in milliseconds.
//!
//! The backward pass starts from a given gradient of the result.

use crate::recorded::{OwnTape, Recorded};
use clap::Parser;
use dfdx::shapes::Axes4;
use dfdx::tensor::{Tape as _, *};
use dfdx::tensor_ops::*;
use rand_distr::StandardNormal;
use serde::Deserialize;
use std::{collections::BTreeMap, env, hint::black_box, process::Command, time::Instant};
use typed_transformer::ops::{linear, mul};
use typed_transformer::prelude::*;

#[path = "../tests/support/recorded.rs"]
mod recorded;

#[derive(Parser)]
struct Arguments {
    /// Seconds of each measurement
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Measure only the contractions whose names contain this text, such as `gpt/scores`
    #[arg(default_value = "")]
    filter: String,
    /// `cargo bench` passes this to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// A contraction as PyTorch measured it.
#[derive(Deserialize)]
struct Peer {
    name: String,
    min_ms: f64,
}

type Taped<Dims> = Tensor<Dims, f32, Cpu, OwnTape<f32>>;

/// How rows are measured.
struct Table {
    device: Cpu,
    /// What the tapes belong to.
    scalar: Tensor<(), f32, Cpu>,
    seconds: f64,
    /// Only rows whose names contain this text.
    filter: String,
    torch_ms: BTreeMap<String, f64>,
}

impl Table {
    /// A tensor of random numbers.
    fn random<Dims: Shape + Default>(&self) -> Tensor<Dims, f32, Cpu> {
        self.device.sample_like(&Dims::default(), StandardNormal)
    }

    /// Prints a row: the contraction and the operation, forward, and backward from a gradient of the result.
    fn row<Dims: Shape>(&self, name: &str, contraction: impl Fn() -> Taped<Dims>, operation: impl Fn() -> Taped<Dims>) {
        if !name.contains(&self.filter) {
            return;
        }
        let gradient = self.device.sample_like(contraction().shape(), StandardNormal).as_vec();
        let time_ms = |result: &dyn Fn() -> Taped<Dims>| {
            let gradient = gradient.clone();
            let start = Instant::now();
            let (result, mut tape) = result().split_tape();
            // Runs before the steps of the contraction, because a tape runs backward.
            tape.add_backward_op(move |gradients| {
                **gradients.get_or_alloc_mut(&result)? = gradient;
                Ok(())
            });
            let _ = black_box(self.scalar.clone().put_tape(tape).backward().unwrap());
            start.elapsed().as_secs_f64() * 1e3
        };
        let (mut einsum_ms, mut operation_ms) = (f64::INFINITY, f64::INFINITY);
        let start = Instant::now();
        while start.elapsed().as_secs_f64() < self.seconds {
            einsum_ms = einsum_ms.min(time_ms(&contraction));
            operation_ms = operation_ms.min(time_ms(&operation));
        }
        let torch_ms = self.torch_ms.get(name).copied().unwrap_or(f64::NAN);
        println!(
            "| {name} | {einsum_ms:.3} | {operation_ms:.3} | {torch_ms:.3} | {:.2} | {:.2} |",
            einsum_ms / operation_ms,
            einsum_ms / torch_ms
        );
    }

    fn rows<B: ConstDim, S: ConstDim, M: ConstDim, Hidden: ConstDim, H: ConstDim, Head: ConstDim, K: ConstDim>(
        &self,
        size: &str,
    ) {
        let x: Tensor<(B, S, M), f32, Cpu> = self.random();
        let weight: Tensor<(Hidden, M), f32, Cpu> = self.random();
        let hidden: Tensor<(B, S, Hidden), f32, Cpu> = self.random();
        self.row(
            &format!("{size}/linear"),
            || einsum!(x.recorded(): (B, S, M), &weight: (Hidden, M) -> (B, S, Hidden)).unwrap(),
            || linear(x.recorded(), &weight, None).unwrap(),
        );

        let query: Tensor<(B, H, S, Head), f32, Cpu> = self.random();
        let key: Tensor<(B, H, K, Head), f32, Cpu> = self.random();
        let weights: Tensor<(B, H, S, K), f32, Cpu> = self.random();
        self.row(
            &format!("{size}/scores"),
            || einsum!(query.recorded(): (B, H, S, Head), &key: (B, H, K, Head) -> (B, H, S, K)).unwrap(),
            || query.recorded().matmul(key.clone().permute::<_, Axes4<0, 1, 3, 2>>()),
        );
        self.row(
            &format!("{size}/values"),
            || einsum!(weights.recorded(): (B, H, S, K), &key: (B, H, K, Head) -> (B, H, S, Head)).unwrap(),
            || weights.recorded().matmul(key.clone()),
        );

        // The heads after the positions, as a projection leaves them.
        let query: Tensor<(B, S, H, Head), f32, Cpu> = self.random();
        let key: Tensor<(B, K, H, Head), f32, Cpu> = self.random();
        self.row(
            &format!("{size}/scores_by_position"),
            || einsum!(query.recorded(): (B, S, H, Head), &key: (B, K, H, Head) -> (B, H, S, K)).unwrap(),
            || {
                let query = query.recorded().permute::<_, Axes4<0, 2, 1, 3>>();
                query.matmul(key.clone().permute::<_, Axes4<0, 2, 3, 1>>())
            },
        );
        self.row(
            &format!("{size}/values_by_position"),
            || einsum!(weights.recorded(): (B, H, S, K), &key: (B, K, H, Head) -> (B, S, H, Head)).unwrap(),
            || {
                let values = weights.recorded().matmul(key.clone().permute::<_, Axes4<0, 2, 1, 3>>());
                values.permute::<_, Axes4<0, 2, 1, 3>>()
            },
        );

        // A product is not all there is to do.
        self.row(
            &format!("{size}/bilinear"),
            || einsum!(x.recorded(): (B, S, M), &weight: (Hidden, M), &hidden: (B, S, Hidden) -> (B, S)).unwrap(),
            || sum_over(mul(linear(x.recorded(), &weight, None).unwrap(), &hidden).unwrap(), axis::<Hidden>()).unwrap(),
        );
    }
}

/// The times of `torch.einsum`; none if PyTorch is not installed.
fn torch_ms(seconds: f64, filter: &str) -> BTreeMap<String, f64> {
    let python = env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/einsum.py");
    let output = Command::new(python).args([script, "--seconds", &seconds.to_string(), "--filter", filter]).output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    let rows = String::from_utf8_lossy(&text).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let rows: Vec<Peer> = rows;
    rows.into_iter().map(|row| (row.name, row.min_ms)).collect()
}

fn main() {
    let Arguments { seconds, filter, .. } = Arguments::parse();
    let torch_ms = torch_ms(seconds, &filter);
    let device = Cpu::default();
    // As in a training step: memory is used again.
    device.enable_cache();
    let table = Table { scalar: device.zeros(), device, seconds, filter, torch_ms };
    println!("| contraction | einsum! | operation | torch.einsum | einsum! / operation | einsum! / torch |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    dims! { Batch = 50; SeqLen = 15; KeyLen = 15; EmbedDim = 8; HiddenDim = 5; NumHeads = 7; HeadDim = 5; }
    table.rows::<Batch, SeqLen, EmbedDim, HiddenDim, NumHeads, HeadDim, KeyLen>("rot13");
    table.rows::<Const<12>, Const<64>, Const<128>, Const<512>, Const<4>, Const<32>, Const<64>>("gpt");
    table.rows::<Const<8>, Const<128>, Const<512>, Const<2048>, Const<8>, Const<64>, Const<128>>("wide");
}
