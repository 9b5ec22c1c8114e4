//! Llama ([Touvron et al., 2023](https://arxiv.org/abs/2302.13971)), with the groups of heads of [Llama
//! 2](https://arxiv.org/abs/2307.09288) and the slower rotary positions of [Llama
//! 3](https://arxiv.org/abs/2407.21783). SmolLM and TinyLlama are Llamas of other sizes. So is Mistral, up to the
//! length of its window if it has one. Qwen3 ([Yang et al., 2025](https://arxiv.org/abs/2505.09388)) and OLMo 2 ([OLMo
//! Team, 2025](https://arxiv.org/abs/2501.00656)) are Llamas with other [`Norms`].
//!
//! | in the papers | in `modeling_llama.py` | here |
//! | --- | --- | --- |
//! | Llama, 2.2, pre-normalization | `LlamaRMSNorm`, `LlamaDecoderLayer` | [`rms_norm`], [`Layer`] |
//! | Llama, 2.2, SwiGLU | `LlamaMLP` | [`FeedForward`] |
//! | Llama, 2.2, rotary embeddings | `LlamaRotaryEmbedding`, `apply_rotary_pos_emb` | [`rotary_positions`](crate::ops::rotary_positions), [`LlamaConfig::ROTARY`] |
//! | Llama 2, A.2.1, grouped-query attention | `LlamaAttention`, `repeat_kv` | [`Attention`], [`grouped_query_attention`](crate::ops::grouped_query_attention) |
//! | | `LlamaModel`, `LlamaForCausalLM`, `past_key_values` | [`Llama`], [`Cache`] |
//! | Qwen3, 2, QK-Norm | `q_norm`, `k_norm` of `modeling_qwen3.py` | [`Norms::BeforeAndInHeads`], [`Attention::query_norm`] |
//! | OLMo 2, 3.1, reordered norm | `Olmo2DecoderLayer` of `modeling_olmo2.py` | [`Norms::After`] |
//! | OLMo 2, 3.1, QK-norm | `q_norm`, `k_norm` of `modeling_olmo2.py` | [`Attention::joint_query_norm`] |

mod attention;

pub use attention::Attention;
pub(super) use attention::CachedHeadsOf;

use crate::nn::{Autoregressive, Cache, CacheOf, CacheUpdate, Precision, Weight, init};
use crate::ops::{Activation, Rotary, Silu, slice_last};
use crate::prelude::*;

/// The dimensions and the constants of a [`Llama`]: `LlamaConfig` of HuggingFace.
///
/// ```
/// use typed_transformer::{doctest::*, models::llama::LlamaConfig, ops::Rotary};
/// pub struct Tiny;
/// impl LlamaConfig for Tiny {
///     type VocabSize = VocabSize;
///     type MaxSeqLen = MaxSeqLen;
///     type EmbedDim = EmbedDim;
///     type HiddenDim = HiddenDim;
///     type NumLayers = NumLayers;
///     type NumHeads = EvenHeads;
///     type NumKeyValueHeads = NumKeyValueHeads;
///     type HeadDim = EvenHeads;
///     const NORM_EPSILON: f64 = 1e-5;
///     const ROTARY: Rotary = Rotary::halves(10_000.0);
///     const TIED_LOGITS: bool = true;
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the configuration of a Llama",
    label = "`{Self}` does not implement `LlamaConfig`",
    note = "implement `LlamaConfig` for an empty struct of your own, with one line per dimension"
)]
pub trait LlamaConfig: 'static {
    /// The tokens that the model reads and writes.
    type VocabSize: ConstDim;
    /// The longest sequence.
    type MaxSeqLen: ConstDim;
    /// The width of the vector of a token.
    type EmbedDim: ConstDim;
    /// The width inside the feed-forward layer, of the gate too.
    type HiddenDim: ConstDim;
    /// The number of layers.
    type NumLayers: ConstDim;
    /// The heads of the queries.
    type NumHeads: ConstDim;
    /// The key and value heads. Each serves a group of query heads; all groups have one size.
    type NumKeyValueHeads: Divides<Self::NumHeads>;
    /// The size of a head. Rotary positions use its columns in pairs.
    type HeadDim: Even;
    /// The number that a norm adds to the mean square.
    const NORM_EPSILON: f64;
    /// The rotary positions of queries and keys.
    const ROTARY: Rotary;
    /// Whether the logits use the embedding table as their weight.
    const TIED_LOGITS: bool;
    /// The norms of a layer. `cargo build` refuses [`Norms::After`] in a [`Mixtral`](super::mixtral::Mixtral):
    ///
    /// ```compile_fail,E0080
    /// # use typed_transformer::models::{llama::{LlamaConfig, Norms}, mixtral::{Mixtral, MixtralConfig}};
    /// # use typed_transformer::{doctest::*, ops::Rotary, prelude::*};
    /// # pub struct Tiny;
    /// impl LlamaConfig for Tiny {
    /// #   type VocabSize = VocabSize; type MaxSeqLen = MaxSeqLen; type EmbedDim = EmbedDim;
    /// #   type HiddenDim = HiddenDim; type NumLayers = NumLayers; type NumHeads = EvenHeads;
    /// #   type NumKeyValueHeads = NumKeyValueHeads; type HeadDim = EvenHeads; const NORM_EPSILON: f64 = 1e-5;
    /// #   const ROTARY: Rotary = Rotary::halves(10_000.0); const TIED_LOGITS: bool = false;
    ///     const NORMS: Norms = Norms::After;
    /// }
    /// # impl MixtralConfig for Tiny { type NumExperts = NumExperts; type ExpertsPerToken = ExpertsPerToken; }
    /// let ids = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SeqLen)).unwrap();
    /// let logits = Mixtral::<Tiny, f32, Cpu>::build(&Cpu::default()).forward(&ids, NoneTape);
    /// ```
    const NORMS: Norms = Norms::Before;

    /// The constants that saved parameters do not show, as names and values; files of weights store them.
    fn conventions() -> Vec<(&'static str, String)> {
        vec![("norm epsilon", Self::NORM_EPSILON.to_string()), ("rotary positions", format!("{:?}", Self::ROTARY))]
    }
}

