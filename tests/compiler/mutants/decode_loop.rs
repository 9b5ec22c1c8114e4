//! A decode loop: encodes the source once, caches the keys and values of each layer, and writes the target token by
//! token like `generate_target`.

use typed_transformer::generate::{Sampler, generate_target};
use typed_transformer::nn::LmHead;
use typed_transformer::ops::{Activation, GeluTanh, argmax, select};
use typed_transformer::prelude::*;
use typed_transformer::tokens::Indices;

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
    /// Heads of every attention.
    NumHeads = 3;
    /// Size of a head's queries and keys.
    QKDim = 4;
    /// Size of a head's values.
    VODim = 5;
    /// Width inside a feed-forward block.
    HiddenDim = 32;
    /// Encoder layers.
    NumEncoderLayers = 1;
    /// Decoder layers.
    NumDecoderLayers = 2;
    /// Source length of this batch.
    SrcLen <= MaxLetters; // or a smaller maximum
    /// Length of the output.
    TgtLen <= MaxSounds; // or a smaller maximum
    /// Number of tokens so far, including the start token.
    SoFar <= MaxSounds; // or a smaller maximum
    /// Batch size.
    Batch;
}

const START: Fin<Sounds> = Fin::literal::<42>();
const END: Fin<Sounds> = Fin::literal::<43>();

struct Speech;

