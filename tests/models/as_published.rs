//! *Transformer from Scratch* as its code was published, with the mistake in its attention.

use typed_transformer::backend::{Backend, Tape};
use typed_transformer::dims::{DataDim, NamedShape};
use typed_transformer::einsum;
use typed_transformer::models::transformer_from_scratch::FromScratch;
use typed_transformer::nn::{MHAttention, Norm, Output};
use typed_transformer::ops::{attention_weights, merge_heads, residual, split_heads};
use typed_transformer::prelude::*;

/// [`LM::forward`] as the published code computes it: with [`unweighted_attention_as_published`] in place of attention.
///
/// `(B, Src) ids of SrcVocab, (B, Tgt) ids of TgtVocab -> logits (B, Tgt, TgtVocab)`
///
/// # Errors
/// [`OpError::Dim`] if the two batches differ in size.
pub fn forward_as_published<
    B: DataDim,
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
fn post_norm<B: DataDim, S: Dim, M: ConstDim, A: Arch, E: Real, D: Backend<E>, T: Tape<E, D>>(
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
    B: DataDim,
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
/// [`multi_head_attention`].
///
/// The post sums a weight and its value over one letter each (`einsum("bhqk,bvhd->bqhd", …)`). The weights of a
/// query add up to 1, so the result is the sum of all values: the same for every query, hidden keys included.
///
/// `(B, Q, Product<H, QKDim>), (B, K, Product<H, QKDim>), (B, K, Product<H, VODim>), mask (B, Q, K)
/// -> (B, Q, Product<H, VODim>)`
///
/// # Errors
/// [`OpError::Dim`] if two sizes of a dimension differ.
fn unweighted_attention_as_published<
    B: DataDim,
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
