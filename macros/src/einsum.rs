//! `einsum!(x: (A, B), w: (B, C) -> (A, C))`

use crate::axes::{Axes, spelling};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Error, Expr, Ident, Result, Token};

const MAX_OPERANDS: usize = 3;

struct Einsum {
    operands: Vec<Operand>,
    result: Axes,
}

/// `tensor: (A, B)`
pub struct Operand {
    pub tensor: Expr,
    pub axes: Axes,
}

impl Parse for Operand {
    fn parse(input: ParseStream) -> Result<Self> {
        let tensor = input.parse()?;
        input.parse::<Token![:]>()?;
        Ok(Self { tensor, axes: input.parse()? })
    }
}

/// `-> (A, C)`, with or without a comma behind it.
pub fn parse_result(input: ParseStream) -> Result<Axes> {
    input.parse::<Token![->]>()?;
    let axes = input.parse()?;
    input.parse::<Option<Token![,]>>()?;
    Ok(axes)
}

impl Parse for Einsum {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut operands = vec![input.parse()?];
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.peek(Token![->]) {
            operands.push(input.parse()?);
        }
        if !input.peek(Token![->]) {
            return Err(input.error("expected `,` or `->`"));
        }
        Ok(Self { operands, result: parse_result(input)? })
    }
}

/// The value of the contraction, which is a `Result`.
pub fn expand(contraction: TokenStream) -> Result<TokenStream> {
    let Einsum { operands, result } =
        syn::parse2(contraction).map_err(|error| with_form(error, "einsum!(x: (A, B), w: (B, C) -> (A, C))"))?;
    check(&operands, &result)?;

    let mut names = Vec::new();
    let labels: Vec<_> = operands.iter().map(|operand| operand.axes.labels(&mut names)).collect();
    let result_labels = result.labels(&mut names);
    let variables: Vec<Ident> =
        (0..operands.len()).map(|i| format_ident!("operand_{i}", span = Span::mixed_site())).collect();
    let bindings = operands.iter().zip(&variables).enumerate().map(|(i, (Operand { tensor, axes }, variable))| {
        let first = &variables[0];
        let value = match i {
            0 => axes.call("operand", quote!(#tensor)),
            _ => axes.call("operand_beside", quote!(&#first, #tensor)),
        };
        quote!(let #variable = #value;)
    });
    let texts = operands.iter().map(|operand| format!("`{}`", spelling(operand.tensor.to_token_stream())));
    let labels_of_all = quote!([#(&[#(#labels),*],)* &[#(#result_labels),*]]);
    let contraction = match &labels[..] {
        [_] => result.call("contract_one", quote!(#(#variables),*, #labels_of_all)),
        [_, _] => result.call("contract_two", quote!(#(#variables),*, [#(#texts),*], #labels_of_all)),
        [x, w, v, ..] => {
            let mut kept: Vec<_> = x.iter().chain(w).filter(|l| v.contains(l) || result_labels.contains(l)).collect();
            kept.sort();
            kept.dedup();
            // A tensor without axes is computed as one with an axis of one element.
            let num_axes = kept.len().max(1);
            // Only the length of this array is used: the number of axes.
            let first_two = quote!([0usize; #num_axes]);
            result.call("contract_three", quote!(#(#variables),*, #first_two, [#(#texts),*], #labels_of_all))
        }
        [] => return Err(Error::new(result.span, "a contraction has an operand")),
    };
    let bounds = bounds_of_axes(&operands, &result);
    Ok(quote!({ #(#bounds)* #(#bindings)* #contraction }))
}

/// A summed axis must be whole. An axis of the result that an operand lacks may not be divided among ranks that divide
/// a model.
fn bounds_of_axes(operands: &[Operand], result: &Axes) -> Vec<TokenStream> {
    let mut checked: Vec<&str> = Vec::new();
    let mut bounds = Vec::new();
    for axis in operands.iter().flat_map(|operand| &operand.axes.list) {
        if checked.contains(&&*axis.name) {
            continue;
        }
        checked.push(&axis.name);
        let check = match result.has(axis) {
            false => "summed",
            true if operands.iter().all(|operand| operand.axes.has(axis)) => continue,
            true => "repeated",
        };
        let (check, ty) = (Ident::new(check, axis.ty.span()), &axis.ty);
        bounds.push(quote_spanned!(ty.span()=> ::typed_transformer::__private::#check::<#ty>();));
    }
    bounds
}

/// The error of a call that is not of the form of the macro.
pub fn with_form(error: Error, form: &str) -> Error {
    Error::new(error.span(), format!("{error}\na call is of the form `{form}`"))
}

fn check(operands: &[Operand], result: &Axes) -> Result<()> {
    if let Some(one_too_many) = operands.get(MAX_OPERANDS) {
        return Err(Error::new_spanned(&one_too_many.tensor, "a contraction has one, two or three operands"));
    }
    for operand in operands {
        operand.axes.check_distinct("operand")?;
    }
    result.check_distinct("result")?;
    for axis in &result.list {
        if !operands.iter().any(|operand| operand.axes.has(axis)) {
            let note = "each axis of the result is an axis of an operand; `broadcast` adds a new one";
            return Err(axis.error("of the result is in no operand", note));
        }
    }
    for operand in operands.iter().filter(|_| operands.len() > 1) {
        for axis in &operand.axes.list {
            let num_operands = operands.iter().filter(|operand| operand.axes.has(axis)).count();
            if num_operands == 1 && !result.has(axis) {
                let note = "an axis of two operands may be summed over, if both spell it alike; `sum_over` sums over an \
                            axis of one";
                return Err(axis.error("is in this operand alone", note));
            }
        }
    }
    Ok(())
}
