//! Mixtral ([Jiang et al., 2024](https://arxiv.org/abs/2401.04088)): a [`Llama`](super::llama::Llama) whose layers have
//! experts in place of the feed-forward layer. In each layer, each token chooses the experts that transform it.
//!
//! | in the paper | in `modeling_mixtral.py` | here |
//! | --- | --- | --- |
//! | 2, architecture | `MixtralAttention`, `MixtralRMSNorm` | [`Attention`] of Llama, [`rms_norm`] |
//! | 2.1, gating network, `TopK` | `MixtralTopKRouter` | [`MixtureOfExperts::router`], [`top_k`](crate::ops::top_k) |
//! | 2.1, `Σ Softmax(Top2(x · W))ᵢ · SwiGLUᵢ(x)` | `MixtralExperts`, `MixtralSparseMoeBlock` | [`MixtureOfExperts`], [`FeedForward`](super::llama::FeedForward) of Llama |
//! | | `MixtralDecoderLayer` | [`Layer`] |
//! | | `MixtralModel`, `MixtralForCausalLM` | [`Mixtral`] |

mod experts;

pub use experts::MixtureOfExperts;
use experts::WithRouterLogits;

use super::llama::{Attention, CachedHeadsOf, LlamaConfig, Norms};
use crate::nn::{Autoregressive, Cache, CacheOf, CacheUpdate, Precision, Weight, init};
use crate::ops::slice_last;
use crate::prelude::*;

/// The dimensions and the constants of a [`Mixtral`]: `MixtralConfig` of HuggingFace. Most of them are in
/// [`LlamaConfig`].
///
/// ```
/// use typed_transformer::{doctest::*, models::{llama::LlamaConfig, mixtral::MixtralConfig}, ops::Rotary};
/// pub struct Tiny;
/// # impl LlamaConfig for Tiny { type VocabSize = VocabSize; type MaxSeqLen = MaxSeqLen; type EmbedDim = EmbedDim;
/// #     type HiddenDim = HiddenDim; type NumLayers = NumLayers; type NumHeads = EvenHeads;
/// #     type NumKeyValueHeads = NumKeyValueHeads; type HeadDim = EvenHeads; const NORM_EPSILON: f64 = 1e-5;
/// #     const ROTARY: Rotary = Rotary::halves(10_000.0); const TIED_LOGITS: bool = false; }
/// // Beside the dimensions of `LlamaConfig`:
/// impl MixtralConfig for Tiny {
///     type NumExperts = NumExperts;
///     type ExpertsPerToken = ExpertsPerToken;
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the configuration of a Mixtral",
    label = "`{Self}` does not implement `MixtralConfig`",
    note = "implement `LlamaConfig` and `MixtralConfig` for an empty struct of your own, with one line per dimension"
)]
pub trait MixtralConfig: LlamaConfig {
    /// The number of experts in a layer.
    type NumExperts: ConstDim;
    /// The number of experts that each token chooses.
    type ExpertsPerToken: ChosenFrom<Self::NumExperts>;
}

/// The dimension is a number of experts that a token can choose among `NumExperts`: at most all of them.
///
/// ```
/// use typed_transformer::{doctest::*, models::mixtral::ChosenFrom};
/// fn can_choose<Chosen: ChosenFrom<NumExperts>>() {}
/// can_choose::<ExpertsPerToken>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is greater than `{NumExperts}`",
    label = "a token cannot choose `{Self}` of `{NumExperts}`",
    note = "a token chooses at most all experts of a layer; choose a smaller `{Self}`"
)]
pub trait ChosenFrom<NumExperts: ConstDim>: ConstDim {
    /// The dimension itself, with the bound `AtMost`. As a supertrait, `AtMost` would make rustc report a hidden trait,
    /// not this one.
    #[doc(hidden)]
    type Number: ConstDim + AtMost<NumExperts>;

    /// The convention of a mixture in files of weights.
    #[doc(hidden)]
    fn conventions() -> Vec<(&'static str, String)> {
        vec![("experts per token", Self::SIZE.to_string())]
    }
}

#[diagnostic::do_not_recommend]
impl<ExpertsPerToken: ConstDim + AtMost<NumExperts>, NumExperts: ConstDim> ChosenFrom<NumExperts> for ExpertsPerToken {
    type Number = Self;
}

/// Attention and a mixture of experts, each with a norm before it and a residual around it.
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct Layer<Config: MixtralConfig, E, D, P: Precision> {
    /// The weight of the norm before the attention.
    #[param(init::ones)]
    pub attention_norm: Tensor<(Config::EmbedDim,), E, D>,
    /// Each position attends to itself and the ones before it.
    pub attention: Attention<Config, E, D, P>,
    /// The weight of the norm before the experts.
    #[param(init::ones)]
    pub experts_norm: Tensor<(Config::EmbedDim,), E, D>,
    /// Transforms each position on its own.
    pub mixture: MixtureOfExperts<Config, E, D, P>,
}

