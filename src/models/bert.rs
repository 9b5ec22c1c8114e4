//! BERT ([Devlin et al., 2018](https://arxiv.org/abs/1810.04805)): an encoder with token types, norms after its
//! sublayers and biases everywhere. Sentence encoders such as MiniLM have its form.
//!
//! | in the paper | in `modeling_bert.py` | here |
//! | --- | --- | --- |
//! | 3, input representations | `BertEmbeddings` | [`Embeddings`] |
//! | 3, multi-layer bidirectional encoder | `BertSelfAttention`, `BertSelfOutput` | [`Attention`] of GPT-2 |
//! | A.2, GELU | `BertIntermediate`, `BertOutput` | [`FeedForward`] of GPT-2, [`Gelu`] |
//! | | `BertLayer` | [`Layer`] |
//! | 3, the final hidden state of `[CLS]` | `BertPooler` | [`Bert::pooled`], [`Tanh`] |
//! | | `BertModel` | [`Bert`] |

use super::gpt2::{Attention, FeedForward};
use crate::nn::{LayerNorm, Precision, Weight, init};
use crate::ops::{Activation, Gelu, Tanh, learned_positions_from, select};
use crate::prelude::*;

/// The dimensions and the constants of a [`Bert`]: `BertConfig` of HuggingFace.
///
/// ```
/// use typed_transformer::{doctest::*, models::bert::{Bert, BertConfig}, prelude::*};
/// pub struct Tiny;
/// impl BertConfig for Tiny {
///     type VocabSize = VocabSize;
///     type TokenTypes = TokenTypes;
///     type MaxSeqLen = MaxSeqLen;
///     type EmbedDim = EmbedDim;
///     type NumHeads = EvenHeads;
///     type HiddenDim = HiddenDim;
///     type NumLayers = NumLayers;
///     const NORM_EPSILON: f64 = 1e-12;
/// }
/// let model = Bert::<Tiny, f32, Cpu>::build(&Cpu::default());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the configuration of a BERT",
    label = "`{Self}` does not implement `BertConfig`",
    note = "implement `BertConfig` for an empty struct of your own, with one line per dimension"
)]
pub trait BertConfig: 'static {
    /// The tokens that the model reads.
    type VocabSize: ConstDim;
    /// The types of tokens, such as those of the first and of the second sentence.
    type TokenTypes: ConstDim;
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
    /// Whether the model has a pooler. Files of an encoder alone, or of one with another head, may have none.
    /// `cargo build` refuses [`Bert::pooled`] of a model without one:
    ///
    /// ```compile_fail,E0080
    /// # use typed_transformer::{doctest::*, models::bert::{Bert, BertConfig}, prelude::*};
    /// pub struct Encoder;
    /// impl BertConfig for Encoder {
    /// #   type VocabSize = VocabSize; type TokenTypes = TokenTypes; type MaxSeqLen = MaxSeqLen;
    /// #   type EmbedDim = EmbedDim; type NumHeads = EvenHeads; type HiddenDim = HiddenDim; type NumLayers = NumLayers;
    /// #   const NORM_EPSILON: f64 = 1e-12;
    ///     const POOLER: bool = false;
    /// }
    /// let states: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = Cpu::default().zeros();
    /// let pooled = Bert::<Encoder, f32, Cpu>::build(&Cpu::default()).pooled(states);
    /// ```
    const POOLER: bool = true;

    /// The constants that saved parameters do not show, as names and values; files of weights store them.
    fn conventions() -> Vec<(&'static str, String)> {
        vec![("norm epsilon", Self::NORM_EPSILON.to_string())]
    }
}

/// `norm(token + type + position)`
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct Embeddings<Config: BertConfig, E, D, P: Precision> {
    /// A vector for each token.
    #[param(|table| init::normal(table, 0.02))]
    pub token: Weight<(Config::VocabSize, Config::EmbedDim), E, D, P>,
    /// A vector for each type.
    #[param(|table| init::normal(table, 0.02))]
    pub token_type: Tensor<(Config::TokenTypes, Config::EmbedDim), E, D>,
    /// A vector for each position.
    #[param(|table| init::normal(table, 0.02))]
    pub position: Tensor<(Config::MaxSeqLen, Config::EmbedDim), E, D>,
    /// The norm of the sum.
    pub norm: LayerNorm<Config::EmbedDim, E, D>,
}

