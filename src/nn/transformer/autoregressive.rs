use crate::backend::Backend;
use crate::dims::{Const, ConstDim, DataDim, Dim, axis, check_same_size};
use crate::mask::PaddingMask;
use crate::nn::{Cache, DecoderCache, DecoderOnly, LM, Seq2Seq, SingleStack};
use crate::ops::{OpError, Real, dim_error, select, slice_last};
use crate::tokens::TokenIds;
use dfdx::shapes::HasShape;
use dfdx::tensor::{Cpu, NoneTape, Tensor};

/// A model that writes token after token: it computes the logits of the next token from all tokens before it.
///
/// A model that implements it generates text ([`generate`](crate::generate)): a [`DecoderOnly`] model, an
/// encoder-decoder [`LM`] once it has [read its sources](LM::encode), and a decoder of your own. `B` is the batch:
/// texts that are written together.
///
/// A decoder of your own, of one block:
///
/// ```
/// use typed_transformer::{doctest::*, generate::{Sampler, generate_from_prompt}, nn::*, ops::slice_last, prelude::*};
///
/// #[module(output = VocabSize)]
/// struct Writer<E, D> {
///     embedding: Embedding<VocabSize, EmbedDim, Model, E, D>,
///     block: Block<EmbedDim, CausalMask, Model, E, D>,
///     lm_head: Linear<EmbedDim, VocabSize, E, D>,
/// }
///
/// impl<B: DataDim, E: Real, D: Backend<E>> Autoregressive<B, E, D> for Writer<E, D> {
///     type VocabSize = VocabSize;
///     type MaxSeqLen = MaxSeqLen;
///     type Cache = KeyValueCache<B, MaxSeqLen, Model, E, D>;
///
///     fn cache(&self, batch: B) -> Result<Self::Cache, OpError> {
///         KeyValueCache::new(self.embedding.weight.device(), batch)
///     }
///
///     fn last_logits<S: Dim, Last: Dim>(
///         &self,
///         tokens: &TokenIds<B, S, VocabSize>,
///         cache: &mut Self::Cache,
///         last: Last,
///     ) -> Result<Tensor<(B, Last, VocabSize), E, D>, OpError> {
///         let x = self.embedding.forward(tokens, NoneTape)?; // (B, S, EmbedDim)
///         let x = self.block.forward_cached(x, cache)?;
///         self.lm_head.forward(slice_last(x, axis::<S>(), last)?)
///     }
/// }
///
/// let model = Writer::<f32, Cpu>::build(&Cpu::seed_from_u64(0));
/// let prompt = TokenIds::from_ids(&[7, 4, 11], None, (Batch, TgtLen))?;
/// let text: TokenIds<Batch, MaxSeqLen, VocabSize> =
///     generate_from_prompt(&model, &prompt, None, MaxSeqLen, &mut Sampler::greedy())?;
/// assert!(text.as_slice().starts_with(&[7, 4, 11]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the model is not `Autoregressive`: it does not write texts token after token",
    label = "this model does not implement `Autoregressive`",
    note = "an encoder-decoder (`LM`, `T5`, `Whisper`) does so once it has read its source: `model.encode(&source)?`, for `Whisper` `model.encode(features)?`; for a decoder of your own, implement `Autoregressive`",
    note = "the batch is a dimension: `Const::<1>` is that of one text, and a generic one has the bound `DataDim`; if the model is `!`, write its type: `let model: gpt2::Model = ..`"
)]
pub trait Autoregressive<B: DataDim, E: Real, D: Backend<E>> {
    /// The tokens that the model reads and writes.
    type VocabSize: ConstDim;
    /// The longest text that the model reads.
    type MaxSeqLen: ConstDim;
    /// The model's memory of the tokens that it has read, such as their keys and values.
    type Cache;

    /// A cache without tokens.
    ///
    /// # Errors
    /// [`OpError::Dim`] if the model is bound to a batch of another size.
    fn cache(&self, batch: B) -> Result<Self::Cache, OpError>;

    /// Reads tokens that follow those in `cache`, and returns the logits at the last `last` positions:
    /// `(B, S) ids of VocabSize, Last -> (B, Last, VocabSize)`. The tokens join the cache. After an error of the
    /// device, or if there are fewer tokens than `last`, the cache is not usable.
    ///
    /// Padding is read like any other token. For texts of different lengths use
    /// [`Generation`](crate::generate::Generation). The cache of an encoder-decoder holds the sources that it was made
    /// for; the logits are for these sources.
    ///
    /// # Errors
    /// [`OpError::OtherCache`] if another model made the cache; [`OpError::UnfilledCache`] after an error in a step
    /// with it; [`OpError::Range`] if it has no room for the tokens, or if there are fewer than `last`;
    /// [`OpError::Empty`] if `last` is 0; [`OpError::Dim`] if the batches differ in size.
    fn last_logits<S: Dim, Last: Dim>(
        &self,
        tokens: &TokenIds<B, S, Self::VocabSize>,
        cache: &mut Self::Cache,
        last: Last,
    ) -> Result<Tensor<(B, Last, Self::VocabSize), E, D>, OpError>;

