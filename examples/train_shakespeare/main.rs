//! Trains a decoder-only character model on plays by Shakespeare or on another text, in
//! [nanoGPT](https://github.com/karpathy/nanoGPT)'s configuration for a CPU, then samples from it.
//! `cargo run --example train_shakespeare -- --help` lists the options; `examples/README.md` explains them.
//!
//! # A vocabulary that is known only at run time
//!
//! The number of characters of a text is known once it is read, but the model has its vocabulary in its
//! type. So `VocabSize` is the maximum, and [`CharTokenizer`] proves that a text has no more characters: a
//! text with more is refused with both numbers. The remaining tokens stand for nothing. The model learns
//! that they never occur, and they are never sampled. Weights are saved with their characters.

mod cli;
#[cfg(feature = "tokenizers")]
mod gpt2;
mod loss;
#[cfg(feature = "plot")]
mod plots;
#[path = "../support/mod.rs"]
mod support;
mod text;

use cli::Cli;
#[cfg(feature = "tokenizers")]
use cli::Gpt2Size;
use loss::{TextModel, estimate_loss, partial_loss, validation};
use std::{collections::HashMap, path::Path, process::ExitCode};
use support::{
    BoxError, DeviceName, Outcome, cuda, load_weights, log, parse, print,
    ranks::{World, finish, on_first, prepare, progress, run_on_ranks},
};
use text::{Text, random_starts};
#[cfg(feature = "tokenizers")]
use typed_transformer::models::published;
use typed_transformer::{
    generate::Sampler,
    models::nano_gpt::NanoGpt,
    nn::Module,
    ops::select,
    prelude::*,
    ranks::Ranks,
    tokens::CharTokenizer,
    train::{AdamW, Trainer, WarmupCosine},
    weights,
};

/// The default checkpoint after Ctrl-C.
const CHECKPOINT: &str = "train_shakespeare.checkpoint";
/// The name of the characters in the metadata of a weights file.
const CHARACTERS: &str = "characters";

dims! {
    VocabSize = 256; // the most characters of a text
    BlockSize = 64; // characters that the model sees at once
    SeqLen <= BlockSize; // characters of a window
    Batch; // windows
    EmbedDim = 128;
    NumHeads = 4;
    NumLayers = 4;
}

struct CharModel;

impl Arch for CharModel {
    type NumHeads = NumHeads;
    type QKDim = Quotient<EmbedDim, NumHeads>;
    type VODim = Quotient<EmbedDim, NumHeads>;
    type HiddenDim = Product<Const<4>, EmbedDim>;
    type Conventions = NanoGpt;
}

impl SingleStack for CharModel {
    type VocabSize = VocabSize;
    type MaxSeqLen = BlockSize;
    type EmbedDim = EmbedDim;
    type NumLayers = NumLayers;
}

type Model<D> = DecoderOnly<CharModel, f32, D>;

// 804,096 with the 65 characters of nanoGPT's text.
const _: () = assert!(Model::<Cpu>::NUM_PARAMS == 804_096 + (VocabSize::SIZE - 65) * EmbedDim::SIZE);

/// A new model. As in nanoGPT, the two projections of each layer into the residual stream start smaller by
/// the factor 1/√(2 · NumLayers).
fn new_model<D: Backend<f32>>(device: &D) -> Result<Model<D>, D::Err> {
    let mut model = Model::try_build(device)?;
    let factor = 1.0 / (2.0 * NumLayers::SIZE as f32).sqrt();
    for layer in &mut model.decoder.layers {
        let attention = &mut layer.self_attention.attention.output_proj.weight;
        *attention = attention.clone() * factor;
        let feed_forward = &mut layer.feed_forward.output.weight;
        *feed_forward = feed_forward.clone() * factor;
    }
    Ok(model)
}

impl<D: Backend<f32>> TextModel<D> for Model<D> {
    type VocabSize = VocabSize;

    fn logits<B: DataDim, T: Tape<f32, D>>(
        &self,
        ids: &TokenIds<B, SeqLen, VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, SeqLen, VocabSize), f32, D, T>, OpError> {
        self.forward(ids, tape)
    }
}

