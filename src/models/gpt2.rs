//! GPT-2 ([Radford et al., 2019](https://openai.com/index/better-language-models/)): a decoder with norms before its
//! sublayers, learned positions, biases everywhere and tied logits. [`nano_gpt`](super::nano_gpt) has the same
//! without biases.
//!
//! | in the paper | in `modeling_gpt2.py` | here |
//! | --- | --- | --- |
//! | 2.3, layer norm before each sub-block | `GPT2Block` | [`Layer`] |
//! | GPT, 3.1, masked self-attention | `GPT2Attention`, `Conv1D` | [`Attention`], [`multi_head_attention`] |
//! | GPT, 4.1, position-wise feed-forward layer, GELU | `GPT2MLP`, `NewGELUActivation` | [`FeedForward`], [`GeluTanh`] |
//! | | `past_key_values` | [`Gpt2Cache`] |
//! | 2.3, norm after the last block | `GPT2Model`, `GPT2LMHeadModel` | [`Gpt2`] |

use crate::backend::{Backend, Tape};
use crate::dims::{AtMost, ConstDim, DataShape, Dim, Divides, EndsIn, MaybeSharded, Product, Quotient, axis};
use crate::mask::{AttentionMask, CausalMask, PadSourceKeys, mk_mask};
use crate::module;
use crate::nn::{Autoregressive, Cache, CacheUpdate, Heads, LayerNorm, Layers, Linear, Precision, Weight, init};
use crate::ops::{
    Activation, AttentionOptions, GeluTanh, OpError, Real, add_positions, learned_positions_from, multi_head_attention,
    residual, select,
};
use crate::tokens::TokenIds;
use dfdx::tensor::{Cpu, NoneTape, Tensor};

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
/// The columns of all heads.
type Columns<Config> = Product<<Config as Gpt2Config>::NumHeads, HeadDim<Config>>;

/// The heads whose keys and values a cache holds.
type KeyValueHeadsOf<Config> = Heads<<Config as Gpt2Config>::NumHeads, HeadDim<Config>, HeadDim<Config>, Config>;

/// Causal self-attention, with biases.
#[module(output = Config::EmbedDim)]
pub struct Attention<Config: Gpt2Config, E, D, P: Precision> {
    /// To the queries of all heads.
    pub query: Linear<Config::EmbedDim, Columns<Config>, E, D, P>,
    /// To the keys of all heads.
    pub key: Linear<Config::EmbedDim, Columns<Config>, E, D, P>,
    /// To the values of all heads.
    pub value: Linear<Config::EmbedDim, Columns<Config>, E, D, P>,
    /// Mixes the outputs of the heads.
    pub output: Linear<Columns<Config>, Config::EmbedDim, E, D, P>,
}

/// `output(gelu(hidden(x)))`, the GELU by its tanh approximation.
#[module(output = Config::EmbedDim)]
pub struct FeedForward<Config: Gpt2Config, E, D, P: Precision> {
    /// From `EmbedDim` to `HiddenDim`.
    pub hidden: Linear<Config::EmbedDim, Config::HiddenDim, E, D, P>,
    /// From `HiddenDim` back to `EmbedDim`.
    pub output: Linear<Config::HiddenDim, Config::EmbedDim, E, D, P>,
}

/// Attention and feed-forward layer, each with a norm before it and a residual around it.
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct Layer<Config: Gpt2Config, E, D, P: Precision> {
    /// The norm before the attention.
    pub attention_norm: LayerNorm<Config::EmbedDim, E, D>,
    /// Each position attends to itself and the ones before it.
    pub attention: Attention<Config, E, D, P>,
    /// The norm before the feed-forward layer.
    pub feed_forward_norm: LayerNorm<Config::EmbedDim, E, D>,
    /// Transforms each position on its own.
    pub feed_forward: FeedForward<Config, E, D, P>,
}

impl<Config: Gpt2Config, E: Real, D: Backend<E>, P: Precision> Layer<Config, E, D, P> {
    /// `(B, Q, EmbedDim), mask (B, Q, K) -> (B, Q, EmbedDim)`. `update_cache` prepends the cached keys and values.
    fn forward<B: MaybeSharded, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, Config::EmbedDim), E, D, T>,
        mask: &AttentionMask<B, Q, K>,
        update_cache: impl CacheUpdate<B, Q, K, KeyValueHeadsOf<Config>, E, D, T>,
    ) -> Result<Tensor<(B, Q, Config::EmbedDim), E, D, T>, OpError> {
        let normalized = self.attention_norm.forward(x.clone(), Config::NORM_EPSILON)?;
        let query = self.attention.query.forward(normalized.clone())?;
        let key = self.attention.key.forward(normalized.clone())?;
        let value = self.attention.value.forward(normalized)?;
        let (key, value) = update_cache((key, value))?;
        let attended = multi_head_attention(query, key, value, mask, AttentionOptions::default())?;
        let x = residual(x, self.attention.output.forward(attended)?)?;

        let normalized = self.feed_forward_norm.forward(x.clone(), Config::NORM_EPSILON)?;
        let hidden = GeluTanh::apply(self.feed_forward.hidden.forward(normalized)?)?;
        residual(x, self.feed_forward.output.forward(hidden)?)
    }
}

