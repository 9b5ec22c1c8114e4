//! GPT-2 ([Radford et al., 2019](https://openai.com/index/better-language-models/)): a decoder with norms before its
//! sublayers, learned positions, biases everywhere and tied logits. [`nano_gpt`](super::nano_gpt) is a GPT-2 without
//! biases, with the exact GELU.
//!
//! | in the paper | in `modeling_gpt2.py` | here |
//! | --- | --- | --- |
//! | 2.3, layer norm before each sub-block | `GPT2Block` | [`Layer`] |
//! | GPT, 3.1, masked self-attention | `GPT2Attention`, `Conv1D` | [`Attention`], [`multi_head_attention`] |
//! | GPT, 4.1, position-wise feed-forward layer, GELU | `GPT2MLP`, `NewGELUActivation` | [`FeedForward`], [`GeluTanh`] |
//! | | `past_key_values` | [`Cache`] |
//! | 2.3, norm after the last block | `GPT2Model`, `GPT2LMHeadModel` | [`Gpt2`] |

use crate::nn::{Autoregressive, Cache, CacheOf, CacheUpdate, Heads, LayerNorm, Precision, Weight, init};
use crate::ops::{Activation, GeluTanh, learned_positions_from, slice_last};
use crate::prelude::*;

/// The dimensions and the constants of a [`Gpt2`]: `GPT2Config` of HuggingFace.
///
/// ```
/// use typed_transformer::{doctest::*, models::gpt2::{Gpt2, Gpt2Config}, prelude::*};
/// pub struct Tiny;
/// impl Gpt2Config for Tiny {
///     type VocabSize = VocabSize;
///     type MaxSeqLen = MaxSeqLen;
///     type EmbedDim = EmbedDim;
///     type NumHeads = EvenHeads;
///     type HiddenDim = HiddenDim;
///     type NumLayers = NumLayers;
///     const NORM_EPSILON: f64 = 1e-5;
/// }
/// let model = Gpt2::<Tiny, f32, Cpu>::build(&Cpu::default());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the configuration of a GPT-2",
    label = "`{Self}` does not implement `Gpt2Config`",
    note = "implement `Gpt2Config` for an empty struct of your own, with one line per dimension"
)]
pub trait Gpt2Config: 'static {
    /// The tokens that the model reads and writes.
    type VocabSize: ConstDim;
    /// The longest sequence.
    type MaxSeqLen: ConstDim;
    /// The width of the vector of a token. The heads divide it among themselves.
    type EmbedDim: ConstDim;
    /// The number of heads.
    type NumHeads: Divides<Self::EmbedDim>;
    /// The width inside the feed-forward layer.
    type HiddenDim: ConstDim;
    /// The number of layers.
    type NumLayers: ConstDim;
    /// The number that a norm adds to the variance.
    const NORM_EPSILON: f64;

    /// The constants that saved parameters do not show, as names and values; files of weights store them.
    fn conventions() -> Vec<(&'static str, String)> {
        vec![("norm epsilon", Self::NORM_EPSILON.to_string())]
    }
}

/// The size of a head.
type HeadDim<Config> = Quotient<<Config as Gpt2Config>::EmbedDim, <Config as Gpt2Config>::NumHeads>;
/// The heads whose keys and values a cache holds.
type CachedHeadsOf<Config> = Heads<<Config as Gpt2Config>::NumHeads, HeadDim<Config>, HeadDim<Config>, Config>;

/// A GPT-2: the logits of the next token at each position.
///
/// ```
/// use typed_transformer::{doctest::*, models::gpt2::Gpt2, nn::Autoregressive, ops::embed, prelude::*};
/// let model = Gpt2::<Small, f32, Cpu>::build(&Cpu::default());
/// let ids = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SeqLen))?;
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = model.forward(&ids, NoneTape)?;
/// let vectors: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = model.vectors(&ids, NoneTape)?;
/// let embeddings = embed(&model.token_embedder, &ids, NoneTape)?;
/// assert_eq!(model.vectors_of(embeddings.clone(), &ids.padding_mask())?.as_vec(), vectors.as_vec());
/// let mut cache = model.cache(Batch)?;
/// let last: Tensor<(Batch, Const<1>, EmbedDim), f32, Cpu> = model.last_vectors(&ids, &mut cache, Const)?;
/// let mut cache = model.cache(Batch)?;
/// assert_eq!(model.last_vectors_of(embeddings, &mut cache, Const::<1>)?.as_vec(), last.as_vec());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(conventions = Config, output = Config::VocabSize)]
pub struct Gpt2<Config: Gpt2Config, E, D, P: Precision> {
    /// A vector for each token; also the weight of the logits.
    #[param(|table| init::normal(table, 0.02))]
    pub token_embedder: Weight<(Config::VocabSize, Config::EmbedDim), E, D, P>,
    /// A vector for each position.
    #[param(|table| init::normal(table, 0.02))]
    pub position_embedder: Tensor<(Config::MaxSeqLen, Config::EmbedDim), E, D>,
    /// The layers.
    pub layers:
        Layers<Config::NumLayers, Layer<Config::EmbedDim, Config::NumHeads, Config::HiddenDim, GeluTanh, E, D, P>>,
    /// The norm after the last layer.
    pub norm: LayerNorm<Config::EmbedDim, E, D>,
}

