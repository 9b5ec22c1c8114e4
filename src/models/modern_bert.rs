//! ModernBERT ([Warner et al., 2024](https://arxiv.org/abs/2412.13663)): an encoder of long texts. In every third
//! layer, a position sees all positions; in the others, its neighbours on both sides. The model has rotary positions,
//! norms before its sublayers, and no biases but that of the logits.
//!
//! | in the paper, 2 | in `modeling_modernbert.py` | here |
//! | --- | --- | --- |
//! | norm after the embeddings, none before the first attention | `ModernBertEmbeddings`, `attn_norm` | [`ModernBert::embedding_norm`], [`ModernBert::attention_norms`] |
//! | alternating attention, windows of 128 | `layer_types`, `local_attention` | [`ModernBertConfig::is_global`], [`CenteredWindow`] |
//! | RoPE with theta 160,000 and 10,000 | `ModernBertRotaryEmbedding` | [`ModernBertConfig::GLOBAL_ROTARY`], [`ModernBertConfig::LOCAL_ROTARY`] |
//! | attention without biases | `ModernBertAttention` | [`Attention`] |
//! | GeGLU | `ModernBertMLP` | [`FeedForward`] of Llama, [`Gelu`] |
//! | pre-normalization | `ModernBertEncoderLayer` | [`Layer`] |
//! | masked language modeling | `ModernBertPredictionHead`, `ModernBertForMaskedLM` | [`ModernBert::logits`] |

use super::llama::FeedForward;
use crate::mask::CenteredWindow;
use crate::nn::{Precision, Weight, init};
use crate::ops::{Activation, Gelu, Rotary, rotary_positions};
use crate::prelude::*;

/// The dimensions and the constants of a [`ModernBert`]: `ModernBertConfig` of HuggingFace.
///
/// ```
/// use typed_transformer::{doctest::*, models::modern_bert::{ModernBert, ModernBertConfig}, prelude::*};
/// pub struct Tiny;
/// impl ModernBertConfig for Tiny {
///     type VocabSize = VocabSize;
///     type MaxSeqLen = MaxSeqLen;
///     type EmbedDim = EmbedDim;
///     type NumHeads = NumKeyValueHeads;
///     type HeadDim = EvenHeads;
///     type HiddenDim = HiddenDim;
///     type NumLayers = NumLayers;
///     type WindowLen = TgtLen;
///     const NORM_EPSILON: f64 = 1e-5;
/// }
/// let model = ModernBert::<Tiny, f32, Cpu>::build(&Cpu::default());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the configuration of a ModernBERT",
    label = "`{Self}` does not implement `ModernBertConfig`",
    note = "implement `ModernBertConfig` for an empty struct of your own, with one line per dimension"
)]
pub trait ModernBertConfig: 'static {
    /// The tokens that the model reads and writes.
    type VocabSize: ConstDim;
    /// The longest sequence.
    type MaxSeqLen: ConstDim;
    /// The width of the vector of a token.
    type EmbedDim: ConstDim;
    /// The number of heads.
    type NumHeads: ConstDim;
    /// The size of a head. Rotary positions use its columns in pairs.
    type HeadDim: Even;
    /// The width inside the feed-forward layer, of the gate too.
    type HiddenDim: ConstDim;
    /// The number of layers.
    type NumLayers: ConstDim;
    /// The number of neighbours that a position of a local layer sees, half of them before it and half of them after
    /// it.
    type WindowLen: ConstDim;
    /// The number of layers in a group, of which the first one is global.
    const LAYERS_PER_GLOBAL: usize = 3;
    /// The number that a norm adds to the variance.
    const NORM_EPSILON: f64;
    /// The rotary positions of local layers.
    const LOCAL_ROTARY: Rotary = Rotary::halves(10_000.0);
    /// The rotary positions of global layers.
    const GLOBAL_ROTARY: Rotary = Rotary::halves(160_000.0);
    /// Whether the model has the head of the logits. Files of an encoder alone have none, and [`ModernBert::logits`]
    /// does not compile without one.
    const HEAD: bool = true;

    /// Whether the layer, counted from 0, sees all positions.
    #[must_use]
    fn is_global(layer: usize) -> bool {
        layer.is_multiple_of(Self::LAYERS_PER_GLOBAL)
    }

    /// The constants that saved parameters do not show, as names and values; files of weights store them.
    fn conventions() -> Vec<(&'static str, String)> {
        vec![
            ("norm epsilon", Self::NORM_EPSILON.to_string()),
            ("window", Self::WindowLen::SIZE.to_string()),
            ("layers per global one", Self::LAYERS_PER_GLOBAL.to_string()),
            ("rotary positions of local layers", format!("{:?}", Self::LOCAL_ROTARY)),
            ("rotary positions of global layers", format!("{:?}", Self::GLOBAL_ROTARY)),
        ]
    }
}

