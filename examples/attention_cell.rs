//! The attention cell that *The Typed Transformer* quotes from EasyOCR for its comments, with the
//! comments as types; trained to read a row of noisy glyphs one letter at a time.
//!
//! ```text
//! cargo run --example attention_cell
//! cargo run --example attention_cell -- --seed 7 --steps 1000
//! ```
//!
//! Where the original says `# batch_size x (num_channel + num_embedding)`, the type here says
//! `(Batch, One, Sum<NumChannel, NumEmbedding>)`, and `cargo check` reads it. A mistake that it
//! catches is `ui-tests/fail/gallery/easyocr_attention_cell/state_without_steps.rs`.

#[path = "support/device.rs"]
mod device;

use clap::Parser;
use device::{DeviceName, cuda};
use dfdx::tensor_ops::TryMatMul;
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::{error::Error, process::ExitCode};
use typed_transformer::{
    module,
    nn::{Linear, Module},
    prelude::*,
    train::{Adam, Schedule, WarmupCosine, update},
};

dims! {
    /// Rows that are read at once.
    Batch = 32;
    /// Glyphs of a row (`num_encoder_step`).
    NumSteps = 6;
    /// Features of a glyph: what it looks like, then where it stands.
    NumChannel = 14;
    /// Letters.
    NumEmbedding = 8;
    /// Width of the state.
    HiddenDim = 32;
    /// A state, a score, a letter: one for each row.
    One = 1;
}

/// The context and the letter before.
type Context = Sum<NumChannel, NumEmbedding>;
/// What the recurrent cell reads: these, and its own state.
type RnnInput = Sum<Context, HiddenDim>;

/// One vector for each row of the batch.
type Each<Width, D, T = NoneTape> = Tensor<(Batch, One, Width), f32, D, T>;
/// One vector for each glyph.
type Steps<Width, D, T = NoneTape> = Tensor<(Batch, NumSteps, Width), f32, D, T>;

module! {
    /// A long short-term memory cell (Hochreiter and Schmidhuber, 1997).
    struct LstmCell<E, D> -> HiddenDim {
        input_gate: module Linear<RnnInput, HiddenDim, E, D>,
        forget_gate: module Linear<RnnInput, HiddenDim, E, D>,
        cell_gate: module Linear<RnnInput, HiddenDim, E, D>,
        output_gate: module Linear<RnnInput, HiddenDim, E, D>,
    }
}

impl<D: Backend<f32>> LstmCell<f32, D> {
    fn forward<T: Tape<f32, D>>(
        &self,
        input: Each<RnnInput, D, T>,
        cell: &Each<HiddenDim, D>,
    ) -> (Each<HiddenDim, D, T>, Each<HiddenDim, D>) {
        let (input, tape) = input.split_tape();
        let gate = |map: &Linear<RnnInput, HiddenDim, f32, D>| map.forward(input.retaped::<T>());
        let forget = self.forget_gate.forward(input.clone().put_tape(tape));
        let kept = forget.sigmoid() * cell.retaped::<T>();
        let new = gate(&self.input_gate).sigmoid() * gate(&self.cell_gate).tanh();
        let (cell, tape) = (kept + new).split_tape();
        let hidden = gate(&self.output_gate).sigmoid() * cell.clone().put_tape(tape).tanh();
        (hidden, cell)
    }
}

module! {
    /// The cell, with the names of the original.
    struct AttentionCell<E, D> -> NumEmbedding {
        i2h: module Linear<NumChannel, HiddenDim, E, D>,
        h2h: module Linear<HiddenDim, HiddenDim, E, D>,
        score: module Linear<HiddenDim, One, E, D>,
        rnn: module LstmCell<E, D>,
        /// From a state to a logit for each letter.
        generator: module Linear<HiddenDim, NumEmbedding, E, D>,
    }
}

/// The state of the recurrent cell.
struct State<D: Backend<f32>> {
    hidden: Each<HiddenDim, D>,
    cell: Each<HiddenDim, D>,
}

/// What one step of reading gives.
struct Reading<D: Backend<f32>, T> {
    logits: Each<NumEmbedding, D, T>,
    state: State<D>,
    /// How much of its attention each row gives to each of its glyphs.
    alpha: Each<NumSteps, D>,
}

