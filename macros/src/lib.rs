//! The procedural macros of the crate `typed-transformer`, which documents those that are public.

// The documentation of the public macros is where `typed-transformer` exports them: its examples and links need it.
#![allow(missing_docs)]

mod axes;
mod einsum;
mod module;
mod rearrange;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Attribute, Error, Expr, FnArg, GenericArgument, GenericParam, Ident, ImplItemFn, ItemStruct, Lit, Meta, Pat,
    PathArguments, ReturnType, Signature, Type, parse_quote,
};

/// Writes `f` beside `try_f`: `f` returns the value, and panics with the error's text if there is none.
///
/// The documentation is written once, on `try_f`. Its section `# Errors` stays there, below a link to `f`;
/// everything else moves to `f`, which gets a section `# Panics`. All other attributes apply to both.
#[proc_macro_attribute]
pub fn panicking(arguments: proc_macro::TokenStream, function: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let expanded = match arguments.is_empty() {
        true => syn::parse(function).and_then(expand),
        false => Err(Error::new(proc_macro2::Span::call_site(), "`#[panicking]` takes no arguments")),
    };
    expanded.unwrap_or_else(Error::into_compile_error).into()
}

/// Puts a struct into a module that is named after the struct and the line where it is declared.
///
/// rustc prints the path of a type only if another type has the same name. So two types of one name in one function
/// are told apart by their lines.
#[proc_macro_attribute]
pub fn named_by_line(_: proc_macro::TokenStream, declaration: proc_macro::TokenStream) -> proc_macro::TokenStream {
    syn::parse(declaration).map_or_else(Error::into_compile_error, in_module).into()
}

#[proc_macro]
pub fn einsum(contraction: proc_macro::TokenStream) -> proc_macro::TokenStream {
    value_or_panic(einsum::expand(contraction.into()))
}

#[proc_macro]
pub fn try_einsum(contraction: proc_macro::TokenStream) -> proc_macro::TokenStream {
    einsum::expand(contraction.into()).unwrap_or_else(Error::into_compile_error).into()
}

#[proc_macro]
pub fn rearrange(rearrangement: proc_macro::TokenStream) -> proc_macro::TokenStream {
    value_or_panic(rearrange::expand(rearrangement.into()))
}

#[proc_macro]
pub fn try_rearrange(rearrangement: proc_macro::TokenStream) -> proc_macro::TokenStream {
    rearrange::expand(rearrangement.into()).unwrap_or_else(Error::into_compile_error).into()
}

#[proc_macro_attribute]
pub fn module(options: proc_macro::TokenStream, declaration: proc_macro::TokenStream) -> proc_macro::TokenStream {
    module::expand(options.into(), declaration.into()).unwrap_or_else(Error::into_compile_error).into()
}

/// The value of a `Result`; the panic has the error's text.
fn value_or_panic(result: syn::Result<TokenStream>) -> proc_macro::TokenStream {
    let result = result.map(|result| {
        quote! {
            match #result {
                ::core::result::Result::Ok(value) => value,
                ::core::result::Result::Err(error) => ::core::panic!("{error}"),
            }
        }
    });
    result.unwrap_or_else(Error::into_compile_error).into()
}

fn in_module(mut declaration: ItemStruct) -> TokenStream {
    let name = declaration.ident.clone();
    let module = format_ident!("{name}_of_line_{}", name.span().unwrap().line());
    declaration.vis = parse_quote!(pub(super));
    for field in &mut declaration.fields {
        field.vis = parse_quote!(pub(super));
    }
    quote! {
        #[doc(hidden)]
        #[allow(non_snake_case)]
        mod #module {
            #declaration
        }
        use #module::#name;
    }
}