impl<Config: BertConfig, E: Real, D: Backend<E>, P: Precision> Embeddings<Config, E, D, P> {
    /// `(B, S) ids of VocabSize, (B, S) ids of TokenTypes -> (B, S, EmbedDim)`
    fn forward<B: DataDim, S: AtMost<Config::MaxSeqLen>, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, Config::VocabSize>,
        token_types: &TokenIds<B, S, Config::TokenTypes>,
        tape: T,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let types = embed(&self.token_type, token_types, tape.clone())?;
        let x = residual(P::embed(&self.token, token_ids, tape)?, types)?;
        let x = add_positions(x, learned_positions_from(&self.position, 0, token_ids.shape().1)?)?;
        self.norm.forward(x, Config::NORM_EPSILON)
    }
}

/// Attention and feed-forward layer, each with a residual around it and a norm after that.
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct Layer<Config: BertConfig, E, D, P: Precision> {
    /// Each position attends to all that are not padding.
    pub attention: Attention<Config::EmbedDim, Config::NumHeads, E, D, P>,
    /// The norm after the attention.
    pub attention_norm: LayerNorm<Config::EmbedDim, E, D>,
    /// Transforms each position on its own.
    pub feed_forward: FeedForward<Config::EmbedDim, Config::HiddenDim, Gelu, E, D, P>,
    /// The norm after the feed-forward layer.
    pub feed_forward_norm: LayerNorm<Config::EmbedDim, E, D>,
}

impl<Config: BertConfig, E: Real, D: Backend<E>, P: Precision> Layer<Config, E, D, P> {
    /// `(B, S, EmbedDim), mask (B, S, S) -> (B, S, EmbedDim)`
    fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, Config::EmbedDim), E, D, T>,
        mask: &AttentionMask<B, S, S>,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let x = residual(x.clone(), self.attention.forward(x, mask, Ok)?)?;
        let x = self.attention_norm.forward(x, Config::NORM_EPSILON)?;
        let x = residual(x.clone(), self.feed_forward.forward(x)?)?;
        self.feed_forward_norm.forward(x, Config::NORM_EPSILON)
    }
}

/// A BERT: a vector for each token, and one for the sequence.
///
/// ```
/// use typed_transformer::{doctest::*, models::bert::Bert, prelude::*};
/// let model = Bert::<Small, f32, Cpu>::build(&Cpu::default());
/// let ids = TokenIds::from_ids(&[7, 4, 24, 0], Some(Fin::literal::<0>()), (Batch, SeqLen))?;
/// let types: TokenIds<Batch, SeqLen, TokenTypes> = TokenIds::from_ids(&[0, 0, 1, 1], None, (Batch, SeqLen))?;
/// let states: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = model.forward(&ids, &types, NoneTape)?;
/// let pooled: Tensor<(Batch, EmbedDim), f32, Cpu> = model.pooled(states)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(conventions = Config, output = Config::EmbedDim)]
pub struct Bert<Config: BertConfig, E, D, P: Precision> {
    /// From tokens to vectors.
    pub embeddings: Embeddings<Config, E, D, P>,
    /// The layers.
    pub layers: Layers<Config::NumLayers, Layer<Config, E, D, P>>,
    /// From the vector of the first token to that of the sequence, if the configuration has a pooler.
    #[some_if(Config::POOLER)]
    pub pooler: Option<Linear<Config::EmbedDim, Config::EmbedDim, E, D, P>>,
}

impl<Config: BertConfig, E: Real, D: Backend<E>, P: Precision> Bert<Config, E, D, P> {
    /// The output of the last layer: `(B, S) ids of VocabSize, (B, S) ids of TokenTypes -> (B, S, EmbedDim)`; `tape`
    /// records the operations for gradients. No token attends to padding.
    pub fn forward<B: DataDim, S: AtMost<Config::MaxSeqLen>, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, Config::VocabSize>,
        token_types: &TokenIds<B, S, Config::TokenTypes>,
        tape: T,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let mask = mk_mask::<NoMask, PadSourceKeys, B, S>(&token_ids.padding_mask());
        let x = self.embeddings.forward(token_ids, token_types, tape)?;
        self.layers.iter().try_fold(x, |x, layer| layer.forward(x, &mask))
    }

    /// The vector of each sequence, `tanh(pooler(x))` of its first token: `(B, S, EmbedDim) -> (B, EmbedDim)`.
    pub fn pooled<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        states: Tensor<(B, S, Config::EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, Config::EmbedDim), E, D, T>, OpError> {
        const { assert!(Config::POOLER, "`POOLER` of the configuration is false: the model has no pooler") }
        let pooler = self.pooler.as_ref().expect("the type says that it is `Some`");
        Tanh::apply(pooler.forward(select(states, axis::<S>(), 0)?)?)
    }
}
