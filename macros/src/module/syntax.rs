//! The attributes of modules and fields, the types of fields, and the bounds of parameters.

use crate::axes::{arguments, has_ident, ungrouped};
use proc_macro2::Ident;
use quote::ToTokens;
use std::mem;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Expr, GenericArgument, GenericParam, Generics, PredicateType, Result, Token, Type, TypeParam,
    TypeParamBound, WherePredicate,
};

/// The error of a field that is a list of modules.
pub const LAYERS: &str = "modules of one type are `Layers<NumLayers, Module>`";

/// Takes the attribute `#[name(expression)]` away.
pub fn take(attributes: &mut Vec<Attribute>, name: &str) -> Result<Option<Expr>> {
    let position = attributes.iter().position(|attribute| attribute.path().is_ident(name));
    position.map(|position| attributes.remove(position).parse_args()).transpose()
}

/// Refuses to derive what every module has.
pub fn check_derives(attributes: &[Attribute]) -> Result<()> {
    let is_own = |ident: &Ident| ident == "Clone" || ident == "Debug";
    let derives =
        |attribute: &&Attribute| attribute.path().is_ident("derive") && has_ident(attribute.to_token_stream(), &is_own);
    attributes.iter().find(derives).map_or(Ok(()), |derive| {
        let message = "a module is `Clone` and `Debug` by itself: leave them out of `#[derive]`";
        Err(Error::new_spanned(derive, message))
    })
}

/// The first argument of the type `name<…>`. `form` is the error for any other type.
pub fn argument<'a>(ty: &'a Type, name: &str, form: &str) -> Result<&'a Type> {
    match arguments(ty, name).and_then(Punctuated::first) {
        Some(GenericArgument::Type(argument)) => Ok(argument),
        _ => Err(Error::new_spanned(ty, form)),
    }
}

/// Refuses a type that no module has.
pub fn check_module(ty: &Type) -> Result<()> {
    let error = |message| Err(Error::new_spanned(ty, message));
    for (name, needed) in [
        (
            "Tensor",
            "a parameter has an attribute that says what fills it, such as `#[param(init::zeros)]`\n`init` is \
             `typed_transformer::nn::init`",
        ),
        ("Vec", LAYERS),
        ("Option", "an `Option` has an attribute that says whether it is `Some`: `#[some_if(FLAG)]`"),
        ("PhantomData", "a module keeps its type parameters itself: leave this field out"),
    ] {
        if argument(ty, name, needed).is_ok() {
            return error(needed);
        }
    }
    for (name, needed) in [
        ("Box", "a module stands in a field without a `Box`"),
        ("Rc", "a module stands in a field without an `Rc`"),
        ("Arc", "a module stands in a field without an `Arc`"),
    ] {
        // A module of one's own may have this name, too.
        if argument(ty, name, needed).is_ok() && arguments(ty, name).is_some_and(|list| list.len() == 1) {
            return error(needed);
        }
    }
    match ungrouped(ty) {
        Type::Array(array) if !is_plain_value(&array.elem) && argument(&array.elem, "Tensor", "").is_err() => {
            error(LAYERS)
        }
        Type::Tuple(tuple) if tuple.elems.iter().any(|ty| !is_plain_value(ty)) => {
            error("each module is a field of its own")
        }
        ty if is_plain_value(ty) => {
            error("a field is a parameter or a module; a number that is not trained is a constant of the configuration")
        }
        Type::Reference(_) => error("a module owns its parts: leave the `&` out"),
        _ => Ok(()),
    }
}

/// Whether the type is one of the language or a text, which is never a module.
fn is_plain_value(ty: &Type) -> bool {
    let names = "bool char f32 f64 i8 i16 i32 i64 isize u8 u16 u32 u64 usize str String";
    match ungrouped(ty) {
        Type::Path(path) => path.path.get_ident().is_some_and(|ty| names.split(' ').any(|name| ty == name)),
        Type::Reference(reference) => is_plain_value(&reference.elem),
        ty => matches!(ty, Type::Array(_) | Type::Slice(_) | Type::Tuple(_)),
    }
}

/// The name of the last parameter, if it is declared as `P: Precision`, or `where P: Precision`.
pub fn precision(generics: &Generics) -> Result<Option<Ident>> {
    let mut precision = None;
    for (position, parameter) in generics.params.iter().enumerate() {
        let GenericParam::Type(TypeParam { ident, .. }) = parameter else { continue };
        let is_precision = |bound: &&TypeParamBound| is_one_of(bound, &["Precision", "Trainable", "PackedPrecision"]);
        for bound in bounds_of(generics, ident).filter(is_precision) {
            let is_last = position + 1 == generics.params.len();
            let is_exact = is_one_of(bound, &["Precision"]);
            // `Trainable` and `PackedPrecision` of an earlier parameter may be traits of one's own.
            if is_last != is_exact {
                let message = "the precision of a module is its last parameter: `struct Name<.., E, D, P: Precision>`";
                return Err(Error::new_spanned(bound, message));
            }
            if is_last {
                precision = Some(ident.clone());
            }
        }
    }
    Ok(precision)
}

/// The bounds of a parameter, those of the `where` clause included.
pub fn bounds_of<'a>(generics: &'a Generics, name: &Ident) -> impl Iterator<Item = &'a TypeParamBound> {
    let own = generics.type_params().filter(move |parameter| parameter.ident == *name);
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let further = predicates.filter_map(move |predicate| match predicate {
        WherePredicate::Type(PredicateType { bounded_ty, bounds, .. }) => match ungrouped(bounded_ty) {
            Type::Path(path) if path.path.is_ident(name) => Some(bounds),
            _ => None,
        },
        _ => None,
    });
    own.map(|parameter| &parameter.bounds).chain(further).flatten()
}

/// Adds a bound to the parameters with these names.
pub fn add_bound<'a>(generics: &mut Generics, names: impl IntoIterator<Item = &'a Ident>, bound: &TypeParamBound) {
    for name in names {
        let parameters = generics.type_params_mut().filter(|parameter| parameter.ident == *name);
        parameters.for_each(|parameter| parameter.bounds.push(bound.clone()));
    }
}

/// Takes the bounds `Module` away. The parameters that had one stand for layers.
pub fn take_layers(generics: &mut Generics) -> Vec<Ident> {
    let is_module = |bound: &TypeParamBound| is_one_of(bound, &["Module"]);
    let names = generics.type_params().map(|parameter| parameter.ident.clone()).collect::<Vec<_>>();
    let layers = names.into_iter().filter(|name| bounds_of(generics, name).any(is_module)).collect();
    let keep_others = |bounds: &mut Punctuated<TypeParamBound, Token![+]>| {
        *bounds = mem::take(bounds).into_iter().filter(|bound| !is_module(bound)).collect();
    };
    generics.type_params_mut().for_each(|parameter| keep_others(&mut parameter.bounds));
    for predicate in generics.where_clause.iter_mut().flat_map(|clause| &mut clause.predicates) {
        if let WherePredicate::Type(predicate) = predicate {
            keep_others(&mut predicate.bounds);
        }
    }
    layers
}

/// Whether the bound is a trait with one of the names.
pub fn is_one_of(bound: &TypeParamBound, names: &[&str]) -> bool {
    let TypeParamBound::Trait(bound) = bound else { return false };
    bound.path.segments.last().is_some_and(|last| names.iter().any(|name| last.ident == name))
}