impl<D: Backend<f32>> AttentionCell<f32, D> {
    fn forward<T: Tape<f32, D>>(
        &self,
        prev: &State<D>,
        batch_h: &Steps<NumChannel, D>,
        char_onehots: &Each<NumEmbedding, D>,
        tape: T,
    ) -> Reading<D, T> {
        let batch_h_proj: Steps<HiddenDim, D, T> = self.i2h.forward(batch_h.clone().put_tape(tape));
        let prev_hidden_proj: Each<HiddenDim, D, T> = self.h2h.forward(prev.hidden.retaped());
        let prev_hidden_proj = reshape(prev_hidden_proj, (Batch, HiddenDim));
        let prev_hidden_proj: Steps<HiddenDim, D, T> =
            broadcast(prev_hidden_proj, (Batch, NumSteps, HiddenDim), axis::<NumSteps>());
        let e: Steps<One, D, T> = self.score.forward(residual(batch_h_proj, prev_hidden_proj).tanh());

        let alpha = softmax_over(e, axis::<NumSteps>());
        let alpha: Each<NumSteps, D, T> = permute(alpha);
        let (alpha, tape) = alpha.split_tape();
        let context: Each<NumChannel, D, T> = alpha.clone().put_tape(tape).matmul(batch_h.retaped::<T>());
        let concat_context: Each<Context, D, T> =
            concat(context, char_onehots.retaped(), along::<NumChannel, NumEmbedding>());
        let rnn_input: Each<RnnInput, D, T> =
            concat(concat_context, prev.hidden.retaped(), along::<Context, HiddenDim>());
        let (hidden, cell) = self.rnn.forward(rnn_input, &prev.cell);
        let (hidden, tape) = hidden.split_tape();
        Reading {
            logits: self.generator.forward(hidden.clone().put_tape(tape)),
            state: State { hidden, cell },
            alpha,
        }
    }
}

/// Rows of random letters, as glyphs and as what is to be read.
struct Rows<D: Backend<f32>> {
    letters: Vec<Vec<Fin<NumEmbedding>>>,
    glyphs: Steps<NumChannel, D>,
}

impl<D: Backend<f32>> Rows<D> {
    fn random(device: &D, rng: &mut StdRng) -> Result<Self, Box<dyn Error>> {
        let mut letters = vec![Vec::new(); Batch::SIZE];
        let mut glyphs = Vec::new();
        for row in &mut letters {
            for step in 0..NumSteps::SIZE {
                let letter = Fin::new(rng.gen_range(0..NumEmbedding::SIZE))?;
                row.push(letter);
                glyphs.extend((0..NumChannel::SIZE).map(|channel| {
                    let is_on = channel == letter.value() || channel == NumEmbedding::SIZE + step;
                    f32::from(u8::from(is_on)) + rng.gen_range(-0.2..0.2)
                }));
            }
        }
        Ok(Self { letters, glyphs: device.tensor(glyphs) })
    }

    /// The letters at one step.
    fn column(&self, step: usize) -> Vec<Fin<NumEmbedding>> {
        self.letters.iter().map(|row| row[step]).collect()
    }
}

fn onehots<D: Backend<f32>>(device: &D, letters: &[Fin<NumEmbedding>]) -> Each<NumEmbedding, D> {
    let onehot = |letter: &Fin<NumEmbedding>| {
        let letter = letter.value();
        (0..NumEmbedding::SIZE).map(move |other| f32::from(u8::from(other == letter)))
    };
    device.tensor(letters.iter().flat_map(onehot).collect::<Vec<_>>())
}

fn begin<D: Backend<f32>>(device: &D) -> (State<D>, Each<NumEmbedding, D>) {
    let state = State { hidden: device.zeros(), cell: device.zeros() };
    (state, device.zeros())
}

