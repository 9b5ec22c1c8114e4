//! The attributes and the type of a field, and the bounds of parameters.

use proc_macro2::Ident;
use syn::{
    Attribute, Error, Expr, GenericArgument, GenericParam, Generics, PathArguments, PredicateType, Result, Type,
    TypeParam, TypeParamBound, WherePredicate,
};

/// Takes the attribute `#[name(expression)]` away.
pub fn take(attributes: &mut Vec<Attribute>, name: &str) -> Result<Option<Expr>> {
    let position = attributes.iter().position(|attribute| attribute.path().is_ident(name));
    position.map(|position| attributes.remove(position).parse_args()).transpose()
}

/// The first argument of the type `name<…>`. `form` is the error for any other type.
pub fn argument<'a>(ty: &'a Type, name: &str, form: &str) -> Result<&'a Type> {
    if let Type::Path(path) = ty
        && let Some(last) = path.path.segments.last().filter(|last| last.ident == name)
        && let PathArguments::AngleBracketed(list) = &last.arguments
        && let Some(GenericArgument::Type(argument)) = list.args.first()
    {
        return Ok(argument);
    }
    Err(Error::new_spanned(ty, form))
}

/// Whether the type is one of the language or a text, which is never a module.
pub fn is_plain_value(ty: &Type) -> bool {
    let names = "bool char f32 f64 i8 i16 i32 i64 isize u8 u16 u32 u64 usize String";
    matches!(ty, Type::Path(path) if path.path.get_ident().is_some_and(|ty| names.split(' ').any(|name| ty == name)))
        || matches!(ty, Type::Array(_) | Type::Reference(_) | Type::Tuple(_))
}

/// The name of the last parameter, if it is declared as `P: Precision`, or `where P: Precision`.
pub fn precision(generics: &Generics) -> Option<Ident> {
    let GenericParam::Type(TypeParam { ident, bounds, .. }) = generics.params.last()? else { return None };
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let further = predicates.filter_map(|predicate| match predicate {
        WherePredicate::Type(PredicateType { bounded_ty: Type::Path(path), bounds, .. })
            if path.path.is_ident(ident) =>
        {
            Some(bounds)
        }
        _ => None,
    });
    let is_precision = further.chain([bounds]).flatten().any(|bound| is_one_of(bound, &["Precision"]));
    is_precision.then(|| ident.clone())
}

/// Whether the bound is a trait with one of the names.
pub fn is_one_of(bound: &TypeParamBound, names: &[&str]) -> bool {
    let TypeParamBound::Trait(bound) = bound else { return false };
    bound.path.segments.last().is_some_and(|last| names.iter().any(|name| last.ident == name))
}
