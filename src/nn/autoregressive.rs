use super::{Cache, DecoderCache, DecoderOnly, LM, Seq2Seq, SingleStack};
use crate::{
    backend::Backend,
    dims::{Const, ConstDim, Dim, axis, check_same_size},
    mask::PaddingMask,
    ops::{OpError, Real, dim_error, try_select, try_slice},
    tokens::TokenIds,
};
use dfdx::{
    shapes::HasShape,
    tensor::{Cpu, Tensor},
};
use std::fmt;

/// A model that writes token after token: it computes the logits of the next token from all tokens before it.
///
/// A model that implements it generates text ([`generate`](crate::generate)): a [`DecoderOnly`] model, an
/// encoder-decoder [`LM`] once it has [read its sources](LM::try_encode), and a decoder of your own. `B` is the batch:
/// texts that are written together.
///
/// A decoder of your own, of one block:
///
/// ```
/// use typed_transformer::{doctest::*, generate::{Sampler, generate_from_prompt}, nn::*, ops::try_select, prelude::*};
///
/// #[module(output = VocabSize)]
/// struct Writer<E, D> {
///     embedding: Embedding<VocabSize, EmbedDim, Model, E, D>,
///     block: Block<EmbedDim, CausalMask, Model, E, D>,
///     logits: Linear<EmbedDim, VocabSize, E, D>,
/// }
///
/// impl<B: Dim, E: Real, D: Backend<E>> Autoregressive<B, E, D> for Writer<E, D> {
///     type VocabSize = VocabSize;
///     type MaxSeqLen = MaxSeqLen;
///     type Cache = KeyValueCache<B, MaxSeqLen, Model, E, D>;
///
///     fn try_cache(&self, batch: B) -> Result<Self::Cache, OpError> {
///         KeyValueCache::try_new(self.embedding.weight.device(), batch)
///     }
///
///     fn try_next_logits<S: Dim>(
///         &self,
///         tokens: &TokenIds<B, S, VocabSize>,
///         cache: &mut Self::Cache,
///     ) -> Result<Tensor<(B, VocabSize), E, D>, OpError> {
///         let x = self.embedding.try_forward(tokens, NoneTape)?; // (B, S, EmbedDim)
///         let logits = self.logits.try_forward(self.block.try_forward_cached(x, cache)?)?; // (B, S, VocabSize)
///         try_select(logits, axis::<S>(), tokens.shape().1.size() - 1)
///     }
/// }
///
/// let model = Writer::<f32, Cpu>::build(&Cpu::seed_from_u64(0));
/// let prompt = TokenIds::from_ids(&[7, 4, 11], None, (Batch, TgtLen))?;
/// let text: TokenIds<Batch, MaxSeqLen, VocabSize> =
///     generate_from_prompt(&model, &prompt, None, MaxSeqLen, &mut Sampler::greedy());
/// assert!(text.as_slice().starts_with(&[7, 4, 11]));
/// # Ok::<(), TokenError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the model is not `Autoregressive`: it does not write texts token after token",
    label = "this model does not implement `Autoregressive`",
    note = "an `LM` does so once it has read its sources: `model.try_encode(&sources)?`; for a decoder of your own, implement `Autoregressive`"
)]
pub trait Autoregressive<B: Dim, E: Real, D: Backend<E>> {
    /// The tokens that the model reads and writes.
    type VocabSize: ConstDim;
    /// The most tokens that the model reads.
    type MaxSeqLen: ConstDim;
    /// The model's memory of the tokens that it has read, such as their keys and values.
    type Cache;

    /// A cache without tokens.
    ///
    /// # Errors
    /// [`OpError::Dim`] if the model is bound to a batch of another size; [`OpError::Device`] if the device fails.
    fn try_cache(&self, batch: B) -> Result<Self::Cache, OpError>;

    /// Reads tokens that follow those in `cache`, and returns the logits of the token after them:
    /// `(B, S) ids of VocabSize -> (B, VocabSize)`. The tokens join the cache. After an error of the device the cache
    /// is not usable.
    ///
    /// # Errors
    /// [`OpError::Range`] if the cache has no room for them; [`OpError::Dim`] if the batches differ in size;
    /// [`OpError::Device`] if the device fails.
    fn try_next_logits<S: Dim>(
        &self,
        tokens: &TokenIds<B, S, Self::VocabSize>,
        cache: &mut Self::Cache,
    ) -> Result<Tensor<(B, Self::VocabSize), E, D>, OpError>;
}

