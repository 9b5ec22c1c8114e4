//! Trains a small decoder on several ranks (processes). Each computes the gradients of its rows of a batch, and all make
//! the same update with the sum. The model reads three digits and learns to repeat them: 3 7 1 3 7 1 3 7 1.
//!
//! ```text
//! cargo run --example train_on_ranks                         # one process
//! cargo build --release --features mpi --example train_on_ranks
//! mpirun -n 4 target/release/examples/train_on_ranks         # four ranks
//! ```
//!
//! The lines with a number, `// 1` to `// 6`, differ from those of a training run of one process. `docs/ranks.md`
//! explains them under the same numbers, and shows what the compiler says to a wrong one.

mod cli;
#[cfg(feature = "plot")]
mod plots;
#[path = "../support/mod.rs"]
mod support;

use cli::Cli;
use rand::Rng;
use std::{array, collections::HashMap, process::ExitCode};
use support::{
    BoxError, DeviceName, Outcome, all, cuda, parse, print,
    ranks::{World, finish, prepare, progress, run_on_ranks},
};
use typed_transformer::{
    models::nano_gpt::NanoGpt,
    nn::Module,
    ops::{argmax, partial_cross_entropy},
    prelude::*,
    ranks::{Partial, Ranks, Shard},
    train::{Adam, Recording, Trainer, WarmupCosine},
};

/// The digits that are repeated.
const PERIOD: usize = 3;
/// The default checkpoint after Ctrl-C.
const CHECKPOINT: &str = "train_on_ranks.checkpoint";

dims! {
    VocabSize = 10; // the digits
    SeqLen = 8; // digits that the model reads
    Batch; // sequences
    EmbedDim = 16;
    NumHeads = 2;
    NumLayers = 1;
}

struct Small;

impl Arch for Small {
    type NumHeads = NumHeads;
    type QKDim = Quotient<EmbedDim, NumHeads>;
    type VODim = Quotient<EmbedDim, NumHeads>;
    type HiddenDim = Product<Const<4>, EmbedDim>;
    type Conventions = NanoGpt;
}

impl SingleStack for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = SeqLen;
    type EmbedDim = EmbedDim;
    type NumLayers = NumLayers;
}

type Model<D> = DecoderOnly<Small, f32, D>;
type Loss<D> = Tensor<(), f32, D, Recording<Model<D>, f32, D>>;
const _: () = assert!(Model::<Cpu>::NUM_PARAMS == 3_408);

/// The digits that the model reads, and one more.
type Sequence = [usize; SeqLen::SIZE + 1];

/// The same digits again and again.
fn repeated(digits: [usize; PERIOD]) -> Sequence {
    array::from_fn(|index| digits[index % PERIOD])
}

fn random_sequence(rng: &mut impl Rng) -> Sequence {
    repeated(array::from_fn(|_| rng.gen_range(0..VocabSize::SIZE)))
}

/// The digits that the model reads, and as labels the one after each.
fn batch<B: DataDim>(
    sequences: &[Sequence],
    batch: B,
) -> Result<(TokenIds<B, SeqLen, VocabSize>, LabelIds<B, SeqLen, VocabSize>), TokenError> {
    let ids = |offset: usize| {
        let ids = sequences.iter().flat_map(|digits| &digits[offset..][..SeqLen::SIZE]);
        TokenIds::from_ids(&ids.copied().collect::<Vec<_>>(), None, (batch, SeqLen))
    };
    Ok((ids(0)?, ids(1)?.into()))
}

/// The part of the loss that this rank's rows have. A rank may have no rows.
fn loss<D: Backend<f32>>(
    model: &Model<D>,
    sequences: &[Sequence],
    rows: Shard<Batch, World>,
    device: &D,
) -> Result<Partial<Loss<D>, World>, BoxError> {
    if rows.is_empty() {
        return Ok(Partial::of_no_rows(device, model.recording())?);
    }
    let (digits, labels) = batch(sequences, rows)?;
    let logits = model.forward(&digits, model.recording())?; // (Shard<Batch, World>, SeqLen, VocabSize)
    Ok(partial_cross_entropy(logits, &labels, Reduction::MeanAll)?) // 4
}

