use crate::backend::{Backend, Tape};
use crate::dims::{AtMost, ConstDim, DataDim, Dim};
use crate::module;
use crate::nn::{EmbeddingDecoder, EmbeddingEncoder, EncodedLM, HasPositionsFor, LmHead};
use crate::ops::{OpError, Real};
use crate::tokens::TokenIds;
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{Cpu, NoneTape, Tensor};

/// The configuration of an encoder-decoder: the dimensions that callers see. The inner ones are in its
/// [`Arch`](crate::nn::Arch). Source and target may differ in vocabulary and length.
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*};
/// pub struct Rot13;
/// impl Arch for Rot13 {
///     type NumHeads = NumHeads;
///     type QKDim = HeadDim;
///     type VODim = HeadDim;
///     type HiddenDim = HiddenDim;
///     type Conventions = TypedTransformer;
/// }
/// impl Seq2Seq for Rot13 {
///     type SrcVocab = VocabSize;
///     type TgtVocab = VocabSize;
///     type MaxSrcLen = MaxSeqLen;
///     type MaxTgtLen = MaxSeqLen;
///     type EmbedDim = EmbedDim;
///     type NumEncoderLayers = NumLayers;
///     type NumDecoderLayers = NumLayers;
/// }
/// type Model = LM<Rot13, f32, Cpu>;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the configuration of a model of sources and targets",
    label = "`{Self}` does not implement `Seq2Seq`",
    note = "implement `Arch` and `Seq2Seq` for an empty struct of your own, with one line per dimension"
)]
pub trait Seq2Seq: HasPositionsFor<<Self as Seq2Seq>::EmbedDim> {
    /// The tokens that the encoder reads.
    type SrcVocab: ConstDim;
    /// The tokens that the decoder reads and writes.
    type TgtVocab: ConstDim;
    /// The longest sequence that the encoder reads.
    type MaxSrcLen: ConstDim;
    /// The longest sequence that the decoder reads.
    type MaxTgtLen: ConstDim;
    /// The width of encoder and decoder.
    type EmbedDim: ConstDim;
    /// The number of layers of the encoder.
    type NumEncoderLayers: ConstDim;
    /// The number of layers of the decoder.
    type NumDecoderLayers: ConstDim;
}

/// The output of an encoder-decoder (the post's `Output`).
///
/// `Enc`, `Dec` and `Logits` are shapes: `(Batch, SrcLen, EmbedDim)`, `(Batch, TgtLen, EmbedDim)` and
/// `(Batch, TgtLen, VocabSize)`. The logits carry the tape, if there is one.
#[derive(Clone)]
#[must_use]
pub struct Output<Enc: Shape, Dec: Shape, Logits: Shape, E: Real = f32, D: Backend<E> = Cpu, T = NoneTape> {
    /// The encoder's output.
    pub encoder_output: Tensor<Enc, E, D>,
    /// The decoder's output.
    pub decoder_output: Tensor<Dec, E, D>,
    /// The unnormalized log-probability of each token to come next, at each position.
    pub logit_output: Tensor<Logits, E, D, T>,
}

crate::error::debug_as!(
    [Enc: Shape, Dec: Shape, Logits: Shape, E: Real, D: Backend<E>, T] Output<Enc, Dec, Logits, E, D, T>,
    |this, f| write!(f, "Output {:?}", this.logit_output.shape())
);

/// The attention weights of an encoder-decoder, with a tensor for each layer, first to last.
///
/// `Src`, `Tgt` and `Cross` are shapes: `(Batch, NumHeads, SrcLen, SrcLen)`, `(Batch, NumHeads, TgtLen,
/// TgtLen)` and `(Batch, NumHeads, TgtLen, SrcLen)`.
#[derive(Clone)]
#[must_use]
pub struct AttentionWeights<Src: Shape, Tgt: Shape, Cross: Shape, E: Real = f32, D: Backend<E> = Cpu> {
    /// From the source to itself, in the encoder.
    pub source: Vec<Tensor<Src, E, D>>,
    /// From the target to itself, in the decoder.
    pub target: Vec<Tensor<Tgt, E, D>>,
    /// From the target to the source, in the decoder.
    pub target_to_source: Vec<Tensor<Cross, E, D>>,
}