/// Where the norms of a layer stand.
///
/// ```
/// use typed_transformer::models::{llama::{LlamaConfig, Norms}, published::{olmo_2_1b, qwen3_0_6b}};
/// assert_eq!([qwen3_0_6b::Config::NORMS, olmo_2_1b::Config::NORMS], [Norms::BeforeAndInHeads, Norms::After]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norms {
    /// Before each sublayer: `x + f(norm(x))`.
    Before,
    /// As `Before`. In addition, the query and the key of each head are normalized before they are rotated, as in
    /// Qwen3.
    BeforeAndInHeads,
    /// After each sublayer: `x + norm(f(x))`. In addition, the queries of all heads together are normalized before they
    /// are rotated, and so are the keys, as in OLMo 2.
    After,
}

/// `output(f(gate(x)) · hidden(x))` with the activation `Function`: SwiGLU with [`Silu`], GeGLU with a GELU.
#[module(output = EmbedDim)]
pub struct FeedForward<EmbedDim: ConstDim, HiddenDim: ConstDim, Function: Activation, E, D, P: Precision> {
    /// From `EmbedDim` to `HiddenDim`, before the activation.
    #[param(|weight| init::normal(weight, 0.02))]
    pub gate: Weight<(HiddenDim, EmbedDim), E, D, P>,
    /// From `EmbedDim` to `HiddenDim`, without an activation.
    #[param(|weight| init::normal(weight, 0.02))]
    pub hidden: Weight<(HiddenDim, EmbedDim), E, D, P>,
    /// From `HiddenDim` back to `EmbedDim`.
    #[param(|weight| init::normal(weight, 0.02))]
    pub output: Weight<(EmbedDim, HiddenDim), E, D, P>,
}

