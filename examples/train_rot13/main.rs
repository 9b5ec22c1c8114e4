//! Trains the encoder-decoder of *Another annotated transformer* to encrypt words by rot13, then decodes
//! with it. `cargo run --example train_rot13 -- --help` lists the options. `examples/README.md` explains them, and
//! how the training differs from the post's.

mod cli;
#[cfg(feature = "plot")]
mod plots;
#[path = "../support/mod.rs"]
mod support;

use cli::{Cli, format_word, parse_word};
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::{collections::HashMap, process::ExitCode};
use support::{
    BoxError, DeviceName, Outcome, Progress, World, args_or_stdin, cuda, load_weights, log, on_first, parse, print,
};
use typed_transformer::{
    generate::try_greedy,
    models::another_annotated::Annotated,
    nn::Module,
    ops::try_partial_cross_entropy,
    prelude::*,
    ranks::{Partial, Ranks, Shard},
    train::{Adam, Recording, Trainer, WarmupCosine},
};

/// Words to decode if the user gives none.
const DEFAULT_WORDS: &[&str] = &["hey", "there", "ma", "dood"];
/// Fresh random words that the accuracy is measured on.
const NUM_EVAL_WORDS: usize = 1_000;
/// The number of printed words.
const NUM_SHOWN: usize = 5;
/// The program fails below this accuracy.
const MIN_ACCURACY: f64 = 0.999;
/// The default checkpoint after Ctrl-C.
const CHECKPOINT: &str = "rot13.checkpoint";
/// Steps between checkpoints.
const CHECKPOINT_INTERVAL: usize = 100;

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
type Loss<D> = Tensor<(), f32, D, Recording<Model<D>, f32, D>>;

const _: () = assert!(Model::<Cpu>::NUM_PARAMS == 4_665);

/// Input of the decoder before the first letter.
const START: Fin<VocabSize> = Fin::literal::<26>();
/// Padding token, also used as end-of-sequence.
const PAD: Fin<VocabSize> = Fin::literal::<27>();

type Word = Vec<Fin<VocabSize>>;

/// A word of 1 to 15 letters; every length and every letter is equally likely.
fn random_word(rng: &mut impl Rng) -> Word {
    let len = rng.gen_range(1..=MaxSeqLen::SIZE);
    (0..len).map(|_| letter_token(rng.gen_range(0..26))).collect()
}

/// The word with each letter moved by 13 places, cyclically.
fn rot13(word: &[Fin<VocabSize>]) -> Word {
    word.iter().map(|letter| letter_token((letter.value() + 13) % 26)).collect()
}

/// The token of the letter at `index` of the alphabet.
fn letter_token(index: usize) -> Fin<VocabSize> {
    Fin::new(index).expect("the vocabulary contains every letter")
}

/// A batch of words, or a rank's part of one.
fn batch<B: MaybeSharded, S: Dim>(words: &[Word], rows: B, len: S) -> Result<TokenIds<B, S, VocabSize>, TokenError> {
    TokenIds::padded(words, PAD, (rows, len))
}

/// The part of the loss that this rank's words have.
fn loss<D: Backend<f32>>(
    model: &Model<D>,
    plain: &[Word],
    rows: Shard<Batch, World>,
    device: &D,
) -> Result<Partial<Loss<D>, World>, BoxError> {
    if rows.is_empty() {
        return Ok(Partial::of_no_rows(device, model.recording())?);
    }
    let cipher: Vec<Word> = plain.iter().map(|word| rot13(word)).collect();
    let (source, labels) = (batch(plain, rows, SrcLen)?, batch(&cipher, rows, TgtLen)?);
    let output = model.try_forward(&source, &labels.shifted_right(START), model.recording())?;
    let logits: Tensor<(Shard<Batch, World>, TgtLen, VocabSize), _, _, _> = output.logit_output;
    Ok(try_partial_cross_entropy(logits, &labels, Reduction::MeanAll)?)
}

fn train<D: Backend<f32>>(cli: &Cli, ranks: &Ranks<World>, device: &D) -> Result<(Model<D>, Outcome), BoxError> {
    let (peak, steps) = (cli.learning_rate, cli.steps);
    let schedule = WarmupCosine { peak_value: peak, end_value: peak / 200.0, warmup_steps: 400, steps };
    let mut adam = Adam::default();
    adam.beta2 = 0.99;
    let mut trainer = Trainer::new(adam, schedule, steps, cli.seed);
    trainer.clip_norm = 1.0;
    trainer.require_same("the batch", cli.batch);
    let checkpoint = cli.files.checkpoint(CHECKPOINT);
    let interval = cli.files.checkpoint_interval(cli.checkpoint_every, CHECKPOINT_INTERVAL);
    let new = || Model::try_build(device);
    let mut model = cli.files.prepare(ranks, &mut trainer, (&checkpoint, interval), &[], device, new)?;

    let progress = Progress::new(steps, ranks);
    while let Some(mut step) = trainer.next_step() {
        let plain: Vec<Word> = (0..cli.batch).map(|_| random_word(&mut step.rng)).collect();
        let rows = step.assign_rows(ranks, Batch::new(cli.batch));
        let loss = ranks.fail_together(loss(&model, &plain[rows.range()], rows, device))?;
        let loss_value = loss.value();
        let gradients = loss.try_backward_all_reduce(ranks, &model)?;
        let tokens = cli.batch * TgtLen::SIZE;
        let report = trainer.update_replicated(ranks, &mut model, gradients, loss_value, tokens);
        progress.show(report, &trainer)?;
    }
    progress.finish();
    let outcome = cli.files.finish(ranks, trainer, (steps, &checkpoint), &*model, &HashMap::new())?;
    Ok((model.into_inner(), outcome))
}

