//! The highest elements along a named axis.

use super::gather::gather_repeated;
use super::{OpError, Real, concat_split::outer_len_inner, ensure_not_empty, range_error};
use crate::backend::{Backend, Tape};
use crate::dims::{AtMost, AxisOf, Dim, HasAxis};
use crate::tokens::Indices;
use dfdx::shapes::HasShape;
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
pub fn argmax<Dims: HasAxis<Name, WhichAxis>, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T>(
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
    Ok(Indices::unchecked(highest.into(), shape.remove_axis(), shape.axis()))
}

/// The `K` highest elements along the axis `Name`, highest first, and their indices; of equal elements, the first
/// ones.
///
/// `(.., Name, ..) -> (.., K, ..), (.., K, ..) indices of Name`, for a `K` that is at most `Name` by type.
///
/// A NaN is lower than every number. Gradients flow to the chosen elements. A mixture of experts chooses its experts
/// this way ([Shazeer et al., 2017](https://arxiv.org/abs/1701.06538), 2.1).
///
/// # Errors
/// [`OpError::Range`] if a run-time `K` is greater than the size of the axis.
///
/// ```
/// use typed_transformer::{ops::top_k, prelude::*, tokens::Indices};
/// dims! { pub NumExperts = 4; pub ExpertsPerToken = 2; pub SeqLen = 1; }
/// let gates: Tensor<(SeqLen, NumExperts), f32, Cpu> = Cpu::default().tensor(vec![0.1, 0.4, 0.2, 0.3]);
/// let (weights, experts) = top_k(gates, axis::<NumExperts>(), ExpertsPerToken)?;
/// let weights: Tensor<(SeqLen, ExpertsPerToken), f32, Cpu> = weights;
/// let experts: Indices<(SeqLen, ExpertsPerToken), NumExperts> = experts;
/// assert_eq!(weights.as_vec(), [0.4, 0.3]);
/// assert_eq!(experts.as_slice(), [1, 3]);
/// # Ok::<(), OpError>(())
/// ```
pub fn top_k<Dims, Name: Dim, K: AtMost<Name>, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
    k: K,
) -> Result<(Tensor<Dims::Replaced<K>, E, D, T>, Indices<Dims::Replaced<K>, Name>), OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    const OP: &str = "top_k";
    let shape = *input.shape();
    if k.size() > shape.axis().size() {
        return Err(range_error(OP, &k, 0, &shape.axis()));
    }
    ensure_not_empty(OP, &shape)?;
    let (outer, len, inner) = outer_len_inner(&shape, Dims::INDEX);
    let elements = input.as_vec();
    let mut chosen = vec![0; outer * k.size() * inner];
    for (outer, inner_index) in (0..outer).flat_map(|outer| (0..inner).map(move |index| (outer, index))) {
        let element = |index: &usize| elements[(outer * len + index) * inner + inner_index];
        let mut order: Vec<usize> = (0..len).collect();
        // Numbers in falling order, then NaNs. The sort is stable, so the first of equal elements stays first.
        order.sort_by(|a, b| {
            let (a, b) = (element(a), element(b));
            b.partial_cmp(&a).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        });
        for (position, index) in order.into_iter().take(k.size()).enumerate() {
            chosen[(outer * k.size() + position) * inner + inner_index] = index;
        }
    }
    let elements = gather_repeated(OP, input, &chosen, 1, shape.replace_axis(k))?;
    Ok((elements, Indices::unchecked(chosen.into(), shape.replace_axis(k), shape.axis())))
}
