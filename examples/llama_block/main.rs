//! The program of *From a paper to a module* (`docs/llama.md`): a Llama block, step by step and from the crate's
//! modules. It prints the parameters of both and the shape of an output.
//!
//! `program.rs` is a file of its own because a test includes it.

#[path = "../support/device.rs"]
mod device;

use clap::Parser;
use device::{DeviceName, cuda, end};
use std::{
    error::Error,
    io::{Write, stdout},
    process::ExitCode,
};
use typed_transformer::nn::Module;

include!("program.rs");

/// Build a Llama block and run it once.
#[derive(Parser)]
struct Cli {
    /// Device to run on; cuda needs a build with --features cuda
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
}

fn main() -> ExitCode {
    end(match Cli::parse().device {
        DeviceName::Cpu => run(&Cpu::seed_from_u64(0)),
        DeviceName::Cuda => cuda(0).and_then(|gpu| run(&gpu)),
    })
}

fn run<D: Backend<f32>>(device: &D) -> Result<(), Box<dyn Error>> {
    let of_modules = GroupedQueryAttention::<EmbedDim, CausalMask, Llama, f32, D>::NUM_PARAMS
        + GatedFeedForward::<EmbedDim, Llama, f32, D>::NUM_PARAMS;
    writeln!(stdout(), "step by step: {} parameters", Block::<f32, D>::NUM_PARAMS)?;
    writeln!(stdout(), "from modules: {of_modules} parameters")?;

    local_dims! { let len: SeqLen = 7; }
    let x: Tensor<(Const<1>, SeqLen, EmbedDim), f32, D> = device.zeros_like(&(Const, len, EmbedDim));
    let output = Block::build(device).forward(x, &PaddingMask::without_padding((Const, len)))?;
    writeln!(stdout(), "output: {:?}", output.shape())?;
    Ok(())
}