/// A weight of a norm without a bias.
#[module(output = EmbedDim)]
pub struct NormWeight<EmbedDim: ConstDim, E, D> {
    /// A factor for each column.
    #[param(init::ones)]
    pub weight: Tensor<(EmbedDim,), E, D>,
}

/// A ModernBERT: a vector for each token, and the logits of a token that is masked.
///
/// ```
/// use typed_transformer::{doctest::*, models::modern_bert::ModernBert, prelude::*};
/// let model = ModernBert::<Small, f32, Cpu>::build(&Cpu::default());
/// let (masked, pad) = (3, Fin::literal::<0>());
/// let ids = TokenIds::from_ids(&[7, masked, 24, 0], Some(pad), (Batch, SeqLen))?;
/// let states: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu, _> = model.forward(&ids, model.recording())?;
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu, _> = model.logits(states)?;
/// // A label is the token that was masked. Padding stands at all other positions, which the loss does not count.
/// let labels = LabelIds::from_ids(&[0, 11, 0, 0], Some(pad), (Batch, SeqLen))?;
/// let loss = cross_entropy(logits, &labels, Reduction::MeanTokens)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(conventions = Config, output = Config::VocabSize)]
pub struct ModernBert<Config: ModernBertConfig, E, D, P: Precision> {
    /// A vector for each token; also the weight of the logits.
    #[param(|table| init::normal(table, 0.02))]
    pub token_embedder: Weight<(Config::VocabSize, Config::EmbedDim), E, D, P>,
    /// The weight of the norm of the tokens' vectors.
    #[param(init::ones)]
    pub embedding_norm: Tensor<(Config::EmbedDim,), E, D>,
    /// The weights of the norms before the attentions of all layers but the first, which reads normalized vectors.
    #[layers(Config::NumLayers::SIZE.saturating_sub(1))]
    pub attention_norms: Vec<NormWeight<Config::EmbedDim, E, D>>,
    /// The layers.
    pub layers: Layers<Config::NumLayers, Layer<Config, E, D, P>>,
    /// The weight of the norm after the last layer.
    #[param(init::ones)]
    pub norm: Tensor<(Config::EmbedDim,), E, D>,
    /// From the vector of a token to the one that the logits come from, if the configuration has a head.
    #[some_if(Config::HEAD)]
    #[param(|weight| init::normal(weight, 0.02))]
    pub head: Option<Weight<(Config::EmbedDim, Config::EmbedDim), E, D, P>>,
    /// The weight of the norm before the logits, if the configuration has a head.
    #[some_if(Config::HEAD)]
    #[param(init::ones)]
    pub head_norm: Option<Tensor<(Config::EmbedDim,), E, D>>,
    /// Added to the logits, if the configuration has a head.
    #[some_if(Config::HEAD)]
    #[param(init::zeros)]
    pub logit_bias: Option<Tensor<(Config::VocabSize,), E, D>>,
}

impl<Config: ModernBertConfig, E: Real, D: Backend<E>, P: Precision> ModernBert<Config, E, D, P> {
    /// The normalized output of the last layer: `(B, S) ids of VocabSize -> (B, S, EmbedDim)`; `tape` records the
    /// operations for gradients. No token attends to padding.
    pub fn forward<B: DataDim, S: AtMost<Config::MaxSeqLen>, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, Config::VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let padding = token_ids.padding_mask();
        let local = (mk_mask::<CenteredWindow<Config::WindowLen>, PadSourceKeys, B, S>(&padding), Config::LOCAL_ROTARY);
        let global = (mk_mask::<NoMask, PadSourceKeys, B, S>(&padding), Config::GLOBAL_ROTARY);
        let x = P::embed(&self.token_embedder, token_ids, tape)?;
        let x = layer_norm(x, &self.embedding_norm, None, Config::NORM_EPSILON)?;
        let x = self.layers.iter().enumerate().try_fold(x, |x, (i, layer)| {
            let norm = i.checked_sub(1).map(|i| &self.attention_norms[i].weight);
            let (mask, rotary) = if Config::is_global(i) { &global } else { &local };
            layer.forward(x, norm, mask, *rotary)
        })?;
        layer_norm(x, &self.norm, None, Config::NORM_EPSILON)
    }

    /// The logits of the token at each position: `(B, S, EmbedDim) -> (B, S, VocabSize)`.
    pub fn logits<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        states: Tensor<(B, S, Config::EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, Config::VocabSize), E, D, T>, OpError> {
        const { assert!(Config::HEAD, "`HEAD` of the configuration is false: the model has no logits") }
        let head = self.head.as_ref().zip(self.head_norm.as_ref());
        let (head, norm) = head.expect("the type says that they are `Some`");
        let x = Gelu::apply(P::linear(states, head, None)?)?;
        let x = layer_norm(x, norm, None, Config::NORM_EPSILON)?;
        P::linear(x, &self.token_embedder, self.logit_bias.as_ref())
    }
}

