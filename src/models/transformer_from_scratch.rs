//! *Transformer from Scratch*: an encoder-decoder in PyTorch.
//!
//! | section of the post | here |
//! | --- | --- |
//! | Attention, `MultiHeadAttention` | [`attention`](crate::ops::attention), [`MHAttention`], scaled by [`AttentionScale::EmbedDim`] |
//! | `PositionalEncoding` | [`sinusoidal_positions`](crate::ops::sinusoidal_positions), [`add_positions`](crate::ops::add_positions) |
//! | Residual connections, layer normalization, feed forward | [`residual`], [`Norm`], [`FeedForward`](crate::nn::FeedForward) |
//! | Masking | [`mask`](crate::mask) |
//! | `EncoderBlock`, `Encoder` | [`EncoderLayer`](crate::nn::EncoderLayer), [`EmbeddingEncoder`](crate::nn::EmbeddingEncoder) |
//! | `DecoderBlock`, `Decoder` | [`DecoderLayer`](crate::nn::DecoderLayer), [`EmbeddingDecoder`](crate::nn::EmbeddingDecoder) and the `logit` of [`LM`] |
//!
//! A `DecoderBlock` of the post is self-attention with its norm and then a whole `EncoderBlock` that
//! attends to the source: the three sublayers of a [`DecoderLayer`](crate::nn::DecoderLayer).
//!
//! The published code has three mistakes. The types here refuse each of them.
//!
//! - Weights and values are summed over different letters (`einsum("bhqk,bvhd->bqhd", …)`), so every query gets
//!   the plain sum of all values, later positions and padding included. [`attention`](crate::ops::attention) has
//!   one `K` for both. [`forward_as_published`] repeats the mistake, so that the numbers can be compared.
//! - The inner block adds the key to its attention in place of the query. This runs only if both sequences have
//!   the same length. [`residual`] takes two tensors of one length.
//! - The two masks are passed under each other's names. A mask has the dimensions of its own query and key.

use crate::backend::{Backend, Tape};
use crate::dims::{AtMost, ConstDim, Dim, MaybeSharded, NamedShape, Product};
use crate::einsum;
use crate::mask::{AttentionMask, PadSourceKeys};
use crate::nn::{Arch, Conventions, LM, MHAttention, Norm, Output, Seq2Seq, Sinusoidal};
use crate::ops::{
    AttentionOptions, AttentionScale, Gelu, OpError, Real, attention_weights, merge_heads, residual, split_heads,
};
use crate::tokens::TokenIds;
use dfdx::{shapes::HasShape, tensor::Tensor};

/// The conventions of *Transformer from Scratch*: GELU, sinusoidal positions on unscaled embeddings, attention
/// without biases and scaled by the width of the embedding, as in the post's text.
///
/// The post's feed-forward layers are four times as wide as its embeddings:
///
/// ```
/// use typed_transformer::{models::transformer_from_scratch::FromScratch, nn::Module, prelude::*};
/// dims! {
///     pub SrcVocab = 11; pub TgtVocab = 7; pub MaxLen = 8; pub EmbedDim = 4; pub NumHeads = 2;
///     pub NumLayers = 2;
/// }
///
/// pub struct Small;
/// impl Arch for Small {
///     type NumHeads = NumHeads;
///     type QKDim = Quotient<EmbedDim, NumHeads>;
///     type VODim = Quotient<EmbedDim, NumHeads>;
///     type HiddenDim = Product<Const<4>, EmbedDim>;
///     type Conventions = FromScratch;
/// }
/// impl Seq2Seq for Small {
///     type SrcVocab = SrcVocab;
///     type TgtVocab = TgtVocab;
///     type MaxSrcLen = MaxLen;
///     type MaxTgtLen = MaxLen;
///     type EmbedDim = EmbedDim;
///     type NumEncoderLayers = NumLayers;
///     type NumDecoderLayers = NumLayers;
/// }
/// const ATTENTION: usize = 4 * 4 * 4;
/// const FEED_FORWARD: usize = 4 * 16 + 16 + 16 * 4 + 4;
/// const NORM: usize = 2 * 4;
/// const ENCODER: usize = 11 * 4 + 2 * (ATTENTION + NORM + FEED_FORWARD + NORM);
/// const DECODER: usize = 7 * 4 + 2 * (2 * (ATTENTION + NORM) + FEED_FORWARD + NORM);
/// const LOGIT: usize = 4 * 7 + 7;
/// const _: () = assert!(LM::<Small, f32, Cpu>::NUM_PARAMS == ENCODER + DECODER + LOGIT);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct FromScratch;

