use super::{OpError, Real, cast, device_error, ensure_positions};
use crate::backend::Backend;
use crate::dims::{ConstDim, Dim};
use dfdx::tensor::Tensor;

/// Attention with linear biases: a bias that falls with the distance of a key from its query ([Press et al.,
/// 2021](https://arxiv.org/abs/2108.12409), 3), for [`AttentionOptions`](super::AttentionOptions).
///
/// `-> (H, Q, K)`: head `h` has `-slope(h) · |start + q - k|` for query `q` and key `k`. In decoding, `start` is the
/// position of the first query. `n` is the highest power of 2 up to `H`. `slope(h) = 2^(-8(h + 1) / n)` for `h < n`.
/// The other heads have slopes between these, `2^(-4(2(h - n) + 1) / n)`, as in BLOOM and the authors' code.
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