/// Trains a model. The outcome beside it is that of the files: a file that fails costs no result.
fn train<D: Backend<f32>>(cli: &Cli, ranks: &Ranks<World>, device: &D) -> Result<(Model<D>, Outcome), BoxError> {
    let (peak, steps) = (cli.learning_rate, cli.steps);
    let schedule = WarmupCosine { peak_value: peak, end_value: peak / 10.0, warmup_steps: 100, steps };
    let mut trainer = Trainer::new(Adam::default(), schedule, steps, cli.seed);
    trainer.clip_norm = 1.0;
    trainer.require_same("the batch", cli.batch);
    let checkpoints = cli.files.checkpoints(CHECKPOINT, cli.checkpoint_every);
    let new = || Model::try_build(device);
    let mut model = prepare(&cli.files, ranks, &mut trainer, &checkpoints, device, new)?; // 2

    let progress = progress(ranks, steps);
    while let Some(mut step) = trainer.next_step() {
        // All ranks draw the same batch.
        let sequences: Vec<Sequence> = (0..cli.batch).map(|_| random_sequence(&mut step.rng)).collect();
        let rows = step.assign_rows(ranks, Batch::new(cli.batch)); // 3: this rank's rows
        let loss = ranks.fail_together(loss(&model, &sequences[rows.range()?], rows, device))?;
        let loss_value = loss.value();
        let gradients = loss.backward_all_reduce(ranks, &model)?; // 5: the sum over the ranks
        let tokens = cli.batch * SeqLen::SIZE;
        let report = trainer.update_replicated(ranks, &mut model, gradients, loss_value, tokens); // 6: the same on all
        progress.show(report, &trainer)?;
    }
    progress.finish();
    let outcome = finish(&cli.files, ranks, trainer, (steps, &checkpoints), &*model, &HashMap::new())?;
    Ok((model.into_inner(), outcome))
}

/// Predicts the digits of every sequence. Of those that the first three determine, it returns the share that is right.
fn accuracy<D: Backend<f32>>(model: &Model<D>) -> Result<f64, BoxError> {
    let every: Vec<Sequence> =
        (0..1_000).map(|number| repeated([number / 100, number / 10 % 10, number % 10])).collect();
    let (digits, labels) = batch(&every, Batch::new(every.len()))?;
    let predicted = argmax(&model.forward(&digits, NoneTape)?, axis::<VocabSize>())?;
    let pairs = predicted.as_slice().iter().zip(labels.as_slice()).enumerate();
    let determined = || pairs.clone().filter(|(index, _)| index % SeqLen::SIZE >= PERIOD - 1);
    let num_right = determined().filter(|(_, (predicted, label))| predicted == label).count();
    Ok(num_right as f64 / determined().count() as f64)
}

fn run<D: Backend<f32>>(cli: &Cli, ranks: &Ranks<World>, device: &D) -> Outcome {
    #[cfg(feature = "plot")]
    let report = support::ranks::on_first(ranks, || cli.files.report("Repeated digits"))?.flatten();
    let (model, trained) = train(cli, ranks, device)?;
    // The first rank evaluates and shows.
    if !ranks.is_first() {
        return Ok(());
    }
    let accuracy = match accuracy(&model) {
        Ok(accuracy) => accuracy,
        Err(error) => return all([trained, Err(error)]),
    };
    let text = format!("{:.1} % of the repeated digits predicted\n", 100.0 * accuracy);
    let outcomes = [trained, print(&text)].into_iter();
    #[cfg(feature = "plot")]
    let outcomes = outcomes.chain(report.map(|report| plots::write(report, cli, &model, &text)));
    all(outcomes)?;
    cli.goal.check(accuracy, "of the repeated digits are right")
}

fn main() -> ExitCode {
    let cli: Cli = parse();
    // 1: this process joins the others.
    run_on_ranks(|ranks| match cli.device {
        DeviceName::Cpu => run(&cli, ranks, &Cpu::seed_from_u64(cli.seed)),
        DeviceName::Cuda => ranks.fail_together(cuda(cli.seed)).and_then(|gpu| run(&cli, ranks, &gpu)),
    })
}
