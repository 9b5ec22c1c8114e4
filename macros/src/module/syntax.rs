//! The attributes and the type of a field.

use syn::{Attribute, Error, Expr, GenericArgument, PathArguments, Result, Type};

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
