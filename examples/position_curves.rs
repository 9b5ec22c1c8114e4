//! Draws dimensions 4 to 7 of the position encoding over 100 positions, which is the plot of *Annotated
//! transformer (Flax)*, or the whole encoding as a matrix.
//!
//! ```text
//! cargo run --example position_curves               # writes positions.svg
//! cargo run --example position_curves -- plot.png
//! cargo run --example position_curves -- --matrix matrix.svg
//! ```

#[path = "support/device.rs"]
mod device;

use clap::Parser;
use device::{DeviceName, cuda, end};
use std::{
    error::Error,
    io::{Write, stdout},
    path::{Path, PathBuf},
    process::ExitCode,
};
use typed_transformer::{
    plot::{HeatMapGrid, LinePlot},
    prelude::*,
};

dims! {
    /// Number of positions.
    SeqLen = 100;
    /// Width of the encoding.
    EmbedDim = 20;
}

/// Draw the position encoding.
#[derive(Parser)]
struct Cli {
    /// File to write, .svg or .png
    #[arg(default_value = "positions.svg")]
    path: PathBuf,
    /// Draw all dimensions as a matrix
    #[arg(long)]
    matrix: bool,
    /// Replace an existing file
    #[arg(long)]
    overwrite: bool,
    /// Device to compute on; cuda needs a build with --features cuda
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
}

fn main() -> ExitCode {
    let Cli { path, matrix, overwrite, device } = Cli::parse();
    let is_there = path.exists() && !overwrite;
    let result = match device {
        _ if is_there => Err(format!("{} exists; --overwrite replaces it", path.display()).into()),
        DeviceName::Cpu => draw(&path, matrix, &Cpu::default()),
        DeviceName::Cuda => cuda(0).and_then(|gpu| draw(&path, matrix, &gpu)),
    };
    // The plot is written, so a closed standard output is no error.
    end(result.inspect(|()| drop(writeln!(stdout(), "wrote {}", path.display()))))
}

fn draw<D: Backend<f64>>(path: &Path, matrix: bool, device: &D) -> Result<(), Box<dyn Error>> {
    let encoding: Tensor<(SeqLen, EmbedDim), f64, D> = sinusoidal_positions(device, SeqLen, EmbedDim)?;
    if matrix {
        HeatMapGrid::of_matrix("Position encoding", &encoding).draw(path)?;
    } else {
        LinePlot::of_columns("Position encoding", "position", "embedding", &encoding, 4..8).draw(path)?;
    }
    Ok(())
}
