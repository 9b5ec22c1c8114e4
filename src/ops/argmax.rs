use super::{OpError, Real, concat_split::outer_len_inner, ensure_not_empty, select::remaining};
use crate::backend::Backend;
use crate::dims::{AxisOf, Dim, HasAxis};
use crate::tokens::Indices;
use dfdx::shapes::{Axes, HasShape};
use dfdx::tensor::Tensor;

/// The index of the highest element along the axis `Name`; the first of several such indices.
///
/// `(.., Name, ..) -> (.., ..) indices of Name`
///
/// A NaN is never the highest element. `TokenIds::from` makes token ids of indices of a vocabulary.
///
/// # Errors
/// [`OpError::NotANumber`] if all elements along the axis are NaN.
///
/// ```
/// use typed_transformer::{ops::argmax, prelude::*};
/// dims! { pub VocabSize = 3; pub SeqLen = 2; pub Batch = 1; }
/// let device = Cpu::default();
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> =
///     device.tensor(vec![0.1, 0.7, 0.2, 0.4, f32::NAN, 0.4]);
/// let ids: TokenIds<Batch, SeqLen, VocabSize> = argmax(&logits, axis::<VocabSize>())?.into();
/// assert_eq!(ids.as_slice(), [1, 0]);
///
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = device.tensor(vec![f32::NAN; 6]);
/// let error = argmax(&logits, axis::<VocabSize>()).unwrap_err();
/// assert_eq!(error.to_string(), "argmax: every element is NaN or -inf");
/// # Ok::<(), OpError>(())
/// ```
pub fn argmax<Dims: HasAxis<Name, WhichAxis>, Name: Dim, WhichAxis: Axes, E: Real, D: Backend<E>, T>(
    input: &Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
) -> Result<Indices<Dims::Remaining, Name>, OpError> {
    const OP: &str = "argmax";
    let shape = *input.shape();
    ensure_not_empty(OP, &shape)?;
    let (outer, len, inner) = outer_len_inner(&shape, Dims::INDEX);
    let elements = input.as_vec();
    let highest = |line: usize| {
        let start = line / inner * len * inner + line % inner;
        let numbers = (0..len).map(|index| (index, elements[start + index * inner])).filter(|(_, x)| !x.is_nan());
        numbers.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(index, _)| index)
    };
    let highest: Option<Vec<usize>> = (0..outer * inner).map(highest).collect();
    let highest = highest.ok_or(OpError::NotANumber { op: OP })?;
    Ok(Indices::unchecked(highest.into(), remaining(OP, &shape)?, shape.axis()))
}