/// Greedy decoding: the model reads the plain words and its own output so far.
fn decode<D: Backend<f32>>(model: &Model<D>, plain: &[Word]) -> Result<Vec<Word>, BoxError> {
    let mut words = Vec::new();
    for (number, plain) in plain.chunks(NUM_EVAL_WORDS).enumerate() {
        if number > 0 {
            log(&format!("decoded {} words", number * NUM_EVAL_WORDS));
        }
        let cipher: TokenIds<Batch, TgtLen, _> =
            try_greedy(model, &batch(plain, Batch::new(plain.len()), SrcLen)?, START, PAD, TgtLen)?;
        let rows = (0..plain.len()).filter_map(|row| cipher.row(row));
        words.extend(rows.map(|row| row.into_iter().take_while(|token| *token != PAD).collect::<Word>()));
    }
    Ok(words)
}

/// A table of plain words and the model's output for each.
fn table(title: &str, plain: &[Word], cipher: &[Word]) -> String {
    let mut table = format!("{:16} {:16}\n", format!("{title} plain"), "cipher");
    for (plain, cipher) in plain.iter().zip(cipher) {
        table += &format!("{:16} {}", format_word(plain), format_word(cipher));
        if *cipher != rot13(plain) {
            table += &format!("   but it is {}", format_word(&rot13(plain)));
        }
        table += "\n";
    }
    table + "\n"
}

fn run<D: Backend<f32>>(cli: &Cli, ranks: &Ranks<World>, device: &D) -> Result<(), BoxError> {
    // All arguments are checked before the training starts.
    let given = on_first(ranks, || {
        let given = args_or_stdin(&cli.words, DEFAULT_WORDS)?;
        given.iter().map(|word| parse_word(word)).collect::<Result<Vec<Word>, _>>()
    })?;
    let report = on_first(ranks, || cli.files.report("rot13"))?.flatten();
    let (model, trained) = match &cli.load {
        Some(path) => (ranks.fail_together(load_weights(path, device))?, Ok(())),
        None => train(cli, ranks, device)?,
    };
    ranks.finish();
    // The first rank decodes and shows.
    let Some(given) = given else { return Ok(()) };
    let accuracy = support::both(trained, evaluate(cli, &model, &given, report))?;
    support::ensure_accuracy(accuracy, MIN_ACCURACY, "of the words came out right")
}

/// Decodes the given words and random ones, and shows them. Returns the part of the random ones that are right.
#[cfg_attr(not(feature = "plot"), expect(unused_variables, reason = "there is no report"))]
fn evaluate<D: Backend<f32>>(
    cli: &Cli,
    model: &Model<D>,
    given: &[Word],
    report: Option<support::Report>,
) -> Result<f64, BoxError> {
    let mut rng = StdRng::seed_from_u64(cli.seed);
    let random: Vec<Word> = (0..NUM_EVAL_WORDS).map(|_| random_word(&mut rng)).collect();
    let (given_cipher, random_cipher) = (decode(model, given)?, decode(model, &random)?);
    let correct = random.iter().zip(&random_cipher).filter(|(plain, cipher)| rot13(plain) == **cipher).count();
    let accuracy = correct as f64 / NUM_EVAL_WORDS as f64;
    let mut result = table("given", given, &given_cipher);
    result += &table("random", &random[..NUM_SHOWN], &random_cipher[..NUM_SHOWN]);
    result += &format!("{:.1} % of {NUM_EVAL_WORDS} fresh random words decoded exactly\n", 100.0 * accuracy);
    let shown = print(&result);
    #[cfg(feature = "plot")]
    let shown = support::all([shown, report.map_or(Ok(()), |report| plots::write(report, cli, model, &result, given))]);
    shown.map(|()| accuracy)
}

fn main() -> ExitCode {
    let cli: Cli = parse();
    support::run_on_ranks(|ranks| match cli.device {
        DeviceName::Cpu => run(&cli, ranks, &Cpu::seed_from_u64(cli.seed)),
        DeviceName::Cuda => ranks.fail_together(cuda(cli.seed)).and_then(|gpu| run(&cli, ranks, &gpu)),
    })
}
