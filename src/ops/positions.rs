//! Positions as vectors that embeddings get, and as biases that the logits of attention get.

use super::gather::gather_runs_by_dfdx;
use super::unnamed::reshape_to;
use super::{
    OpError, Real, cast, cast_all, device_error, dim_error, elementwise, embed, ensure_positions, permute, range_error,
};
use crate::backend::{Arithmetic, Backend, Tape, gather_kernel, run_kernel, weight_on_tape};
use crate::dims::{ConstDim, DataDim, Dim, Even, LengthOf, check_same_size};
use crate::tokens::{Indices, TokenIds};
use dfdx::shapes::{Axis, HasShape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::BroadcastTo;

/// The first `S` rows of a table of learned positions (*The Typed Transformer*, "Embedder").
///
/// `(MaxSeqLen, M) -> (S, M)`, for an `S` that is a [length of](LengthOf) `MaxSeqLen` by type.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub MaxSeqLen = 3; pub EmbedDim = 2; pub SeqLen <= MaxSeqLen; }
/// let table: Tensor<(MaxSeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![0.0, 0.1, 1.0, 1.1, 2.0, 2.1]);
/// let rows: Tensor<(SeqLen, EmbedDim), f32, Cpu> = learned_positions(&table, SeqLen::new(2)?)?;
/// assert_eq!(rows.as_vec(), [0.0, 0.1, 1.0, 1.1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn learned_positions<
    S: LengthOf<MaxSeqLen>,
    MaxSeqLen: ConstDim,
    M: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    table: &Tensor<(MaxSeqLen, M), E, D>,
    len: S,
) -> Result<Tensor<(S, M), E, D, T>, OpError> {
    learned_positions_from(table, 0, len)
}

/// [`learned_positions`] from position `start` on: `(MaxSeqLen, M) -> (S, M)`. A step of decoding reads the rows after
/// the positions in its cache.
///
/// # Errors
/// [`OpError::Range`] if the table has fewer than `start + len` rows.
///
/// ```
/// use typed_transformer::{ops::learned_positions_from, prelude::*};
/// dims! { pub MaxSeqLen = 3; pub EmbedDim = 2; pub SeqLen; }
/// let table: Tensor<(MaxSeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![0.0, 0.1, 1.0, 1.1, 2.0, 2.1]);
/// let rows: Tensor<(SeqLen, EmbedDim), f32, Cpu> = learned_positions_from(&table, 1, SeqLen::new(2))?;
/// assert_eq!(rows.as_vec(), [1.0, 1.1, 2.0, 2.1]);
/// let error = learned_positions_from::<_, _, _, _, _, NoneTape>(&table, 2, SeqLen::new(2)).unwrap_err();
/// assert_eq!(error.to_string(), "learned positions: SeqLen=2 from 2 on is not inside MaxSeqLen=3");
/// # Ok::<(), OpError>(())
/// ```
pub fn learned_positions_from<S: Dim, MaxSeqLen: ConstDim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    table: &Tensor<(MaxSeqLen, M), E, D>,
    start: usize,
    len: S,
) -> Result<Tensor<(S, M), E, D, T>, OpError> {
    const OP: &str = "learned positions";
    if start.saturating_add(len.size()) > MaxSeqLen::SIZE {
        return Err(range_error(OP, &len, start, &MaxSeqLen::default()));
    }
    if D::HAS_KERNELS {
        return run_kernel(OP, (len, M::default()), |tape| {
            gather_kernel(D::read_parameter(table, tape)?, vec![start * M::SIZE], len.size() * M::SIZE)
        });
    }
    let starts = (start..start + len.size()).map(|row| row * M::SIZE).collect();
    gather_runs_by_dfdx(OP, weight_on_tape(table, T::default()), starts, M::SIZE, (len, M::default()))
}

