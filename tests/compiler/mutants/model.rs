//! A custom model: a translator from letters to sounds with one more cross-attention layer, written in
//! operations, that starts from the weights of an `LM`.

use typed_transformer::nn::{Linear, init};
use typed_transformer::ops::{Activation, GeluTanh, linear};
use typed_transformer::prelude::*;

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
    NumEncoderLayers = 2;
    /// Decoder layers.
    NumDecoderLayers = 1;
    /// Length of a word.
    SrcLen <= MaxLetters; // or a smaller maximum
    /// Length of an utterance.
    TgtLen <= MaxSounds; // or a smaller maximum
    /// Batch size.
    Batch;
}

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

/// Cross-attention from `Tgt` columns to `Src` columns, then a feed-forward block.
#[module]
struct Reader<Tgt: ConstDim, Src: ConstDim, H: ConstDim, QK: ConstDim, VO: ConstDim, Hidden: ConstDim, E, D> {
    #[param(init::zeros)]
    query_proj: Tensor<(Product<H, QK>, Tgt), E, D>,
    #[param(init::zeros)]
    key_proj: Tensor<(Product<H, QK>, Src), E, D>,
    #[param(init::zeros)]
    value_proj: Tensor<(Product<H, VO>, Src), E, D>,
    #[param(init::zeros)]
    output_proj: Tensor<(Tgt, Product<H, VO>), E, D>,
    #[param(init::zeros)]
    hidden: Tensor<(Hidden, Tgt), E, D>,
    #[param(init::zeros)]
    output: Tensor<(Tgt, Hidden), E, D>,
    #[param(init::zeros)]
    output_bias: Tensor<(Tgt,), E, D>,
    #[param(init::ones)]
    scale: Tensor<(Tgt,), E, D>,
    #[param(init::zeros)]
    shift: Tensor<(Tgt,), E, D>,
}

impl<Tgt: ConstDim, Src: ConstDim, H: ConstDim, QK: ConstDim, VO: ConstDim, Hidden: ConstDim, E: Real, D: Backend<E>>
    Reader<Tgt, Src, H, QK, VO, Hidden, E, D>
{
    fn forward<B: Dim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        target: Tensor<(B, Q, Tgt), E, D, T>,
        source: Tensor<(B, K, Src), E, D, T>,
        mask: &AttentionMask<B, Q, K>,
    ) -> Result<Tensor<(B, Q, Tgt), E, D, T>, OpError> {
        let query = linear(target.clone(), &self.query_proj, None)?;
        let key = linear(source.clone(), &self.key_proj, None)?;
        let value = linear(source, &self.value_proj, None)?;
        let query: Tensor<(B, H, Q, QK), E, D, T> = split_heads(query)?;
        let key: Tensor<(B, H, K, QK), E, D, T> = split_heads(key)?;
        let value: Tensor<(B, H, K, VO), E, D, T> = split_heads(value)?;
        let answer: Tensor<(B, H, Q, VO), E, D, T> = attention(query, key, value, mask, AttentionOptions::default())?;
        let answer: Tensor<(B, Q, Product<H, VO>), E, D, T> = merge_heads(answer)?;
        let answer: Tensor<(B, Q, Tgt), E, D, T> = linear(answer, &self.output_proj, None)?;
        let answered: Tensor<(B, Q, Tgt), E, D, T> = residual(target, answer)?;

        let hidden: Tensor<(B, Q, Hidden), E, D, T> = linear(answered.clone(), &self.hidden, None)?;
        let output: Tensor<(B, Q, Tgt), E, D, T> = linear(gelu(hidden)?, &self.output, Some(&self.output_bias))?;
        layer_norm(residual(answered, output)?, &self.scale, Some(&self.shift), 1e-5)
    }
}

fn gelu<B: Dim, S: Dim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<(B, S, M), E, D, T>,
) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
    GeluTanh::apply(input)
}

/// The translator.
#[module]
struct Translator<E, D> {
    encoder: EmbeddingEncoder<Letters, MaxLetters, EmbedDim, NumEncoderLayers, Speech, E, D>,
    #[param(init::embedding::<Speech, _, _, _, _>)]
    table: Tensor<(Sounds, EmbedDim), E, D>,
    #[param(init::embedding::<Speech, _, _, _, _>)]
    positions: Tensor<(MaxSounds, EmbedDim), E, D>,
    decoder: Decoder<EmbedDim, EmbedDim, NumDecoderLayers, Speech, E, D>,
    reader: Reader<EmbedDim, EmbedDim, NumHeads, QKDim, VODim, HiddenDim, E, D>,
    logit: Linear<EmbedDim, Sounds, E, D>,
}