#[diagnostic::do_not_recommend]
impl<B: Dim, Config: SingleStack, E: Real, D: Backend<E>> Autoregressive<B, E, D> for DecoderOnly<Config, E, D> {
    type VocabSize = Config::VocabSize;
    type MaxSeqLen = Config::MaxSeqLen;
    type Cache = Cache<B, Config::MaxSeqLen, Config, E, D>;

    fn try_cache(&self, batch: B) -> Result<Self::Cache, OpError> {
        self.try_cache(batch)
    }

    fn try_next_logits<S: Dim>(
        &self,
        tokens: &TokenIds<B, S, Config::VocabSize>,
        cache: &mut Self::Cache,
    ) -> Result<Tensor<(B, Config::VocabSize), E, D>, OpError> {
        let decoded = self.try_decode_cached(tokens, cache)?; // (B, S, EmbedDim)
        try_select(self.try_logits(try_last(decoded)?)?, axis::<Const<1>>(), 0)
    }
}

/// An encoder-decoder that has encoded its sources `(B, Src)`, and generates a target for each.
///
/// [`LM::try_encode`] makes it.
///
/// ```
/// # use typed_transformer::{doctest::*, prelude::*};
/// use typed_transformer::nn::{Autoregressive, EncodedLM};
/// let model = LM::<Model, f32, Cpu>::build(&Cpu::default());
/// let source = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SrcLen))?;
/// let encoded: EncodedLM<Batch, SrcLen, Model, f32, Cpu> = model.try_encode(&source)?;
/// let start = TokenIds::from_ids(&[26], None, (Batch, Const::<1>))?;
/// let logits: Tensor<(Batch, VocabSize), f32, Cpu> = encoded.try_next_logits(&start, &mut encoded.try_cache(Batch)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EncodedLM<'a, B: Dim, Src: Dim, Config: Seq2Seq, E: Real = f32, D: Backend<E> = Cpu> {
    model: &'a LM<Config, E, D>,
    encoder_output: Tensor<(B, Src, Config::EmbedDim), E, D>,
    source_padding: PaddingMask<B, Src>,
}

impl<'a, B: Dim, Src: Dim, Config: Seq2Seq, E: Real, D: Backend<E>> EncodedLM<'a, B, Src, Config, E, D> {
    pub(super) fn new(
        model: &'a LM<Config, E, D>,
        encoder_output: Tensor<(B, Src, Config::EmbedDim), E, D>,
        source_padding: PaddingMask<B, Src>,
    ) -> Self {
        Self { model, encoder_output, source_padding }
    }
}

#[diagnostic::do_not_recommend]
impl<B: Dim, Src: Dim, Config: Seq2Seq, E: Real, D: Backend<E>> fmt::Debug for EncodedLM<'_, B, Src, Config, E, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (batch, len) = self.source_padding.shape();
        write!(f, "EncodedLM ({batch:?}, {len:?})")
    }
}

impl<B: Dim, Src: Dim, Config: Seq2Seq, E: Real, D: Backend<E>> Autoregressive<B, E, D>
    for EncodedLM<'_, B, Src, Config, E, D>
{
    type VocabSize = Config::TgtVocab;
    type MaxSeqLen = Config::MaxTgtLen;
    type Cache = DecoderCache<B, Src, Config::MaxTgtLen, Config, E, D>;

    fn try_cache(&self, batch: B) -> Result<Self::Cache, OpError> {
        let (sources, _, _) = *self.encoder_output.shape();
        check_same_size("the sources", sources, "the targets", batch).map_err(dim_error("cache"))?;
        self.model.decoder.try_cache(self.encoder_output.clone(), &self.source_padding)
    }

    fn try_next_logits<S: Dim>(
        &self,
        tokens: &TokenIds<B, S, Config::TgtVocab>,
        cache: &mut Self::Cache,
    ) -> Result<Tensor<(B, Config::TgtVocab), E, D>, OpError> {
        let decoded = self.model.decoder.try_forward_cached(tokens, cache)?; // (B, S, EmbedDim)
        try_select(self.model.try_logits(try_last(decoded)?)?, axis::<Const<1>>(), 0)
    }
}

/// The last position: `(B, S, M) -> (B, 1, M)`.
pub(crate) fn try_last<B: Dim, S: Dim, M: ConstDim, E: Real, D: Backend<E>>(
    decoded: Tensor<(B, S, M), E, D>,
) -> Result<Tensor<(B, Const<1>, M), E, D>, OpError> {
    let len = decoded.shape().1.size();
    try_slice(decoded, axis::<S>(), len.saturating_sub(1), Const::<1>)
}
