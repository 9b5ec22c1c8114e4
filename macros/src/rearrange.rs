//! `rearrange!(x: (A, Product<B, C>) -> (B, A, C))`

use crate::axes::{Axes, Axis};
use crate::einsum::{Operand, parse_result, with_form};
use proc_macro2::TokenStream;
use quote::quote;
use syn::Result;
use syn::parse::{Parse, ParseStream};

struct Rearrange {
    operand: Operand,
    result: Axes,
}

impl Parse for Rearrange {
    fn parse(input: ParseStream) -> Result<Self> {
        Ok(Self { operand: input.parse()?, result: parse_result(input)? })
    }
}

/// The value of the rearrangement, which is a `Result`.
pub fn expand(rearrangement: TokenStream) -> Result<TokenStream> {
    let Rearrange { operand: Operand { tensor, axes: operand }, result } = syn::parse2(rearrangement)
        .map_err(|error| with_form(error, "rearrange!(x: (A, Product<B, C>) -> (B, A, C))"))?;
    let (from_factors, from) = split(&operand, &result)?;
    let (to_factors, to) = split(&result, &operand)?;
    check(&from, &to)?;

    let factors = from_factors.iter().map(|factors| match &factors[..] {
        [_] => quote!(&[]),
        _ => {
            let factors = factors.iter().map(|factor| &factor.ty);
            quote!(&[#(<#factors as ::typed_transformer::__private::DfdxConstDim>::SIZE),*])
        }
    });
    let merge_counts = to_factors.iter().map(Vec::len);
    let mut names = Vec::new();
    let (from, to) = (from.labels(&mut names), to.labels(&mut names));
    // A tensor without axes is computed as one with an axis of one element.
    let num_axes = names.len().max(1);
    let operand = operand.call("operand", quote!(#tensor));
    let arguments = quote! {
        #operand,
        [0usize; #num_axes],
        ::typed_transformer::__private::Rearrangement {
            factors: &[#(#factors),*],
            from: &[#(#from),*],
            to: &[#(#to),*],
            merge_counts: &[#(#merge_counts),*],
        },
    };
    Ok(result.call("rearrange", arguments))
}

/// The factors of each axis, and all of them as one list. A product that the other tensor has too is one axis: to split
/// it would copy.
fn split(axes: &Axes, other: &Axes) -> Result<(Vec<Vec<Axis>>, Axes)> {
    let factors = |axis: &Axis| if other.has(axis) { Ok(vec![axis.clone()]) } else { axis.factors() };
    let factors: Vec<_> = axes.list.iter().map(factors).collect::<Result<_>>()?;
    let list = factors.concat();
    Ok((factors, Axes { list, span: axes.span }))
}

fn check(from: &Axes, to: &Axes) -> Result<()> {
    from.check_distinct("operand")?;
    to.check_distinct("result")?;
    if let Some(new) = to.list.iter().find(|axis| !from.has(axis)) {
        // A product that stands on both sides is one axis, and may contain this axis.
        let has_new = |axis: &Axis| axis.factors().is_ok_and(|factors| factors.iter().any(|f| f.name == new.name));
        if from.list.iter().any(has_new) {
            return Err(new.stands_twice("result"));
        }
        // A product is likely hidden in an alias if the numbers of axes differ.
        let note = match to.list.len() == from.list.len() {
            true => "a rearrangement adds no axis, and both sides spell each alike; `broadcast` adds one",
            false => "a product is written out, `Product<Left, Right>`, and not as an alias; `broadcast` adds an axis",
        };
        return Err(new.error("of the result is not in the operand", note));
    }
    if let Some(lost) = from.list.iter().find(|axis| !to.has(axis)) {
        let note = "a rearrangement keeps all axes; `sum_over` and `mean_over` remove one";
        return Err(lost.error("is not in the result", note));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_in_a_product_that_stays_whole_stands_twice() {
        let check = |tokens, axis: &str| {
            let error = expand(tokens).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{axis}` stands twice in the result\n")), "{error}");
        };
        check(quote!(x: (Product<A, B>, C) -> (Product<A, B>, Product<C, B>)), "B");
        check(quote!(x: (Product<A, B>, C) -> (Product<A, B>, A, C)), "A");
    }

    #[test]
    fn an_alias_of_a_product_has_no_factors() {
        let check = |tokens, axis: &str| {
            let error = expand(tokens).unwrap_err().to_string();
            let (headline, note) = error.split_once('\n').unwrap();
            assert_eq!(headline, format!("`{axis}` of the result is not in the operand"));
            assert!(note.starts_with("a product is written out, `Product<Left, Right>`, and not as an alias"));
        };
        check(quote!(x: (Batch, AllHeads<Small>) -> (Batch, NumHeads, HeadDim)), "NumHeads");
        check(quote!(x: (Batch, NumHeads, HeadDim) -> (Batch, AllHeads<Small>)), "AllHeads<Small>");
    }
}
