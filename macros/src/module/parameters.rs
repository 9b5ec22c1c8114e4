//! The generic parameters of a module.

use super::field::Field;
use super::syntax::{LAYERS, add_bound, bounds_of, is_one_of, precision, take_layers};
use crate::axes::has_ident;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{Error, GenericParam, Generics, ItemStruct, Result, TypeParamBound, parse_quote};

/// The error of a module without dtype or device.
const LAST_TWO: &str = "the last two parameters of a module are its dtype and its device: `struct Name<.., E, D>`";

/// The generic parameters of a module, with the bound of the device. Dtype and device are the last two. Behind them may
/// be the precision of the weights, `P: Precision`.
pub struct TypeParameters {
    pub generics: Generics,
    pub dtype: Ident,
    pub device: Ident,
    pub precision: Option<Ident>,
    /// The parameters with the bound `Module`, which stand for layers. The struct itself drops the bound.
    pub layers: Vec<Ident>,
}

impl TypeParameters {
    pub fn of(declaration: &ItemStruct) -> Result<Self> {
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
        // A copy on another device has layers of which only `Module` is known, so other traits are refused; lifetimes
        // are not.
        let is_further =
            |bound: &&TypeParamBound| matches!(bound, TypeParamBound::Trait(_)) && !is_one_of(bound, &["Sized"]);
        if let Some(bound) = layers.iter().find_map(|layer| bounds_of(&generics, layer).find(is_further)) {
            let message = "a layer has the bound `Module` alone here: what layers have in common is a bound at the \
                           `impl` of `forward`";
            return Err(Error::new_spanned(bound, message));
        }
        // A single one of the two names may be that of a dimension.
        let named = |name: &str| generics.type_params().find(|parameter| parameter.ident == name);
        if let (Some(name), Some(_)) = (named("E"), named("D"))
            && (dtype.ident != "E" || device.ident != "D")
        {
            let message = "the dtype `E` and the device `D` are the last two parameters of a module: \
                           `struct Name<.., E, D>`\nbehind them stands only a precision, `P: Precision`";
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
        add_bound(&mut generics, [&device], &parse_quote!(::typed_transformer::__private::ModelDevice<#dtype>));
        Ok(Self { generics, dtype, device, precision, layers })
    }

    /// Refuses fields that do not have the parameters of the module.
    pub fn check(&self, fields: &[Field]) -> Result<()> {
        fields.iter().try_for_each(|field| self.check_field(field))?;
        self.check_bounds(fields)?;
        // rustc takes any parameter for used, because `__dims` has it.
        let Some(precision) = &self.precision else { return Ok(()) };
        if fields.iter().any(|field| field.has(precision)) {
            return Ok(());
        }
        let message = format!(
            "no field has the precision `{precision}`: hand it on, as in `Linear<InDim, OutDim, E, D, {precision}>`"
        );
        Err(Error::new_spanned(precision, message))
    }

    /// Refuses a field that has neither dtype and device nor a layer of the module.
    fn check_field(&self, field: &Field) -> Result<()> {
        let is_of_a_module = |ident: &Ident| *ident == self.dtype || self.layers.contains(ident);
        if field.num_layers().is_some_and(|number| has_ident(number.to_token_stream(), &is_of_a_module)) {
            return Err(Error::new_spanned(&field.ty, LAYERS));
        }
        if (field.has(&self.dtype) && field.has(&self.device)) || self.layers.iter().any(|layer| field.has(layer)) {
            return Ok(());
        }
        let message = "a field is a parameter or a module of the dtype `E` and the device `D`, such as \
                       `Linear<InDim, OutDim, E, D>`\na type parameter that stands for a layer has the bound `Module`";
        Err(Error::new_spanned(&field.ty, message))
    }

    /// Refuses a parameter without a bound in the type of a field: rustc would report most of them once for each
    /// implementation. A parameter that needs no trait gets the bound `'static`.
    fn check_bounds(&self, fields: &[Field]) -> Result<()> {
        // The bound of the device implies one of the dtype.
        let has_bound = |name: &Ident| {
            self.layers.contains(name) || *name == self.dtype || bounds_of(&self.generics, name).next().is_some()
        };
        let unbounded = self.types().find(|name| !has_bound(name) && fields.iter().any(|field| field.has(name)));
        unbounded.map_or(Ok(()), |name| {
            let message = format!(
                "`{name}` has no bound\na dimension is `{name}: ConstDim`, an architecture `{name}: Arch`, a layer \
                 `{name}: Module`, any other type `{name}: 'static`"
            );
            Err(Error::new_spanned(name, message))
        })
    }

    /// The parameters of a module that is trained. The bounds that are added are not in a `where` clause, because rustc
    /// would then repeat each error of a field with other advice.
    pub fn of_trained(&self) -> Generics {
        let mut generics = self.generics.clone();
        add_bound(&mut generics, [&self.dtype], &parse_quote!(::typed_transformer::ops::Real));
        add_bound(&mut generics, &self.precision, &parse_quote!(::typed_transformer::nn::Trainable));
        generics
    }

    /// `generics`, with `bound` on the parameters that stand for layers.
    pub fn with_layers(&self, mut generics: Generics, bound: TokenStream) -> Generics {
        add_bound(&mut generics, &self.layers, &parse_quote!(#bound));
        generics
    }

    /// The parameters of a module that a visitor can visit.
    pub fn of_visited(&self) -> Generics {
        let (dtype, device) = (&self.dtype, &self.device);
        self.with_layers(self.of_trained(), quote!(::typed_transformer::__private::TensorCollection<#dtype, #device>))
    }

    /// The names, as arguments of a type.
    pub fn names(&self) -> impl Iterator<Item = &Ident> {
        self.generics.params.iter().filter_map(|parameter| match parameter {
            GenericParam::Type(parameter) => Some(&parameter.ident),
            GenericParam::Const(parameter) => Some(&parameter.ident),
            GenericParam::Lifetime(_) => None,
        })
    }

    pub fn types(&self) -> impl Iterator<Item = &Ident> {
        self.generics.type_params().map(|parameter| &parameter.ident)
    }

    /// The names, with what `other` gives in place of some of them.
    pub fn renamed(&self, other: impl Fn(&Ident) -> Option<TokenStream>) -> Punctuated<TokenStream, syn::Token![,]> {
        self.names().map(|name| other(name).unwrap_or_else(|| quote!(#name))).collect()
    }

    /// The parameters with the defaults of dtype, device and precision.
    pub fn with_defaults(&self) -> Generics {
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
