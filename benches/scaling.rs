//! How the time and the memory of a training step grow with length, width and batch, here and in PyTorch.
//!
//! `cargo bench --bench scaling -- --out ../docs` writes `scaling.csv` and the pictures `scaling-time.svg` and
//! `scaling-memory.svg`. PyTorch is that of the Python that `PYTHON` names (by default `python3`); without it the
//! pictures show this crate only. The model is nanoGPT's with 2 layers and 4 heads; where it does not say otherwise,
//! its width is 128, its length 256 and its batch 1. Every measurement is a process of its own. `--draw` draws the
//! pictures anew from the table.

use clap::Parser;
use dfdx::tensor::*;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, fs};
use typed_transformer::models::nano_gpt::NanoGpt;
use typed_transformer::plot::{Line, LinePlot};
use typed_transformer::prelude::*;
use typed_transformer::train::{AdamW, update};

#[derive(Parser)]
struct Arguments {
    /// Folder for the table and the pictures
    #[arg(long, default_value = "target/scaling")]
    out: PathBuf,
    /// Measurements of each size, of which the fastest counts
    #[arg(long, default_value_t = 2)]
    rounds: usize,
    /// Draw the table that is in the folder, without measuring again
    #[arg(long)]
    draw: bool,
    /// Measure one size in this process, and print the numbers as JSON
    #[arg(long, num_args = 3, value_names = ["BATCH", "LENGTH", "WIDTH"])]
    ours: Option<Vec<usize>>,
    /// `cargo bench` passes this to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// The result of one process.
#[derive(Clone, Serialize, Deserialize)]
struct Measurement {
    min_ms: f64,
    peak_mb: f64,
    /// The memory of the process before it built a model.
    idle_mb: f64,
}

/// A size, and what its series varies.
struct Size {
    series: &'static str,
    batch: usize,
    length: usize,
    width: usize,
}

fn sizes() -> Vec<Size> {
    let lengths = (6..14).map(|power| Size { series: "length", batch: 1, length: 1 << power, width: 128 });
    let widths = (6..11).map(|power| Size { series: "width", batch: 1, length: 256, width: 1 << power });
    let batches = (0..6).map(|power| Size { series: "batch", batch: 1 << power, length: 256, width: 128 });
    lengths.chain(widths).chain(batches).collect()
}

fn main() {
    let arguments = Arguments::parse();
    if let Some(size) = &arguments.ours {
        let measurement = measure(size[0], size[1], size[2]);
        return println!("{}", serde_json::to_string(&measurement).unwrap());
    }
    let file = arguments.out.join("scaling.csv");
    if arguments.draw {
        return draw(&arguments.out, &fs::read_to_string(file).unwrap());
    }
    fs::create_dir_all(&arguments.out).unwrap();
    let mut table = String::from("series,batch,length,width,framework,ms,mb\n");
    for size in sizes() {
        for (framework, measurement) in compare(&size, arguments.rounds) {
            let Size { series, batch, length, width } = size;
            let (ms, mb) = (measurement.min_ms, measurement.peak_mb - measurement.idle_mb);
            println!("{series} {batch} x {length} x {width}, {framework}: {ms:.2} ms, {mb:.1} MB");
            table += &format!("{series},{batch},{length},{width},{framework},{ms:.3},{mb:.1}\n");
        }
    }
    fs::write(file, &table).unwrap();
    draw(&arguments.out, &table);
}

/// Draws the columns of time and of memory against what each series varies.
fn draw(folder: &Path, table: &str) {
    for (column, file, title, unit) in [
        (5, "scaling-time.svg", "Time of a training step", "milliseconds"),
        (6, "scaling-memory.svg", "Memory beyond an idle process", "megabytes"),
    ] {
        let mut lines: Vec<Line> = Vec::new();
        for row in table.lines().skip(1) {
            let cells: Vec<&str> = row.split(',').collect();
            let number = |column: usize| -> f64 { cells[column].parse().unwrap() };
            let varied = ["batch", "length", "width"].iter().position(|series| *series == cells[0]).unwrap() + 1;
            let (name, point) = (format!("{}, {}", cells[0], cells[4]), (number(varied).log2(), number(column)));
            match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push(point),
                None => lines.push(Line { name, points: vec![point] }),
            }
        }
        let x = "length, width or batch, as a power of 2".into();
        let plot = LinePlot { title: title.into(), x, y: unit.into(), is_log: true, lines, ..LinePlot::default() };
        plot.draw(&folder.join(file)).unwrap();
    }
}

