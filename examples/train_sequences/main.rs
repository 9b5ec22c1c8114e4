//! The training job of *The Typed Transformer*: the post's encoder-decoder in its tiny configuration learns
//! to continue ascending and descending sequences of integers, then continues fresh ones.
//! `cargo run --example train_sequences -- --help` lists the options; `examples/README.md` explains them.
//!
//! The model reads 3 to 15 consecutive numbers below 125 and writes the next two. As in the post, the loss
//! is the mean over the labels of each sequence, then over the batch of 256.
//!
//! The learning rate is 5e-4. At the post's 2e-2 Adam makes no progress here.

mod cli;
#[cfg(feature = "plot")]
mod plots;
mod sequences;
#[path = "../support/mod.rs"]
mod support;

use cli::Cli;
use rand::{SeedableRng, rngs::StdRng};
use sequences::{BEGIN, Numbers, PAD, Sequence, format_numbers, sources, targets};
use std::{collections::HashMap, process::ExitCode};
use support::{
    BoxError, DeviceName, Outcome, Report, cuda, parse, print,
    ranks::{World, finish, on_first, prepare, progress, run_on_ranks},
};
use typed_transformer::{
    generate::{Sampler, generate_target},
    nn::Module,
    ops::partial_cross_entropy,
    prelude::*,
    ranks::{Partial, Ranks, Shard},
    train::{Adam, Recording, Trainer},
};

/// Fresh random sequences that the accuracy is measured on.
const NUM_EVAL_SEQUENCES: usize = 1_000;
/// The number of printed sequences of each direction.
const NUM_SHOWN: usize = 5;
/// The default checkpoint after Ctrl-C.
const CHECKPOINT: &str = "train_sequences.checkpoint";
/// The number of the last steps whose mean loss is printed.
const LAST_STEPS: usize = 500;

dims! {
    VocabSize = 128; // the numbers, one unused token, `<begin>`, `<pad>`
    MaxSeqLen = 16; // the longest sequence that the model takes
    SrcLen <= MaxSeqLen; // the given numbers, padding included
    TgtLen = 2; // the numbers to write
    Batch; // sequences
    EmbedDim = 128;
    NumHeads = 2;
    HiddenDim = 512; // width inside a feed-forward layer
    NumLayers = 4; // of the encoder, and of the decoder
}

/// The post's tiny configuration.
struct Tiny;

impl Arch for Tiny {
    type NumHeads = NumHeads;
    type QKDim = Quotient<EmbedDim, NumHeads>;
    type VODim = Quotient<EmbedDim, NumHeads>;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}

impl Seq2Seq for Tiny {
    type SrcVocab = VocabSize;
    type TgtVocab = VocabSize;
    type MaxSrcLen = MaxSeqLen;
    type MaxTgtLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumEncoderLayers = NumLayers;
    type NumDecoderLayers = NumLayers;
}

type Model<D> = LM<Tiny, f32, D>;
type Loss<D> = Tensor<(), f32, D, Recording<Model<D>, f32, D>>;

const _: () = assert!(Model::<Cpu>::NUM_PARAMS == 1_899_136);

/// The part of the loss that this rank's sequences have.
fn loss<D: Backend<f32>>(
    model: &Model<D>,
    sequences: &[Sequence],
    rows: Shard<Batch, World>,
    device: &D,
) -> Result<Partial<Loss<D>, World>, BoxError> {
    if rows.is_empty() {
        return Ok(Partial::of_no_rows(device, model.recording())?);
    }
    let source = sources(sequences, rows)?;
    let (inputs, labels) = targets(sequences, rows)?.teacher_forcing(BEGIN);
    let output = model.forward(&source, &inputs, model.recording())?;
    let logits: Tensor<(Shard<Batch, World>, TgtLen, VocabSize), _, _, _> = output.logit_output;
    Ok(partial_cross_entropy(logits, &labels, Reduction::MeanPerSequence)?)
}

