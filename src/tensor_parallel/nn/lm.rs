use super::{DividesLayersOf, ShardedEmbeddingDecoder, ShardedEmbeddingEncoder};
use crate::{
    backend::Backend,
    dims::{AtMost, MaybeSharded},
    module,
    nn::{LM, LmHead, Output, Seq2Seq},
    ops::OpError,
    ranks::{Element, Ranks},
    tensor_parallel::{Sharded, dropout::same_dropout},
    tokens::TokenIds,
};
use dfdx::tensor::{PutTape, SplitTape, Tape};
use typed_transformer_macros::panicking;

module! {
    /// [`LM`], whose heads and hidden columns are divided among the ranks. All ranks have embeddings, norms and logits.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, prelude::*, ranks, ranks::Ranks, tensor_parallel::{Distributed, ShardedLM}};
    /// ranks! { pub Tp = 1; } // as many as divide `NumHeads` and `HiddenDim`
    /// let ranks = Ranks::<Tp>::single()?;
    /// let model = Distributed::<ShardedLM<Model, Tp, f32, Cpu>, Tp>::build(&Cpu::default(), &ranks)?;
    /// let source = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SrcLen))?;
    /// let target = TokenIds::from_ids(&[26, 20, 17], None, (Batch, TgtLen))?;
    /// let output = model.forward(&source, &target, NoneTape, &ranks);
    /// let logits: Tensor<(Batch, TgtLen, VocabSize), f32, Cpu> = output.logit_output;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub struct ShardedLM<Config: Seq2Seq, Axis: DividesLayersOf<Config>; E, D> -> Config::TgtVocab {
        /// Encodes the source.
        pub encoder: module ShardedEmbeddingEncoder<
            Config::SrcVocab, Config::MaxSrcLen, Config::EmbedDim, Config::NumEncoderLayers, Config, Axis, E, D>,
        /// Decodes the target so far, attending to the encoder's output.
        pub decoder: module ShardedEmbeddingDecoder<
            Config::TgtVocab, Config::MaxTgtLen, Config::EmbedDim, Config::EmbedDim, Config::NumDecoderLayers, Config,
            Axis, E, D>,
        /// From vectors to logits.
        pub logit: module LmHead<Config::EmbedDim, Config::TgtVocab, Config, E, D>,
    }
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
    /// [`OpError::Dim`] if the two batches differ in size; [`OpError::Ranks`] if a rank fails; [`OpError::Device`] if
    /// the device fails.
    #[panicking]
    pub fn try_forward<
        B: MaybeSharded,
        Src: AtMost<Config::MaxSrcLen>,
        Tgt: AtMost<Config::MaxTgtLen>,
        T: Tape<E, D>,
    >(
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
        let (encoder_output, tape) = self.encoder.try_forward(encoder_ids, tape, ranks)?.split_tape();
        let source = encoder_output.clone().put_tape(tape);
        let decoder_out = self.decoder.try_forward(decoder_ids, source, &encoder_ids.padding_mask(), ranks)?;
        let (decoder_output, tape) = decoder_out.split_tape();
        let table = &self.decoder.embedder.token_embedder;
        let logit_output = self.logit.try_forward(decoder_output.clone().put_tape(tape), table)?;
        Ok(Output { encoder_output, decoder_output, logit_output })
    }
}
