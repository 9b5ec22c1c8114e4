//! The views of a field of a module that a visitor gets: its path, or the field and its path.
//!
//! dfdx has a view of the field, one of the path, and pairs of views. For a pair the compiler makes three functions for
//! each field: that of the pair and those of the two. Here each view is one function.

use dfdx::nn::TensorViewer;

/// The path of the field `field` of the module at `path`.
#[must_use]
pub fn child_path(path: &str, field: &str) -> String {
    if path.is_empty() {
        return field.to_string();
    }
    format!("{path}.{field}")
}

/// The path of a field.
pub enum ViewPath {}

impl TensorViewer for ViewPath {
    type View<'a, Module: 'a> = String;

    fn view_field<Module, Field, Get, GetMut>(path: &mut String, name: &str, _: &mut Get, _: &mut GetMut) -> String {
        child_path(path, name)
    }
}

/// A field and its path.
pub enum ViewRef {}

impl TensorViewer for ViewRef {
    type View<'a, Module: 'a> = (&'a Module, String);

    fn view_field<'a, Module, Field, Get: FnMut(&Module) -> &Field, GetMut>(
        (module, path): &'a mut (&Module, String),
        name: &str,
        get: &mut Get,
        _: &mut GetMut,
    ) -> (&'a Field, String) {
        (get(module), child_path(path, name))
    }
}

/// A field to be changed, and its path.
pub enum ViewMut {}

impl TensorViewer for ViewMut {
    type View<'a, Module: 'a> = (&'a mut Module, String);

    fn view_field<'a, Module, Field, Get, GetMut: FnMut(&mut Module) -> &mut Field>(
        (module, path): &'a mut (&mut Module, String),
        name: &str,
        _: &mut Get,
        get: &mut GetMut,
    ) -> (&'a mut Field, String) {
        (get(module), child_path(path, name))
    }
}
