use super::{Fin, TokenError};
use crate::dims::{AnyDim, ConstDim, Dim, num_elements};
use dfdx::shapes::Shape;
use std::sync::Arc;

/// Indices of the axis `Axis`, arranged as a tensor over `Dims`. Each is a [`Fin<Axis>`](Fin).
///
/// The constructor checks every index once, so no operation checks it again. If `Axis` has its size at run time, an
/// operation compares this size with the one that the indices were checked for.
///
/// ```
/// use typed_transformer::{prelude::*, tokens::Indices};
/// dims! { pub NumExperts = 4; pub SeqLen = 3; }
/// let chosen = Indices::new(&[3, 0, 3], (SeqLen,), NumExperts)?;
/// let last: Fin<NumExperts> = chosen.to_vec()[0];
/// assert_eq!(last.value(), 3);
/// assert_eq!(Indices::from_fn((SeqLen,), |_| last).as_slice(), [3, 3, 3]);
/// assert_eq!(
///     Indices::new(&[3, 0, 4], (SeqLen,), NumExperts).unwrap_err().to_string(),
///     "4 at position 2 is not an index of NumExperts=4",
/// );
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Indices<Dims, Axis> {
    indices: Arc<[usize]>,
    shape: Dims,
    axis: Axis,
}

impl<Dims: Shape, Axis: Dim> Indices<Dims, Axis> {
    /// Indices in row-major order.
    ///
    /// # Errors
    /// [`TokenError::WrongCount`] if `shape` needs another number of indices; [`TokenError::NotAnIndex`] with the
    /// first one that is not below the size of `axis`.
    pub fn new(indices: &[usize], shape: Dims, axis: Axis) -> Result<Self, TokenError> {
        let (expected, found) = (num_elements(&shape), indices.len());
        if found != expected {
            return Err(TokenError::WrongCount { what: "indices", dims: format!("{shape:?}"), expected, found });
        }
        if let Some((position, &index)) = indices.iter().enumerate().find(|(_, index)| **index >= axis.size()) {
            return Err(TokenError::NotAnIndex { position, index, axis: format!("{axis:?}") });
        }
        Ok(Self::unchecked(indices.into(), shape, axis))
    }

    /// The dimension that the indices are below.
    pub fn axis(&self) -> Axis {
        self.axis
    }

    /// The indices in row-major order.
    pub fn to_vec(&self) -> Vec<Fin<Axis>> {
        self.indices.iter().map(|&index| Fin::unchecked(index)).collect()
    }
}

impl<Dims: Shape, Axis: ConstDim> Indices<Dims, Axis> {
    /// The index `index(position)` for each position in row-major order.
    pub fn from_fn(shape: Dims, index: impl FnMut(usize) -> Fin<Axis>) -> Self {
        let indices = (0..shape.num_elements()).map(index).map(Fin::value);
        Self::unchecked(indices.collect(), shape, Axis::default())
    }
}

impl<Dims: Copy, Axis> Indices<Dims, Axis> {
    /// The dimensions.
    pub fn shape(&self) -> Dims {
        self.shape
    }

    /// The indices as numbers, in row-major order.
    pub fn as_slice(&self) -> &[usize] {
        &self.indices
    }

    /// Indices that are all below the size of `axis`, as many as `shape` needs.
    pub(crate) fn unchecked(indices: Arc<[usize]>, shape: Dims, axis: Axis) -> Self {
        Self { indices, shape, axis }
    }

    /// The same indices, for a backward pass to keep without a copy.
    pub(crate) fn clone_arc(&self) -> Arc<[usize]> {
        self.indices.clone()
    }
}

crate::error::debug_as!(
    [Dims: Shape, Axis: Dim] Indices<Dims, Axis>,
    |this, f| write!(f, "Indices {:?} of {:?} {:?}", this.shape, this.axis, this.indices)
);

/// An index of the axis `Axis`: a [`Fin<Axis>`](Fin), which is below the size of a compile-time dimension by its
/// type, or a `usize`. An operation compares either with the size of the axis.
///
/// ```
/// use typed_transformer::{dims, tokens::{Fin, IndexOf}};
/// dims! { pub SeqLen = 4; }
/// fn value(index: impl IndexOf<SeqLen>) -> usize {
///     index.index()
/// }
/// assert_eq!((value(Fin::literal::<3>()), value(3)), (3, 3));
/// ```
#[diagnostic::on_unimplemented(
    message = "the index is not one of `{Axis}`",
    label = "`{Self}` is not an index of `{Axis}`",
    note = "an index of `{Axis}` is a `Fin<{Axis}>`, or a `usize` that is checked at run time"
)]
pub trait IndexOf<Axis: AnyDim>: Copy {
    /// The index as a number.
    fn index(self) -> usize;
}

#[diagnostic::do_not_recommend]
impl<Axis: Dim> IndexOf<Axis> for Fin<Axis> {
    fn index(self) -> usize {
        self.value()
    }
}
#[diagnostic::do_not_recommend]
impl<Axis: AnyDim> IndexOf<Axis> for usize {
    fn index(self) -> usize {
        self
    }
}
