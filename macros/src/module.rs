//! `#[module] struct Linear<InDim: ConstDim, OutDim: ConstDim, E, D> { … }`

mod clone_and_debug;
mod field;
mod loadable;
mod parameters;
mod syntax;
#[cfg(test)]
mod tests;

use clone_and_debug::clone_and_debug;
use field::Field;
use loadable::loadable;
use parameters::TypeParameters;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::{Error, Fields, ItemStruct, Result, Type, parse_quote};
use syntax::check_derives;

/// The arguments of the attribute.
#[derive(Default)]
struct Options {
    /// The last dimension of the output.
    output: Option<Type>,
    /// The type whose function `conventions` gives the conventions on which the module itself depends.
    conventions: Option<Type>,
}

impl Options {
    fn parse(tokens: TokenStream) -> Result<Self> {
        let mut options = Self::default();
        let parser = syn::meta::parser(|option| {
            let place = match option.path.get_ident().map(Ident::to_string).as_deref() {
                Some("output") => &mut options.output,
                Some("conventions") => &mut options.conventions,
                _ => return Err(option.error("a module has the options `output = Dim` and `conventions = Type`")),
            };
            match place.replace(option.value()?.parse()?) {
                None => Ok(()),
                Some(_) => Err(option.error("a module has this option once")),
            }
        });
        parser.parse2(tokens)?;
        Ok(options)
    }
}

/// The struct and its implementations.
pub fn expand(options: TokenStream, declaration: TokenStream) -> Result<TokenStream> {
    let mut declaration: ItemStruct = syn::parse2(declaration)?;
    check_derives(&declaration.attrs)?;
    let options = Options::parse(options)?;
    let parameters = TypeParameters::of(&declaration)?;
    let Fields::Named(fields) = &mut declaration.fields else {
        return Err(Error::new_spanned(&declaration.ident, "a module has fields with names"));
    };
    let list = fields.named.iter_mut().map(Field::read).collect::<Result<Vec<_>>>()?;
    parameters.check(&list)?;
    let types = parameters.types();
    fields.named.push(parse_quote!(__dims: ::core::marker::PhantomData<fn() -> (#(#types,)*)>));
    declaration.generics = parameters.with_defaults();

    let tensors = tensor_collection(&declaration, &parameters, &list);
    let loadable = loadable(&declaration, &parameters, &list);
    let module = module(&declaration, &parameters, &list, &options);
    let clone_and_debug = clone_and_debug(&declaration, &parameters, &list);
    Ok(quote! {
        #declaration
        #tensors
        #loadable
        #module
        #clone_and_debug
    })
}

/// dfdx's `TensorCollection`.
///
/// A visit calls the visitor for each field. A tuple of dfdx's `ModuleField`s would be shorter here, but it makes seven
/// functions for each field and visitor instead of three, and these took a third of the time in which the tests
/// compile.
fn tensor_collection(declaration: &ItemStruct, parameters: &TypeParameters, fields: &[Field]) -> TokenStream {
    let name = &declaration.ident;
    let TypeParameters { dtype, device, precision, .. } = parameters;
    let generics = parameters.of_visited();
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let moved = parameters.renamed(|name| match name {
        name if name == dtype => Some(quote!(__E)),
        name if name == device => Some(quote!(__D)),
        name if parameters.layers.contains(name) => {
            Some(quote!(<#name as ::typed_transformer::__private::TensorCollection<#dtype, #device>>::To<__E, __D>))
        }
        _ => None,
    });
    let visitor = Ident::new("visitor", Span::mixed_site());
    let names: Vec<_> = fields.iter().map(|field| &field.name).collect();
    let visited: Vec<_> = (0..fields.len()).map(|i| format_ident!("field_{i}", span = Span::mixed_site())).collect();
    let visits = fields.iter().map(|field| field.visit(&visitor, dtype, device, precision.as_ref()));
    quote! {
        #[automatically_derived]
        impl #impl_generics ::typed_transformer::__private::TensorCollection<#dtype, #device>
            for #name #type_generics #where_clause
        {
            type To<
                __E: ::typed_transformer::__private::Dtype,
                __D: ::typed_transformer::__private::Device<__E>,
            > = #name<#moved>;

            fn iter_tensors<__V: ::typed_transformer::__private::ModuleVisitor<Self, #dtype, #device>>(
                #visitor: &mut __V,
            ) -> ::core::result::Result<::core::option::Option<Self::To<__V::E2, __V::D2>>, __V::Err> {
                #(let #visited = #visits;)*
                #(let ::core::option::Option::Some(#visited) = #visited else {
                    return ::core::result::Result::Ok(::core::option::Option::None);
                };)*
                ::core::result::Result::Ok(::core::option::Option::Some(#name {
                    #(#names: #visited,)*
                    __dims: ::core::marker::PhantomData,
                }))
            }
        }
    }
}

/// `Module` of `typed-transformer`.
fn module(declaration: &ItemStruct, parameters: &TypeParameters, fields: &[Field], options: &Options) -> TokenStream {
    let name = &declaration.ident;
    let generics = parameters.with_layers(parameters.generics.clone(), quote!(::typed_transformer::nn::Module));
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let counts = fields.iter().map(Field::count);
    let output = match &options.output {
        Some(dim) => quote_spanned! {dim.span()=>
            ::core::option::Option::Some(<#dim as ::typed_transformer::dims::Factor>::text())
        },
        None => quote!(::core::option::Option::None),
    };
    let [path, rows, row, out] = ["path", "rows", "row", "out"].map(|name| Ident::new(name, Span::mixed_site()));
    let parameter_rows = fields.iter().map(|field| field.describe_parameter(&row));
    let children = fields.iter().map(|field| field.describe_child(&path, &rows));
    let own_conventions = options.conventions.iter();
    let conventions = fields.iter().map(|field| field.conventions(&out));
    quote! {
        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        impl #impl_generics ::typed_transformer::nn::Module for #name #type_generics #where_clause {
            const NUM_PARAMS: usize = 0 #(+ #counts)*;

            fn describe(#path: &str, #rows: &mut ::std::vec::Vec<::typed_transformer::nn::SummaryRow>) {
                #[allow(unused_mut)]
                let mut #row = ::typed_transformer::nn::SummaryRow {
                    path: #path.to_string(),
                    module: ::core::stringify!(#name),
                    output: #output,
                    parameters: ::std::vec::Vec::new(),
                    count: 0,
                };
                #(#parameter_rows)*
                #rows.push(#row);
                #(#children)*
            }

            #[allow(unused_variables)]
            fn conventions(#out: &mut ::std::collections::BTreeSet<(&'static str, ::std::string::String)>) {
                #[allow(unused_imports)]
                use ::typed_transformer::nn::Conventions as _;
                #(#out.extend(<#own_conventions>::conventions());)*
                #(#conventions)*
            }
        }
    }
}
