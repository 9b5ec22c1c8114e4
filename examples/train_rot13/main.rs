//! Trains the encoder-decoder of *Another annotated transformer* to encrypt words by rot13, then decodes with it.
//! `examples/README.md` explains the options, and how the training differs from the post's.

mod cli;
#[cfg(feature = "plot")]
mod plots;
mod stdin;
#[path = "../support/mod.rs"]
mod support;
mod words;

use cli::Cli;
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::process::ExitCode;
use support::{BoxError, DeviceName, Outcome, Progress, all, cuda, load_weights, log, parse, print};
use typed_transformer::{
    generate::{Sampler, generate_target},
    models::another_annotated::Annotated,
    nn::Module,
    ops::cross_entropy,
    prelude::*,
    train::{Adam, Trainer, WarmupCosine},
};

/// Fresh random words that the accuracy is measured on.
const NUM_EVAL_WORDS: usize = 1_000;

dims! {
    VocabSize = 28; // `a` to `z`, `<start>`, `<pad>`
    MaxSeqLen = 15; // letters of the longest word
    SrcLen = MaxSeqLen::SIZE; // letters of a plain word, padding included
    TgtLen = MaxSeqLen::SIZE; // letters of a cipher, padding included
    Batch; // words
    EmbedDim = 8;
    NumHeads = 7;
    HeadDim = 5; // NumHeads × HeadDim need not equal EmbedDim
    HiddenDim = 5; // width inside a feed-forward layer
    NumLayers = 1; // of the encoder, and of the decoder
}

struct Rot13;

impl Arch for Rot13 {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = Annotated;
}

impl Seq2Seq for Rot13 {
    type SrcVocab = VocabSize;
    type TgtVocab = VocabSize;
    type MaxSrcLen = MaxSeqLen;
    type MaxTgtLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumEncoderLayers = NumLayers;
    type NumDecoderLayers = NumLayers;
}

type Model<D> = LM<Rot13, f32, D>;
const _: () = assert!(Model::<Cpu>::NUM_PARAMS == 4_665);

/// Input of the decoder before the first letter.
const START: Fin<VocabSize> = Fin::literal::<26>();
/// Padding token, also used as end-of-sequence.
const PAD: Fin<VocabSize> = Fin::literal::<27>();

type Word = Vec<Fin<VocabSize>>;

/// The token of the letter at `index` of the alphabet, cyclically.
fn letter(index: usize) -> Fin<VocabSize> {
    Fin::new(index % 26).expect("the vocabulary contains every letter")
}

/// A word of 1 to 15 letters; every length and every letter is equally likely.
fn random_word(rng: &mut impl Rng) -> Word {
    let len = rng.gen_range(1..=MaxSeqLen::SIZE);
    (0..len).map(|_| letter(rng.gen_range(0..26))).collect()
}

/// The word with each letter moved by 13 places, cyclically.
fn rot13(word: &[Fin<VocabSize>]) -> Word {
    word.iter().map(|plain| letter(plain.value() + 13)).collect()
}

/// A batch of words, padded to `len` letters.
fn batch<S: Dim>(words: &[Word], len: S) -> Result<TokenIds<Batch, S, VocabSize>, TokenError> {
    TokenIds::padded(words, PAD, (Batch::new(words.len()), len))
}

/// Trains a model. Beside it is the outcome of the files: if one fails, the model is not lost.
fn train<D: Backend<f32>>(cli: &Cli, device: &D) -> Result<(Model<D>, Outcome), BoxError> {
    let (peak, steps) = (cli.learning_rate, cli.steps);
    let schedule = WarmupCosine { peak_value: peak, end_value: peak / 200.0, warmup_steps: 400, steps };
    let adam = Adam { beta2: 0.99, ..Adam::default() };
    let mut trainer = Trainer::new(adam, schedule, steps, cli.seed);
    trainer.clip_norm = 1.0;
    trainer.require_same("the batch", cli.batch);
    let checkpoints = cli.checkpoints();
    let mut model = cli.files.prepare(&mut trainer, &checkpoints, device, || Model::try_build(device))?;

    let progress = Progress::new(steps);
    while let Some(mut step) = trainer.next_step() {
        let plain: Vec<Word> = (0..cli.batch).map(|_| random_word(&mut step.rng)).collect();
        let cipher: Vec<Word> = plain.iter().map(|word| rot13(word)).collect();
        let source = batch(&plain, SrcLen)?;
        let (inputs, labels) = batch(&cipher, TgtLen)?.teacher_forcing(START);
        let output = model.forward(&source, &inputs, model.recording())?;
        let loss = cross_entropy(output.logit_output, &labels, Reduction::MeanAll)?;
        let loss_value = f64::from(loss.array());
        let report = trainer.update(&mut model, loss.backward()?, loss_value, cli.batch * TgtLen::SIZE);
        progress.show(report, &trainer)?;
    }
    progress.finish();
    let outcome = cli.files.finish(trainer, steps, &checkpoints, &model)?;
    Ok((model, outcome))
}

/// Greedy decoding: the model reads the plain words and its own output so far. Returns each word with its cipher.
fn decode<D: Backend<f32>>(model: &Model<D>, plain: &[Word]) -> Result<Vec<(Word, Word)>, BoxError> {
    let mut decoded = Vec::new();
    for plain in plain.chunks(NUM_EVAL_WORDS) {
        if !decoded.is_empty() {
            log(&format!("decoded {} words", decoded.len()));
        }
        let cipher: TokenIds<Batch, TgtLen, _> =
            generate_target(model, &batch(plain, SrcLen)?, START, PAD, TgtLen, &mut Sampler::greedy())?;
        let rows = (0..plain.len()).filter_map(|row| cipher.row(row));
        let ciphers = rows.map(|row| row.into_iter().take_while(|token| *token != PAD).collect());
        decoded.extend(plain.iter().cloned().zip(ciphers));
    }
    Ok(decoded)
}

/// Decodes the given words and random ones. Returns tables of both, and the share of the random words that are right.
fn evaluate<D: Backend<f32>>(model: &Model<D>, given: &[Word], seed: u64) -> Result<(String, f64), BoxError> {
    let mut rng = StdRng::seed_from_u64(seed);
    let random: Vec<Word> = (0..NUM_EVAL_WORDS).map(|_| random_word(&mut rng)).collect();
    Ok(words::evaluate(&decode(model, given)?, &decode(model, &random)?))
}

fn run<D: Backend<f32>>(cli: &Cli, device: &D) -> Outcome {
    // All arguments are checked before the training starts.
    let given = cli.words()?;
    #[cfg(feature = "plot")]
    let report = cli.files.report("rot13")?;
    let (model, trained) = match &cli.load {
        Some(path) => (load_weights(path, device)?, Ok(())),
        None => train(cli, device)?,
    };
    let (text, accuracy) = match evaluate(&model, &given, cli.seed) {
        Ok(evaluated) => evaluated,
        Err(error) => return all([trained, Err(error)]),
    };
    let outcomes = [trained, print(&text)].into_iter();
    #[cfg(feature = "plot")]
    let outcomes = outcomes.chain(report.map(|report| plots::write(report, cli, &model, &text, &given)));
    all(outcomes)?;
    cli.goal.check(accuracy, "of the words came out right")
}

fn main() -> ExitCode {
    let cli: Cli = parse();
    support::exit_code(match cli.device {
        DeviceName::Cpu => run(&cli, &Cpu::seed_from_u64(cli.seed)),
        DeviceName::Cuda => cuda(cli.seed).and_then(|gpu| run(&cli, &gpu)),
    })
}
