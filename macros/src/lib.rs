//! The procedural macros of the crate `typed-transformer`, which documents those that are public.

// The public macros are documented where `typed-transformer` exports them, because the examples need that crate.
#![allow(missing_docs)]

mod axes;
mod einsum;
mod module;
mod rearrange;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Error, ItemStruct, parse_quote};

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
    einsum::expand(contraction.into()).unwrap_or_else(Error::into_compile_error).into()
}

#[proc_macro]
pub fn rearrange(rearrangement: proc_macro::TokenStream) -> proc_macro::TokenStream {
    rearrange::expand(rearrangement.into()).unwrap_or_else(Error::into_compile_error).into()
}

#[proc_macro_attribute]
pub fn module(options: proc_macro::TokenStream, declaration: proc_macro::TokenStream) -> proc_macro::TokenStream {
    module::expand(options.into(), declaration.into()).unwrap_or_else(Error::into_compile_error).into()
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
