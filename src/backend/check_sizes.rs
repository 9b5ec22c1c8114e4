//! Comparisons of the run-time sizes of a kernel's operands, so that a kernel that a user calls returns an error too.

use super::{ContractionAxis, LinearParams};
use crate::{
    dims::{Dim, DimError, MaybeSharded, check_same_size},
    error::{OpError, dim_error},
    mask::AttentionMask,
};
use dfdx::{
    shapes::{HasShape, Shape},
    tensor::Cpu,
};
use std::fmt::Debug;

/// Compares the run-time sizes of a query `(B, Q, …)`, of its keys `(B, K, …)` and of their mask.
pub(crate) fn check_attention<B: MaybeSharded, Q: Dim, K: Dim>(
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

/// An error that shows both shapes, unless they fit.
pub fn ensure_fits(op: &'static str, fits: bool, from: &impl Debug, to: &impl Debug) -> Result<(), OpError> {
    match fits {
        true => Ok(()),
        false => Err(OpError::Shape { op, from: format!("{from:?}"), to: format!("{to:?}") }),
    }
}

/// Compares the input and the output of a linear map, as rows of `InDim` and of `OutDim`, with its parameters.
pub fn check_linear<InDim: Dim, OutDim: Dim>(
    input: &impl Shape,
    params: &LinearParams<'_, InDim, OutDim, f32, Cpu>,
    output: &impl Shape,
) -> Result<(), OpError> {
    let (out_dim, in_dim) = *params.weight.shape();
    let has_rows = input.num_elements() * out_dim.size() == output.num_elements() * in_dim.size();
    let has_bias = params.bias.is_none_or(|bias| bias.shape().0.size() == out_dim.size());
    ensure_fits("linear", has_rows && has_bias, input, output)
}

/// Compares the axes of a contraction with its operands, all of whose axes of more than one element are among them.
pub fn check_contraction(left: [usize; 6], right: [usize; 6], axes: &[ContractionAxis]) -> Result<(), OpError> {
    let fits = |shape: [usize; 6], position: fn(&ContractionAxis) -> Option<usize>| {
        let mut of_operand = axes.iter().filter_map(|axis| Some((position(axis)?, axis.size)));
        let count: usize = of_operand.clone().map(|(_, size)| size).product();
        of_operand.all(|(position, size)| shape.get(position) == Some(&size))
            && count == shape.iter().product::<usize>()
    };
    ensure_fits("einsum", fits(left, |axis| axis.left) && fits(right, |axis| axis.right), &left, &right)
}
