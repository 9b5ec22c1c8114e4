use super::{TypeParameters, field::Field};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{ItemStruct, spanned::Spanned};

/// `Clone` and `Debug`, which do not bound the dimensions of a module.
pub fn clone_and_debug(declaration: &ItemStruct, parameters: &TypeParameters, fields: &[Field]) -> TokenStream {
    let name = &declaration.ident;
    let [cloned, shown] = [quote!(::core::clone::Clone), quote!(::typed_transformer::nn::Module)]
        .map(|bound| parameters.with_layers(parameters.generics.clone(), bound));
    let (impl_cloned, type_generics, where_clause) = cloned.split_for_impl();
    let (impl_shown, ..) = shown.split_for_impl();
    let copies = fields.iter().map(
        |Field { name, ty, .. }| quote_spanned!(ty.span()=> #name: <#ty as ::core::clone::Clone>::clone(&self.#name)),
    );
    quote! {
        #[automatically_derived]
        impl #impl_cloned ::core::clone::Clone for #name #type_generics #where_clause {
            fn clone(&self) -> Self {
                Self {
                    #(#copies,)*
                    __dims: ::core::marker::PhantomData,
                }
            }
        }

        #[automatically_derived]
        impl #impl_shown ::core::fmt::Debug for #name #type_generics #where_clause {
            fn fmt(&self, formatter: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::write!(
                    formatter,
                    "{}\n{}",
                    ::typed_transformer::__private::name::<Self>(),
                    ::typed_transformer::nn::Summary::of::<Self>(),
                )
            }
        }
    }
}
