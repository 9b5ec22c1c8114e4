//! Lists of axes, as a user writes them: `(Batch, Product<NumHeads, HeadDim>)`.
//!
//! Axes are compared by their spelling, because rustc cannot test in a generic function whether two types are equal.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, GenericArgument, PathArguments, Result, Token, Type, parenthesized};

/// An axis, or a product of axes.
#[derive(Clone)]
pub struct Axis {
    pub ty: Type,
    pub name: String,
}

impl Axis {
    fn new(ty: Type) -> Result<Self> {
        let name = spelling(ungrouped(&ty).to_token_stream());
        // rustc would have to infer `_`. Two axes `_` would be one axis for this macro and two for rustc.
        if has_ident(ty.to_token_stream(), &|ident| ident == "_") {
            return Err(Error::new_spanned(ty, format!("`{name}` is not an axis: write a dimension in place of `_`")));
        }
        match ungrouped(&ty) {
            Type::Tuple(tuple) if tuple.elems.len() > 1 => {
                let names = tuple.elems.iter().map(|axis| spelling(axis.to_token_stream()));
                let product = names.rev().reduce(|rest, first| format!("Product<{first}, {rest}>"));
                let message = format!("`{name}` is not an axis: write `{}`", product.unwrap_or_default());
                Err(Error::new_spanned(ty, message))
            }
            _ => Ok(Self { ty, name }),
        }
    }

    /// The axes of a `Product`; an axis that is no product is the product of itself.
    pub fn factors(&self) -> Result<Vec<Self>> {
        let list: Vec<_> = arguments(&self.ty, "Product").into_iter().flatten().collect();
        let [GenericArgument::Type(left), GenericArgument::Type(right)] = list[..] else {
            return Ok(vec![Self::new(self.ty.clone())?]);
        };
        let mut factors = Self::new(left.clone())?.factors()?;
        factors.extend(Self::new(right.clone())?.factors()?);
        Ok(factors)
    }

    /// The error of an axis that stands twice.
    pub fn stands_twice(&self, tensor: &str) -> Error {
        let note = "the axes of a tensor have different names; `rename` gives an axis another one";
        self.error(&format!("stands twice in the {tensor}"), note)
    }

    /// An error at this axis.
    pub fn error(&self, message: &str, note: &str) -> Error {
        Error::new_spanned(&self.ty, format!("`{}` {message}\n{note}", self.name))
    }
}

/// The axes of a tensor.
pub struct Axes {
    pub list: Vec<Axis>,
    /// The parentheses around them.
    pub span: Span,
}

impl Parse for Axes {
    fn parse(input: ParseStream) -> Result<Self> {
        let content;
        let span = parenthesized!(content in input).span.join();
        let types = Punctuated::<Type, Token![,]>::parse_terminated(&content)?;
        Ok(Self { list: types.into_iter().map(Axis::new).collect::<Result<_>>()?, span })
    }
}

impl Axes {
    /// The call of a function of `Over` on tensors with these axes. Its errors point at the parentheses.
    pub fn call(&self, function: &str, arguments: TokenStream) -> TokenStream {
        let (function, types) = (Ident::new(function, self.span), self.list.iter().map(|axis| &axis.ty));
        quote_spanned!(self.span=> ::typed_transformer::__private::Over::<(#(#types,)*)>::#function(#arguments))
    }

    pub fn has(&self, axis: &Axis) -> bool {
        self.list.iter().any(|other| other.name == axis.name)
    }

    /// An error at an axis that stands twice.
    pub fn check_distinct(&self, tensor: &str) -> Result<()> {
        let twice = (1..self.list.len()).find(|&i| self.list[..i].iter().any(|axis| axis.name == self.list[i].name));
        twice.map_or(Ok(()), |i| Err(self.list[i].stands_twice(tensor)))
    }

    /// The position of each axis in the list `all` of names. A name that the list lacks is added to it.
    pub fn labels(&self, all: &mut Vec<String>) -> Vec<u8> {
        let label = |axis: &Axis| {
            let position = all.iter().position(|name| *name == axis.name);
            let position = position.unwrap_or_else(|| {
                all.push(axis.name.clone());
                all.len() - 1
            });
            u8::try_from(position).unwrap_or(u8::MAX)
        };
        self.list.iter().map(label).collect()
    }
}

/// Whether one of the identifiers is one of those sought.
pub fn has_ident(tokens: TokenStream, is_sought: &impl Fn(&Ident) -> bool) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => has_ident(group.stream(), is_sought),
        TokenTree::Ident(ident) => is_sought(&ident),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// The arguments of a type `name<…>`; `None` for any other type.
pub fn arguments<'a>(ty: &'a Type, name: &str) -> Option<&'a Punctuated<GenericArgument, Token![,]>> {
    let Type::Path(path) = ungrouped(ty) else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    match &last.arguments {
        PathArguments::AngleBracketed(list) => Some(&list.args),
        _ => None,
    }
}

/// The type in invisible delimiters (a fragment of a declarative macro) or in parentheses.
pub fn ungrouped(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            ty => return ty,
        }
    }
}

/// The tokens as a programmer writes them, whatever the spaces in the source and the macros that they came through.
pub fn spelling(tokens: TokenStream) -> String {
    let mut text = String::new();
    write_spelling(tokens, &mut text);
    text
}

fn write_spelling(tokens: TokenStream, text: &mut String) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let [open, close] = match group.delimiter() {
                    Delimiter::Parenthesis => ["(", ")"],
                    Delimiter::Bracket => ["[", "]"],
                    Delimiter::Brace => ["{", "}"],
                    Delimiter::None => ["", ""],
                };
                text.push_str(open);
                write_spelling(group.stream(), text);
                text.push_str(close);
            }
            TokenTree::Punct(punct) if punct.as_char() == ',' => text.push_str(", "),
            TokenTree::Punct(punct) => text.push(punct.as_char()),
            word => {
                if text.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                    text.push(' ');
                }
                text.push_str(&word.to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn axes_are_compared_without_spaces_and_invisible_delimiters() {
        let plain: Type = parse_quote!(Product<<A as Arch>::NumHeads, Const<2>>);
        assert_eq!(spelling(plain.to_token_stream()), "Product<<A as Arch>::NumHeads, Const<2>>");
        let of_macro = proc_macro2::Group::new(Delimiter::None, plain.to_token_stream());
        let of_macro: Type = parse_quote!(#of_macro);
        let [plain, of_macro] = [plain, of_macro].map(|ty| Axis::new(ty).unwrap());
        assert_eq!(plain.name, of_macro.name);
        let names = |axis: Axis| axis.factors().unwrap().into_iter().map(|axis| axis.name).collect::<Vec<_>>();
        assert_eq!(names(of_macro), ["<A as Arch>::NumHeads", "Const<2>"]);
    }

    #[test]
    fn a_tuple_is_not_an_axis() {
        let error = Axis::new(parse_quote!((A, B, C))).err().unwrap();
        assert_eq!(error.to_string(), "`(A, B, C)` is not an axis: write `Product<A, Product<B, C>>`");
    }
}
