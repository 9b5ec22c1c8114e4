use super::{OpError, Real, concat_split::outer_len_inner, ensure_not_empty, gather::gather_repeated, range_error};
use crate::backend::{Backend, Tape};
use crate::dims::{AtMost, AxisOf, Dim, HasAxis};
use crate::tokens::Indices;
use dfdx::shapes::{Axes, HasShape};
use dfdx::tensor::Tensor;

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
pub fn top_k<Dims, Name: Dim, K: AtMost<Name>, WhichAxis: Axes, E: Real, D: Backend<E>, T: Tape<E, D>>(
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
