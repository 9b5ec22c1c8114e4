use crate::backend::{Backend, Tape};
use crate::dims::{AtMost, ConstDim, DataDim, Dim};
use crate::mask::CausalMask;
use crate::module;
use crate::nn::{BlockStack, Embedder, EmbeddingEncoder, HasPositionsFor, LmHead, target_padding};
use crate::ops::{OpError, Real};
use crate::tokens::TokenIds;
use dfdx::tensor::{Cpu, NoneTape, Tensor};

/// The configuration of a model with one stack of layers, [`EncoderOnly`] or [`DecoderOnly`]: the dimensions that
/// callers see. The inner ones are in its [`Arch`](crate::nn::Arch).
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*};
/// pub struct Small;
/// impl Arch for Small {
///     type NumHeads = NumHeads;
///     type QKDim = HeadDim;
///     type VODim = HeadDim;
///     type HiddenDim = HiddenDim;
///     type Conventions = TypedTransformer;
/// }
/// impl SingleStack for Small {
///     type VocabSize = VocabSize;
///     type MaxSeqLen = MaxSeqLen;
///     type EmbedDim = EmbedDim;
///     type NumLayers = NumLayers;
/// }
/// type Model = DecoderOnly<Small, f32, Cpu>;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the configuration of a model of one stack",
    label = "`{Self}` does not implement `SingleStack`",
    note = "implement `Arch` and `SingleStack` for an empty struct of your own, with one line per dimension"
)]
pub trait SingleStack: HasPositionsFor<<Self as SingleStack>::EmbedDim> {
    /// The tokens that the model reads and writes.
    type VocabSize: ConstDim;
    /// The longest sequence.
    type MaxSeqLen: ConstDim;
    /// The width of the layers.
    type EmbedDim: ConstDim;
    /// The number of layers.
    type NumLayers: ConstDim;
}

/// An encoder-only transformer: it computes a vector for each token from the whole sequence, or one vector for the
/// sequence (*Another annotated transformer*, "Encoder-only").
///
/// ```
/// # use typed_transformer::{doctest::*, prelude::*};
/// let model = EncoderOnly::<Model, f32, Cpu>::build(&Cpu::default());
/// let ids = TokenIds::from_ids(&[7, 4, 24, 27], Some(Fin::literal::<27>()), (Batch, SeqLen))?;
/// let features: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = model.forward(&ids, NoneTape)?;
/// let pooled: Tensor<(Batch, EmbedDim), f32, Cpu> = model.pooled(&ids, NoneTape)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type EncoderOnly<Config, E = f32, D = Cpu> = EmbeddingEncoder<
    <Config as SingleStack>::VocabSize,
    <Config as SingleStack>::MaxSeqLen,
    <Config as SingleStack>::EmbedDim,
    <Config as SingleStack>::NumLayers,
    Config,
    E,
    D,
>;

/// A decoder-only transformer: it computes the logits of the next token at each position (*Another annotated
/// transformer*, "Decoder-only"; *Learning the Transformer*). Its layers have no cross-attention.
///
/// ```
/// # use typed_transformer::{doctest::*, prelude::*};
/// let model = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::default());
/// let ids = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SeqLen))?;
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = model.forward(&ids, NoneTape)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(output = Config::VocabSize)]
pub struct DecoderOnly<Config: SingleStack, E, D> {
    /// From token ids to vectors.
    pub embedder: Embedder<Config::VocabSize, Config::MaxSeqLen, Config::EmbedDim, Config, E, D>,
    /// The layers; each position attends to itself and earlier ones.
    pub decoder: BlockStack<Config::EmbedDim, Config::NumLayers, CausalMask, Config, E, D>,
    /// From vectors to logits.
    pub logit: LmHead<Config::EmbedDim, Config::VocabSize, Config, E, D>,
}

impl<Config: SingleStack, E: Real, D: Backend<E>> DecoderOnly<Config, E, D> {
    /// `(B, S) ids of VocabSize -> (B, S, VocabSize)`; `tape` records the operations for gradients.
    pub fn forward<B: DataDim, S: AtMost<Config::MaxSeqLen>, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, Config::VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, S, Config::VocabSize), E, D, T>, OpError> {
        let embeds = self.embedder.forward(token_ids, tape)?;
        let padding_mask = target_padding::<Config, B, S>(token_ids.padding_mask());
        self.logits(self.decoder.forward(embeds, &padding_mask)?)
    }

    /// The attention weights of each layer: `(B, S) ids of VocabSize -> (B, NumHeads, S, S)` per layer.
    pub fn attention_weights<B: DataDim, S: AtMost<Config::MaxSeqLen>>(
        &self,
        token_ids: &TokenIds<B, S, Config::VocabSize>,
    ) -> Result<Vec<Tensor<(B, Config::NumHeads, S, S), E, D>>, OpError> {
        let embeds = self.embedder.forward(token_ids, NoneTape)?;
        let padding_mask = target_padding::<Config, B, S>(token_ids.padding_mask());
        self.decoder.attention_weights(embeds, &padding_mask)
    }

    /// The logits of the decoder's output: `(B, S, EmbedDim) -> (B, S, VocabSize)`.
    pub fn logits<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        decoder_output: Tensor<(B, S, Config::EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, Config::VocabSize), E, D, T>, OpError> {
        self.logit.forward(decoder_output, &self.embedder.token_embedder)
    }
}
