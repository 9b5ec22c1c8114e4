//! The attribute `#[panicking]` of the crate `typed-transformer`.

use proc_macro::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Attribute, Error, Expr, FnArg, GenericArgument, GenericParam, Ident, ImplItemFn, Lit, Meta, Pat,
    PathArguments, ReturnType, Signature, Type, parse_macro_input, parse_quote,
};

/// Writes `f` beside `try_f`: it returns the value and panics with the error's text.
///
/// The documentation stands on `try_f` alone. `f` gets all of it but the section `# Errors`, and a section
/// `# Panics`; `try_f` keeps a reference to `f` and the section `# Errors`.
#[proc_macro_attribute]
pub fn panicking(arguments: TokenStream, function: TokenStream) -> TokenStream {
    if !arguments.is_empty() {
        return fail("`#[panicking]` takes no arguments");
    }
    let function = parse_macro_input!(function as ImplItemFn);
    expand(function).unwrap_or_else(|error| error.into_compile_error().into())
}

fn fail(message: &str) -> TokenStream {
    Error::new(proc_macro2::Span::call_site(), message).into_compile_error().into()
}

fn expand(mut fallible: ImplItemFn) -> syn::Result<TokenStream> {
    let try_name = fallible.sig.ident.clone();
    let Some(name) = try_name.to_string().strip_prefix("try_").map(str::to_string) else {
        return Err(Error::new(try_name.span(), "the name of a fallible function begins with `try_`"));
    };
    // With the span of `try_f`, so that the compiler's notes show where both are defined.
    let name = Ident::new(&name, try_name.span());
    let is_method = fallible.sig.receiver().is_some();
    let link = |name: &Ident| match is_method {
        true => format!("[`{name}`](Self::{name})"),
        false => format!("[`{name}`]"),
    };

    let (docs, others): (Vec<_>, Vec<_>) = fallible.attrs.drain(..).partition(|a| a.path().is_ident("doc"));
    let Docs { description, errors } = Docs::split(&docs);
    let panics = format!("If {} returns an error; the message is the error's text.", link(&try_name));
    let fallible_form = format!("Fallible form of {}.", link(&name));

    let mut signature = Signature { ident: name, ..fallible.sig.clone() };
    signature.output = value_type(&fallible.sig)?;
    let arguments = name_arguments(&mut signature);
    let generics = fallible.sig.generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(&parameter.ident),
        GenericParam::Const(parameter) => Some(&parameter.ident),
        GenericParam::Lifetime(_) => None,
    });
    let path = match is_method {
        true => quote!(Self::#try_name),
        false => quote!(#try_name),
    };
    let visibility = &fallible.vis;
    let must_use: Option<Attribute> = match &signature.output {
        ReturnType::Type(_, value) if matches!(&**value, Type::Tuple(unit) if unit.elems.is_empty()) => None,
        _ => Some(parse_quote!(#[must_use])),
    };

    Ok(quote! {
        #(#[doc = #description])*
        #[doc = ""]
        #[doc = " # Panics"]
        #[doc = #panics]
        #(#others)*
        #[track_caller]
        #must_use
        #visibility #signature {
            match #path::<#(#generics),*>(#(#arguments),*) {
                ::core::result::Result::Ok(value) => value,
                ::core::result::Result::Err(error) => ::core::panic!("{error}"),
            }
        }

        #[doc = #fallible_form]
        #[doc = ""]
        #(#[doc = #errors])*
        #(#others)*
        #fallible
    }
    .into())
}

/// The `Value` of `Result<Value, _>`.
fn value_type(signature: &Signature) -> syn::Result<ReturnType> {
    if let ReturnType::Type(arrow, output) = &signature.output
        && let Type::Path(path) = &**output
        && let Some(last) = path.path.segments.last()
        && let PathArguments::AngleBracketed(list) = &last.arguments
        && let Some(GenericArgument::Type(value)) = list.args.first()
    {
        return Ok(ReturnType::Type(*arrow, Box::new(value.clone())));
    }
    Err(Error::new(signature.ident.span(), "a fallible function returns a `Result`"))
}

/// Gives every argument a name, and lists them.
fn name_arguments(signature: &mut Signature) -> Vec<Expr> {
    let arguments = signature.inputs.iter_mut().enumerate();
    let names = arguments.map(|(index, argument)| match argument {
        FnArg::Receiver(receiver) => {
            let this = receiver.self_token;
            parse_quote!(#this)
        }
        FnArg::Typed(argument) => {
            let name = match &*argument.pat {
                Pat::Ident(pattern) => pattern.ident.clone(),
                _ => format_ident!("argument_{index}"),
            };
            *argument.pat = parse_quote!(#name);
            parse_quote!(#name)
        }
    });
    names.collect()
}

/// The lines of a documentation, each as it stands behind `///`.
#[derive(Default)]
struct Docs {
    description: Vec<String>,
    /// From `# Errors` to the next empty line.
    errors: Vec<String>,
}

impl Docs {
    fn split(attributes: &[Attribute]) -> Self {
        let mut docs = Self::default();
        let mut is_in_errors = false;
        for line in attributes.iter().filter_map(text) {
            is_in_errors = line.trim() == "# Errors" || is_in_errors && !line.trim().is_empty();
            match is_in_errors {
                true => docs.errors.push(line),
                false => docs.description.push(line),
            }
        }
        docs
    }
}

fn text(attribute: &Attribute) -> Option<String> {
    if let Meta::NameValue(meta) = &attribute.meta
        && let Expr::Lit(literal) = &meta.value
        && let Lit::Str(text) = &literal.lit
    {
        return Some(text.value());
    }
    None
}
