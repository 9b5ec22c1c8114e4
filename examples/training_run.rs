//! A real training run: a model of characters on plays by Shakespeare, with everything that a training needs beside its
//! model. `docs/training.md` reads it part by part. Ctrl-C stops it; the same command goes on, to the same bits.

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};
use std::{
    collections::HashMap,
    error::Error,
    fs,
    io::{Write, stderr},
    path::Path,
    process,
};
use typed_transformer::{
    models::nano_gpt::NanoGpt,
    plot::HtmlReport,
    prelude::*,
    tokens::CharTokenizer,
    train::{AdamW, Batches, Evaluation, Metrics, Trainer, WarmupCosine},
    weights,
};

const TEXT: &str = include_str!("train_shakespeare/shakespeare.txt");
const STEPS: usize = 400;
const BATCH_SIZE: usize = 12;
const INTERVAL: usize = 50; // steps between evaluations, and between checkpoints
const PATIENCE: usize = 200; // steps without a better evaluation, after which the training ends
const _: () = assert!(PATIENCE >= INTERVAL); // less would end the training between two evaluations

dims! { VocabSize = 96; SeqLen = 64; Batch; EmbedDim = 64; NumHeads = 4; HeadDim = 16; HiddenDim = 256; NumLayers = 2; }

struct CharModel;
#[rustfmt::skip]
impl Arch for CharModel { type NumHeads = NumHeads; type QKDim = HeadDim; type VODim = HeadDim;
                          type HiddenDim = HiddenDim; type Conventions = NanoGpt; }
#[rustfmt::skip]
impl SingleStack for CharModel { type VocabSize = VocabSize; type MaxSeqLen = SeqLen;
                                 type EmbedDim = EmbedDim; type NumLayers = NumLayers; }
type Model = DecoderOnly<CharModel, f32, Cpu>;

fn evaluate(model: &Model, text: &[Fin<VocabSize>]) -> Result<Evaluation, Box<dyn Error>> {
    let mut evaluation = Evaluation::default();
    let starts = (0..).step_by(SeqLen::SIZE).take(60);
    let (inputs, labels) = TokenIds::windows(text, starts, (Batch::new(60), SeqLen))?;
    evaluation.add(&model.forward(&inputs, NoneTape)?, &labels)?;
    Ok(evaluation)
}

fn main() -> Result<(), Box<dyn Error>> {
    let tokenizer = CharTokenizer::<VocabSize>::from_text(TEXT)?;
    let tokens = tokenizer.encode(TEXT)?;
    let (training, validation) = tokens[..120_000].split_at(108_000);
    let (device, folder) = (Cpu::seed_from_u64(0), Path::new("training_run"));
    fs::create_dir_all(folder)?;
    let [checkpoint, metrics] = ["checkpoint", "metrics.jsonl"].map(|name| folder.join(name));
    let schedule = WarmupCosine { peak_value: 1e-3, end_value: 1e-4, warmup_steps: 50, steps: STEPS };
    let mut trainer = Trainer::new(AdamW::default(), schedule, STEPS, 0);
    trainer.clip_norm = 1.0;
    let hash = TEXT.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    trainer.require_same("the hash of the text", hash);
    let mut batches = Batches::new((training.len() - 1) / SeqLen::SIZE, BATCH_SIZE, 0)?;
    trainer.require_same("the batches", &batches);
    // Registered first, it runs before a Ctrl-C sets the flag: only the second one ends the program here.
    flag::register_conditional_shutdown(SIGINT, 130, trainer.stop.clone())?;
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, trainer.stop.clone())?;
    }
    let mut model = trainer.resume_or(&checkpoint, &device, || Model::build(&device))?;
    trainer.checkpoint_every(&checkpoint, INTERVAL)?;
    for note in trainer.resume_notes() {
        // A closed standard error does not end the training.
        let _ = writeln!(stderr(), "{note}");
    }
    trainer.metrics = Some(Metrics::open(&metrics, trainer.steps_made())?);

    while let Some(step) = trainer.next_step() {
        // The model is evaluated just before the update that is saved, so that the checkpoint has this loss.
        if step.number == 0 || (step.number + 1).is_multiple_of(INTERVAL) {
            let evaluation = evaluate(&model, validation)?;
            let _ = writeln!(stderr(), "{evaluation}, epoch {}", step.number / batches.steps_per_epoch());
            trainer.record_evaluation(&evaluation);
        }
        if trainer.steps_since_best() > PATIENCE {
            let _ = writeln!(stderr(), "no better evaluation in {PATIENCE} steps, so the training ends");
            if let (false, Some(best)) = (trainer.is_diverged(), trainer.best_checkpoint()) {
                model = weights::load_mapped(best, &"* = model.*\n ignore optimizer.*".parse()?, &device)?;
            }
            break;
        }
        let starts = batches.of_step(step.number).iter().map(|window| window * SeqLen::SIZE);
        let (inputs, labels) = TokenIds::windows(training, starts.clone(), (Batch::new(starts.len()), SeqLen))?;
        let loss = cross_entropy(model.forward(&inputs, model.recording())?, &labels, Reduction::MeanTokens)?;
        let report = trainer.learn(&mut model, loss, inputs.as_slice().len())?;
        if report.steps_made.is_multiple_of(10) {
            let _ = writeln!(stderr(), "{report}");
        }
    }
    let finished = trainer.finish();
    // The error says where a checkpoint is that the disk refused. What follows may fail, too.
    if let Err(error) = &finished {
        let _ = writeln!(stderr(), "{error}");
    }
    if trainer.stopped() {
        let _ = writeln!(stderr(), "stopped after step {} of {STEPS}; started again, it goes on", trainer.steps_made());
    }
    let _ = writeln!(stderr(), "{}", evaluate(&model, validation)?);
    if trainer.is_diverged() || !trainer.stopped() {
        let name = if trainer.is_diverged() { "diverged.safetensors" } else { "model.safetensors" };
        let alphabet = HashMap::from([("alphabet".to_string(), tokenizer.alphabet())]);
        weights::save_with_metadata(&model, folder.join(name), alphabet, false)?;
    }
    let mut report = HtmlReport::new("A training run");
    let drawn = report.training_curves(&metrics);
    report.write(&folder.join("index.html"))?;
    drawn?;
    if finished.is_err() {
        process::exit(1);
    }
    Ok(())
}
