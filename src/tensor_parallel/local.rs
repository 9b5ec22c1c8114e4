use crate::dims::{AnyDim, ConstDim, Dim, Factor, MaybeSharded};
use dfdx::shapes;
use std::{fmt, marker::PhantomData};

/// A shard as a whole dimension, for operations that treat its elements independently, such as the rows of a weight or
/// the heads of an attention.
pub(super) struct Local<Part>(PhantomData<fn() -> Part>);

impl<Part: shapes::ConstDim> shapes::Dim for Local<Part> {
    #[inline(always)]
    fn size(&self) -> usize {
        Part::SIZE
    }
    fn from_size(size: usize) -> Option<Self> {
        (size == Part::SIZE).then(Self::default)
    }
}
impl<Part: shapes::ConstDim> shapes::ConstDim for Local<Part> {
    const SIZE: usize = Part::SIZE;
}
#[diagnostic::do_not_recommend]
impl<Part: shapes::ConstDim> AnyDim for Local<Part> {}
#[diagnostic::do_not_recommend]
impl<Part: shapes::ConstDim> MaybeSharded for Local<Part> {}
#[diagnostic::do_not_recommend]
impl<Part: shapes::ConstDim> Dim for Local<Part> {}
#[diagnostic::do_not_recommend]
impl<Part: shapes::ConstDim> Factor for Local<Part> {}
#[diagnostic::do_not_recommend]
impl<Part: shapes::ConstDim> ConstDim for Local<Part> {}

impl<Part> Default for Local<Part> {
    fn default() -> Self {
        Self(PhantomData)
    }
}
impl<Part> Clone for Local<Part> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<Part> Copy for Local<Part> {}
impl<Part> PartialEq for Local<Part> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl<Part> Eq for Local<Part> {}
impl<Part: shapes::ConstDim> fmt::Debug for Local<Part> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Part::default().fmt(f)
    }
}
