use super::{OpError, Real, embed, ensure_positions, permute, unnamed::reshape_to};
use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, Dim};
use crate::tokens::{Indices, TokenIds};
use dfdx::{shapes::HasShape, tensor::Tensor};

/// The buckets of relative positions ([Raffel et al., 2019](https://arxiv.org/abs/1910.10683), 2.1).
///
/// Half of the buckets hold one distance each. The others hold ranges of distances that grow with the distance; the
/// last one holds all distances from `max_distance` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelativeBuckets {
    /// Whether a query also sees keys after it, as in an encoder. Half of the buckets are for these. Otherwise all keys
    /// after the query fall into bucket 0.
    pub bidirectional: bool,
    /// The distance, in positions, from which all keys are in the last bucket.
    pub max_distance: usize,
}

impl RelativeBuckets {
    /// The bucket of a query and a key, of `count` buckets: `_relative_position_bucket` of `modeling_t5.py`, which
    /// takes logarithms in `f32`.
    ///
    /// ```
    /// use typed_transformer::ops::RelativeBuckets;
    /// let buckets = RelativeBuckets { bidirectional: true, max_distance: 128 };
    /// // Up to 7 before the query, each distance has a bucket of its own; keys after the query begin at 16.
    /// assert_eq!([0, 3, 7, 9, 20, 500].map(|query| buckets.bucket(query, 0, 32)), [0, 3, 7, 8, 10, 15]);
    /// assert_eq!(buckets.bucket(0, 3, 32), 19);
    /// ```
    #[must_use]
    pub fn bucket(self, query: usize, key: usize, count: usize) -> usize {
        let (first, count, distance) = match self.bidirectional {
            true => (if key > query { count / 2 } else { 0 }, count / 2, key.abs_diff(query)),
            false => (0, count, query.saturating_sub(key)),
        };
        let exact = count / 2;
        if distance < exact || count <= 1 {
            return first + distance.min(count.saturating_sub(1));
        }
        let exact_len = exact.max(1) as f32;
        let log_span = (self.max_distance as f64 / f64::from(exact_len)).ln() as f32;
        let range = (distance as f32 / exact_len).ln() / log_span * (count - exact) as f32;
        first + exact.saturating_add(range as usize).min(count - 1)
    }
}

/// The learned number that attention adds to the logit of each query and key, by the bucket of their relative position
/// ([Raffel et al., 2019](https://arxiv.org/abs/1910.10683), 2.1).
///
/// `(NumBuckets, H), (Q), (K) -> (H, Q, K)`, for queries at the positions `start`, `start + 1`, … and keys at `0`, `1`, …, for
/// [`AttentionOptions`](super::AttentionOptions).
///
/// `tape` is `model.recording()` to record the operations for gradients, or `NoneTape`.
///
/// ```
/// use typed_transformer::{ops::{RelativeBuckets, relative_position_bias}, prelude::*};
/// dims! { pub NumBuckets = 4; pub NumHeads = 1; pub QLen = 2; pub KLen = 3; }
/// let table: Tensor<(NumBuckets, NumHeads), f32, Cpu> = Cpu::default().tensor(vec![0.0, 0.1, 0.2, 0.3]);
/// let buckets = RelativeBuckets { bidirectional: false, max_distance: 8 };
/// let bias: Tensor<(NumHeads, QLen, KLen), f32, Cpu> =
///     relative_position_bias(&table, buckets, 1, (QLen, KLen), NoneTape)?;
/// assert_eq!(bias.as_vec(), [0.1, 0.0, 0.0, 0.2, 0.1, 0.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn relative_position_bias<
    Q: Dim,
    K: Dim,
    NumBuckets: ConstDim,
    H: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    table: &Tensor<(NumBuckets, H), E, D>,
    buckets: RelativeBuckets,
    start: usize,
    lengths: (Q, K),
    tape: T,
) -> Result<Tensor<(H, Q, K), E, D, T>, OpError> {
    const OP: &str = "relative position bias";
    ensure_positions(OP, start, lengths.0.size())?;
    let keys = lengths.1.size().max(1);
    let bucket = |pair: usize| buckets.bucket(start + pair / keys, pair % keys, NumBuckets::SIZE);
    let indices: Vec<usize> = (0..lengths.0.size() * lengths.1.size()).map(bucket).collect();
    let indices = Indices::unchecked(indices.into(), lengths, NumBuckets::default());
    let bias: Tensor<(Q, K, H), E, D, T> = embed(table, &TokenIds::from(indices), tape)?;
    let bias: Tensor<(H, Q, K), E, D, T> = permute(bias)?;
    // Here it gets row-major order once, and not in each layer that reads it.
    let shape = *bias.shape();
    reshape_to(OP, bias, shape)
}