impl<Config: Gpt2Config, E: Real, D: Backend<E>, P: Precision> Gpt2<Config, E, D, P> {
    /// `(B, S) ids of VocabSize -> (B, S, VocabSize)`; `tape` records the operations for gradients. No token attends
    /// to padding.
    pub fn forward<B: DataDim, S: AtMost<Config::MaxSeqLen>, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, Config::VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, S, Config::VocabSize), E, D, T>, OpError> {
        P::linear(self.vectors(token_ids, tape)?, &self.token_embedder, None)
    }

    /// The vector of each token after the last norm, `last_hidden_state`, with the arguments of
    /// [`forward`](Self::forward): `(B, S) ids of VocabSize -> (B, S, EmbedDim)`.
    pub fn vectors<B: DataDim, S: AtMost<Config::MaxSeqLen>, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, Config::VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        self.vectors_of(P::embed(&self.token_embedder, token_ids, tape)?, &token_ids.padding_mask())
    }

    /// [`vectors`](Self::vectors) of embeddings in place of those of tokens, `inputs_embeds`:
    /// `(B, S, EmbedDim), padding (B, S) -> (B, S, EmbedDim)`.
    pub fn vectors_of<B: DataDim, S: AtMost<Config::MaxSeqLen>, T: Tape<E, D>>(
        &self,
        embeddings: Tensor<(B, S, Config::EmbedDim), E, D, T>,
        padding: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let mask = mk_mask::<CausalMask, PadSourceKeys, B, S>(padding);
        let x = self.add_positions(embeddings, 0)?;
        let x = self.layers.iter().try_fold(x, |x, layer| layer.forward(x, Config::NORM_EPSILON, &mask, Ok))?;
        self.norm.forward(x, Config::NORM_EPSILON)
    }

    /// The vectors from which [`last_logits`](Autoregressive::last_logits) computes the logits, for a head of your own:
    /// `(B, S) ids of VocabSize, Last -> (B, Last, EmbedDim)`. The tokens join the cache.
    ///
    /// # Errors
    /// Those of `last_logits`.
    pub fn last_vectors<B: DataDim, S: Dim, Last: Dim>(
        &self,
        tokens: &TokenIds<B, S, Config::VocabSize>,
        cache: &mut CacheOf<Self, B, E, D>,
        last: Last,
    ) -> Result<Tensor<(B, Last, Config::EmbedDim), E, D>, OpError> {
        self.last_vectors_of(P::embed(&self.token_embedder, tokens, NoneTape)?, cache, last)
    }

    /// [`last_vectors`](Self::last_vectors), with its errors, of embeddings in place of those of tokens:
    /// `(B, S, EmbedDim), Last -> (B, Last, EmbedDim)`. The embeddings join the cache, none as padding; tokens may
    /// follow.
    pub fn last_vectors_of<B: DataDim, S: Dim, Last: Dim>(
        &self,
        embeddings: Tensor<(B, S, Config::EmbedDim), E, D>,
        cache: &mut CacheOf<Self, B, E, D>,
        last: Last,
    ) -> Result<Tensor<(B, Last, Config::EmbedDim), E, D>, OpError> {
        let (batch, len, _) = *embeddings.shape();
        let (start, mask) = cache.advance(&self.position_embedder, (batch, len))?;
        let mut x = self.add_positions(embeddings, start)?;
        for (layer, cache) in self.layers.iter().zip(&mut cache.layers) {
            x = layer.forward(x, Config::NORM_EPSILON, &mask, |new| cache.update(new))?;
        }
        self.norm.forward(slice_last(x, axis::<S>(), last)?, Config::NORM_EPSILON)
    }

    /// The sum of embeddings and their positions, which begin at `start`.
    fn add_positions<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        embeddings: Tensor<(B, S, Config::EmbedDim), E, D, T>,
        start: usize,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let positions = learned_positions_from(&self.position_embedder, start, embeddings.shape().1)?;
        add_positions(embeddings, positions)
    }
}

autoregressive!(Gpt2<Gpt2Config>, |model| &model.position_embedder, &model.token_embedder);

/// The columns of all heads.
type Columns<EmbedDim, NumHeads> = Product<NumHeads, Quotient<EmbedDim, NumHeads>>;