/// Sines and cosines of falling frequency, a row for each position ([*Attention Is All You
/// Need*](https://arxiv.org/abs/1706.03762), 3.5; *Another annotated transformer*, "Positional encoding").
///
/// `-> (S, M)`: row `i` holds `sin(i / 10000^(2j/M))` in column `2j` and the cosine of the same angle
/// in column `2j + 1`, so `M` must be even.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub SeqLen = 2; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = sinusoidal_positions(&Cpu::default(), SeqLen, EmbedDim)?;
/// assert_eq!(x.as_vec(), [0.0, 1.0, 1f32.sin(), 1f32.cos()]);
/// # Ok::<(), OpError>(())
/// ```
///
/// The result has no tape. [`add(x, &positions)`](super::add) adds it to a tensor that has one.
pub fn sinusoidal_positions<S: Dim, M: Even, E: Real, D: Backend<E>>(
    device: &D,
    len: S,
    width: M,
) -> Result<Tensor<(S, M), E, D>, OpError> {
    sinusoidal_positions_from(device, 0, len, width)
}

/// [`sinusoidal_positions`] from position `start` on: `-> (S, M)`. A step of decoding adds the rows after the positions
/// in its cache.
///
/// ```
/// use typed_transformer::{ops::{sinusoidal_positions_from, slice}, prelude::*};
/// dims! { pub EmbedDim = 4; pub MaxSeqLen = 9; pub SeqLen = 2; }
/// let device = Cpu::default();
/// let all: Tensor<(MaxSeqLen, EmbedDim), f32, Cpu> = sinusoidal_positions(&device, MaxSeqLen, EmbedDim)?;
/// let later: Tensor<(SeqLen, EmbedDim), f32, Cpu> = sinusoidal_positions_from(&device, 7, SeqLen, EmbedDim)?;
/// assert_eq!(later.as_vec(), slice(all, axis::<MaxSeqLen>(), 7, SeqLen)?.as_vec());
/// # Ok::<(), OpError>(())
/// ```
pub fn sinusoidal_positions_from<S: Dim, M: Even, E: Real, D: Backend<E>>(
    device: &D,
    start: usize,
    len: S,
    width: M,
) -> Result<Tensor<(S, M), E, D>, OpError> {
    sinusoids(device, start, len, width)
}

/// [`sinusoidal_positions_from`] for a caller that knows by other means than the type that `M` is even.
pub(crate) fn sinusoids<S: Dim, M: ConstDim, E: Real, D: Backend<E>>(
    device: &D,
    start: usize,
    len: S,
    width: M,
) -> Result<Tensor<(S, M), E, D>, OpError> {
    const OP: &str = "sinusoidal positions";
    ensure_positions(OP, start, len.size())?;
    let table = cast_all(&table_of_sinusoids(start, len.size(), M::SIZE));
    device.try_tensor_from_vec(table, (len, width)).map_err(device_error(OP))
}

/// The sinusoids of `len` positions from `start` on, `(len, width)`.
fn table_of_sinusoids(start: usize, len: usize, width: usize) -> Vec<f64> {
    let wavelength = |column: usize| 10_000f64.powf((column - column % 2) as f64 / width as f64);
    let wavelengths: Vec<f64> = (0..width).map(wavelength).collect();
    let element = |i: usize| {
        let (position, column) = (start + i / width, i % width);
        let angle = position as f64 / wavelengths[column];
        if column % 2 == 0 { angle.sin() } else { angle.cos() }
    };
    (0..len * width).map(element).collect()
}

/// `x + p`: the same positions added to every sequence of the batch.
///
/// `(B, S, M), (S, M) -> (B, S, M)`
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub SeqLen = 1; pub Batch = 2; }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, 2.0, 3.0, 4.0]);
/// let positions: Tensor<(SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![10.0, 20.0]);
/// assert_eq!(add_positions(x, positions)?.as_vec(), [11.0, 22.0, 13.0, 24.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn add_positions<B: DataDim, S: Dim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<(B, S, M), E, D, T>,
    positions: Tensor<(S, M), E, D, T>,
) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
    const OP: &str = "add positions";
    let shape @ (_, len, _) = *input.shape();
    check_same_size("the input", len, "the positions", positions.shape().0).map_err(dim_error(OP))?;
    let positions = positions.try_broadcast_like::<_, Axis<0>>(&shape).map_err(device_error(OP))?;
    elementwise(OP, Arithmetic::Add, input, positions)
}

