//! How the time and the memory of a training step grow with length, width and batch, here and in PyTorch.
//!
//! `cargo bench --bench scaling -- --out docs` writes `scaling.csv` and the pictures `scaling-time.svg` and
//! `scaling-memory.svg`. PyTorch is that of the Python that `PYTHON` names (by default `python3`); without it the
//! pictures show this crate only. The model is nanoGPT's with 2 layers and 4 heads; where it does not say otherwise,
//! its width is 128, its length 256 and its batch 1. Every measurement is a process of its own.

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
    fs::create_dir_all(&arguments.out).unwrap();
    let mut table = String::from("series,batch,length,width,framework,ms,mb\n");
    let mut lines: [Vec<Line>; 2] = Default::default();
    for size in sizes() {
        for (framework, measurement) in compare(&size, arguments.rounds) {
            let Size { series, batch, length, width } = size;
            let (ms, mb) = (measurement.min_ms, measurement.peak_mb - measurement.idle_mb);
            println!("{series} {batch} x {length} x {width}, {framework}: {ms:.2} ms, {mb:.1} MB");
            table += &format!("{series},{batch},{length},{width},{framework},{ms:.3},{mb:.1}\n");
            let value = match series {
                "length" => length,
                "width" => width,
                _ => batch,
            };
            for (lines, y) in lines.iter_mut().zip([ms, mb]) {
                let name = format!("{series}, {framework}");
                if lines.iter().all(|line| line.name != name) {
                    lines.push(Line { name: name.clone(), points: Vec::new() });
                }
                let line = lines.iter_mut().find(|line| line.name == name).unwrap();
                line.points.push(((value as f64).log2(), y.log2()));
            }
        }
    }
    fs::write(arguments.out.join("scaling.csv"), table).unwrap();
    let [time, memory] = lines;
    draw(&arguments.out, "scaling-time.svg", "Time of a training step", "log₂ of milliseconds", time);
    draw(&arguments.out, "scaling-memory.svg", "Memory beyond an idle process", "log₂ of megabytes", memory);
}

fn draw(folder: &Path, file: &str, title: &str, y: &str, lines: Vec<Line>) {
    let x = "log₂ of the length, width or batch".into();
    LinePlot { title: title.into(), x, y: y.into(), lines, ..LinePlot::default() }.draw(&folder.join(file)).unwrap();
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
    let mut adamw = AdamW::default();
    let mut step = || {
        let start = Instant::now();
        let logits = model.forward(&ids, model.recording()).unwrap();
        let loss = cross_entropy(logits, &ids, Reduction::MeanAll).unwrap();
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