/// Reads rows by the cell's own output; returns the letters and the attention of the first row.
fn read<D: Backend<f32>>(
    model: &AttentionCell<f32, D>,
    rows: &Rows<D>,
    device: &D,
) -> (Vec<Vec<Fin<NumEmbedding>>>, Vec<Vec<f32>>) {
    let (mut state, mut letter) = begin(device);
    let mut read = vec![Vec::new(); Batch::SIZE];
    let mut attention = Vec::new();
    for _ in 0..NumSteps::SIZE {
        let reading = model.forward(&state, &rows.glyphs, &letter, NoneTape);
        let logits = reading.logits.as_vec();
        let rows = logits.chunks(NumEmbedding::SIZE);
        let best = rows.filter_map(|row| Fin::all().zip(row).max_by(|a, b| a.1.total_cmp(b.1)));
        let letters: Vec<_> = best.map(|(letter, _)| letter).collect();
        for (row, letter) in read.iter_mut().zip(&letters) {
            row.push(*letter);
        }
        attention.push(reading.alpha.as_vec()[..NumSteps::SIZE].to_vec());
        (state, letter) = (reading.state, onehots(device, &letters));
    }
    (read, attention)
}

/// Train a typed attention cell to read rows of glyphs.
#[derive(Parser)]
struct Cli {
    /// Seed of the parameters and of the rows
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Steps to train for
    #[arg(long, default_value_t = 500)]
    steps: usize,
    /// Where to run; cuda needs a build with --features cuda
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.device {
        DeviceName::Cpu => run(&cli, &Cpu::seed_from_u64(cli.seed)),
        DeviceName::Cuda => cuda(cli.seed).map_err(Box::from).and_then(|gpu| run(&cli, &gpu)),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("error: fewer than 99 % of the letters were read; try more `--steps`");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the cell has learnt to read.
fn run<D: Backend<f32>>(cli: &Cli, device: &D) -> Result<bool, Box<dyn Error>> {
    let mut rng = StdRng::seed_from_u64(cli.seed);
    let mut model = AttentionCell::<f32, D>::build(device);
    println!("{}\n", model.summary());

    let mut adam = Adam::default();
    let schedule = WarmupCosine { peak: 0.01, last: 0.001, warmup_steps: 20, steps: cli.steps };
    for step in 0..cli.steps {
        let rows = Rows::random(device, &mut rng)?;
        let (mut state, mut letter) = begin(device);
        let mut loss: Tensor<(), f32, D, OwnedTape<f32, D>> = device.zeros().leaky_trace();
        for glyph in 0..NumSteps::SIZE {
            let tape = OwnedTape::default();
            let reading = model.forward(&state, &rows.glyphs, &letter, tape);
            let letters = rows.column(glyph);
            let ids: Vec<usize> = letters.iter().map(|letter| letter.value()).collect();
            let labels = TokenIds::from_ids(&ids, None, (Batch, One))?;
            loss = loss + cross_entropy(reading.logits, &labels, Reduction::MeanAll);
            (state, letter) = (reading.state, onehots(device, &letters));
        }
        if step % 100 == 0 {
            let surprise = loss.as_vec()[0] / NumSteps::SIZE as f32;
            println!("step {step:4}  loss {surprise:.3}");
        }
        let rate = schedule.learning_rate(step);
        update(&mut model, loss.backward(), &mut adam, rate, 1.0)?;
    }

    let rows = Rows::random(device, &mut rng)?;
    let (letters, attention) = read(&model, &rows, device);
    let text = |row: &[Fin<NumEmbedding>]| -> String {
        row.iter().map(|l| char::from(b'a' + l.value() as u8)).collect()
    };
    println!("\nwritten  read");
    for (written, read) in rows.letters.iter().zip(&letters).take(4) {
        println!("{:7}  {}", text(written), text(read));
    }
    println!("\nwhere the first row was looked at, a line for each letter:");
    for row in attention {
        let shade = |weight: f32| [' ', '.', ':', 'o', '#'][((weight * 5.0) as usize).min(4)];
        println!("  [{}]", row.into_iter().map(shade).collect::<String>());
    }
    let pairs = || rows.letters.concat().into_iter().zip(letters.concat());
    let right = pairs().filter(|(one, other)| one == other).count();
    println!("\n{right} of {} letters read", pairs().count());
    Ok(right * 100 >= pairs().count() * 99)
}
