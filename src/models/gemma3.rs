//! Gemma 3, its model of text ([Gemma Team, 2025](https://arxiv.org/abs/2503.19786)): in most layers a position sees a
//! window of the last positions, and in every sixth layer all positions up to itself. Norms stand before and after each
//! sublayer, and multiply by one more than their weight.
//!
//! | in the report, 2 | in `modeling_gemma3.py` | here |
//! | --- | --- | --- |
//! | grouped-query attention with QK-norm | `Gemma3Attention` | [`Attention`] |
//! | post-norm and pre-norm with RMSNorm | `Gemma3RMSNorm`, `Gemma3DecoderLayer` | [`Layer`] |
//! | 5:1 interleaving of local and global layers | `layer_types`, `sliding_window` | [`Gemma3Config::is_global`], [`SlidingWindow`] |
//! | RoPE base frequency of 10k and 1M | `Gemma3RotaryEmbedding` | [`Gemma3Config::LOCAL_ROTARY`], [`Gemma3Config::GLOBAL_ROTARY`] |
//! | Gemma, 2, GeGLU | `Gemma3MLP` | [`FeedForward`](super::llama::FeedForward) of Llama |
//! | Gemma, 2, shared embeddings | `Gemma3TextScaledWordEmbedding`, `Gemma3ForCausalLM` | [`Gemma3`] |
//! | | `past_key_values` | [`Cache`] |

mod layers;

pub use layers::{Attention, Layer};

use crate::dims::{DataShape, EndsIn};
use crate::nn::{Autoregressive, Cache, CacheOf, Heads, Precision, Weight, init};
use crate::ops::{Rotary, offset, slice_last};
use crate::prelude::*;

/// The dimensions and the constants of a [`Gemma3`]: `Gemma3TextConfig` of HuggingFace.
///
/// ```
/// use typed_transformer::{doctest::*, models::gemma3::{Gemma3, Gemma3Config}, ops::Rotary, prelude::*};
/// pub struct Tiny;
/// impl Gemma3Config for Tiny {
///     type VocabSize = VocabSize;
///     type MaxSeqLen = MaxSeqLen;
///     type EmbedDim = EmbedDim;
///     type HiddenDim = HiddenDim;
///     type NumLayers = NumLayers;
///     type NumHeads = EvenHeads;
///     type NumKeyValueHeads = NumKeyValueHeads;
///     type HeadDim = EvenHeads;
///     type WindowLen = TgtLen;
///     const LAYERS_PER_GLOBAL: usize = 2;
///     const NORM_EPSILON: f64 = 1e-6;
///     const QUERY_PRE_ATTN_SCALAR: f64 = 4.0;
/// }
/// let model = Gemma3::<Tiny, f32, Cpu>::build(&Cpu::default());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the configuration of a Gemma 3",
    label = "`{Self}` does not implement `Gemma3Config`",
    note = "implement `Gemma3Config` for an empty struct of your own, with one line per dimension"
)]
pub trait Gemma3Config: 'static {
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
    /// The number of positions that a position sees in a local layer, itself included.
    type WindowLen: ConstDim;
    /// The number of layers in a group, of which the last one is global.
    const LAYERS_PER_GLOBAL: usize = 6;
    /// The number that a norm adds to the mean square.
    const NORM_EPSILON: f64;
    /// Scores are divided by the square root of this number.
    const QUERY_PRE_ATTN_SCALAR: f64;
    /// The rotary positions of local layers.
    const LOCAL_ROTARY: Rotary = Rotary::halves(10_000.0);
    /// The rotary positions of global layers.
    const GLOBAL_ROTARY: Rotary = Rotary::halves(1_000_000.0);

    /// Whether the layer, counted from 0, sees all positions.
    #[must_use]
    fn is_global(layer: usize) -> bool {
        (layer + 1).is_multiple_of(Self::LAYERS_PER_GLOBAL)
    }

    /// The constants that saved parameters do not show, as names and values; files of weights store them.
    fn conventions() -> Vec<(&'static str, String)> {
        vec![
            ("norm epsilon", Self::NORM_EPSILON.to_string()),
            ("query size", Self::QUERY_PRE_ATTN_SCALAR.to_string()),
            ("window", Self::WindowLen::SIZE.to_string()),
            ("layers per global one", Self::LAYERS_PER_GLOBAL.to_string()),
            ("rotary positions of local layers", format!("{:?}", Self::LOCAL_ROTARY)),
            ("rotary positions of global layers", format!("{:?}", Self::GLOBAL_ROTARY)),
        ]
    }
}

fn rotary<Config: Gemma3Config>(layer: usize) -> Rotary {
    if Config::is_global(layer) { Config::GLOBAL_ROTARY } else { Config::LOCAL_ROTARY }
}

/// The positions that a local layer sees.
type Local<Config> = SlidingWindow<<Config as Gemma3Config>::WindowLen>;
/// The heads whose keys and values a cache holds: the `NumKeyValueHeads` heads.
type CachedHeadsOf<Config> = Heads<
    <Config as Gemma3Config>::NumKeyValueHeads,
    <Config as Gemma3Config>::HeadDim,
    <Config as Gemma3Config>::HeadDim,
    Config,
>;

