//! A training step: two batches of tokens, the forward pass, the loss, and the update of the weights.

use typed_transformer::nn::{Embedding, LmHead};
use typed_transformer::prelude::*;
use typed_transformer::train::{Adam, GradientsOf, Recording, update};

dims! {
    /// Source vocabulary.
    Letters = 28;
    /// Target vocabulary.
    Sounds = 44;
    /// Maximum source length.
    MaxLetters = 15;
    /// Maximum target length.
    MaxSounds = 20;
    /// Width of every embedding.
    EmbedDim = 8;
    /// Heads that share it.
    NumHeads = 2;
    /// Width inside a feed-forward block.
    HiddenDim = 32;
    /// Encoder layers.
    NumEncoderLayers = 1;
    /// Decoder layers.
    NumDecoderLayers = 3;
    /// Source length of this batch.
    SrcLen = 5;
    /// Length of its utterances.
    TgtLen = 6;
    /// Batch size.
    Batch = 4;
}

const SILENCE: Fin<Letters> = Fin::literal::<27>();
const START: Fin<Sounds> = Fin::literal::<42>();
const END: Fin<Sounds> = Fin::literal::<43>();

struct Speech;

impl Arch for Speech {
    type NumHeads = NumHeads;
    type QKDim = Quotient<EmbedDim, NumHeads>;
    type VODim = Quotient<EmbedDim, NumHeads>;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}

impl Seq2Seq for Speech {
    type SrcVocab = Letters;
    type TgtVocab = Sounds;
    type MaxSrcLen = MaxLetters;
    type MaxTgtLen = MaxSounds;
    type EmbedDim = EmbedDim;
    type NumEncoderLayers = NumEncoderLayers;
    type NumDecoderLayers = NumDecoderLayers;
}

type Model = LM<Speech, f32, Cpu>;
type Plain<Dims> = Tensor<Dims, f32, Cpu>;
type Taped<Dims> = Tensor<Dims, f32, Cpu, Recording<Model, f32, Cpu>>;

/// Raw ids as a batch, each row filled up.
fn batch<Len: Dim, Vocab: ConstDim>(
    rows: [&[usize]; 4],
    pad: Fin<Vocab>,
    len: Len,
) -> Result<TokenIds<Batch, Len, Vocab>, TokenError> {
    let mut checked: Vec<Vec<Fin<Vocab>>> = Vec::new();
    for row in rows {
        checked.push(row.iter().map(|&id| Fin::new(id)).collect::<Result<_, _>>()?);
    }
    TokenIds::<Batch, Len, Vocab>::padded(&checked, pad, (Batch, len))
}

/// One step; how wrong the model was before it.
fn train_step(
    model: &mut Model,
    adam: &mut Adam<Model, f32>,
    words: &TokenIds<Batch, SrcLen, Letters>,
    so_far: &TokenIds<Batch, TgtLen, Sounds>,
    utterances: &LabelIds<Batch, TgtLen, Sounds>,
) -> Result<f32, OpError> {
    let output: Output<
        (Batch, SrcLen, EmbedDim),
        (Batch, TgtLen, EmbedDim),
        (Batch, TgtLen, Sounds),
        f32,
        Cpu,
        Recording<Model, f32, Cpu>,
    > = model.forward(words, so_far, model.recording())?;
    let logits: Taped<(Batch, TgtLen, Sounds)> = output.logit_output;
    let loss: Taped<()> = cross_entropy(logits, utterances, Reduction::MeanPerSequence)?;
    let wrong = loss.array();
    let gradients: GradientsOf<Model, f32, Cpu> = loss.backward()?;
    update(model, gradients, adam, 0.01, 1.0)?;
    Ok(wrong)
}

/// Some of the weights, which a step must move.
struct Weights {
    letters: Plain<(Letters, EmbedDim)>,
    query_proj: Plain<(Product<NumHeads, Quotient<EmbedDim, NumHeads>>, EmbedDim)>,
    output_proj: Plain<(EmbedDim, Product<NumHeads, Quotient<EmbedDim, NumHeads>>)>,
    hidden: Plain<(HiddenDim, EmbedDim)>,
    logit: Plain<(Sounds, EmbedDim)>,
}

fn weights(model: &Model) -> Weights {
    let encoder: &EmbeddingEncoder<Letters, MaxLetters, EmbedDim, NumEncoderLayers, Speech, f32, Cpu> = &model.encoder;
    let decoder: &Decoder<EmbedDim, EmbedDim, NumDecoderLayers, Speech, f32, Cpu> = &model.decoder.decoder;
    let layer: &DecoderLayer<EmbedDim, EmbedDim, Speech, f32, Cpu> = &decoder.layers[2];
    let attention = &layer.self_attention.attention;
    let logit: &LmHead<EmbedDim, Sounds, Speech, f32, Cpu> = &model.logit;
    Weights {
        letters: encoder.embedder.token_embedder.weight.clone(),
        query_proj: attention.query_proj.weight.clone(),
        output_proj: attention.output_proj.weight.clone(),
        hidden: layer.feed_forward.hidden.weight.clone(),
        logit: logit.weight.clone().unwrap(),
    }
}

/// The position embedding of the decoder.
fn positions(model: &Model) -> Option<&Embedding<MaxSounds, EmbedDim, Speech, f32, Cpu>> {
    model.decoder.embedder.position_embedder.as_ref()
}

pub fn main() {
    let words: TokenIds<Batch, SrcLen, Letters> =
        batch([&[2, 0, 19], &[3, 14, 6], &[1, 8, 17, 3], &[5, 8, 18, 7]], SILENCE, SrcLen).unwrap();
    let spoken: TokenIds<Batch, TgtLen, Sounds> =
        batch([&[11, 2, 20], &[5, 16, 9], &[1, 29, 6, 4], &[7, 13, 31]], END, TgtLen).unwrap();
    let (so_far, utterances): (TokenIds<Batch, TgtLen, Sounds>, LabelIds<Batch, TgtLen, Sounds>) =
        spoken.teacher_forcing(START);

    let mut model: Model = LM::build(&Cpu::seed_from_u64(0));
    let mut adam = Adam::default();
    let (before, positions_before) = (weights(&model), positions(&model).cloned());
    let mut step = || train_step(&mut model, &mut adam, &words, &so_far, &utterances).unwrap();
    let losses: Vec<f32> = (0..20).map(|_| step()).collect();
    assert!(losses[19] < losses[0], "{losses:?}");

    let after = weights(&model);
    assert_ne!(before.letters.as_vec(), after.letters.as_vec());
    assert_ne!(before.query_proj.as_vec(), after.query_proj.as_vec());
    assert_ne!(before.output_proj.as_vec(), after.output_proj.as_vec());
    assert_ne!(before.hidden.as_vec(), after.hidden.as_vec());
    assert_ne!(before.logit.as_vec(), after.logit.as_vec());
    let table = |positions: Option<&Embedding<MaxSounds, EmbedDim, Speech, f32, Cpu>>| {
        positions.map(|table| table.weight.as_vec())
    };
    assert_ne!(table(positions_before.as_ref()), table(positions(&model)));
}