fn expand(mut fallible: ImplItemFn) -> syn::Result<TokenStream> {
    let try_name = fallible.sig.ident.clone();
    let Some(name) = try_name.to_string().strip_prefix("try_").map(str::to_string) else {
        return Err(Error::new(try_name.span(), "the name of a fallible function must begin with `try_`"));
    };
    // The span of `try_f` lets the compiler's notes show the definition of `f` there.
    let name = Ident::new(&name, try_name.span());
    let (path, link, try_link) = if fallible.sig.receiver().is_some() {
        (quote!(Self::#try_name), format!("[`{name}`](Self::{name})"), format!("[`{try_name}`](Self::{try_name})"))
    } else {
        (quote!(#try_name), format!("[`{name}`]"), format!("[`{try_name}`]"))
    };

    let (docs, attributes): (Vec<_>, Vec<_>) =
        fallible.attrs.drain(..).partition(|attribute| attribute.path().is_ident("doc"));
    let (errors, description) = split_errors(&docs);
    let panics = format!("If {try_link} returns an error; the message is the error's text.");
    let fallible_form = format!("Fallible form of {link}.");

    let value = value_type(&fallible.sig)?;
    let (output, must_use): (_, Option<Attribute>) = match &value {
        Type::Tuple(tuple) if tuple.elems.is_empty() => (ReturnType::Default, None),
        value => (parse_quote!(-> #value), Some(parse_quote!(#[must_use]))),
    };
    let mut signature = Signature { ident: name, output, ..fallible.sig.clone() };
    let arguments = name_arguments(&mut signature);
    let generics = signature.generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(&parameter.ident),
        GenericParam::Const(parameter) => Some(&parameter.ident),
        GenericParam::Lifetime(_) => None,
    });
    let visibility = &fallible.vis;

    Ok(quote! {
        #(#[doc = #description])*
        #[doc = ""]
        #[doc = " # Panics"]
        #[doc = #panics]
        #(#attributes)*
        #[track_caller]
        #must_use
        #visibility #signature {
            match #path::<#(#generics),*>(#(#arguments),*) {
                ::core::result::Result::Ok(value) => value,
                ::core::result::Result::Err(error) => ::core::panic!("{error}"),
            }
        }

        #[doc = #fallible_form]
        #[doc = ""]
        #(#[doc = #errors])*
        #(#attributes)*
        #fallible
    })
}

/// The `Value` of a signature that returns `Result<Value, _>`.
fn value_type(signature: &Signature) -> syn::Result<Type> {
    if let ReturnType::Type(_, output) = &signature.output
        && let Type::Path(path) = &**output
        && let Some(last) = path.path.segments.last()
        && let PathArguments::AngleBracketed(list) = &last.arguments
        && let Some(GenericArgument::Type(value)) = list.args.first()
    {
        return Ok(value.clone());
    }
    Err(Error::new(signature.ident.span(), "a fallible function must return a `Result`"))
}

/// Replaces the pattern of each argument by a name, and returns the names.
fn name_arguments(signature: &mut Signature) -> Vec<Expr> {
    let arguments = signature.inputs.iter_mut().enumerate();
    let names = arguments.map(|(index, argument)| match argument {
        FnArg::Receiver(_) => parse_quote!(self),
        FnArg::Typed(argument) => {
            let name = match &*argument.pat {
                Pat::Ident(pattern) => pattern.ident.clone(),
                _ => format_ident!("argument_{index}"),
            };
            *argument.pat = parse_quote!(#name);
            parse_quote!(#name)
        }
    });
    names.collect()
}

/// The lines of the section `# Errors`, up to the next empty line, and all other lines.
fn split_errors(docs: &[Attribute]) -> (Vec<String>, Vec<String>) {
    let mut is_in_errors = false;
    docs.iter().filter_map(doc_line).partition(|line| {
        let line = line.trim();
        is_in_errors = line == "# Errors" || is_in_errors && !line.is_empty();
        is_in_errors
    })
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    if let Meta::NameValue(meta) = &attribute.meta
        && let Expr::Lit(literal) = &meta.value
        && let Lit::Str(line) = &literal.lit
    {
        return Some(line.value());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(function: ImplItemFn) -> String {
        expand(function).unwrap_err().to_string()
    }

    #[test]
    fn a_function_gets_a_panicking_form() {
        let expanded = expand(parse_quote! {
            /// Half of `x`.
            ///
            /// # Errors
            /// `Odd` if `x` is odd.
            ///
            /// Rounds nothing.
            #[inline]
            pub fn try_half<'a, X: Number, const N: usize>((x, _): &'a (X, X)) -> Result<X, Odd> {
                x.half()
            }
        });
        let expected = quote! {
            #[doc = " Half of `x`."]
            #[doc = ""]
            #[doc = ""]
            #[doc = " Rounds nothing."]
            #[doc = ""]
            #[doc = " # Panics"]
            #[doc = "If [`try_half`] returns an error; the message is the error's text."]
            #[inline]
            #[track_caller]
            #[must_use]
            pub fn half<'a, X: Number, const N: usize>(argument_0: &'a (X, X)) -> X {
                match try_half::<X, N>(argument_0) {
                    ::core::result::Result::Ok(value) => value,
                    ::core::result::Result::Err(error) => ::core::panic!("{error}"),
                }
            }

            #[doc = "Fallible form of [`half`]."]
            #[doc = ""]
            #[doc = " # Errors"]
            #[doc = " `Odd` if `x` is odd."]
            #[inline]
            pub fn try_half<'a, X: Number, const N: usize>((x, _): &'a (X, X)) -> Result<X, Odd> {
                x.half()
            }
        };
        assert_eq!(expanded.unwrap().to_string(), expected.to_string());
    }

    #[test]
    fn a_method_that_returns_nothing_need_not_be_used() {
        let expanded = expand(parse_quote!(
            fn try_step(&mut self) -> Result<(), Failure> {
                self.step()
            }
        ));
        let expected = quote! {
            #[doc = ""]
            #[doc = " # Panics"]
            #[doc = "If [`try_step`](Self::try_step) returns an error; the message is the error's text."]
            #[track_caller]
            fn step(&mut self) {
                match Self::try_step::<>(self) {
                    ::core::result::Result::Ok(value) => value,
                    ::core::result::Result::Err(error) => ::core::panic!("{error}"),
                }
            }

            #[doc = "Fallible form of [`step`](Self::step)."]
            #[doc = ""]
            fn try_step(&mut self) -> Result<(), Failure> { self.step() }
        };
        assert_eq!(expanded.unwrap().to_string(), expected.to_string());
    }

    #[test]
    fn other_functions_are_errors() {
        assert_eq!(
            error(parse_quote!(
                fn half() -> Result<(), Odd> {}
            )),
            "the name of a fallible function must begin with `try_`"
        );
        for function in [
            parse_quote!(
                fn try_half() {}
            ),
            parse_quote!(
                fn try_half() -> bool {}
            ),
        ] {
            assert_eq!(error(function), "a fallible function must return a `Result`");
        }
    }
}
