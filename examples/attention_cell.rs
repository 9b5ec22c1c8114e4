//! The attention cell of EasyOCR, which *The Typed Transformer* quotes for its shape comments, with types in
//! place of the comments. It is trained to read a row of noisy glyphs, one letter at a time.
//!
//! ```text
//! cargo run --example attention_cell
//! cargo run --example attention_cell -- --seed 7 --steps 1000
//! ```
//!
//! The original comments `# batch_size x (num_channel + num_embedding)`; here the type is
//! `(Batch, One, Sum<NumChannel, NumEmbedding>)`, and `cargo check` verifies it. It refuses, for example,
//! `ui-tests/fail/gallery/easyocr_attention_cell/state_without_steps.rs`.

#[path = "support/device.rs"]
mod device;

use clap::Parser;
use device::{DeviceName, cuda, end};
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::{
    error::Error,
    io::{Write, stdout},
    process::ExitCode,
};
use typed_transformer::{
    module,
    nn::{Linear, Module},
    ops::{Activation, Sigmoid, Tanh, add, mul},
    prelude::*,
    train::{Adam, Schedule, WarmupCosine, update},
};

dims! {
    /// Rows per batch.
    Batch = 32;
    /// Glyphs per row (`num_encoder_step`).
    NumSteps = 6;
    /// Features of a glyph: its letter, then its position, one-hot with noise.
    NumChannel = 14;
    /// Letters of the alphabet.
    NumEmbedding = 8;
    /// Width of the state.
    HiddenDim = 32;
    /// One state, score or letter per row.
    One = 1;
}

/// The context and the previous letter.
type Context = Sum<NumChannel, NumEmbedding>;
/// Input of the recurrent cell: the [`Context`], and the cell's own state.
type RnnInput = Sum<Context, HiddenDim>;

/// One vector per row of the batch.
type Each<Width, D, T = NoneTape> = Tensor<(Batch, One, Width), f32, D, T>;
/// One vector per glyph.
type Steps<Width, D, T = NoneTape> = Tensor<(Batch, NumSteps, Width), f32, D, T>;

/// A long short-term memory cell (Hochreiter and Schmidhuber, 1997).
#[module(output = HiddenDim)]
struct LstmCell<E, D> {
    input_gate: Linear<RnnInput, HiddenDim, E, D>,
    forget_gate: Linear<RnnInput, HiddenDim, E, D>,
    cell_gate: Linear<RnnInput, HiddenDim, E, D>,
    output_gate: Linear<RnnInput, HiddenDim, E, D>,
}

impl<D: Backend<f32>> LstmCell<f32, D> {
    fn forward<T: Tape<f32, D>>(
        &self,
        input: Each<RnnInput, D, T>,
        cell: &Each<HiddenDim, D>,
    ) -> Result<(Each<HiddenDim, D, T>, Each<HiddenDim, D>), OpError> {
        let gate = |map: &Linear<RnnInput, HiddenDim, f32, D>| map.forward(input.clone());
        let old = mul(Sigmoid::apply(gate(&self.forget_gate)?)?, cell)?;
        let new = mul(Sigmoid::apply(gate(&self.input_gate)?)?, Tanh::apply(gate(&self.cell_gate)?)?)?;
        let cell = add(old, new)?;
        let hidden = mul(Sigmoid::apply(gate(&self.output_gate)?)?, Tanh::apply(cell.clone())?)?;
        Ok((hidden, cell.retaped()))
    }
}

/// The attention cell, with the names of the original.
#[module(output = NumEmbedding)]
struct AttentionCell<E, D> {
    i2h: Linear<NumChannel, HiddenDim, E, D>,
    h2h: Linear<HiddenDim, HiddenDim, E, D>,
    score: Linear<HiddenDim, One, E, D>,
    rnn: LstmCell<E, D>,
    /// From a state to one logit per letter.
    generator: Linear<HiddenDim, NumEmbedding, E, D>,
}

/// The state of the recurrent cell.
struct State<D: Backend<f32>> {
    hidden: Each<HiddenDim, D>,
    cell: Each<HiddenDim, D>,
}

/// The output of one step.
struct Reading<D: Backend<f32>, T> {
    logits: Each<NumEmbedding, D, T>,
    state: State<D>,
    /// The attention weights of each row over its glyphs.
    alpha: Each<NumSteps, D>,
}