#[diagnostic::do_not_recommend]
impl Conventions for FromScratch {
    type Activation = Gelu;
    type Positions = Sinusoidal;
    type PaddingRule = PadSourceKeys;
    const ATTENTION_SCALE: AttentionScale = AttentionScale::EmbedDim;
    const EMBEDDING_NORM: bool = false;
}

/// [`LM::forward`] as the published code computes it: with [`unweighted_attention_as_published`] in place of attention.
///
/// `(B, Src) ids of SrcVocab, (B, Tgt) ids of TgtVocab -> logits (B, Tgt, TgtVocab)`
///
/// # Errors
/// [`OpError::Dim`] if the two batches differ in size.
///
/// ```
/// use typed_transformer::models::transformer_from_scratch::{FromScratch, forward_as_published};
/// # use typed_transformer::{doctest::{Batch, MaxSeqLen, NumLayers, SrcLen, TgtLen, VocabSize}, nn::Seq2Seq, prelude::*};
/// # dims! { pub EmbedDim = 8; pub NumHeads = 4; pub HeadDim = 2; pub HiddenDim = 5; }
/// # pub struct Small;
/// # impl Arch for Small {
/// #     type NumHeads = NumHeads; type QKDim = HeadDim; type VODim = HeadDim; type HiddenDim = HiddenDim;
/// #     type Conventions = FromScratch;
/// # }
/// # impl Seq2Seq for Small {
/// #     type SrcVocab = VocabSize; type TgtVocab = VocabSize; type MaxSrcLen = MaxSeqLen; type MaxTgtLen = MaxSeqLen;
/// #     type EmbedDim = EmbedDim; type NumEncoderLayers = NumLayers; type NumDecoderLayers = NumLayers;
/// # }
/// let model = LM::<Small, f32, Cpu>::build(&Cpu::default());
/// let source = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SrcLen))?;
/// let target = TokenIds::from_ids(&[26, 20, 17], None, (Batch, TgtLen))?;
/// let output = forward_as_published(&model, &source, &target, NoneTape)?;
/// // Without weights, attention gives other logits.
/// assert_ne!(output.logit_output.as_vec(), model.forward(&source, &target, NoneTape)?.logit_output.as_vec());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn forward_as_published<
    B: MaybeSharded,
    Src: AtMost<Config::MaxSrcLen>,
    Tgt: AtMost<Config::MaxTgtLen>,
    Config: Seq2Seq<Conventions = FromScratch, NumHeads: ConstDim>,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    model: &LM<Config, E, D>,
    encoder_ids: &TokenIds<B, Src, Config::SrcVocab>,
    decoder_ids: &TokenIds<B, Tgt, Config::TgtVocab>,
    tape: T,
) -> Result<Output<(B, Src, Config::EmbedDim), (B, Tgt, Config::EmbedDim), (B, Tgt, Config::TgtVocab), E, D, T>, OpError>
{
    let mut source = model.encoder.embedder.forward(encoder_ids, tape.clone())?;
    for layer in &model.encoder.encoder.layers {
        let sublayer = &layer.self_attention;
        let attended = attend_as_published(&sublayer.attention, source.clone(), source.clone())?;
        source = post_norm(&sublayer.norm, residual(source, attended)?)?;
        source = layer.feed_forward.forward(source)?;
    }

    let mut target = model.decoder.embedder.forward(decoder_ids, tape)?;
    for layer in &model.decoder.decoder.layers {
        let sublayer = &layer.self_attention;
        let attended = attend_as_published(&sublayer.attention, target.clone(), target.clone())?;
        target = post_norm(&sublayer.norm, residual(target, attended)?)?;
        let sublayer = &layer.cross_attention;
        let attended = attend_as_published(&sublayer.attention, target.clone(), source.clone())?;
        target = post_norm(&sublayer.norm, residual(target, attended)?)?;
        target = layer.feed_forward.forward(target)?;
    }
    Ok(Output {
        encoder_output: source.retaped(),
        decoder_output: target.retaped(),
        logit_output: model.logits(target)?,
    })
}

/// The norm after a sublayer; [`FromScratch`] has one after each.
fn post_norm<B: MaybeSharded, S: Dim, M: ConstDim, A: Arch, E: Real, D: Backend<E>, T: Tape<E, D>>(
    norm: &Option<Norm<M, A, E, D>>,
    x: Tensor<(B, S, M), E, D, T>,
) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
    match norm {
        Some(norm) => norm.forward(x),
        None => Ok(x),
    }
}

