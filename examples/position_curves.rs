//! Draws dimensions 4 to 7 of the position encoding over 100 positions, the plot of *Annotated
//! transformer (Flax)*.
//!
//! ```text
//! cargo run --example position_curves               # writes positions.svg
//! cargo run --example position_curves -- plot.png
//! ```

use clap::Parser;
use std::{path::PathBuf, process::ExitCode};
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
}

fn main() -> ExitCode {
    let path = Cli::parse().path;
    let encoding: Tensor<(SeqLen, EmbedDim), f64, Cpu> =
        sinusoidal_positions(&Cpu::default(), SeqLen, EmbedDim);
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
    match picture.draw(&path) {
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
