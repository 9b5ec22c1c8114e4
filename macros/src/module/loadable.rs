use super::syntax::add_bound;
use super::{Field, TypeParameters};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{ItemStruct, parse_quote};

/// `Loadable` of `typed-transformer`, and `WithPrecision` if the module has a precision.
pub fn loadable(declaration: &ItemStruct, parameters: &TypeParameters, fields: &[Field]) -> TokenStream {
    let name = &declaration.ident;
    let TypeParameters { dtype, device, precision, .. } = parameters;
    let is_loadable = quote!(::typed_transformer::weights::Loadable<#dtype, #device>);
    let generics = parameters.with_layers(parameters.generics.clone(), is_loadable.clone());
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let [source, path] = ["source", "path"].map(|name| Ident::new(name, Span::mixed_site()));
    let names = fields.iter().map(|field| &field.name);
    let loads = fields.iter().map(|field| field.load(&source, &path, dtype, device));
    let loadable = quote! {
        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        impl #impl_generics ::typed_transformer::weights::Loadable<#dtype, #device>
            for #name #type_generics #where_clause
        {
            #[allow(unused_variables)]
            fn load_from(
                #source: &mut ::typed_transformer::weights::TensorSource<'_, #dtype, #device>,
                #path: &str,
            ) -> ::core::result::Result<Self, ::typed_transformer::weights::LoadError> {
                ::core::result::Result::Ok(Self {
                    #(#names: #loads,)*
                    __dims: ::core::marker::PhantomData,
                })
            }
        }
    };
    let Some(precision) = precision else { return loadable };
    let stored = parameters.renamed(|name| (name == precision).then(|| quote!(__P)));
    let generics = parameters.with_layers(parameters.of_visited(), is_loadable);
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    // This inherent `recording` shadows `Record::recording`, so the error for a packed model names its precision.
    let mut packed = parameters.generics.clone();
    packed.make_where_clause().predicates.push(parse_quote!(#precision: ::typed_transformer::nn::PackedPrecision));
    let (packed_generics, _, packed_where) = packed.split_for_impl();
    // This inherent `build` stands before that of `BuildModule`, so the error for a packed model names its precision.
    let build = parameters.layers.is_empty().then(|| {
        let mut generics = parameters.generics.clone();
        add_bound(&mut generics, [dtype], &parse_quote!(::typed_transformer::ops::Real));
        let (impl_generics, _, where_clause) = generics.split_for_impl();
        quote! {
            #[automatically_derived]
            impl #impl_generics #name #type_generics #where_clause {
                #[doc(hidden)]
                pub fn build(device: &#device) -> Self
                where
                    #precision: ::typed_transformer::nn::Trainable,
                {
                    <Self as ::typed_transformer::prelude::BuildModule<#device, #dtype>>::build(device)
                }
            }
        }
    });
    quote! {
        #loadable

        #build

        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        impl #impl_generics ::typed_transformer::nn::WithPrecision<#dtype, #device>
            for #name #type_generics #where_clause
        {
            type With<__P: ::typed_transformer::nn::Precision> = #name<#stored>;
        }

        #[automatically_derived]
        impl #packed_generics #name #type_generics #packed_where {
            #[doc(hidden)]
            pub fn recording(&self) -> ::typed_transformer::train::Recording<Self, #dtype, #device>
            where
                #precision: ::typed_transformer::nn::Trainable,
            {
                ::core::default::Default::default()
            }
        }
    }
}