/// A GPT-2: the logits of the next token at each position.
///
/// ```
/// use typed_transformer::{doctest::*, models::gpt2::Gpt2, prelude::*};
/// let model = Gpt2::<Small, f32, Cpu>::build(&Cpu::default());
/// let ids = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SeqLen))?;
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = model.forward(&ids, NoneTape)?;
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
    pub layers: Layers<Config::NumLayers, Layer<Config, E, D, P>>,
    /// The norm after the last layer.
    pub norm: LayerNorm<Config::EmbedDim, E, D>,
}

impl<Config: Gpt2Config, E: Real, D: Backend<E>, P: Precision> Gpt2<Config, E, D, P> {
    /// `(B, S) ids of VocabSize -> (B, S, VocabSize)`; `tape` records the operations for gradients. No position attends
    /// to padding.
    pub fn forward<B: MaybeSharded, S: AtMost<Config::MaxSeqLen>, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, Config::VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, S, Config::VocabSize), E, D, T>, OpError> {
        let mask = mk_mask::<CausalMask, PadSourceKeys, B, S>(&token_ids.padding_mask());
        let x = self.embed(token_ids, 0, tape)?;
        self.logits(self.layers.iter().try_fold(x, |x, layer| layer.forward(x, &mask, Ok))?)
    }

    /// The sum of the vectors of tokens and of their positions, which begin at `start`.
    fn embed<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, Config::VocabSize>,
        start: usize,
        tape: T,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let positions = learned_positions_from(&self.position_embedder, start, token_ids.shape().1)?;
        add_positions(P::embed(&self.token_embedder, token_ids, tape)?, positions)
    }

    /// The output of the last layer for tokens that follow those in the cache: `(B, S) ids of VocabSize -> (B, S,
    /// EmbedDim)`.
    fn decode<B: MaybeSharded, S: Dim>(
        &self,
        tokens: &TokenIds<B, S, Config::VocabSize>,
        cache: &mut Gpt2Cache<B, Config, E, D>,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D>, OpError> {
        let (start, mask) = cache.reserve(&self.position_embedder, tokens.shape())?;
        let x = self.embed(tokens, start, NoneTape)?;
        let mut layers = self.layers.iter().zip(&mut cache.layers);
        layers.try_fold(x, |x, (layer, cache)| layer.forward(x, &mask, |new| cache.update(new)))
    }

    /// The logits of the last layer's output: `(.., EmbedDim) -> (.., VocabSize)`.
    fn logits<Dims: EndsIn<Config::EmbedDim, Before: DataShape>, T: Tape<E, D>>(
        &self,
        x: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims::WithLast<Config::VocabSize>, E, D, T>, OpError> {
        P::linear(self.norm.forward(x, Config::NORM_EPSILON)?, &self.token_embedder, None)
    }
}

/// The keys and values of the earlier positions of a [`Gpt2`], for each layer.
///
/// ```
/// use typed_transformer::{doctest::*, models::gpt2::{Gpt2, Gpt2Cache}, nn::Autoregressive, prelude::*};
/// let model = Gpt2::<Small, f32, Cpu>::build(&Cpu::default());
/// let cache: Gpt2Cache<Batch, Small, f32, Cpu> = model.cache(Batch)?;
/// # Ok::<(), OpError>(())
/// ```
pub type Gpt2Cache<B, Config, E = f32, D = Cpu> =
    Cache<B, <Config as Gpt2Config>::MaxSeqLen, <Config as Gpt2Config>::NumLayers, KeyValueHeadsOf<Config>, E, D>;

#[diagnostic::do_not_recommend]
impl<B: MaybeSharded, Config: Gpt2Config, E: Real, D: Backend<E>, P: Precision> Autoregressive<B, E, D>
    for Gpt2<Config, E, D, P>
{
    type VocabSize = Config::VocabSize;
    type MaxSeqLen = Config::MaxSeqLen;
    type Cache = Gpt2Cache<B, Config, E, D>;

    fn cache(&self, batch: B) -> Result<Self::Cache, OpError> {
        Cache::new(&self.position_embedder, batch)
    }

    fn next_logits<S: Dim>(
        &self,
        tokens: &TokenIds<B, S, Config::VocabSize>,
        cache: &mut Self::Cache,
    ) -> Result<Tensor<(B, Config::VocabSize), E, D>, OpError> {
        self.logits(select(self.decode(tokens, cache)?, axis::<S>(), tokens.shape().1.size().saturating_sub(1))?)
    }

    fn all_logits<S: Dim>(
        &self,
        tokens: &TokenIds<B, S, Config::VocabSize>,
        cache: &mut Self::Cache,
    ) -> Result<Tensor<(B, S, Config::VocabSize), E, D>, OpError> {
        self.logits(self.decode(tokens, cache)?)
    }
}