fn train<D: Backend<f32>>(cli: &Cli, ranks: &Ranks<World>, device: &D) -> Result<(Model<D>, Outcome), BoxError> {
    let mut trainer = Trainer::new(Adam::default(), cli.learning_rate, cli.steps, cli.seed);
    trainer.require_same("the batch", cli.batch);
    let checkpoints = cli.files.checkpoints(CHECKPOINT, cli.checkpoint_every);
    let new = || Model::try_build(device);
    let mut model = prepare(&cli.files, ranks, &mut trainer, &checkpoints, device, new)?;

    let progress = progress(ranks, cli.steps);
    let mut losses = Vec::new();
    while let Some(mut step) = trainer.next_step() {
        let sequences: Vec<Sequence> = (0..cli.batch).map(|_| Sequence::random(&mut step.rng)).collect();
        let rows = step.assign_rows(ranks, Batch::new(cli.batch));
        let loss = ranks.fail_together(loss(&model, &sequences[rows.range()?], rows, device))?;
        let loss_value = loss.value();
        let gradients = loss.backward_all_reduce(ranks, &model)?;
        let tokens = cli.batch * (MaxSeqLen::SIZE + TgtLen::SIZE);
        let report = trainer.update_replicated(ranks, &mut model, gradients, loss_value, tokens);
        losses.push(progress.show(report, &trainer)?.loss);
    }
    let last = &losses[losses.len().saturating_sub(LAST_STEPS)..];
    if !last.is_empty() {
        let mean = last.iter().sum::<f64>() / last.len() as f64;
        progress.log(&format!("mean loss {mean:.4} of the last {} steps", last.len()));
    }
    progress.finish();
    let outcome = finish(&cli.files, ranks, trainer, (cli.steps, &checkpoints), &*model, &HashMap::new())?;
    Ok((model.into_inner(), outcome))
}

/// Greedy decoding: the model reads the given numbers and its own output so far.
fn decode<D: Backend<f32>>(model: &Model<D>, sequences: &[Sequence]) -> Result<Vec<Numbers>, BoxError> {
    let sources = sources(sequences, Batch::new(sequences.len()))?;
    let next: TokenIds<Batch, TgtLen, _> =
        generate_target(model, &sources, BEGIN, PAD, TgtLen, &mut Sampler::greedy())?;
    Ok((0..sequences.len()).filter_map(|row| next.row(row)).collect())
}

fn run<D: Backend<f32>>(cli: &Cli, ranks: &Ranks<World>, device: &D) -> Result<(), BoxError> {
    let report = on_first(ranks, || cli.files.report("Sequences of integers"))?.flatten();
    let (model, trained) = train(cli, ranks, device)?;
    // The first rank decodes and shows.
    if !ranks.is_first() {
        return Ok(());
    }
    match evaluate(cli, &model, report) {
        Ok(accuracy) => {
            trained?;
            cli.goal.check(accuracy, "were continued correctly")
        }
        Err(error) => support::all([trained, Err(error)]),
    }
}

/// Continues fresh sequences, and shows some. Returns the share of those that are right.
#[cfg_attr(not(feature = "plot"), expect(unused_variables, reason = "there is no report"))]
fn evaluate<D: Backend<f32>>(cli: &Cli, model: &Model<D>, report: Option<Report>) -> Result<f64, BoxError> {
    let mut rng = StdRng::seed_from_u64(cli.seed);
    let sequences: Vec<Sequence> = (0..NUM_EVAL_SEQUENCES).map(|_| Sequence::random(&mut rng)).collect();
    let written = decode(model, &sequences)?;
    let (ascending, descending): (Vec<_>, Vec<_>) =
        sequences.iter().zip(&written).partition(|(sequence, _)| sequence.is_ascending());
    let mut result = String::new();
    let mut num_correct = 0;
    for (direction, pairs) in [("ascending", &ascending), ("descending", &descending)] {
        let correct = pairs.iter().filter(|(sequence, written)| sequence.next == **written).count();
        num_correct += correct;
        result += &format!("{direction}: {correct} of {} continued correctly\n", pairs.len());
        for (sequence, written) in pairs.iter().take(NUM_SHOWN) {
            result += &format!("  {} -> {}", format_numbers(&sequence.given), format_numbers(written));
            if **written != sequence.next {
                result += &format!("   but it is {}", format_numbers(&sequence.next));
            }
            result += "\n";
        }
    }
    let accuracy = num_correct as f64 / NUM_EVAL_SEQUENCES as f64;
    let percent = 100.0 * accuracy;
    result += &format!("{percent:.1} % of {NUM_EVAL_SEQUENCES} fresh sequences\n");
    let printed = print(&result);
    let reported: Outcome = Ok(());
    #[cfg(feature = "plot")]
    let reported = report
        .map_or(reported, |report| plots::write(report, cli, model, &result, [ascending.first(), descending.first()]));

    support::all([printed, reported])?;
    Ok(accuracy)
}

fn main() -> ExitCode {
    let cli: Cli = parse();
    run_on_ranks(|ranks| match cli.device {
        DeviceName::Cpu => run(&cli, ranks, &Cpu::seed_from_u64(cli.seed)),
        DeviceName::Cuda => ranks.fail_together(cuda(cli.seed)).and_then(|gpu| run(&cli, ranks, &gpu)),
    })
}
