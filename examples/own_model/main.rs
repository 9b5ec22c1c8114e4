//! The program of the guide (`docs/guide.md`), in one piece, on the device that `--device` names.
//!
//! `program.rs` is a file of its own because the tests of the guide include it.

#[path = "../support/device.rs"]
mod device;

use clap::Parser;
use device::{DeviceName, cuda, end};
use std::process::ExitCode;

include!("program.rs");

/// Train the model of the guide, evaluate it, save it and load it again.
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