impl<D: Backend<f32>> AttentionCell<f32, D> {
    fn forward<T: Tape<f32, D>>(
        &self,
        prev: &State<D>,
        batch_h: &Steps<NumChannel, D>,
        char_onehots: &Each<NumEmbedding, D>,
        tape: T,
    ) -> Result<Reading<D, T>, OpError> {
        let batch_h_proj: Steps<HiddenDim, D, T> = self.i2h.forward(batch_h.clone().put_tape(tape))?;
        let prev_hidden_proj: Each<HiddenDim, D, T> = self.h2h.forward(prev.hidden.retaped())?;
        let prev_hidden_proj = sum_over(prev_hidden_proj, axis::<One>())?;
        let prev_hidden_proj: Steps<HiddenDim, D, T> =
            broadcast(prev_hidden_proj, (Batch, NumSteps, HiddenDim), axis::<NumSteps>())?;
        let e: Steps<One, D, T> = self.score.forward(Tanh::apply(add(batch_h_proj, prev_hidden_proj)?)?)?;

        let alpha = softmax_over(e, axis::<NumSteps>())?;
        let alpha: Each<NumSteps, D, T> = permute(alpha)?;
        let context: Each<NumChannel, D, T> = einsum!(
            alpha.clone(): (Batch, One, NumSteps), batch_h: (Batch, NumSteps, NumChannel) -> (Batch, One, NumChannel)
        )?;
        let concat_context: Each<Context, D, T> =
            concat(context, char_onehots.retaped(), along::<NumChannel, NumEmbedding>())?;
        let rnn_input: Each<RnnInput, D, T> =
            concat(concat_context, prev.hidden.retaped(), along::<Context, HiddenDim>())?;
        let (hidden, cell) = self.rnn.forward(rnn_input, &prev.cell)?;
        let state = State { hidden: hidden.retaped(), cell };
        Ok(Reading { logits: self.generator.forward(hidden)?, state, alpha: alpha.retaped() })
    }
}

/// Random rows: glyphs, and the letters that they show.
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

/// Reads rows, each step with the letter that the previous step wrote. Returns the letters, and the
/// attention weights of the first row.
fn read<D: Backend<f32>>(
    model: &AttentionCell<f32, D>,
    rows: &Rows<D>,
    device: &D,
) -> Result<(Vec<Vec<Fin<NumEmbedding>>>, Vec<Vec<f32>>), OpError> {
    let (mut state, mut letter) = begin(device);
    let mut read = vec![Vec::new(); Batch::SIZE];
    let mut attention = Vec::new();
    for _ in 0..NumSteps::SIZE {
        let reading = model.forward(&state, &rows.glyphs, &letter, NoneTape)?;
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
    Ok((read, attention))
}

/// Train a typed attention cell to read rows of glyphs.
#[derive(Parser)]
struct Cli {
    /// Seed of the parameters and of the rows
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Training steps
    #[arg(long, default_value_t = 500)]
    steps: usize,
    /// Device to run on; cuda needs a build with --features cuda
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    end(match cli.device {
        DeviceName::Cpu => run(&cli, &Cpu::seed_from_u64(cli.seed)),
        DeviceName::Cuda => cuda(cli.seed).and_then(|gpu| run(&cli, &gpu)),
    })
}

/// Trains and evaluates. At least 99 % of the letters must be right.
fn run<D: Backend<f32>>(cli: &Cli, device: &D) -> Result<(), Box<dyn Error>> {
    let mut rng = StdRng::seed_from_u64(cli.seed);
    let mut model = AttentionCell::<f32, D>::build(device);
    writeln!(stdout(), "{}\n", model.summary())?;

    let mut adam = Adam::default();
    let schedule = WarmupCosine { peak_value: 0.01, end_value: 0.001, warmup_steps: 20, steps: cli.steps };
    for step in 0..cli.steps {
        let rows = Rows::random(device, &mut rng)?;
        let (mut state, mut letter) = begin(device);
        let mut loss = device.zeros::<()>().put_tape(model.recording());
        for glyph in 0..NumSteps::SIZE {
            let reading = model.forward(&state, &rows.glyphs, &letter, model.recording())?;
            let letters = rows.column(glyph);
            let ids: Vec<usize> = letters.iter().map(|letter| letter.value()).collect();
            let labels = LabelIds::from_ids(&ids, None, (Batch, One))?;
            loss = add(loss, cross_entropy(reading.logits, &labels, Reduction::MeanAll)?)?;
            (state, letter) = (reading.state, onehots(device, &letters));
        }
        if step % 100 == 0 {
            let loss_per_glyph = loss.array() / NumSteps::SIZE as f32;
            writeln!(stdout(), "step {step:4}  loss {loss_per_glyph:.3}")?;
        }
        let rate = schedule.learning_rate(step);
        update(&mut model, loss.backward()?, &mut adam, rate, 1.0)?;
    }

    let rows = Rows::random(device, &mut rng)?;
    let (letters, attention) = read(&model, &rows, device)?;
    let text =
        |row: &[Fin<NumEmbedding>]| -> String { row.iter().map(|l| char::from(b'a' + l.value() as u8)).collect() };
    writeln!(stdout(), "\nlabel   read")?;
    for (label, read) in rows.letters.iter().zip(&letters).take(4) {
        writeln!(stdout(), "{:6}  {}", text(label), text(read))?;
    }
    writeln!(stdout(), "\nattention weights of the first row, one line per letter:")?;
    for row in attention {
        let shade = |weight: f32| [' ', '.', ':', 'o', '#'][((weight * 5.0) as usize).min(4)];
        writeln!(stdout(), "  [{}]", row.into_iter().map(shade).collect::<String>())?;
    }
    let pairs = || rows.letters.concat().into_iter().zip(letters.concat());
    let correct = pairs().filter(|(one, other)| one == other).count();
    writeln!(stdout(), "\n{correct} of {} letters correct", pairs().count())?;
    match correct * 100 >= pairs().count() * 99 {
        true => Ok(()),
        false => Err("fewer than 99 % of the letters are right; try more `--steps`".into()),
    }
}
