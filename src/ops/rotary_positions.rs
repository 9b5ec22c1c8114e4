use super::{OpError, Real, cast, device_error, try_take};
use crate::{
    dims::{ConstDim, Dim, Even, axis},
    tokens::{Fin, Indices},
};
use dfdx::{
    shapes::{Axes2, HasShape},
    tensor::{Tape, Tensor},
    tensor_ops::{BroadcastTo, Device, TryAdd, TryMul},
};
use typed_transformer_macros::panicking;

/// How rotary positions pair the columns of a head, and the base of their wavelengths.
///
/// ```
/// use typed_transformer::ops::{Rotary, RotaryPairs};
/// assert_eq!(Rotary::default(), Rotary { base: 10_000.0, pairs: RotaryPairs::Adjacent });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotary {
    /// Pair `j` of `HeadDim / 2` pairs turns by `base^(-2j / HeadDim)` per position.
    pub base: f64,
    /// The columns of a pair.
    pub pairs: RotaryPairs,
}

/// The columns that rotary positions turn together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotaryPairs {
    /// Columns `2j` and `2j + 1` (RoFormer).
    Adjacent,
    /// Columns `j` and `HeadDim / 2 + j` (GPT-NeoX, and Llama in the weights of Hugging Face).
    Halves,
}

impl Rotary {
    /// The base and the pairs of RoFormer.
    pub const ROFORMER: Self = Self { base: 10_000.0, pairs: RotaryPairs::Adjacent };
}

impl Default for Rotary {
    /// [`Rotary::ROFORMER`].
    fn default() -> Self {
        Self::ROFORMER
    }
}

/// Turns each pair of columns of a query or a key by an angle that grows with its position, so that the product of a
/// query and a key depends on their distance ([Su et al., 2021](https://arxiv.org/abs/2104.09864), 3.4).
///
/// `(B, H, S, HeadDim) -> (B, H, S, HeadDim)`: the columns `(a, b)` of pair `j` at position `p` become
/// `(a cos θ - b sin θ, a sin θ + b cos θ)` with `θ = p · base^(-2j / HeadDim)`. The positions are `start`, `start + 1`, …
///
/// # Errors
/// [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::{Rotary, rotary_positions}, prelude::*};
/// dims! { pub NumHeads = 1; pub HeadDim = 2; pub SeqLen = 2; pub Batch = 1; }
/// let query: Tensor<(Batch, NumHeads, SeqLen, HeadDim), f64, Cpu> =
///     Cpu::default().tensor(vec![1.0, 0.0, 1.0, 0.0]);
/// let turned = rotary_positions(query, 0, Rotary::default());
/// assert_eq!(turned.as_vec(), [1.0, 0.0, 1f64.cos(), 1f64.sin()]);
/// ```
#[panicking]
pub fn try_rotary_positions<B: Dim, H: Dim, S: Dim, HeadDim: Even, E: Real, D: Device<E>, T: Tape<E, D>>(
    input: Tensor<(B, H, S, HeadDim), E, D, T>,
    start: usize,
    rotary: Rotary,
) -> Result<Tensor<(B, H, S, HeadDim), E, D, T>, OpError> {
    try_turn(input, start, rotary)
}

/// [`rotary_positions`] where the caller knows that the number of columns is even.
pub(crate) fn try_turn<B: Dim, H: Dim, S: Dim, HeadDim: ConstDim, E: Real, D: Device<E>, T: Tape<E, D>>(
    input: Tensor<(B, H, S, HeadDim), E, D, T>,
    start: usize,
    rotary: Rotary,
) -> Result<Tensor<(B, H, S, HeadDim), E, D, T>, OpError> {
    let shape @ (_, _, len, width) = *input.shape();
    // The other column of the pair, the pair, and whether the column is the second one of it.
    let half = HeadDim::SIZE / 2;
    let pair_of = |column: usize| match rotary.pairs {
        RotaryPairs::Adjacent => (column ^ 1, column / 2, column % 2 == 1),
        RotaryPairs::Halves => ((column + half) % HeadDim::SIZE, column % half, column >= half),
    };
    let (mut cosines, mut sines) = (Vec::new(), Vec::new());
    for position in start..start + len.size() {
        for column in 0..HeadDim::SIZE {
            let (_, pair, is_second) = pair_of(column);
            let angle = position as f64 * rotary.base.powf(-((2 * pair) as f64) / HeadDim::SIZE as f64);
            cosines.push(cast(angle.cos()));
            sines.push(cast(if is_second { angle.sin() } else { -angle.sin() }));
        }
    }
    let columns: Vec<Fin<HeadDim>> = Fin::all().collect();
    let others = Indices::from_fn((width,), |column| columns[pair_of(column).0]);
    let others = try_take(input.retaped::<T>(), axis::<HeadDim>(), &others)?;
    let device = input.device().clone();
    let compute = || {
        let broadcast = |table: Vec<E>| {
            let table: Tensor<(S, HeadDim), E, D> = device.try_tensor_from_vec(table, (len, width))?;
            table.retaped::<T>().try_broadcast_like::<_, Axes2<0, 1>>(&shape)
        };
        input.try_mul(broadcast(cosines)?)?.try_add(others.try_mul(broadcast(sines)?)?)
    };
    compute().map_err(device_error::<D::Err>("rotary positions"))
}
