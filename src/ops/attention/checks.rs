//! Comparisons of the run-time sizes of what attention takes.

use crate::dims::{AnyDim, Dim, MaybeSharded, check_same_size};
use crate::mask::AttentionMask;
use crate::ops::{OpError, dim_error};

/// Compares a query `(B, H, Q, …)` with its key `(B, H, K, …)`, their mask and their bias.
pub(in crate::ops) fn check_sizes<B: MaybeSharded, H: AnyDim, Q: Dim, K: Dim>(
    op: &'static str,
    (batch, heads, queries): (B, H, Q),
    (key_batch, key_heads, keys): (B, H, K),
    mask: &AttentionMask<B, Q, K>,
    bias: Option<(H, Q, K)>,
) -> Result<(), OpError> {
    let (mask_batch, mask_queries, mask_keys) = mask.shape();
    let check = || {
        check_same_size("the query", batch, "the key", key_batch)?;
        check_same_size("the query", heads, "the key", key_heads)?;
        check_same_size("the query", batch, "the mask", mask_batch)?;
        check_same_size("the query", queries, "the mask", mask_queries)?;
        check_same_size("the key", keys, "the mask", mask_keys)?;
        let Some((bias_heads, bias_queries, bias_keys)) = bias else { return Ok(()) };
        check_same_size("the query", heads, "the bias", bias_heads)?;
        check_same_size("the query", queries, "the bias", bias_queries)?;
        check_same_size("the key", keys, "the bias", bias_keys)
    };
    check().map_err(dim_error(op))
}

/// Checks that there is a value `(B, H, K, …)` for each key.
pub(in crate::ops) fn check_values<B: MaybeSharded, H: AnyDim, K: Dim>(
    (batch, heads, keys): (B, H, K),
    (value_batch, value_heads, value_keys): (B, H, K),
) -> Result<(), OpError> {
    check_same_size("the key", batch, "the value", value_batch)
        .and_then(|()| check_same_size("the key", heads, "the value", value_heads))
        .and_then(|()| check_same_size("the key", keys, "the value", value_keys))
        .map_err(dim_error("attention"))
}