impl<EmbedDim: ConstDim, HiddenDim: ConstDim, Function: Activation, E: Real, D: Backend<E>, P: Precision>
    FeedForward<EmbedDim, HiddenDim, Function, E, D, P>
{
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`
    pub(crate) fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let gate = Function::apply(P::linear(x.clone(), &self.gate, None)?)?;
        let hidden = P::linear(x, &self.hidden, None)?;
        P::linear(mul(gate, hidden)?, &self.output, None)
    }
}

/// The feed-forward layer of a configuration.
pub(super) type FeedForwardOf<Config, E, D, P> =
    FeedForward<<Config as LlamaConfig>::EmbedDim, <Config as LlamaConfig>::HiddenDim, Silu, E, D, P>;

/// Attention and feed-forward layer, each with a residual around it and a norm before or after it ([`Norms`]).
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct Layer<Config: LlamaConfig, E, D, P: Precision> {
    /// The weight of the norm of the attention.
    #[param(init::ones)]
    pub attention_norm: Tensor<(Config::EmbedDim,), E, D>,
    /// Each position attends to itself and the ones before it.
    pub attention: Attention<Config, E, D, P>,
    /// The weight of the norm of the feed-forward layer.
    #[param(init::ones)]
    pub feed_forward_norm: Tensor<(Config::EmbedDim,), E, D>,
    /// Transforms each position on its own.
    pub feed_forward: FeedForwardOf<Config, E, D, P>,
}

impl<Config: LlamaConfig, E: Real, D: Backend<E>, P: Precision> Layer<Config, E, D, P> {
    /// `(B, Q, EmbedDim) -> (B, Q, EmbedDim)`, with the arguments of the attention.
    fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, Config::EmbedDim), E, D, T>,
        start: usize,
        mask: &AttentionMask<B, Q, K>,
        update_cache: impl CacheUpdate<B, Q, K, CachedHeadsOf<Config>, E, D, T>,
    ) -> Result<Tensor<(B, Q, Config::EmbedDim), E, D, T>, OpError> {
        let norm_if = |is_here, x, weight| if is_here { rms_norm(x, weight, Config::NORM_EPSILON) } else { Ok(x) };
        let after = Config::NORMS == Norms::After;
        let before = !after;
        let input = norm_if(before, x.clone(), &self.attention_norm)?;
        let attended = self.attention.forward(input, start, mask, update_cache)?;
        let x = residual(x, norm_if(after, attended, &self.attention_norm)?)?;
        let input = norm_if(before, x.clone(), &self.feed_forward_norm)?;
        let fed_forward = self.feed_forward.forward(input)?;
        residual(x, norm_if(after, fed_forward, &self.feed_forward_norm)?)
    }
}

/// A Llama: the logits of the next token at each position. [`models`](super) shows a configuration of one's own.
///
/// ```
/// use typed_transformer::{doctest::*, models::llama::Llama, nn::Autoregressive, ops::embed, prelude::*};
/// let model = Llama::<Small, f32, Cpu>::build(&Cpu::default());
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
pub struct Llama<Config: LlamaConfig, E, D, P: Precision> {
    /// A vector for each token.
    #[param(|table| init::normal(table, 0.02))]
    pub token_embedder: Weight<(Config::VocabSize, Config::EmbedDim), E, D, P>,
    /// The layers.
    pub layers: Layers<Config::NumLayers, Layer<Config, E, D, P>>,
    /// The weight of the norm after the last layer.
    #[param(init::ones)]
    pub norm: Tensor<(Config::EmbedDim,), E, D>,
    /// The weight of the logits, if it is not the table of the tokens.
    #[some_if(!Config::TIED_LOGITS)]
    #[param(|weight| init::normal(weight, 0.02))]
    pub logit: Option<Weight<(Config::VocabSize, Config::EmbedDim), E, D, P>>,
}

impl<Config: LlamaConfig, E: Real, D: Backend<E>, P: Precision> Llama<Config, E, D, P> {
    /// `(B, S) ids of VocabSize -> (B, S, VocabSize)`; `tape` records the operations for gradients. No token attends
    /// to padding.
    pub fn forward<B: DataDim, S: AtMost<Config::MaxSeqLen>, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, Config::VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, S, Config::VocabSize), E, D, T>, OpError> {
        P::linear(self.vectors(token_ids, tape)?, self.logit.as_ref().unwrap_or(&self.token_embedder), None)
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
        let x = self.layers.iter().try_fold(embeddings, |x, layer| layer.forward(x, 0, &mask, Ok))?;
        rms_norm(x, &self.norm, Config::NORM_EPSILON)
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
        let (start, mask) = cache.advance(&self.norm, (batch, len))?;
        let mut x = embeddings;
        for (layer, cache) in self.layers.iter().zip(&mut cache.layers) {
            x = layer.forward(x, start, &mask, |new| cache.update(new))?;
        }
        rms_norm(slice_last(x, axis::<S>(), last)?, &self.norm, Config::NORM_EPSILON)
    }
}

autoregressive!(Llama<LlamaConfig>, |model| &model.norm, model.logit.as_ref().unwrap_or(&model.token_embedder));