type HeadDim<Config> = <Config as ModernBertConfig>::HeadDim;
type NumHeads<Config> = <Config as ModernBertConfig>::NumHeads;
/// The columns of all heads.
type Columns<Config> = Product<NumHeads<Config>, HeadDim<Config>>;

/// Self-attention with rotary positions, without biases.
#[module(output = Config::EmbedDim)]
pub struct Attention<Config: ModernBertConfig, E, D, P: Precision> {
    /// To the queries of all heads.
    #[param(|weight| init::normal(weight, 0.02))]
    pub query: Weight<(Columns<Config>, Config::EmbedDim), E, D, P>,
    /// To the keys of all heads.
    #[param(|weight| init::normal(weight, 0.02))]
    pub key: Weight<(Columns<Config>, Config::EmbedDim), E, D, P>,
    /// To the values of all heads.
    #[param(|weight| init::normal(weight, 0.02))]
    pub value: Weight<(Columns<Config>, Config::EmbedDim), E, D, P>,
    /// Mixes the outputs of the heads.
    #[param(|weight| init::normal(weight, 0.02))]
    pub output: Weight<(Config::EmbedDim, Columns<Config>), E, D, P>,
}

impl<Config: ModernBertConfig, E: Real, D: Backend<E>, P: Precision> Attention<Config, E, D, P> {
    /// `(B, S, EmbedDim), mask (B, S, S) -> (B, S, EmbedDim)`
    fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, Config::EmbedDim), E, D, T>,
        mask: &AttentionMask<B, S, S>,
        rotary: Rotary,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let rotate = |columns: Tensor<(B, S, Columns<Config>), E, D, T>| {
            let heads = rearrange!(columns: (B, S, Product<NumHeads<Config>, HeadDim<Config>>) -> (B, S, NumHeads<Config>, HeadDim<Config>))?;
            let rotated = rotary_positions(heads, axis::<S>(), 0, rotary)?;
            rearrange!(rotated: (B, S, NumHeads<Config>, HeadDim<Config>) -> (B, S, Product<NumHeads<Config>, HeadDim<Config>>))
        };
        let query = rotate(P::linear(x.clone(), &self.query, None)?)?;
        let key = rotate(P::linear(x.clone(), &self.key, None)?)?;
        let value = P::linear(x, &self.value, None)?;
        let attended = multi_head_attention(query, key, value, mask, AttentionOptions::default())?;
        P::linear(attended, &self.output, None)
    }
}

/// Attention and feed-forward layer, each with a norm before it and a residual around it. The model holds the norms
/// before the attentions, because the first layer has none.
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct Layer<Config: ModernBertConfig, E, D, P: Precision> {
    /// Each position attends to all, or to its neighbours.
    pub attention: Attention<Config, E, D, P>,
    /// The weight of the norm before the feed-forward layer.
    #[param(init::ones)]
    pub feed_forward_norm: Tensor<(Config::EmbedDim,), E, D>,
    /// Transforms each position on its own: GeGLU.
    pub feed_forward: FeedForward<Config::EmbedDim, Config::HiddenDim, Gelu, E, D, P>,
}

impl<Config: ModernBertConfig, E: Real, D: Backend<E>, P: Precision> Layer<Config, E, D, P> {
    /// `(B, S, EmbedDim), norm (EmbedDim), mask (B, S, S) -> (B, S, EmbedDim)`
    fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, Config::EmbedDim), E, D, T>,
        attention_norm: Option<&Tensor<(Config::EmbedDim,), E, D>>,
        mask: &AttentionMask<B, S, S>,
        rotary: Rotary,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let read = match attention_norm {
            Some(weight) => layer_norm(x.clone(), weight, None, Config::NORM_EPSILON)?,
            None => x.clone(),
        };
        let x = residual(x, self.attention.forward(read, mask, rotary)?)?;
        let normalized = layer_norm(x.clone(), &self.feed_forward_norm, None, Config::NORM_EPSILON)?;
        residual(x, self.feed_forward.forward(normalized)?)
    }
}
