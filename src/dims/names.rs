use std::any::type_name;

/// The name of a type without module paths, as a program writes it: `(Batch, Product<NumHeads, HeadDim>)`.
#[must_use]
pub fn name<Any: ?Sized>() -> String {
    without_paths(type_name::<Any>())
}

/// The name of a type, as a program writes it, from its name with paths.
pub fn without_paths(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    // A type of a closure or of an asynchronous block.
    let path = path.replace("{{closure}}::", "");
    for piece in path.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        out.push_str(match piece.rsplit("::").next().unwrap_or(piece) {
            "ProductDim<" => "Product<",
            "QuotientDim<" => "Quotient<",
            "SumDim<" => "Sum<",
            "WindowsDim<" => "Windows<",
            name => name,
        });
    }
    out
}
