// The program of the guide (`docs/guide.md`), in one piece.

use std::{
    error::Error,
    io::{Write, stdout},
};
use typed_transformer::{
    nn::Module,
    ops::{Activation, Tanh},
    prelude::*,
    rand::{Rng, SeedableRng, rngs::StdRng},
    tokens::CharTokenizer,
    train::{Adam, Schedule, WarmupCosine, update},
    weights,
};

dims! {
    /// The letters from `a` to `z`, which the model predicts.
    Letters = 26;
    /// The letters and the padding, which the model reads.
    VocabSize = Letters::SIZE + 1;
    /// The longest word.
    MaxLen = 8;
    /// The letters to predict of each word: the first and the last.
    Ends = 2;
    /// Width of the embeddings.
    EmbedDim = 16;
    /// Width inside the pooling.
    Bottleneck = 8;
    /// Heads of the encoder's attention.
    NumHeads = 2;
    /// Size of a head.
    HeadDim = 8;
    /// Width inside the encoder's feed-forward block.
    HiddenDim = 32;
    /// Layers of the encoder.
    NumLayers = 1;
    /// Letters of the longest word of a batch.
    WordLen <= MaxLen;
    /// Words of a batch.
    Batch;
}

/// The token that pads a word to the length of its batch.
const PAD: Fin<VocabSize> = Fin::literal::<26>();

/// The letters of a word as tokens.
fn tokens(word: &str) -> Result<Vec<Fin<VocabSize>>, TokenError> {
    CharTokenizer::from_text("abcdefghijklmnopqrstuvwxyz")?.encode(word)
}

/// Words and the answers to them: the first and the last letter of each.
struct Examples<B: DataDim> {
    words: TokenIds<B, WordLen, VocabSize>,
    ends: LabelIds<B, Ends, Letters>,
}

fn examples<B: DataDim>(batch: B, words: &[String]) -> Result<Examples<B>, Box<dyn Error>> {
    let rows = words.iter().map(|word| tokens(word));
    let rows: Vec<_> = rows.collect::<Result<_, _>>()?;
    let ends = rows.iter().flat_map(|row| [row.first(), row.last()]);
    let ends: Vec<usize> = ends.flatten().map(|letter| letter.value()).collect();
    let len = WordLen::new(rows.iter().map(Vec::len).max().unwrap_or(0))?;
    Ok(Examples {
        words: TokenIds::padded(&rows, PAD, (batch, len))?,
        ends: LabelIds::from_ids(&ends, None, (batch, Ends))?,
    })
}

/// The dimension is narrower than `Wide`, as a bottleneck must be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not narrower than `{Wide}`",
    label = "`{Self}` is no bottleneck for `{Wide}`",
    note = "choose `{Self}` smaller than `{Wide}`"
)]
trait NarrowerThan<Wide: ConstDim>: ConstDim {}

#[diagnostic::do_not_recommend]
impl<Narrow: LessThan<Wide>, Wide: ConstDim> NarrowerThan<Wide> for Narrow {}

/// The dimension counts the letters of words.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not count letters",
    label = "`{Self}` stands where letters should",
    note = "a dimension counts letters if it says so: `impl CountsLetters for {Self} {{}}`"
)]
trait CountsLetters: Dim {}

impl CountsLetters for WordLen {}

/// A vector for each question: a weighted mean over the letters.
#[module(output = Width)]
struct Pool<Width: ConstDim, Narrow: NarrowerThan<Width>, Questions: ConstDim, E, D> {
    /// Projects each letter to a bottleneck.
    squeeze: Linear<Width, Narrow, E, D>,
    /// A score of each letter for each question.
    score: Linear<Narrow, Questions, E, D>,
}

impl<Width: ConstDim, Narrow: NarrowerThan<Width>, Questions: ConstDim, E: Real, D: Backend<E>>
    Pool<Width, Narrow, Questions, E, D>
{
    /// `(B, S, Width), padding (B, S) -> (B, Questions, Width)`
    fn forward<B: DataDim, S: CountsLetters, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, Width), E, D, T>,
        padding: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, Questions, Width), E, D, T>, OpError> {
        let squeezed = Tanh::apply(self.squeeze.forward(input.clone())?)?;
        let scores: Tensor<(B, S, Questions), E, D, T> = self.score.forward(squeezed)?;

        // Padding gets the lowest score, so the softmax gives it weight 0.
        let score = |&is_real| if is_real { E::zero() } else { E::min_value() };
        let unseen: Vec<E> = padding.as_slice().iter().map(score).collect();
        let unseen: Tensor<(B, S), E, D> = tensor(input.device(), unseen, padding.shape())?;
        let weights = softmax_over(add(scores, &unseen)?, axis::<S>())?;

        einsum!(weights: (B, S, Questions), input: (B, S, Width) -> (B, Questions, Width))
    }
}

/// The inner dimensions of the encoder.
struct Small;

impl Arch for Small {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}