impl<Config: MixtralConfig, E: Real, D: Backend<E>, P: Precision> Layer<Config, E, D, P> {
    /// `(B, Q, EmbedDim) -> (B, Q, EmbedDim)`, with the arguments of the attention, and the router's logits.
    fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, Config::EmbedDim), E, D, T>,
        start: usize,
        mask: &AttentionMask<B, Q, K>,
        update_cache: impl CacheUpdate<B, Q, K, CachedHeadsOf<Config>, E, D, T>,
    ) -> Result<WithRouterLogits<B, Q, Config, E, D, T>, OpError> {
        const { assert!(!matches!(Config::NORMS, Norms::After), "`NORMS` of a Mixtral are before its sublayers") }
        let normalized = rms_norm(x.clone(), &self.attention_norm, Config::NORM_EPSILON)?;
        let x = residual(x, self.attention.forward(normalized, start, mask, update_cache)?)?;
        let normalized = rms_norm(x.clone(), &self.experts_norm, Config::NORM_EPSILON)?;
        let (mixed, router_logits) = self.mixture.forward(normalized)?;
        Ok((residual(x, mixed)?, router_logits))
    }
}

/// A Mixtral: the logits of the next token at each position.
///
/// ```
/// use typed_transformer::{doctest::*, models::mixtral::Mixtral, nn::Autoregressive, ops::embed, prelude::*};
/// let model = Mixtral::<Small, f32, Cpu>::build(&Cpu::default());
/// let ids = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SeqLen))?;
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = model.forward(&ids, NoneTape)?;
/// let vectors: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = model.vectors(&ids, NoneTape)?;
/// let embeddings = embed(&model.token_embedder, &ids, NoneTape)?;
/// assert_eq!(model.vectors_of(embeddings.clone(), &ids.padding_mask())?.as_vec(), vectors.as_vec());
/// let (_, router_logits) = model.vectors_and_router_logits_of(embeddings.clone(), &ids.padding_mask())?;
/// let of_first_layer: &Tensor<(Batch, SeqLen, NumExperts), f32, Cpu> = &router_logits[0];
/// let mut cache = model.cache(Batch)?;
/// let last: Tensor<(Batch, Const<1>, EmbedDim), f32, Cpu> = model.last_vectors(&ids, &mut cache, Const)?;
/// let mut cache = model.cache(Batch)?;
/// assert_eq!(model.last_vectors_of(embeddings, &mut cache, Const::<1>)?.as_vec(), last.as_vec());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(conventions = Config, output = Config::VocabSize)]
pub struct Mixtral<Config: MixtralConfig, E, D, P: Precision> {
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

impl<Config: MixtralConfig, E: Real, D: Backend<E>, P: Precision> Mixtral<Config, E, D, P> {
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
        Ok(self.vectors_and_router_logits_of(embeddings, padding)?.0)
    }

    /// [`vectors_of`](Self::vectors_of), and the router's logits of each layer, `output_router_logits`, for a loss that
    /// balances the experts: `(B, S, EmbedDim), padding (B, S) -> (B, S, EmbedDim)`, and `(B, S, NumExperts)` for
    /// each layer.
    pub fn vectors_and_router_logits_of<B: DataDim, S: AtMost<Config::MaxSeqLen>, T: Tape<E, D>>(
        &self,
        embeddings: Tensor<(B, S, Config::EmbedDim), E, D, T>,
        padding: &PaddingMask<B, S>,
    ) -> Result<(Tensor<(B, S, Config::EmbedDim), E, D, T>, Vec<Tensor<(B, S, Config::NumExperts), E, D, T>>), OpError>
    {
        let mask = mk_mask::<CausalMask, PadSourceKeys, B, S>(padding);
        let (mut x, mut router_logits) = (embeddings, Vec::new());
        for layer in &self.layers {
            let (output, logits) = layer.forward(x, 0, &mask, Ok)?;
            x = output;
            router_logits.push(logits);
        }
        Ok((rms_norm(x, &self.norm, Config::NORM_EPSILON)?, router_logits))
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
            (x, _) = layer.forward(x, start, &mask, |new| cache.update(new))?;
        }
        rms_norm(slice_last(x, axis::<S>(), last)?, &self.norm, Config::NORM_EPSILON)
    }
}

autoregressive!(Mixtral<MixtralConfig>, |model| &model.norm, model.logit.as_ref().unwrap_or(&model.token_embedder));