/// `x / √(mean(x²) + ε) · (1 + weight)`: `(.., M), (M) -> (.., M)`.
fn norm<Dims: EndsIn<M, Before: DataShape>, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<Dims, E, D, T>,
    weight: &Tensor<(M,), E, D>,
    epsilon: f64,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    rms_norm(x, &offset(weight.retaped::<T>(), 1.0)?, epsilon)
}

/// A Gemma 3: the logits of the next token at each position.
///
/// ```
/// use typed_transformer::{doctest::*, models::gemma3::Gemma3, nn::Autoregressive, ops::{embed, scale}, prelude::*};
/// let model = Gemma3::<Small, f32, Cpu>::build(&Cpu::default());
/// let ids = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SeqLen))?;
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = model.forward(&ids, NoneTape)?;
/// let vectors: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = model.vectors(&ids, NoneTape)?;
/// let embeddings = scale(embed(&model.token_embedder, &ids, NoneTape)?, 8f64.sqrt())?;
/// assert_eq!(model.vectors_of(embeddings.clone(), &ids.padding_mask())?.as_vec(), vectors.as_vec());
/// let mut cache = model.cache(Batch)?;
/// let last: Tensor<(Batch, Const<1>, EmbedDim), f32, Cpu> = model.last_vectors(&ids, &mut cache, Const)?;
/// let mut cache = model.cache(Batch)?;
/// assert_eq!(model.last_vectors_of(embeddings, &mut cache, Const::<1>)?.as_vec(), last.as_vec());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(conventions = Config, output = Config::VocabSize)]
pub struct Gemma3<Config: Gemma3Config, E, D, P: Precision> {
    /// A vector for each token; also the weight of the logits.
    #[param(|table| init::normal(table, 0.02))]
    pub token_embedder: Weight<(Config::VocabSize, Config::EmbedDim), E, D, P>,
    /// The layers.
    pub layers: Layers<Config::NumLayers, Layer<Config, E, D, P>>,
    /// The weight of the norm after the last layer.
    #[param(init::zeros)]
    pub norm: Tensor<(Config::EmbedDim,), E, D>,
}

impl<Config: Gemma3Config, E: Real, D: Backend<E>, P: Precision> Gemma3<Config, E, D, P> {
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
        self.vectors_of(self.embed(token_ids, tape)?, &token_ids.padding_mask())
    }

    /// [`vectors`](Self::vectors) of embeddings in place of those of tokens, `inputs_embeds`:
    /// `(B, S, EmbedDim), padding (B, S) -> (B, S, EmbedDim)`.
    ///
    /// As in HuggingFace, the embeddings are not scaled: that of a token is its vector times the square root of the
    /// width.
    pub fn vectors_of<B: DataDim, S: AtMost<Config::MaxSeqLen>, T: Tape<E, D>>(
        &self,
        embeddings: Tensor<(B, S, Config::EmbedDim), E, D, T>,
        padding: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let local = mk_mask::<Local<Config>, PadSourceKeys, B, S>(padding);
        let global = mk_mask::<CausalMask, PadSourceKeys, B, S>(padding);
        let x = self.layers.iter().enumerate().try_fold(embeddings, |x, (i, layer)| {
            let mask = if Config::is_global(i) { &global } else { &local };
            layer.forward(x, (0, rotary::<Config>(i)), mask, Ok)
        })?;
        norm(x, &self.norm, Config::NORM_EPSILON)
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
        self.last_vectors_of(self.embed(tokens, NoneTape)?, cache, last)
    }

    /// [`last_vectors`](Self::last_vectors), with its errors, of embeddings in place of those of tokens:
    /// `(B, S, EmbedDim), Last -> (B, Last, EmbedDim)`. The embeddings are not scaled. They join the cache, none as
    /// padding; tokens may follow.
    pub fn last_vectors_of<B: DataDim, S: Dim, Last: Dim>(
        &self,
        embeddings: Tensor<(B, S, Config::EmbedDim), E, D>,
        cache: &mut CacheOf<Self, B, E, D>,
        last: Last,
    ) -> Result<Tensor<(B, Last, Config::EmbedDim), E, D>, OpError> {
        let (batch, len, _) = *embeddings.shape();
        // Each layer makes its own mask below.
        let (start, _) = cache.advance(&self.norm, (batch, len))?;
        let mut x = embeddings;
        // The mask is made before the update: afterwards the cache counts the new positions as earlier ones.
        for ((i, layer), cache) in self.layers.iter().enumerate().zip(&mut cache.layers) {
            let mask = if Config::is_global(i) {
                cache.mask(len)
            } else {
                // Drops the positions before the window, `WindowLen` of them at a time or more.
                cache.slide::<Local<Config>>()?;
                cache.mask_of_kind::<Local<Config>, S>(len)
            };
            x = layer.forward(x, (start, rotary::<Config>(i)), &mask, |new| cache.update(new))?;
        }
        norm(slice_last(x, axis::<S>(), last)?, &self.norm, Config::NORM_EPSILON)
    }

    /// The vectors of the tokens, times the square root of their width.
    fn embed<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, Config::VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        scale(P::embed(&self.token_embedder, token_ids, tape)?, (Config::EmbedDim::SIZE as f64).sqrt())
    }
}

autoregressive!(Gemma3<Gemma3Config>, |model| &model.norm, &model.token_embedder);
