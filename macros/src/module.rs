//! `#[module] struct Linear<InDim: ConstDim, OutDim: ConstDim, E, D> { … }`

mod clone_and_debug;
mod field;
mod loadable;
mod syntax;
#[cfg(test)]
mod tests;

use crate::axes::has_ident;
use clone_and_debug::clone_and_debug;
use field::Field;
use loadable::loadable;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Fields, GenericParam, Generics, ItemStruct, Result, Type, parse_quote};
use syntax::{add_bound, bounds_of, check_derives, is_one_of, precision, take_layers};

/// The arguments of the attribute.
#[derive(Default)]
struct Options {
    /// The last dimension of the output.
    output: Option<Type>,
    /// The type whose function `conventions` has those on which the module itself depends.
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
    list.iter().try_for_each(|field| parameters.check(field))?;
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

/// The error of a module without dtype or device.
const LAST_TWO: &str = "the last two parameters of a module are its dtype and its device: `struct Name<.., E, D>`";

/// The generic parameters of a module, with the bounds of dtype and device, which are the last two. Behind them may be
/// the precision of the weights, `P: Precision`.
struct TypeParameters {
    generics: Generics,
    dtype: Ident,
    device: Ident,
    precision: Option<Ident>,
    /// Those with the bound `Module`. The struct has no such bound: on another device it holds other layers.
    layers: Vec<Ident>,
}

impl TypeParameters {
    fn of(declaration: &ItemStruct) -> Result<Self> {
        let mut generics = declaration.generics.clone();
        let precision = precision(&generics)?;
        let layers = take_layers(&mut generics);
        let mut last_first = generics.params.iter().rev().skip(precision.iter().len());
        let (Some(GenericParam::Type(device)), Some(GenericParam::Type(dtype))) =
            (last_first.next(), last_first.next())
        else {
            return Err(Error::new_spanned(&declaration.ident, LAST_TWO));
        };
        if dtype.ident == "D" && device.ident == "E" {
            return Err(Error::new_spanned(&dtype.ident, "the dtype `E` stands before the device `D`"));
        }
        if let Some(layer) = layers.iter().find(|layer| [&dtype.ident, &device.ident].contains(layer)) {
            return Err(Error::new_spanned(layer, "the dtype `E` and the device `D` stand after the layers"));
        }
        // A dimension may have one of the two names.
        let named = |name: &str| generics.type_params().find(|parameter| parameter.ident == name);
        if let (Some(name), Some(_)) = (named("E"), named("D"))
            && (dtype.ident != "E" || device.ident != "D")
        {
            let message = "the dtype `E` and the device `D` are the last two parameters of a module: \
                           `struct Name<.., E, D>`";
            return Err(Error::new_spanned(name, message));
        }
        let (dtype, device) = (dtype.ident.clone(), device.ident.clone());
        for parameter in [&dtype, &device] {
            let mut bounds = bounds_of(&generics, parameter);
            let Some(bound) = bounds.find(|bound| !is_one_of(bound, &["Dtype", "Device"])) else { continue };
            if parameter != "E" && parameter != "D" && !is_one_of(bound, &["Real", "Backend"]) {
                return Err(Error::new_spanned(&declaration.ident, LAST_TWO));
            }
            let message = "a module bounds its dtype and its device itself: write `E, D` here, and \
                           `E: Real, D: Backend<E>` at its `impl`";
            return Err(Error::new_spanned(bound, message));
        }
        add_bound(&mut generics, [&dtype], &parse_quote!(::typed_transformer::__private::Dtype));
        add_bound(&mut generics, [&device], &parse_quote!(::typed_transformer::__private::Device<#dtype>));
        Ok(Self { generics, dtype, device, precision, layers })
    }

    /// Refuses a field that has nothing of the dtype, the device or a layer of the module.
    fn check(&self, field: &Field) -> Result<()> {
        let is_own =
            |ident: &Ident| [&self.dtype, &self.device].into_iter().chain(&self.layers).any(|own| own == ident);
        if has_ident(field.ty.to_token_stream(), &is_own) {
            return Ok(());
        }
        let message = "a field is a parameter or a module of the dtype `E` and the device `D`, such as \
                       `Linear<InDim, OutDim, E, D>`\na type parameter that stands for a layer has the bound `Module`";
        Err(Error::new_spanned(&field.ty, message))
    }

    /// The parameters of a module that is trained. The further bounds are not in a `where` clause, because rustc would
    /// then repeat each error of a field with other advice.
    fn of_trained(&self) -> Generics {
        let mut generics = self.generics.clone();
        add_bound(&mut generics, [&self.dtype], &parse_quote!(::typed_transformer::ops::Real));
        add_bound(&mut generics, &self.precision, &parse_quote!(::typed_transformer::nn::Trainable));
        generics
    }

    /// `generics`, with a bound of the parameters that stand for layers.
    fn with_layers(&self, mut generics: Generics, bound: TokenStream) -> Generics {
        add_bound(&mut generics, &self.layers, &parse_quote!(#bound));
        generics
    }

    /// The parameters of a module that a visitor can visit.
    fn of_visited(&self) -> Generics {
        let (dtype, device) = (&self.dtype, &self.device);
        self.with_layers(self.of_trained(), quote!(::typed_transformer::__private::TensorCollection<#dtype, #device>))
    }

    /// The names, as arguments of a type.
    fn names(&self) -> impl Iterator<Item = &Ident> {
        self.generics.params.iter().filter_map(|parameter| match parameter {
            GenericParam::Type(parameter) => Some(&parameter.ident),
            GenericParam::Const(parameter) => Some(&parameter.ident),
            GenericParam::Lifetime(_) => None,
        })
    }

    fn types(&self) -> impl Iterator<Item = &Ident> {
        self.generics.type_params().map(|parameter| &parameter.ident)
    }

    /// The names, with others for some of them.
    fn renamed(&self, other: impl Fn(&Ident) -> Option<TokenStream>) -> Punctuated<TokenStream, syn::Token![,]> {
        self.names().map(|name| other(name).unwrap_or_else(|| quote!(#name))).collect()
    }

    /// The parameters with the defaults of dtype, device and precision.
    fn with_defaults(&self) -> Generics {
        let mut generics = self.generics.clone();
        for parameter in generics.type_params_mut() {
            let default = match &parameter.ident {
                name if *name == self.dtype => parse_quote!(f32),
                name if *name == self.device => parse_quote!(::typed_transformer::__private::Cpu),
                name if Some(name) == self.precision.as_ref() => parse_quote!(::typed_transformer::nn::FullPrecision),
                _ => continue,
            };
            parameter.default.get_or_insert((Default::default(), default));
        }
        generics
    }
}

/// dfdx's `TensorCollection`.
///
/// A visit calls the visitor for each field. A tuple of dfdx's `ModuleField`s would be shorter here, but it makes seven
/// functions for each field and visitor instead of three, which took a third of the time of compiling the tests.
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