fn train<M: TextModel<D>, D: Backend<f32>>(
    cli: &Cli,
    ranks: &Ranks<World>,
    text: &Text,
    device: &D,
    new: impl Fn() -> Result<M, D::Err>,
    metadata: &HashMap<String, String>,
) -> Result<(M, Outcome), BoxError> {
    let (peak, steps) = (cli.learning_rate(), cli.steps);
    let schedule = WarmupCosine { peak_value: peak, end_value: peak / 10.0, warmup_steps: 100, steps };
    // AdamW decays matrices only.
    let mut adam = AdamW { weight_decay: 0.1, ..AdamW::default() };
    adam.adam.beta2 = 0.99;
    let mut trainer = Trainer::new(adam, schedule, steps, cli.seed);
    trainer.clip_norm = 1.0;
    trainer.require_same("the batch", cli.batch);
    trainer.require_same("the text", &text.fingerprint);
    let checkpoints = cli.files.checkpoints(CHECKPOINT, cli.checkpoint_every);
    on_first(ranks, || cli.files.ensure_not_inputs(&checkpoints, &cli.inputs()))?;
    let mut model = prepare(&cli.files, ranks, &mut trainer, &checkpoints, device, new)?;

    let progress = progress(ranks, steps);
    while let Some(mut step) = trainer.next_step() {
        let is_due = cli.interval > 0 && step.number.is_multiple_of(cli.interval);
        if is_due && let Some(losses) = on_first(ranks, || estimate_loss(&*model, text, cli))? {
            progress.log(&format_losses(step.number, losses));
            if let Some(metrics) = &mut trainer.metrics {
                metrics.log("training_loss", losses.0);
                metrics.log("validation_loss", losses.1);
            }
        }
        let starts = random_starts(&text.training, cli.batch, &mut step.rng);
        let rows = step.assign_rows(ranks, Batch::new(cli.batch));
        let loss = ranks.fail_together(partial_loss(&*model, text, &starts[rows.range()?], rows, device))?;
        let loss_value = loss.value();
        let gradients = loss.backward_all_reduce(ranks, &model)?;
        let tokens = cli.batch * BlockSize::SIZE;
        let report = trainer.update_replicated(ranks, &mut model, gradients, loss_value, tokens);
        progress.show(report, &trainer)?;
    }
    progress.finish();
    let saved = finish(&cli.files, ranks, trainer, (steps, &checkpoints), &*model, metadata)?;
    let estimated = match ranks.is_first() {
        true => estimate_loss(&*model, text, cli).map(|losses| log(&format_losses(steps, losses))),
        false => Ok(()),
    };
    Ok((model.into_inner(), support::all([saved, estimated])))
}

fn format_losses(step: usize, (training, validation): (f64, f64)) -> String {
    format!("after step {step}: training loss {training:.4}, validation loss {validation:.4}")
}

/// The prompt, and `count` characters after it.
fn sample<D: Backend<f32>>(
    model: &Model<D>,
    sampler: &mut Sampler<VocabSize>,
    prompt: &[Fin<VocabSize>],
    count: usize,
) -> Result<Vec<Fin<VocabSize>>, BoxError> {
    let mut text = prompt.to_vec();
    for _ in 0..count {
        let window = &text[text.len().saturating_sub(BlockSize::SIZE)..];
        let ids: Vec<usize> = window.iter().map(|token| token.value()).collect();
        let ids = TokenIds::from_ids(&ids, None, (Const::<1>, SeqLen::new(ids.len())?))?;
        let logits = model.forward(&ids, NoneTape)?; // (1, SeqLen, VocabSize)
        let last = select(logits, axis::<SeqLen>(), window.len() - 1)?;
        text.extend(sampler.choose_each(&last)?);
    }
    Ok(text)
}