crate::error::debug_as!(
    [Src: Shape, Tgt: Shape, Cross: Shape, E: Real, D: Backend<E>] AttentionWeights<Src, Tgt, Cross, E, D>,
    |this, f| write!(f, "AttentionWeights of {} encoder and {} decoder layers", this.source.len(), this.target.len())
);

#[doc(alias = "EncoderDecoder")]
/// An encoder-decoder transformer (*The Typed Transformer*, "Encoder-decoder transformer").
///
/// ```text
///     source ids of SrcVocab                 target ids of TgtVocab
///           (B, Src)                                (B, Tgt)
///              |                                       |
///       encoder.embedder                        decoder.embedder
///              |                                       |
///     (B, Src, EmbedDim)                      (B, Tgt, EmbedDim)
///              |                                       |
///   encoder.encoder, all layers             decoder.decoder, all layers
///              |                       +---> each reads encoder_output
///        encoder_output                |               |
///     (B, Src, EmbedDim) --------------+        decoder_output
///                                             (B, Tgt, EmbedDim)
///                                                      |
///                                                    logit
///                                                      |
///                                                logit_output
///                                             (B, Tgt, TgtVocab)
/// ```
///
/// The decoder also gets the source's padding `(B, Src)`. Types ensure that neither sequence exceeds its maximum.
///
/// ```
/// # use typed_transformer::{doctest::*, prelude::*};
/// let model = LM::<Model, f32, Cpu>::build(&Cpu::default());
/// let source = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SrcLen))?;
/// let target = TokenIds::from_ids(&[26, 20, 17], None, (Batch, TgtLen))?;
/// let output = model.forward(&source, &target, NoneTape)?;
/// let encoder_output: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = output.encoder_output;
/// let decoder_output: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> = output.decoder_output;
/// let logits: Tensor<(Batch, TgtLen, VocabSize), f32, Cpu> = output.logit_output;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(output = Config::TgtVocab)]
pub struct LM<Config: Seq2Seq, E, D> {
    /// Encodes the source.
    pub encoder:
        EmbeddingEncoder<Config::SrcVocab, Config::MaxSrcLen, Config::EmbedDim, Config::NumEncoderLayers, Config, E, D>,
    /// Decodes the target so far, attending to the encoder's output.
    pub decoder: EmbeddingDecoder<
        Config::TgtVocab,
        Config::MaxTgtLen,
        Config::EmbedDim,
        Config::EmbedDim,
        Config::NumDecoderLayers,
        Config,
        E,
        D,
    >,
    /// From vectors to logits.
    pub logit: LmHead<Config::EmbedDim, Config::TgtVocab, Config, E, D>,
}

impl<Config: Seq2Seq, E: Real, D: Backend<E>> LM<Config, E, D> {
    /// `(B, Src) ids of SrcVocab, (B, Tgt) ids of TgtVocab -> logits (B, Tgt, TgtVocab)`, with the outputs of
    /// encoder and decoder; `tape` records the operations for gradients.
    pub fn forward<B: DataDim, Src: AtMost<Config::MaxSrcLen>, Tgt: AtMost<Config::MaxTgtLen>, T: Tape<E, D>>(
        &self,
        encoder_ids: &TokenIds<B, Src, Config::SrcVocab>,
        decoder_ids: &TokenIds<B, Tgt, Config::TgtVocab>,
        tape: T,
    ) -> Result<
        Output<(B, Src, Config::EmbedDim), (B, Tgt, Config::EmbedDim), (B, Tgt, Config::TgtVocab), E, D, T>,
        OpError,
    > {
        let enc_out = self.encoder.forward(encoder_ids, tape)?;
        let decoder_out = self.decoder.forward(decoder_ids, enc_out.clone(), &encoder_ids.padding_mask())?;
        Ok(Output {
            encoder_output: enc_out.retaped(),
            decoder_output: decoder_out.retaped(),
            logit_output: self.logits(decoder_out)?,
        })
    }