impl Arch for Speech {
    type NumHeads = NumHeads;
    type QKDim = QKDim;
    type VODim = VODim;
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
type Layer = DecoderLayer<EmbedDim, EmbedDim, Speech, f32, Cpu>;
type Plain<Dims> = Tensor<Dims, f32, Cpu>;

/// Keys and values of the source in one layer.
struct Lookup {
    keys: Plain<(Batch, SrcLen, Product<NumHeads, QKDim>)>,
    values: Plain<(Batch, SrcLen, Product<NumHeads, VODim>)>,
}

/// Encodes the source once for all layers.
fn read(model: &Model, words: &TokenIds<Batch, SrcLen, Letters>) -> Layers<NumDecoderLayers, Lookup> {
    let encoder: &EmbeddingEncoder<Letters, MaxLetters, EmbedDim, NumEncoderLayers, Speech, f32, Cpu> = &model.encoder;
    let encoded: Plain<(Batch, SrcLen, EmbedDim)> = encoder.forward(words, NoneTape).unwrap();
    let decoder: &Decoder<EmbedDim, EmbedDim, NumDecoderLayers, Speech, f32, Cpu> = &model.decoder.decoder;
    let lookup = |i: usize| -> Result<Lookup, OpError> {
        let attention = &decoder.layers[i].cross_attention.attention;
        Ok(Lookup {
            keys: attention.key_proj.forward(encoded.clone())?,
            values: attention.value_proj.forward(encoded.clone())?,
        })
    };
    Layers::try_from_fn(lookup).unwrap()
}

/// One decoder layer; padding of the source is masked.
fn decode(
    layer: &Layer,
    lookup: &Lookup,
    mask: &AttentionMask<Batch, SoFar, SrcLen>,
    input: Plain<(Batch, SoFar, EmbedDim)>,
) -> Plain<(Batch, SoFar, EmbedDim)> {
    let nothing_hidden = PaddingMask::<Batch, SoFar>::without_padding((mask.shape().0, mask.shape().1));
    let asking: Plain<(Batch, SoFar, EmbedDim)> = layer.self_attention.forward(input, &nothing_hidden).unwrap();

    let cross: &CrossAttention<EmbedDim, EmbedDim, Speech, f32, Cpu> = &layer.cross_attention;
    let queries: Plain<(Batch, SoFar, Product<NumHeads, QKDim>)> =
        cross.attention.query_proj.forward(asking.clone()).unwrap();
    let (keys, values) = (lookup.keys.clone(), lookup.values.clone());
    let answers: Plain<(Batch, SoFar, Product<NumHeads, VODim>)> =
        multi_head_attention(queries, keys, values, mask, AttentionOptions::default()).unwrap();
    let answers: Plain<(Batch, SoFar, EmbedDim)> = cross.attention.output_proj.forward(answers).unwrap();
    let answered = cross.norm.as_ref().unwrap().forward(residual(asking, answers).unwrap()).unwrap();

    let block: &FeedForward<EmbedDim, Speech, f32, Cpu> = &layer.feed_forward;
    let hidden: Plain<(Batch, SoFar, HiddenDim)> = block.hidden.forward(answered.clone()).unwrap();
    let output: Plain<(Batch, SoFar, EmbedDim)> = block.output.forward(GeluTanh::apply(hidden).unwrap()).unwrap();
    block.norm.as_ref().unwrap().forward(residual(answered, output).unwrap()).unwrap()
}

/// The most likely next token for each sequence of the batch.
fn next(
    model: &Model,
    lookups: &Layers<NumDecoderLayers, Lookup>,
    heard: &PaddingMask<Batch, SrcLen>,
    so_far: &TokenIds<Batch, SoFar, Sounds>,
) -> Vec<Fin<Sounds>> {
    let mask: AttentionMask<Batch, SoFar, SrcLen> =
        mk_cross_mask::<PadQueriesAndKeys, Batch, SoFar, SrcLen>(&so_far.padding_mask(), heard).unwrap();
    let embedder: &Embedder<Sounds, MaxSounds, EmbedDim, Speech, f32, Cpu> = &model.decoder.embedder;
    let embeds: Plain<(Batch, SoFar, EmbedDim)> = embedder.forward(so_far, NoneTape).unwrap();
    let decoded: Plain<(Batch, SoFar, EmbedDim)> = model
        .decoder
        .decoder
        .layers
        .iter()
        .zip(lookups)
        .fold(embeds, |x, (layer, lookup)| decode(layer, lookup, &mask, x));
    let logit: &LmHead<EmbedDim, Sounds, Speech, f32, Cpu> = &model.logit;
    let logits: Plain<(Batch, SoFar, Sounds)> = logit.forward(decoded, &embedder.token_embedder).unwrap();

    let (_, len): (Batch, SoFar) = so_far.shape();
    let last: Plain<(Batch, Sounds)> = select(logits, axis::<SoFar>(), len.size() - 1).unwrap();
    let best: Indices<(Batch,), Sounds> = argmax(&last, axis::<Sounds>()).unwrap();
    best.to_vec()
}

/// Writes token by token until every sequence has ended or has its maximum length.
fn speak(model: &Model, words: &TokenIds<Batch, SrcLen, Letters>, len: TgtLen) -> TokenIds<Batch, TgtLen, Sounds> {
    let (batch, _): (Batch, SrcLen) = words.shape();
    let lookups = read(model, words);
    let heard: PaddingMask<Batch, SrcLen> = words.padding_mask();
    let mut utterances: Vec<Vec<Fin<Sounds>>> = vec![vec![START]; batch.size()];
    for written in 1..=len.size() {
        let ids: Vec<usize> = utterances.iter().flatten().map(|id| id.value()).collect();
        let so_far: TokenIds<Batch, SoFar, Sounds> =
            TokenIds::from_ids(&ids, None, (batch, SoFar::new(written).unwrap())).unwrap();
        let next: Vec<Fin<Sounds>> = next(model, &lookups, &heard, &so_far);
        for (utterance, sound) in utterances.iter_mut().zip(next) {
            let ended = utterance.last() == Some(&END);
            utterance.push(if ended { END } else { sound });
        }
    }
    let spoken: Vec<_> = utterances.iter().map(|utterance| &utterance[1..]).collect();
    TokenIds::<Batch, TgtLen, Sounds>::padded(&spoken, END, (batch, len)).unwrap()
}

pub fn main() {
    let model: Model = LM::build(&Cpu::seed_from_u64(1));
    let (batch, src_len) = (Batch::new(2), SrcLen::new(4).unwrap());
    let padding: Option<Fin<Letters>> = Some(Fin::literal::<27>());
    let words: TokenIds<Batch, SrcLen, Letters> =
        TokenIds::from_ids(&[2, 0, 19, 27, 1, 8, 17, 3], padding, (batch, src_len)).unwrap();

    let len = TgtLen::new(7).unwrap();
    let spoken: TokenIds<Batch, TgtLen, Sounds> = speak(&model, &words, len);
    let expected: TokenIds<Batch, TgtLen, Sounds> =
        generate_target(&model, &words, START, END, len, &mut Sampler::greedy()).unwrap();
    assert_eq!(spoken.as_slice(), expected.as_slice());
}