fn run<D: Backend<f32>>(cli: &Cli, ranks: &Ranks<World>, device: &D) -> Result<(), BoxError> {
    // All arguments are checked before the training starts.
    let sampler = cli.sampler()?;
    #[cfg(feature = "plot")]
    let mut report = on_first(ranks, || cli.files.report("Characters of a text"))?.flatten();
    // An output that fails costs no other.
    let (mut trained, mut evaluated): (Outcome, Outcome) = (Ok(()), Ok(()));
    let (model, characters, prompt);
    match &cli.load {
        Some(path) => {
            (model, characters) = ranks.fail_together(load(path, device))?;
            ranks.end_together();
            // The first rank samples and shows.
            if !ranks.is_first() {
                return Ok(());
            }
            prompt = cli.prompt(&characters)?;
        }
        None => {
            let text;
            (characters, text) = ranks.fail_together(Text::read(cli.data.as_deref(), "characters", |text| {
                let characters = CharTokenizer::<VocabSize>::from_text(text)?;
                let tokens = characters.encode(text)?;
                Ok((characters, tokens))
            }))?;
            prompt = cli.prompt(&characters)?;
            let metadata = HashMap::from([(CHARACTERS.to_string(), characters.alphabet())]);
            (model, trained) = train(cli, ranks, &text, device, || new_model(device), &metadata)?;
            // The first rank samples and shows.
            if !ranks.is_first() {
                return Ok(());
            }
            let result = validation(cli, &model, &text, "characters");
            evaluated = result.and_then(|result| {
                let plotted: Outcome = Ok(());
                #[cfg(feature = "plot")]
                let plotted = report
                    .as_mut()
                    .map_or(plotted, |report| plots::training(report, cli, &model, (&characters, &text), &result));
                support::all([print(&format!("{result}\n\n")), plotted])
            });
        }
    }
    let mut sampler = sampler.restrict_to(characters.tokens());
    let sample = sample(&model, &mut sampler, &prompt, cli.sample).map(|tokens| characters.decode(&tokens));
    let shown = sample.and_then(|sample| {
        let reported: Outcome = Ok(());
        #[cfg(feature = "plot")]
        let reported = report.map_or(reported, |report| plots::finish(report, cli, &model, &sample));
        support::all([print(&format!("{sample}\n")), reported])
    });
    support::all([trained, evaluated, shown])
}

/// Weights, and the characters that were saved with them.
fn load<D: Backend<f32>>(path: &Path, device: &D) -> Result<(Model<D>, CharTokenizer<VocabSize>), BoxError> {
    let metadata = weights::metadata(path)?;
    let Some(text) = metadata.get(CHARACTERS) else {
        let advice =
            "--save writes both, also after --resume of a checkpoint; weights trained with --from are loaded with it";
        return Err(format!("{}: there are no characters with the weights; {advice}", path.display()).into());
    };
    let characters = CharTokenizer::from_text(text);
    let characters = characters.map_err(|error| format!("{}: {error}", path.display()))?;
    if characters.alphabet() != *text {
        return Err(format!("{}: its characters are not sorted, or one is there twice", path.display()).into());
    }
    Ok((load_weights(path, device)?, characters))
}

/// Runs with a GPT-2 if `--from` is given, else with the model of characters.
fn start<D: Backend<f32>>(cli: &Cli, ranks: &Ranks<World>, device: &D) -> Result<(), BoxError> {
    #[cfg(feature = "tokenizers")]
    if let Some(folder) = &cli.from {
        return match cli.model {
            Gpt2Size::Gpt2 => gpt2::run::<published::gpt2::Config, D>(cli, ranks, folder, device),
            Gpt2Size::Gpt2Medium => gpt2::run::<published::gpt2_medium::Config, D>(cli, ranks, folder, device),
            Gpt2Size::TinyGpt2 => gpt2::run::<published::tiny_gpt2::Config, D>(cli, ranks, folder, device),
        };
    }
    run(cli, ranks, device)
}

fn main() -> ExitCode {
    let cli: Cli = parse();
    run_on_ranks(|ranks| match cli.device {
        DeviceName::Cpu => start(&cli, ranks, &Cpu::seed_from_u64(cli.seed)),
        DeviceName::Cuda => ranks.fail_together(cuda(cli.seed)).and_then(|gpu| start(&cli, ranks, &gpu)),
    })
}
