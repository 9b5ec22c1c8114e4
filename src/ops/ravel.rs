//! Indices of a product and of its factors.

use super::OpError;
use crate::{
    dims::{ConstDim, Product},
    tokens::Indices,
};
use dfdx::shapes::Shape;
use typed_transformer_macros::panicking;

/// The indices of both factors of a product: of its groups, and within a group. `left = n / Right`, `right = n % Right`.
///
/// `(..) indices of Product<Left, Right> -> (..) indices of Left, (..) indices of Right`
///
/// It is NumPy's `unravel_index`. [`ravel_multi_index`] is its inverse.
///
/// ```
/// use typed_transformer::{ops::{argmax, unravel_index}, prelude::*, tokens::Indices};
/// dims! { pub Batch = 1; pub Height = 2; pub Width = 3; }
/// let heat: Tensor<(Batch, Height, Width), f32, Cpu> = Cpu::default().tensor(vec![0.1, 0.2, 0.0, 0.3, 0.1, 0.9]);
/// let heat = rearrange!(heat: (Batch, Height, Width) -> (Batch, Product<Height, Width>));
/// let highest: Indices<(Batch,), Product<Height, Width>> = argmax(&heat, axis::<Product<Height, Width>>());
/// let (row, column): (Indices<(Batch,), Height>, Indices<(Batch,), Width>) = unravel_index(&highest);
/// assert_eq!((row.as_slice(), column.as_slice()), (&[1][..], &[2][..]));
/// ```
#[must_use]
pub fn unravel_index<Dims: Shape, Left: ConstDim, Right: ConstDim>(
    indices: &Indices<Dims, Product<Left, Right>>,
) -> (Indices<Dims, Left>, Indices<Dims, Right>) {
    let indices_of = |part: fn(usize) -> usize| indices.as_slice().iter().map(|&index| part(index)).collect();
    let left = indices_of(|index| index / Right::SIZE);
    let right = indices_of(|index| index % Right::SIZE);
    let shape = indices.shape();
    (Indices::unchecked(left, shape, Left::default()), Indices::unchecked(right, shape, Right::default()))
}

/// The indices of a product, of those of its factors: `left · Right + right`.
///
/// `(..) indices of Left, (..) indices of Right -> (..) indices of Product<Left, Right>`
///
/// It is NumPy's `ravel_multi_index`. [`unravel_index`] is its inverse.
///
/// # Errors
/// [`OpError::Shape`] if a run-time dimension has two sizes.
///
/// ```
/// use typed_transformer::{ops::{ravel_multi_index, try_ravel_multi_index}, prelude::*, tokens::Indices};
/// dims! { pub Batch; pub Height = 2; pub Width = 3; }
/// let row = Indices::new(&[1, 0], (Batch::new(2),), Height)?;
/// let column = Indices::new(&[2, 1], (Batch::new(2),), Width)?;
/// let pixel: Indices<(Batch,), Product<Height, Width>> = ravel_multi_index(&row, &column);
/// assert_eq!(pixel.as_slice(), [5, 1]);
///
/// let column = Indices::new(&[2], (Batch::new(1),), Width)?;
/// let error = try_ravel_multi_index(&row, &column).unwrap_err();
/// assert_eq!(error.to_string(), "ravel_multi_index: shape (Batch=2,) is not compatible with (Batch=1,)");
/// # Ok::<(), TokenError>(())
/// ```
#[panicking]
pub fn try_ravel_multi_index<Dims: Shape, Left: ConstDim, Right: ConstDim>(
    left: &Indices<Dims, Left>,
    right: &Indices<Dims, Right>,
) -> Result<Indices<Dims, Product<Left, Right>>, OpError> {
    const OP: &str = "ravel_multi_index";
    let (shape, right_shape) = (left.shape(), right.shape());
    if shape != right_shape {
        return Err(OpError::Shape { op: OP, from: format!("{shape:?}"), to: format!("{right_shape:?}") });
    }
    let pairs = left.as_slice().iter().zip(right.as_slice());
    let indices = pairs.map(|(left, right)| left * Right::SIZE + right).collect();
    Ok(Indices::unchecked(indices, shape, Product::default()))
}