/// The heads of keys and values, each of `EmbedDim / NumHeads` columns.
type KeyValueHeads<EmbedDim, NumHeads> = Heads<NumHeads, Quotient<EmbedDim, NumHeads>, Quotient<EmbedDim, NumHeads>>;

/// Self-attention, with biases.
#[module(output = EmbedDim)]
pub struct Attention<EmbedDim: ConstDim, NumHeads: Divides<EmbedDim>, E, D, P: Precision> {
    /// To the queries of all heads.
    pub query: Linear<EmbedDim, Columns<EmbedDim, NumHeads>, E, D, P>,
    /// To the keys of all heads.
    pub key: Linear<EmbedDim, Columns<EmbedDim, NumHeads>, E, D, P>,
    /// To the values of all heads.
    pub value: Linear<EmbedDim, Columns<EmbedDim, NumHeads>, E, D, P>,
    /// Mixes the outputs of the heads.
    pub output: Linear<Columns<EmbedDim, NumHeads>, EmbedDim, E, D, P>,
}

impl<EmbedDim: ConstDim, NumHeads: Divides<EmbedDim>, E: Real, D: Backend<E>, P: Precision>
    Attention<EmbedDim, NumHeads, E, D, P>
{
    /// `(B, Q, EmbedDim), mask (B, Q, K) -> (B, Q, EmbedDim)`. `update_cache` prepends the cached keys and values;
    /// without a cache it is `Ok`.
    pub(crate) fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, EmbedDim), E, D, T>,
        mask: &AttentionMask<B, Q, K>,
        update_cache: impl CacheUpdate<B, Q, K, KeyValueHeads<EmbedDim, NumHeads>, E, D, T>,
    ) -> Result<Tensor<(B, Q, EmbedDim), E, D, T>, OpError> {
        let query = self.query.forward(x.clone())?;
        let (key, value) = update_cache((self.key.forward(x.clone())?, self.value.forward(x)?))?;
        self.output.forward(multi_head_attention(query, key, value, mask, AttentionOptions::default())?)
    }
}

/// `output(f(hidden(x)))` with the activation `Function`.
#[module(output = EmbedDim)]
pub struct FeedForward<EmbedDim: ConstDim, HiddenDim: ConstDim, Function: Activation, E, D, P: Precision> {
    /// From `EmbedDim` to `HiddenDim`.
    pub hidden: Linear<EmbedDim, HiddenDim, E, D, P>,
    /// From `HiddenDim` back to `EmbedDim`.
    pub output: Linear<HiddenDim, EmbedDim, E, D, P>,
}

impl<EmbedDim: ConstDim, HiddenDim: ConstDim, Function: Activation, E: Real, D: Backend<E>, P: Precision>
    FeedForward<EmbedDim, HiddenDim, Function, E, D, P>
{
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`
    pub(crate) fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        self.output.forward(Function::apply(self.hidden.forward(x)?)?)
    }
}

/// Attention and feed-forward layer with the activation `Function`, each with a norm before it and a residual around
/// it.
#[module(output = EmbedDim)]
pub struct Layer<
    EmbedDim: ConstDim,
    NumHeads: Divides<EmbedDim>,
    HiddenDim: ConstDim,
    Function: Activation,
    E,
    D,
    P: Precision,
> {
    /// The norm before the attention.
    pub attention_norm: LayerNorm<EmbedDim, E, D>,
    /// Each position attends to those that the mask shows.
    pub attention: Attention<EmbedDim, NumHeads, E, D, P>,
    /// The norm before the feed-forward layer.
    pub feed_forward_norm: LayerNorm<EmbedDim, E, D>,
    /// Transforms each position on its own.
    pub feed_forward: FeedForward<EmbedDim, HiddenDim, Function, E, D, P>,
}

impl<EmbedDim: ConstDim, NumHeads: Divides<EmbedDim>, HiddenDim: ConstDim, Function: Activation, E, D, P>
    Layer<EmbedDim, NumHeads, HiddenDim, Function, E, D, P>
where
    E: Real,
    D: Backend<E>,
    P: Precision,
{
    /// `(B, Q, EmbedDim) -> (B, Q, EmbedDim)`, with the arguments of the attention. The norms add `epsilon` to the
    /// variance.
    pub(crate) fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, EmbedDim), E, D, T>,
        epsilon: f64,
        mask: &AttentionMask<B, Q, K>,
        update_cache: impl CacheUpdate<B, Q, K, KeyValueHeads<EmbedDim, NumHeads>, E, D, T>,
    ) -> Result<Tensor<(B, Q, EmbedDim), E, D, T>, OpError> {
        let normalized = self.attention_norm.forward(x.clone(), epsilon)?;
        let x = residual(x, self.attention.forward(normalized, mask, update_cache)?)?;
        let normalized = self.feed_forward_norm.forward(x.clone(), epsilon)?;
        residual(x, self.feed_forward.forward(normalized)?)
    }
}