    /// [`last_logits`](Self::last_logits) of the last token: `(B, S) ids of VocabSize -> (B, VocabSize)`.
    ///
    /// # Errors
    /// Those of [`last_logits`](Self::last_logits); [`OpError::EndsInPadding`] if the last token of a row is padding.
    fn next_logits<S: Dim>(
        &self,
        tokens: &TokenIds<B, S, Self::VocabSize>,
        cache: &mut Self::Cache,
    ) -> Result<Tensor<(B, Self::VocabSize), E, D>, OpError> {
        let (pad, len) = (tokens.pad_token_id(), tokens.shape().1.size());
        let ends_in_padding = |row: &[usize]| pad.is_some_and(|pad| row.last() == Some(&pad.value()));
        if let Some(row) = tokens.as_slice().chunks(len.max(1)).position(ends_in_padding) {
            return Err(OpError::EndsInPadding { row });
        }
        select(self.last_logits(tokens, cache, Const::<1>)?, axis::<Const<1>>(), 0)
    }

    /// [`last_logits`](Self::last_logits) of all tokens: `(B, S) ids of VocabSize -> (B, S, VocabSize)`.
    fn all_logits<S: Dim>(
        &self,
        tokens: &TokenIds<B, S, Self::VocabSize>,
        cache: &mut Self::Cache,
    ) -> Result<Tensor<(B, S, Self::VocabSize), E, D>, OpError> {
        self.last_logits(tokens, cache, tokens.shape().1)
    }
}

/// The cache of a model for texts of the batch `B`.
///
/// ```
/// use typed_transformer::{doctest::*, models::gpt2::Gpt2, nn::{Autoregressive, CacheOf}, prelude::*};
/// let model = Gpt2::<Small, f32, Cpu>::build(&Cpu::default());
/// let cache: CacheOf<Gpt2<Small, f32, Cpu>, Batch, f32, Cpu> = model.cache(Batch)?;
/// assert!(cache.is_empty());
/// # Ok::<(), OpError>(())
/// ```
pub type CacheOf<Model, B, E = f32, D = Cpu> = <Model as Autoregressive<B, E, D>>::Cache;

#[diagnostic::do_not_recommend]
impl<B: DataDim, Config: SingleStack, E: Real, D: Backend<E>> Autoregressive<B, E, D> for DecoderOnly<Config, E, D> {
    type VocabSize = Config::VocabSize;
    type MaxSeqLen = Config::MaxSeqLen;
    type Cache = Cache<B, Config::MaxSeqLen, Config::NumLayers, Config, E, D>;

    fn cache(&self, batch: B) -> Result<Self::Cache, OpError> {
        Cache::new(&self.embedder.token_embedder.weight, batch)
    }

    fn last_logits<S: Dim, Last: Dim>(
        &self,
        tokens: &TokenIds<B, S, Config::VocabSize>,
        cache: &mut Self::Cache,
        last: Last,
    ) -> Result<Tensor<(B, Last, Config::VocabSize), E, D>, OpError> {
        let (start, _) = cache.advance(&self.embedder.token_embedder.weight, tokens.shape())?;
        let x = self.embedder.forward_from(start, tokens, NoneTape)?;
        let x = self.decoder.forward_cached(x, cache)?;
        self.logits(slice_last(x, axis::<S>(), last)?)
    }
}

/// An encoder-decoder that has encoded its sources `(B, Src)`, and generates a target for each.
///
/// [`LM::encode`] makes it.
///
/// ```
/// # use typed_transformer::{doctest::*, prelude::*};
/// use typed_transformer::nn::{Autoregressive, EncodedLM};
/// let model = LM::<Model, f32, Cpu>::build(&Cpu::default());
/// let source = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SrcLen))?;
/// let encoded: EncodedLM<Batch, SrcLen, Model, f32, Cpu> = model.encode(&source)?;
/// let start = TokenIds::from_ids(&[26], None, (Batch, Const::<1>))?;
/// let logits: Tensor<(Batch, VocabSize), f32, Cpu> = encoded.next_logits(&start, &mut encoded.cache(Batch)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EncodedLM<'a, B: DataDim, Src: Dim, Config: Seq2Seq, E: Real = f32, D: Backend<E> = Cpu> {
    pub(super) model: &'a LM<Config, E, D>,
    pub(super) encoder_output: Tensor<(B, Src, Config::EmbedDim), E, D>,
    pub(super) source_padding: PaddingMask<B, Src>,
}

crate::error::debug_as!(
    [B: DataDim, Src: Dim, Config: Seq2Seq, E: Real, D: Backend<E>] EncodedLM<'_, B, Src, Config, E, D>,
    |this, f| write!(f, "EncodedLM {:?}", this.source_padding.shape())
);

impl<B: DataDim, Src: Dim, Config: Seq2Seq, E: Real, D: Backend<E>> Autoregressive<B, E, D>
    for EncodedLM<'_, B, Src, Config, E, D>
{
    type VocabSize = Config::TgtVocab;
    type MaxSeqLen = Config::MaxTgtLen;
    type Cache = DecoderCache<B, Src, Config::MaxTgtLen, Config::NumDecoderLayers, Config, E, D>;

    fn cache(&self, batch: B) -> Result<Self::Cache, OpError> {
        let (sources, _, _) = *self.encoder_output.shape();
        check_same_size("the sources", sources, "the targets", batch).map_err(dim_error("cache"))?;
        self.model.decoder.cache(self.encoder_output.clone(), &self.source_padding)
    }

    fn last_logits<S: Dim, Last: Dim>(
        &self,
        tokens: &TokenIds<B, S, Config::TgtVocab>,
        cache: &mut Self::Cache,
        last: Last,
    ) -> Result<Tensor<(B, Last, Config::TgtVocab), E, D>, OpError> {
        let x = self.model.decoder.forward_cached(tokens, cache)?;
        self.model.logits(slice_last(x, axis::<S>(), last)?)
    }
}