/// The fastest measurement of each framework. They take turns, so that other load on the machine affects both.
fn compare(size: &Size, rounds: usize) -> Vec<(&'static str, Measurement)> {
    let python = env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let [batch, length, width] = [size.batch, size.length, size.width].map(|size| size.to_string());
    let mut found: Vec<(&str, Measurement)> = Vec::new();
    for _ in 0..rounds {
        let mut ours = Command::new(env::current_exe().unwrap());
        ours.args(["--ours", &batch, &length, &width]);
        let mut torch = Command::new(&python);
        torch.args([concat!(env!("CARGO_MANIFEST_DIR"), "/peers.py"), "scaling", "--only", "torch"]);
        torch.args(["--batch", &batch, "--length", &length, "--width", &width]);
        for (framework, mut command) in [("here", ours), ("PyTorch", torch)] {
            // PyTorch prints nothing to standard output if it is not installed.
            let output = command.stderr(Stdio::null()).output().map(|output| output.stdout).unwrap_or_default();
            let Ok(measurement) = serde_json::from_slice::<Measurement>(&output) else { continue };
            match found.iter_mut().find(|(name, _)| *name == framework) {
                Some((_, best)) if best.min_ms > measurement.min_ms => *best = measurement,
                Some(_) => {}
                None => found.push((framework, measurement)),
            }
        }
    }
    found
}

dims! {
    VocabSize = 65; MaxSeqLen = 8192; NumHeads = 4; NumLayers = 2; SeqLen <= MaxSeqLen; Batch;
}

struct Gpt<Width, HeadDim>(PhantomData<(Width, HeadDim)>);
impl<Width: ConstDim, HeadDim: ConstDim> Arch for Gpt<Width, HeadDim> {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = Product<Const<4>, Width>;
    type Conventions = NanoGpt;
}
impl<Width: ConstDim, HeadDim: ConstDim> SingleStack for Gpt<Width, HeadDim> {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = Width;
    type NumLayers = NumLayers;
}

fn measure(batch: usize, length: usize, width: usize) -> Measurement {
    match width {
        64 => train::<Const<64>, Const<16>>(batch, length),
        128 => train::<Const<128>, Const<32>>(batch, length),
        256 => train::<Const<256>, Const<64>>(batch, length),
        512 => train::<Const<512>, Const<128>>(batch, length),
        1024 => train::<Const<1024>, Const<256>>(batch, length),
        other => panic!("there is no model of width {other}"),
    }
}

/// The fastest of three steps after as many untimed ones.
fn train<Width: ConstDim, HeadDim: ConstDim>(batch: usize, length: usize) -> Measurement {
    let idle_mb = memory_mb("VmHWM:");
    let mut model = DecoderOnly::<Gpt<Width, HeadDim>, f32, Cpu>::build(&Cpu::default());
    let ids: Vec<usize> = (0..batch * length).map(|i| i * 7919 % VocabSize::SIZE).collect();
    let shape = (Batch::new(batch), SeqLen::new(length).unwrap());
    let ids: TokenIds<Batch, SeqLen, VocabSize> = TokenIds::from_ids(&ids, None, shape).unwrap();
    let (inputs, labels) = ids.teacher_forcing(Fin::literal::<0>());
    let mut adamw = AdamW::default();
    let mut step = || {
        let start = Instant::now();
        let logits = model.forward(&inputs, model.recording()).unwrap();
        let loss = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
        update(&mut model, loss.backward().unwrap(), &mut adamw, 1e-3, 1.0).unwrap();
        start.elapsed().as_secs_f64() * 1e3
    };
    for _ in 0..3 {
        step();
    }
    let min_ms = (0..3).map(|_| step()).fold(f64::INFINITY, f64::min);
    Measurement { min_ms, peak_mb: memory_mb("VmHWM:"), idle_mb }
}

/// A figure about the memory of this process, on Linux.
fn memory_mb(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
}