/// The buckets of relative positions ([Raffel et al., 2019](https://arxiv.org/abs/1910.10683), 2.1).
///
/// Half of the buckets hold one distance each. The others hold ranges of distances that grow with the distance; the
/// last one holds all distances from `max_distance` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelativeBuckets {
    /// Whether a query also sees keys after it, as in an encoder. Half of the buckets are then for such keys; otherwise
    /// all keys after the query fall into bucket 0.
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
        // Bucket `exact` begins at the distance `exact`; from there on, buckets are equally wide in the logarithm.
        let max_exact = exact.max(1) as f32;
        let log_span = (self.max_distance as f64 / f64::from(max_exact)).ln() as f32;
        let log_bucket = (distance as f32 / max_exact).ln() / log_span * (count - exact) as f32;
        first + exact.saturating_add(log_bucket as usize).min(count - 1)
    }
}

/// The learned number that attention adds to the logit of each query and key, by the bucket of their relative position
/// ([Raffel et al., 2019](https://arxiv.org/abs/1910.10683), 2.1).
///
/// `(NumBuckets, H), (Q), (K) -> (H, Q, K)`, for queries at the positions `start`, `start + 1`, … and keys at `0`, `1`,
/// …, for [`AttentionOptions`](super::AttentionOptions). In decoding, `start` is the number of positions that the cache
/// [holds](crate::nn::KeyValueCache::num_held) before the new ones are appended.
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
    // The bias is put into row-major order once, not in each layer that reads it.
    let shape = *bias.shape();
    reshape_to(OP, bias, shape)
}

/// Attention with linear biases: a bias that falls with the distance of a key from its query ([Press et al.,
/// 2021](https://arxiv.org/abs/2108.12409), 3), for [`AttentionOptions`](super::AttentionOptions).
///
/// `-> (H, Q, K)`: head `h` has `-slope(h) · |start + q - k|` for query `q` and key `k`. In decoding, `start` is the
/// number of positions that the cache [holds](crate::nn::KeyValueCache::num_held) before the new ones are appended. `n`
/// is the highest power of 2 up to `H`. `slope(h) = 2^(-8(h + 1) / n)` for `h < n`. The other heads have slopes between
/// these, `2^(-4(2(h - n) + 1) / n)`, as in BLOOM and the authors' code.
///
/// The layers of [`nn`](crate::nn) add no bias. A model of your own adds no positions to its embeddings
/// ([`NoPositions`](crate::nn::NoPositions)), projects queries, keys and values itself, and calls
/// [`multi_head_attention`](super::multi_head_attention()), as [`models::t5`](crate::models::t5) does with its relative
/// positions.
///
/// ```
/// use typed_transformer::{ops::alibi, prelude::*};
/// dims! { pub NumHeads = 8; pub QLen = 1; pub KLen = 3; }
/// let bias: Tensor<(NumHeads, QLen, KLen), f32, Cpu> = alibi(&Cpu::default(), NumHeads, 2, QLen, KLen)?;
/// assert_eq!(bias.as_vec()[..3], [-1.0, -0.5, 0.0]);
/// assert_eq!(bias.as_vec()[3..6], [-0.5, -0.25, 0.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn alibi<H: ConstDim, Q: Dim, K: Dim, E: Real, D: Backend<E>>(
    device: &D,
    heads: H,
    start: usize,
    queries: Q,
    keys: K,
) -> Result<Tensor<(H, Q, K), E, D>, OpError> {
    const OP: &str = "ALiBi";
    ensure_positions(OP, start, queries.size())?;
    let mut bias = Vec::new();
    for head in 0..H::SIZE {
        let power = 1 << H::SIZE.ilog2();
        let place = if head < power { 2 * (head + 1) } else { 2 * (head - power) + 1 };
        let slope = 2f64.powf(-4.0 * place as f64 / power as f64);
        for query in start..start + queries.size() {
            bias.extend((0..keys.size()).map(|key| cast::<E>(-slope * query.abs_diff(key) as f64)));
        }
    }
    device.try_tensor_from_vec(bias, (heads, queries, keys)).map_err(device_error(OP))
}
