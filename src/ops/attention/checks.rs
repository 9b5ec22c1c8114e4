//! Comparisons of the run-time sizes of what attention takes.

use crate::backend::Backend;
use crate::dims::{AnyDim, ConstDim, Dim, DimError, MaybeSharded, check_same_size};
use crate::mask::AttentionMask;
use crate::ops::{OpError, Real, dim_error};
use dfdx::{shapes::HasShape, tensor::Tensor};

/// Checks that the bias has a number for each head, query and key.
pub(in crate::ops) fn check_bias<H: AnyDim, Q: Dim, K: Dim>(
    (heads, queries, keys): (H, Q, K),
    (bias_heads, bias_queries, bias_keys): (H, Q, K),
) -> Result<(), DimError> {
    check_same_size("the query", heads, "the bias", bias_heads)?;
    check_same_size("the query", queries, "the bias", bias_queries)?;
    check_same_size("the key", keys, "the bias", bias_keys)
}

/// Checks that there is a value for each key.
pub(super) fn check_values<
    B: MaybeSharded,
    H: Dim,
    K: Dim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
    T,
>(
    key: &Tensor<(B, H, K, QKDim), E, D, T>,
    value: &Tensor<(B, H, K, VODim), E, D, T>,
) -> Result<(), OpError> {
    let ((batch, heads, keys, _), (value_batch, value_heads, value_keys, _)) = (*key.shape(), *value.shape());
    check_same_size("the key", batch, "the value", value_batch)
        .and_then(|()| check_same_size("the key", heads, "the value", value_heads))
        .and_then(|()| check_same_size("the key", keys, "the value", value_keys))
        .map_err(dim_error("attention"))
}

/// Compares the run-time sizes of a query `(B, Q, …)`, of its keys `(B, K, …)` and of their mask.
pub(in crate::ops) fn check_attention<B: MaybeSharded, Q: Dim, K: Dim>(
    (batch, queries): (B, Q),
    (key_batch, keys): (B, K),
    mask: &AttentionMask<B, Q, K>,
) -> Result<(), OpError> {
    let (mask_batch, mask_queries, mask_keys) = mask.shape();
    let check = || -> Result<(), DimError> {
        check_same_size("the query", batch, "the key", key_batch)?;
        check_same_size("the query", batch, "the mask", mask_batch)?;
        check_same_size("the query", queries, "the mask", mask_queries)?;
        check_same_size("the key", keys, "the mask", mask_keys)
    };
    check().map_err(dim_error("attention"))
}