impl<E: Real, D: Backend<E>> Translator<E, D> {
    /// Takes over the weights of a model that has no reader; the reader's are those of its last layer.
    fn begin_with(&mut self, model: LM<Speech, E, D>) {
        let encoder: EmbeddingEncoder<Letters, MaxLetters, EmbedDim, NumEncoderLayers, Speech, E, D> = model.encoder;
        let EmbeddingDecoder { embedder, decoder, .. } = model.decoder;
        let decoder: Decoder<EmbedDim, EmbedDim, NumDecoderLayers, Speech, E, D> = decoder;
        let embedder: Embedder<Sounds, MaxSounds, EmbedDim, Speech, E, D> = embedder;

        if let Some(last) = decoder.layers.last() {
            let last: DecoderLayer<EmbedDim, EmbedDim, Speech, E, D> = last.clone();
            let attention: MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, Speech, E, D> =
                last.cross_attention.attention;
            self.reader.query_proj = attention.query_proj.weight;
            self.reader.key_proj = attention.key_proj.weight;
            self.reader.value_proj = attention.value_proj.weight;
            self.reader.output_proj = attention.output_proj.weight;
            self.reader.hidden = last.feed_forward.hidden.weight;
            self.reader.output = last.feed_forward.output.weight;
        }
        self.encoder = encoder;
        self.decoder = decoder;
        self.table = embedder.token_embedder.weight;
        if let Some(positions) = embedder.position_embedder {
            self.positions = positions.weight;
        }
    }

    /// How likely each sound is to come next, from the letters and the sounds so far.
    fn forward<B: Dim, S: AtMost<MaxLetters>, Q: LengthOf<MaxSounds>, T: Tape<E, D>>(
        &self,
        letters: &TokenIds<B, S, Letters>,
        sounds: &TokenIds<B, Q, Sounds>,
        tape: T,
    ) -> Result<Tensor<(B, Q, Sounds), E, D, T>, OpError> {
        let source: Tensor<(B, S, EmbedDim), E, D, T> = self.encoder.forward(letters, tape)?;

        let (_, len): (B, Q) = sounds.shape();
        let embeds: Tensor<(B, Q, EmbedDim), E, D, T> = embed(&self.table, sounds, T::default())?;
        let positions: Tensor<(Q, EmbedDim), E, D, T> = learned_positions(&self.positions, len)?;
        let embeds: Tensor<(B, Q, EmbedDim), E, D, T> = add_positions(embeds, positions)?;

        let (heard, spoken): (PaddingMask<B, S>, PaddingMask<B, Q>) = (letters.padding_mask(), sounds.padding_mask());
        let decoded: Tensor<(B, Q, EmbedDim), E, D, T> =
            self.decoder.forward(embeds, source.clone(), &spoken, &heard)?;
        let mask: AttentionMask<B, Q, S> = mk_cross_mask::<PadQueriesAndKeys, B, Q, S>(&spoken, &heard)?;
        let read: Tensor<(B, Q, EmbedDim), E, D, T> = self.reader.forward(decoded, source, &mask)?;
        self.logit.forward(read)
    }
}

pub fn main() {
    let device = Cpu::default();
    let mut translator = Translator::<f32, Cpu>::build(&device);
    translator.begin_with(LM::build(&device));

    let batch = Batch::new(2);
    let (src_len, tgt_len) = (SrcLen::new(4).unwrap(), TgtLen::new(3).unwrap());
    let letters: TokenIds<Batch, SrcLen, Letters> =
        TokenIds::from_ids(&[7, 4, 24, 0, 1, 24, 4, 27], None, (batch, src_len)).unwrap();
    let sounds: TokenIds<Batch, TgtLen, Sounds> =
        TokenIds::from_ids(&[43, 12, 7, 43, 3, 9], None, (batch, tgt_len)).unwrap();
    let logits: Tensor<(Batch, TgtLen, Sounds), f32, Cpu> = translator.forward(&letters, &sounds, NoneTape).unwrap();
    assert_eq!(logits.as_vec().len(), 2 * 3 * 44);
    assert!(logits.as_vec().iter().all(|logit| logit.is_finite()));
}