/// An attention of the published code, with its projections: `(B, Q, QDim), (B, K, KVDim) -> (B, Q, QDim)`.
fn attend_as_published<
    B: MaybeSharded,
    Q: Dim,
    K: Dim,
    QDim: ConstDim,
    KVDim: ConstDim,
    A: Arch<NumHeads: ConstDim>,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    attention: &MHAttention<QDim, KVDim, KVDim, QDim, A, E, D>,
    query: Tensor<(B, Q, QDim), E, D, T>,
    key_value: Tensor<(B, K, KVDim), E, D, T>,
) -> Result<Tensor<(B, Q, QDim), E, D, T>, OpError> {
    let ((batch, queries, _), (_, keys, _)) = (*query.shape(), *key_value.shape());
    // The weights of a query add up to 1 under any mask, so the mask has no effect.
    let mask = AttentionMask::all_visible((batch, queries, keys));
    let query = attention.query_proj.forward(query)?;
    let key = attention.key_proj.forward(key_value.clone())?;
    let value = attention.value_proj.forward(key_value)?;
    let sums = unweighted_attention_as_published(query, key, value, &mask, A::attention_options())?;
    attention.output_proj.forward(sums)
}

/// `(Σₖ weightₖ) · (Σₖ valueₖ)` for each query and head, in place of the `Σₖ weightₖ valueₖ` of
/// [`multi_head_attention`](crate::ops::multi_head_attention).
///
/// The post sums a weight and its value over one letter each (`einsum("bhqk,bvhd->bqhd", …)`). The weights of a
/// query add up to 1, so the result is the sum of all values: the same for every query, hidden keys included.
///
/// `(B, Q, Product<H, QKDim>), (B, K, Product<H, QKDim>), (B, K, Product<H, VODim>), mask (B, Q, K)
/// -> (B, Q, Product<H, VODim>)`
///
/// # Errors
/// [`OpError::Dim`] if two sizes of a dimension differ.
///
/// ```
/// use typed_transformer::{models::transformer_from_scratch::unweighted_attention_as_published, prelude::*};
/// dims! { pub NumHeads = 2; pub HeadDim = 1; pub QLen = 1; pub KLen = 2; pub Batch = 1; }
/// let device = Cpu::default();
/// let query: Tensor<(Batch, QLen, Product<NumHeads, HeadDim>), f32, Cpu> = device.zeros();
/// let key: Tensor<(Batch, KLen, Product<NumHeads, HeadDim>), f32, Cpu> = device.zeros();
/// let value: Tensor<(Batch, KLen, Product<NumHeads, HeadDim>), f32, Cpu> =
///     device.tensor(vec![1.0, 10.0, 3.0, 30.0]);
/// let first = AttentionMask::from_fn((Batch, QLen, KLen), |_, _, k| k == 0);
/// let sums = unweighted_attention_as_published(query, key, value, &first, AttentionOptions::default())?;
/// assert_eq!(sums.as_vec(), [4.0, 40.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn unweighted_attention_as_published<
    B: MaybeSharded,
    Q: Dim,
    K: Dim,
    H: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    query: Tensor<(B, Q, Product<H, QKDim>), E, D, T>,
    key: Tensor<(B, K, Product<H, QKDim>), E, D, T>,
    value: Tensor<(B, K, Product<H, VODim>), E, D, T>,
    mask: &AttentionMask<B, Q, K>,
    options: AttentionOptions<H, Q, K, E, D, T>,
) -> Result<Tensor<(B, Q, Product<H, VODim>), E, D, T>, OpError> {
    let ((batch, _, _), (value_batch, value_keys, _)) = (*query.shape(), *value.shape());
    (batch, mask.shape().2).check_same_sizes("the query", (value_batch, value_keys), "the value")?;
    let (query, key) = (split_heads(query)?, split_heads(key)?);
    let weights = attention_weights(query, key, mask, options)?;
    let values = split_heads::<_, _, H, VODim, _, _, _>(value)?;
    let weights = einsum!(weights: (B, H, Q, K) -> (B, H, Q))?;
    let values = einsum!(values: (B, H, K, VODim) -> (B, H, VODim))?;
    merge_heads(einsum!(weights: (B, H, Q), values: (B, H, VODim) -> (B, H, Q, VODim))?)
}