/// Reads words and predicts the letter at each of their ends.
#[module(output = Letters)]
struct Reader<E, D> {
    /// A vector for each letter.
    embedder: Embedder<VocabSize, MaxLen, EmbedDim, Small, E, D>,
    /// Each letter attends to the others.
    encoder: Encoder<EmbedDim, NumLayers, Small, E, D>,
    /// A vector for each end.
    pool: Pool<Sum<EmbedDim, EmbedDim>, Bottleneck, Ends, E, D>,
    /// From the vector of an end to a logit for each letter.
    answer: Linear<Sum<EmbedDim, EmbedDim>, Letters, E, D>,
}

impl<E: Real, D: Backend<E>> Reader<E, D> {
    /// `(B, S) ids of VocabSize -> (B, Ends, Letters)`
    fn forward<B: DataDim, S: AtMost<MaxLen> + CountsLetters, T: Tape<E, D>>(
        &self,
        words: &TokenIds<B, S, VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, Ends, Letters), E, D, T>, OpError> {
        let padding = words.padding_mask();
        let letters = self.embedder.forward(words, tape)?;
        let context = self.encoder.forward(letters.clone(), &padding)?;
        let both = concat(letters, context, along::<EmbedDim, EmbedDim>())?;
        self.answer.forward(self.pool.forward(both, &padding)?)
    }
}

type Model<D> = Reader<f32, D>;

const _: () = assert!(Model::<Cpu>::NUM_PARAMS == 3_892);

/// Words of 1 to 8 letters. Lengths and letters are uniformly distributed.
fn random(count: usize, rng: &mut StdRng) -> Vec<String> {
    let mut word = || -> String {
        let len = rng.gen_range(1..=MaxLen::SIZE);
        (0..len).map(|_| rng.gen_range('a'..='z')).collect()
    };
    (0..count).map(|_| word()).collect()
}

fn train<D: Backend<f32>>(model: &mut Model<D>, rng: &mut StdRng) -> Result<(), Box<dyn Error>> {
    let steps = 250;
    let schedule = WarmupCosine {
        peak_value: 0.02,
        end_value: 1e-4,
        warmup_steps: 20,
        steps,
    };
    let mut adam = Adam::default();
    for step in 0..steps {
        let batch = Batch::new(32);
        let Examples { words, ends } = examples(batch, &random(32, rng))?;
        let logits = model.forward(&words, model.recording())?;
        let loss = cross_entropy(logits, &ends, Reduction::MeanAll)?;
        let rate = schedule.learning_rate(step);
        update(model, loss.backward()?, &mut adam, rate, 1.0)?;
    }
    Ok(())
}

/// The letters that the model predicts: those with the highest logits.
fn answer<B: Dim, S: AtMost<MaxLen> + CountsLetters, D: Backend<f32>>(
    model: &Model<D>,
    words: &TokenIds<B, S, VocabSize>,
) -> Result<TokenIds<B, Ends, Letters>, Box<dyn Error>> {
    let logits = model.forward(words, NoneTape)?;
    Ok(argmax(&logits, axis::<Letters>())?.into())
}

/// Whether `next` may follow `word` in a chain: it begins with the letter that `word` ends with.
fn may_follow<D: Backend<f32>>(
    model: &Model<D>,
    word: &str,
    next: &str,
) -> Result<bool, Box<dyn Error>> {
    local_dims! {
        let word_len: FirstLen <= MaxLen = word.len();
        let next_len: NextLen <= MaxLen = next.len();
    }
    impl CountsLetters for FirstLen {}
    impl CountsLetters for NextLen {}

    let one = Const::<1>;
    let word = TokenIds::padded(&[tokens(word)?], PAD, (one, word_len?))?;
    let next = TokenIds::padded(&[tokens(next)?], PAD, (one, next_len?))?;
    let (word, next) = (answer(model, &word)?, answer(model, &next)?);
    Ok(word.as_slice()[1] == next.as_slice()[0])
}

fn run<D: Backend<f32>>(device: &D) -> Result<(), Box<dyn Error>> {
    let mut rng = StdRng::seed_from_u64(0);
    let mut model = Model::build(device);
    writeln!(stdout(), "{}", model.summary())?;
    train(&mut model, &mut rng)?;

    let Examples { words, ends } = examples(Batch::new(1_000), &random(1_000, &mut rng))?;
    let answers = answer(&model, &words)?;
    let pairs = answers.as_slice().iter().zip(ends.as_slice());
    let right = pairs.filter(|(answer, end)| answer == end).count();
    writeln!(stdout(), "{right} of 2000 letters right")?;
    assert!(right >= 1_980);

    let name = format!("own_model-{}.safetensors", std::process::id());
    let path = std::env::temp_dir().join(name);
    weights::save(&model, &path)?;
    let loaded: Model<D> = weights::load(&path, device)?;
    std::fs::remove_file(&path)?;
    assert_eq!(answer(&loaded, &words)?, answers);
    assert!(may_follow(&loaded, "typed", "dim")?);
    assert!(!may_follow(&loaded, "dim", "typed")?);
    Ok(())
}
