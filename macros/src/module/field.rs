//! What a field of a module contributes to each implementation.

use super::syntax::{argument, check_module, take};
use crate::axes::{arguments, has_ident};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Error, Expr, GenericArgument, Result, Type, parse_quote_spanned};
use syn::{ext::IdentExt, punctuated::Punctuated, spanned::Spanned};

/// A field of a module.
pub struct Field {
    pub name: Ident,
    /// The name of its parameters in files: that of `r#type` is `type`.
    name_in_files: String,
    pub ty: Type,
    kind: Kind,
    /// For an `Option`: the constant that says whether it is `Some`.
    flag: Option<Expr>,
}

enum Kind {
    /// `#[param(init)] Tensor<Shape, E, D>` or `#[param(init)] Weight<Shape, E, D, P>`
    Param { shape: Type, init: Expr, is_weight: bool },
    /// Any other type without an attribute.
    Module(Type),
    /// `#[layers(count)] Vec<Layer>`
    VecOfLayers { count: Expr, layer: Type },
}

impl Field {
    /// Reads a field, and takes away the attributes that only a module has.
    pub fn read(field: &mut syn::Field) -> Result<Self> {
        if let Some(condition) = field.attrs.iter().find(|attribute| attribute.path().is_ident("cfg")) {
            let message = "a field of a module is there in every build: make it an `Option` with `#[some_if(cfg!(…))]`";
            return Err(Error::new_spanned(condition, message));
        }
        let init = take(&mut field.attrs, "param")?;
        let flag = take(&mut field.attrs, "some_if")?;
        let count = take(&mut field.attrs, "layers")?;
        let ty = match flag {
            Some(_) => argument(&field.ty, "Option", "a field with `#[some_if(flag)]` is an `Option`")?,
            None => &field.ty,
        };
        let kind = match (init, count) {
            (Some(init), None) => {
                let form = "a parameter is a `Tensor<Shape, E, D>` or a `Weight<Shape, E, D, P>`, or an `Option` of one with `#[some_if(flag)]`";
                let weight = argument(ty, "Weight", form);
                let is_weight = weight.is_ok();
                let shape = weight.or_else(|_| argument(ty, "Tensor", form))?.clone();
                Kind::Param { shape, init, is_weight }
            }
            (None, Some(count)) if flag.is_none() => {
                let layer = argument(ty, "Vec", "layers are a `Vec<Layer>`")?.clone();
                // `NumLayers::SIZE` needs no import.
                let count = parse_quote_spanned!(count.span()=> {
                    #[allow(unused_imports)]
                    use ::typed_transformer::__private::DfdxConstDim as _;
                    let count: usize = #count;
                    count
                });
                Kind::VecOfLayers { count, layer }
            }
            (None, None) => {
                check_module(ty)?;
                Kind::Module(ty.clone())
            }
            _ => return Err(Error::new_spanned(&field.ident, "`#[layers(count)]` stands alone")),
        };
        let name = field.ident.clone().ok_or_else(|| Error::new_spanned(&field.ty, "a field has a name"))?;
        let name_in_files = name.unraw().to_string();
        Ok(Self { name, name_in_files, ty: field.ty.clone(), kind, flag })
    }

    /// The first argument of `Layers<NumLayers, Module>`.
    pub fn num_layers(&self) -> Option<&GenericArgument> {
        let Kind::Module(module) = &self.kind else { return None };
        arguments(module, "Layers").and_then(Punctuated::first)
    }

    /// Whether this name occurs in the type of the field.
    pub fn has(&self, name: &Ident) -> bool {
        has_ident(self.ty.to_token_stream(), &|ident: &Ident| ident == name)
    }

