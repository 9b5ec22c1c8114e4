//! Draws dimensions 4 to 7 of the position encoding over 100 positions, the plot of *Annotated
//! transformer (Flax)*.
//!
//! ```text
//! cargo run --example position_curves               # writes positions.svg
//! cargo run --example position_curves -- plot.png
//! ```

#[path = "support/device.rs"]
mod device;

use clap::Parser;
use device::{DeviceName, cuda};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};
use typed_transformer::{
    pictures::{Curve, Curves},
    prelude::*,
};

dims! {
    /// Positions that are drawn.
    SeqLen = 100;
    /// Width of the encoding.
    EmbedDim = 20;
}

/// Draw the curves of the position encoding.
#[derive(Parser)]
struct Cli {
    /// Where to, as .svg or .png
    #[arg(default_value = "positions.svg")]
    path: PathBuf,
    /// Where to compute them; cuda needs a build with --features cuda
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
}

fn main() -> ExitCode {
    let Cli { path, device } = Cli::parse();
    let result = match device {
        DeviceName::Cpu => draw(&path, &Cpu::default()),
        DeviceName::Cuda => cuda(0).and_then(|gpu| draw(&path, &gpu)),
    };
    match result {
        Ok(()) => {
            println!("wrote {}", path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn draw<D: Backend<f64>>(path: &Path, device: &D) -> Result<(), String> {
    let encoding: Tensor<(SeqLen, EmbedDim), f64, D> =
        sinusoidal_positions(device, SeqLen, EmbedDim);
    let encoding = encoding.as_vec();
    let curve = |dimension: usize| Curve {
        name: format!("dimension {dimension}"),
        points: (0..SeqLen::SIZE)
            .map(|position| {
                (
                    position as f64,
                    encoding[position * EmbedDim::SIZE + dimension],
                )
            })
            .collect(),
    };
    let picture = Curves {
        title: "Position encoding".into(),
        x: "position".into(),
        y: "embedding".into(),
        curves: (4..8).map(curve).collect(),
    };
    picture.draw(path).map_err(|error| error.to_string())
}