    /// The attention weights of each layer: `(B, Src) ids of SrcVocab, (B, Tgt) ids of TgtVocab ->
    /// (B, NumHeads, Src, Src), (B, NumHeads, Tgt, Tgt), (B, NumHeads, Tgt, Src)`.
    ///
    /// The layers run as in [`forward`](Self::forward), which does not keep the attention weights.
    ///
    /// ```
    /// # use typed_transformer::{doctest::*, prelude::*};
    /// let model = LM::<Model, f32, Cpu>::build(&Cpu::default());
    /// let source = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SrcLen))?;
    /// let target = TokenIds::from_ids(&[26, 20, 17], None, (Batch, TgtLen))?;
    /// let weights = model.attention_weights(&source, &target)?;
    /// assert_eq!(weights.source.len(), NumLayers::SIZE);
    /// let last_layer: &Tensor<(Batch, NumHeads, TgtLen, TgtLen), f32, Cpu> = weights.target.last().unwrap();
    /// // No position sees a later one.
    /// assert_eq!(last_layer.as_vec()[1], 0.0);
    /// let to_source: &Tensor<(Batch, NumHeads, TgtLen, SrcLen), f32, Cpu> = &weights.target_to_source[0];
    /// // The attention weights of a position add up to 1.
    /// assert!((to_source.as_vec()[..4].iter().sum::<f32>() - 1.0).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn attention_weights<B: DataDim, Src: AtMost<Config::MaxSrcLen>, Tgt: AtMost<Config::MaxTgtLen>>(
        &self,
        encoder_ids: &TokenIds<B, Src, Config::SrcVocab>,
        decoder_ids: &TokenIds<B, Tgt, Config::TgtVocab>,
    ) -> Result<
        AttentionWeights<
            (B, Config::NumHeads, Src, Src),
            (B, Config::NumHeads, Tgt, Tgt),
            (B, Config::NumHeads, Tgt, Src),
            E,
            D,
        >,
        OpError,
    > {
        let source = self.encoder.attention_weights(encoder_ids)?;
        let encoder_output = self.encoder.forward(encoder_ids, NoneTape)?;
        let decoder_weights = self.decoder.decoder.attention_weights(
            self.decoder.embedder.forward(decoder_ids, NoneTape)?,
            &encoder_output,
            &decoder_ids.padding_mask(),
            &encoder_ids.padding_mask(),
        )?;
        let (target, target_to_source) = decoder_weights.into_iter().unzip();
        Ok(AttentionWeights { source, target, target_to_source })
    }

    /// Encodes the sources, `(B, Src) ids of SrcVocab`. The result is [`Autoregressive`](crate::nn::Autoregressive): it
    /// generates a target for each.
    ///
    /// ```
    /// # use typed_transformer::{doctest::*, generate::{Generation, Sampler}, prelude::*};
    /// const END: Fin<VocabSize> = Fin::literal::<27>();
    /// let model = LM::<Model, f32, Cpu>::build(&Cpu::default());
    /// let source = TokenIds::from_ids(&[7, 4, 24, 0], Some(END), (Batch, SrcLen))?;
    /// let start = TokenIds::from_ids(&[26], None, (Batch, Const::<1>))?;
    /// let mut sampler = Sampler::greedy();
    /// let encoded = model.encode(&source)?;
    /// for tokens in Generation::new(&encoded, &start, Some(END), &mut sampler)? {
    ///     println!("{:?}", tokens?[0]);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encode<B: DataDim, Src: AtMost<Config::MaxSrcLen>>(
        &self,
        source: &TokenIds<B, Src, Config::SrcVocab>,
    ) -> Result<EncodedLM<'_, B, Src, Config, E, D>, OpError> {
        let encoder_output = self.encoder.forward(source, NoneTape)?;
        Ok(EncodedLM { model: self, encoder_output, source_padding: source.padding_mask() })
    }

    /// The logits of the decoder's output: `(B, Tgt, EmbedDim) -> (B, Tgt, TgtVocab)`.
    pub fn logits<B: DataDim, Tgt: Dim, T: Tape<E, D>>(
        &self,
        decoder_output: Tensor<(B, Tgt, Config::EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, Tgt, Config::TgtVocab), E, D, T>, OpError> {
        self.logit.forward(decoder_output, &self.decoder.embedder.token_embedder)
    }
}
