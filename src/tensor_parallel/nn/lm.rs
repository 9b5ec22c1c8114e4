use super::{DividesLayersOf, ShardedBlockStack, ShardedEmbeddingDecoder};
use crate::backend::{Backend, Tape};
use crate::dims::{AtMost, MaybeSharded};
use crate::mask::NoMask;
use crate::module;
use crate::nn::{Embedder, LM, LmHead, Output, Seq2Seq, self_mask};
use crate::ops::OpError;
use crate::ranks::{Element, Ranks};
use crate::tensor_parallel::Sharded;
use crate::tensor_parallel::dropout::same_dropout;
use crate::tokens::TokenIds;

/// [`EmbeddingEncoder`](crate::nn::EmbeddingEncoder), whose heads and hidden columns are divided among the ranks.
#[module(output = Config::EmbedDim)]
pub struct ShardedEmbeddingEncoder<Config: Seq2Seq, Axis: DividesLayersOf<Config>, E, D> {
    /// From token ids to vectors.
    pub embedder: Embedder<Config::SrcVocab, Config::MaxSrcLen, Config::EmbedDim, Config, E, D>,
    /// The layers.
    pub encoder: ShardedBlockStack<Config::EmbedDim, Config::NumEncoderLayers, Config, Axis, E, D>,
}

/// [`LM`], whose heads and hidden columns are divided among the ranks. All ranks have embeddings, norms and logits.
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*, ranks, ranks::Ranks, tensor_parallel::{Distributed, ShardedLM}};
/// ranks! { pub Tp = 1; } // as many as divide `NumHeads` and `HiddenDim`
/// let ranks = Ranks::<Tp>::single()?;
/// let model = Distributed::<ShardedLM<Model, Tp, f32, Cpu>, Tp>::build(&Cpu::default(), &ranks)?;
/// let source = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SrcLen))?;
/// let target = TokenIds::from_ids(&[26, 20, 17], None, (Batch, TgtLen))?;
/// let output = model.forward(&source, &target, NoneTape, &ranks)?;
/// let logits: Tensor<(Batch, TgtLen, VocabSize), f32, Cpu> = output.logit_output;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(output = Config::TgtVocab)]
pub struct ShardedLM<Config: Seq2Seq, Axis: DividesLayersOf<Config>, E, D> {
    /// Encodes the source.
    pub encoder: ShardedEmbeddingEncoder<Config, Axis, E, D>,
    /// Decodes the target so far, attending to the encoder's output.
    pub decoder: ShardedEmbeddingDecoder<Config, Axis, E, D>,
    /// From vectors to logits.
    pub logit: LmHead<Config::EmbedDim, Config::TgtVocab, Config, E, D>,
}

#[diagnostic::do_not_recommend]
impl<Config: Seq2Seq, Axis: DividesLayersOf<Config>, E: Element, D: Backend<E>> Sharded<Axis, E, D>
    for ShardedLM<Config, Axis, E, D>
{
    type Whole = LM<Config, E, D>;
}

impl<Config: Seq2Seq, Axis: DividesLayersOf<Config>, E: Element, D: Backend<E>> ShardedLM<Config, Axis, E, D> {
    /// `(B, Src) ids of SrcVocab, (B, Tgt) ids of TgtVocab -> logits (B, Tgt, TgtVocab)`, with the outputs of
    /// encoder and decoder, the same on all ranks; `tape` records the operations for gradients.
    ///
    /// # Errors
    /// [`OpError::Dim`] if the two batches differ in size; [`OpError::Ranks`] if a rank fails.
    pub fn forward<B: MaybeSharded, Src: AtMost<Config::MaxSrcLen>, Tgt: AtMost<Config::MaxTgtLen>, T: Tape<E, D>>(
        &self,
        encoder_ids: &TokenIds<B, Src, Config::SrcVocab>,
        decoder_ids: &TokenIds<B, Tgt, Config::TgtVocab>,
        tape: T,
        ranks: &Ranks<Axis>,
    ) -> Result<
        Output<(B, Src, Config::EmbedDim), (B, Tgt, Config::EmbedDim), (B, Tgt, Config::TgtVocab), E, D, T>,
        OpError,
    > {
        let device = self.decoder.embedder.token_embedder.weight.device();
        let _seed = same_dropout::<E, D, T, _>(Config::DROPOUT, device, ranks)?;
        let padding = encoder_ids.padding_mask();
        let embeds = self.encoder.embedder.forward(encoder_ids, tape)?;
        let enc_out = self.encoder.encoder.forward(embeds, &self_mask::<NoMask, Config, B, Src>(&padding), ranks)?;
        let decoder_out = self.decoder.forward(decoder_ids, enc_out.clone(), &padding, ranks)?;
        Ok(Output {
            encoder_output: enc_out.retaped(),
            decoder_output: decoder_out.retaped(),
            logit_output: self.logit.forward(decoder_out, &self.decoder.embedder.token_embedder)?,
        })
    }
}
