/// An argument that only this crate can make. So a hidden method of a public trait, which the compiler may propose,
/// cannot be called from outside.
#[derive(Clone, Copy, Debug)]
pub struct Internal(pub(crate) ());