    /// Code that calls the visitor. Its value is an `Option` of the field; it returns early on an error.
    pub fn visit(&self, visitor: &Ident, dtype: &Ident, device: &Ident, precision: Option<&Ident>) -> TokenStream {
        let (name, name_in_files, span) = (&self.name, &self.name_in_files, self.ty.span());
        let [get, get_mut] = match self.flag {
            None => [quote_spanned!(span=> &module.#name), quote_spanned!(span=> &mut module.#name)],
            Some(_) => ["as_ref", "as_mut"].map(|convert| {
                let convert = Ident::new(convert, span);
                let message =
                    format!("the field `{name_in_files}` is `None`, but its module's type says that it is `Some`");
                quote_spanned!(span=> module.#name.#convert().expect(#message))
            }),
        };
        let visited = match &self.kind {
            Kind::Param { shape, init, is_weight } => {
                let [mut tensor, mut tensor_mut] = [get, get_mut];
                let mut convert = TokenStream::new();
                if let Some(precision) = precision.filter(|_| *is_weight) {
                    let trainable = quote_spanned!(span=> <#precision as ::typed_transformer::nn::Trainable>);
                    let [from, to] = [quote!(#dtype, #device), quote!(__V::E2, __V::D2)];
                    tensor = quote_spanned!(span=> #trainable::tensor::<#shape, #from>(#tensor));
                    tensor_mut = quote_spanned!(span=> #trainable::tensor_mut::<#shape, #from>(#tensor_mut));
                    convert = quote_spanned!(span=> .map(#trainable::from_tensor::<#shape, #to>));
                }
                quote_spanned! {span=> {
                    let init: fn(
                        &mut ::typed_transformer::__private::Tensor<#shape, #dtype, #device>,
                    ) -> ::core::result::Result<(), _> = #init;
                    #visitor.visit_tensor(
                        #name_in_files,
                        |module| #tensor,
                        |module| #tensor_mut,
                        <#shape as ::typed_transformer::__private::ParamShape>::options(init),
                    )? #convert
                }}
            }
            Kind::Module(module) => quote_spanned! {span=>
                #visitor.visit_module::<#module, _, _>(
                    #name_in_files,
                    |module| #get,
                    |module| #get_mut,
                )?
            },
            Kind::VecOfLayers { count, layer } => {
                let message = format!("the field `{name_in_files}` has not as many layers as its module's type");
                let check = quote_spanned!(span=> ::core::assert_eq!(module.#name.len(), count, #message));
                return quote_spanned!(span=> {
                    let count = #count;
                    let mut layers = ::core::option::Option::Some(::std::vec::Vec::with_capacity(count));
                    for i in 0..count {
                        let layer = #visitor.visit_module::<#layer, _, _>(
                            &::std::format!("{}.{i}", #name_in_files),
                            move |module| { #check; &module.#name[i] },
                            move |module| { #check; &mut module.#name[i] },
                        )?;
                        match (&mut layers, layer) {
                            (::core::option::Option::Some(layers), ::core::option::Option::Some(layer)) => {
                                layers.push(layer);
                            }
                            _ => layers = ::core::option::Option::None,
                        }
                    }
                    layers
                });
            }
        };
        match &self.flag {
            None => visited,
            // `Option::map` would be one more function for each field and visitor.
            Some(flag) => quote! {
                if #flag {
                    match #visited {
                        ::core::option::Option::Some(visited) => {
                            ::core::option::Option::Some(::core::option::Option::Some(visited))
                        }
                        ::core::option::Option::None => ::core::option::Option::None,
                    }
                } else {
                    ::core::option::Option::Some(::core::option::Option::None)
                }
            },
        }
    }

    /// The field, read from a source of tensors.
    pub fn load(&self, source: &Ident, path: &Ident, dtype: &Ident, device: &Ident) -> TokenStream {
        let (name_in_files, span) = (&self.name_in_files, self.ty.span());
        let load = |ty: &Type, name: TokenStream| {
            quote_spanned! {span=>
                <#ty as ::typed_transformer::weights::Loadable<#dtype, #device>>::load_from(
                    #source,
                    &::typed_transformer::__private::child_path(#path, #name),
                )?
            }
        };
        let loaded = match &self.kind {
            Kind::VecOfLayers { count, layer } => {
                let load = load(layer, quote!(&::std::format!("{}.{i}", #name_in_files)));
                return quote_spanned!(span=> {
                    let count = #count;
                    let mut layers = ::std::vec::Vec::with_capacity(count);
                    for i in 0..count {
                        layers.push(#load);
                    }
                    layers
                });
            }
            Kind::Module(ty) => load(ty, quote!(#name_in_files)),
            Kind::Param { shape, is_weight: false, .. } => quote_spanned! {span=>
                <#shape as ::typed_transformer::__private::ParamShape>::load::<#dtype, #device>(
                    #source,
                    &::typed_transformer::__private::child_path(#path, #name_in_files),
                )?
            },
            Kind::Param { .. } => {
                let ty = match self.flag {
                    Some(_) => argument(&self.ty, "Option", "").unwrap_or(&self.ty),
                    None => &self.ty,
                };
                load(ty, quote!(#name_in_files))
            }
        };
        match &self.flag {
            Some(flag) => quote! {
                if #flag { ::core::option::Option::Some(#loaded) } else { ::core::option::Option::None }
            },
            None => loaded,
        }
    }

    /// The number of parameters.
    pub fn count(&self) -> TokenStream {
        let count = match &self.kind {
            Kind::Param { shape, .. } => quote!(<#shape as ::typed_transformer::__private::ParamShape>::NUM_ELEMENTS),
            Kind::Module(module) => quote!(<#module as ::typed_transformer::nn::Module>::NUM_PARAMS),
            Kind::VecOfLayers { count, layer } => {
                quote!(#count * <#layer as ::typed_transformer::nn::Module>::NUM_PARAMS)
            }
        };
        match &self.flag {
            Some(flag) => quote!(if #flag { #count } else { 0 }),
            None => count,
        }
    }

    /// Adds a parameter to the row of its module.
    pub fn describe_parameter(&self, row: &Ident) -> TokenStream {
        let (Kind::Param { shape, .. }, name_in_files) = (&self.kind, &self.name_in_files) else {
            return TokenStream::new();
        };
        self.if_some(quote! {
            #row.parameters.push((
                #name_in_files,
                <#shape as ::typed_transformer::__private::ParamShape>::describe(),
            ));
            #row.count += <#shape as ::typed_transformer::__private::ParamShape>::NUM_ELEMENTS;
        })
    }

    /// Adds the rows of a submodule.
    pub fn describe_child(&self, path: &Ident, rows: &Ident) -> TokenStream {
        let name_in_files = &self.name_in_files;
        let describe = |module: &Type, name: TokenStream| {
            quote! {
                <#module as ::typed_transformer::nn::Module>::describe(
                    &::typed_transformer::__private::child_path(#path, #name),
                    #rows,
                );
            }
        };
        self.if_some(match &self.kind {
            Kind::Param { .. } => return TokenStream::new(),
            Kind::Module(module) => describe(module, quote!(#name_in_files)),
            Kind::VecOfLayers { count, layer } => {
                let describe = describe(layer, quote!(&::std::format!("{}.{i}", #name_in_files)));
                quote! {
                    let count = #count;
                    for i in 0..count { #describe }
                }
            }
        })
    }

    /// Adds the conventions of a submodule, or the factors of a parameter's dimensions.
    pub fn conventions(&self, out: &Ident) -> TokenStream {
        let of = |module: &Type| quote!(<#module as ::typed_transformer::nn::Module>::conventions(#out););
        self.if_some(match &self.kind {
            Kind::Param { shape, .. } => {
                quote!(<#shape as ::typed_transformer::__private::ParamShape>::factor_sizes(#out);)
            }
            Kind::Module(module) => of(module),
            Kind::VecOfLayers { count, layer } => {
                let of = of(layer);
                quote! {
                    let count = #count;
                    if count > 0 { #of }
                }
            }
        })
    }

    fn if_some(&self, statements: TokenStream) -> TokenStream {
        match &self.flag {
            Some(flag) => quote!(if #flag { #statements }),
            None => statements,
        }
    }
}
