mod tables;

use super::unnamed::{matmul_2d_transposed, reshape_to, rows, zip};
use super::views::outer_len_inner;
use super::{OpError, Real, cast, cast_all, device_error, ensure_not_empty, ensure_positions};
use crate::backend::{Backend, Tape, rotary_kernel, run_kernel};
use crate::dims::{AxisOf, ConstDim, DataDim, Dim, EndsIn, Even, Factor, HasAxis, Product, Unchecked};
use dfdx::shapes::{Axes2, HasShape, Shape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{BroadcastTo, TryAdd, TryMul};
use std::{f64::consts::PI, fmt};
use tables::{Tables, rotation};

const OP: &str = "rotary positions";

/// The pairs of columns that rotary positions rotate, and the base of their wavelengths.
///
/// ```
/// use typed_transformer::ops::{Rotary, RotaryPairs};
/// assert_eq!(Rotary::default(), Rotary { base: 10_000.0, pairs: RotaryPairs::Adjacent, scaling: None });
/// assert_eq!(Rotary::halves(500_000.0).pairs, RotaryPairs::Halves);
/// ```
#[derive(Clone, Copy, PartialEq)]
pub struct Rotary {
    /// Pair `j` of `HeadDim / 2` pairs rotates by `base^(-2j / HeadDim)` per position.
    pub base: f64,
    /// The columns of a pair.
    pub pairs: RotaryPairs,
    /// The scaling for longer sequences, if any.
    pub scaling: Option<RotaryScaling>,
}

/// The slower rotation of Llama 3.1 and 3.2, which were trained on sequences of `original_len` positions and then on
/// longer ones ([Grattafiori et al., 2024](https://arxiv.org/abs/2407.21783), 3.4.2; `_compute_llama3_parameters` of
/// `modeling_rope_utils.py`).
///
/// A pair with at most `low_frequency_factor` rotations in `original_len` positions rotates `factor` times more slowly.
/// One with at least `high_frequency_factor` rotations stays as it is. Between the two, the speed is interpolated.
///
/// ```
/// use typed_transformer::{ops::{Rotary, RotaryScaling, rotary_positions}, prelude::*};
/// dims! { pub NumHeads = 1; pub HeadDim = 2; pub SeqLen = 2; pub Batch = 1; }
/// // The pair of a head of 2 columns rotates by 1 radian per position: 6 positions are not one whole rotation.
/// let scaling = RotaryScaling { factor: 4.0, low_frequency_factor: 1.0, high_frequency_factor: 2.0, original_len: 6 };
/// let rotary = Rotary { scaling: Some(scaling), ..Rotary::default() };
/// let query: Tensor<(Batch, NumHeads, SeqLen, HeadDim), f64, Cpu> = Cpu::default().tensor(vec![1.0, 0.0, 1.0, 0.0]);
/// let rotated = rotary_positions(query, axis::<SeqLen>(), 0, rotary)?;
/// assert_eq!(rotated.as_vec(), [1.0, 0.0, 0.25f64.cos(), 0.25f64.sin()]);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RotaryScaling {
    /// The factor by which the slowest pairs slow down.
    pub factor: f64,
    /// A pair with at most this many rotations in `original_len` positions is slowed down by `factor`.
    pub low_frequency_factor: f64,
    /// A pair with at least this many rotations in `original_len` positions keeps its speed.
    pub high_frequency_factor: f64,
    /// The longest sequence of the first training run, in positions.
    pub original_len: usize,
}

impl RotaryScaling {
    /// The angle per position of a pair, in radians, from the one without scaling.
    fn scaled(self, angle: f64) -> f64 {
        let rotations = self.original_len as f64 * angle / (2.0 * PI);
        let kept = (rotations - self.low_frequency_factor) / (self.high_frequency_factor - self.low_frequency_factor);
        let kept = kept.clamp(0.0, 1.0);
        kept * angle + (1.0 - kept) * angle / self.factor
    }
}

impl Rotary {
    /// The base and the pairs of RoFormer.
    pub const ROFORMER: Self = Self { base: 10_000.0, pairs: RotaryPairs::Adjacent, scaling: None };

    /// The pairs of Llama and its successors, whose columns are in different halves of a head.
    #[must_use]
    pub const fn halves(base: f64) -> Self {
        Self { base, pairs: RotaryPairs::Halves, scaling: None }
    }

    /// Refuses numbers that are out of their range. With some of them angles would be infinite or NaN.
    fn ensure_valid(self) -> Result<(), OpError> {
        let ensure = |name, found, is_valid, expected| match is_valid {
            true => Ok(()),
            false => Err(OpError::Setting { op: OP, name, expected, found }),
        };
        let positive = |name, found: f64| ensure(name, found, found.is_finite() && found > 0.0, "finite and above 0");
        positive("the base", self.base)?;
        let Some(RotaryScaling { factor, low_frequency_factor: low, high_frequency_factor: high, .. }) = self.scaling
        else {
            return Ok(());
        };
        positive("the factor of the scaling", factor)?;
        ensure("the low-frequency factor", low, low.is_finite(), "finite")?;
        let is_above = high.is_finite() && low < high;
        ensure("the high-frequency factor", high, is_above, "finite and above the low-frequency factor")
    }

    /// The angle per position of pair `pair` of a head of `width` columns, in radians.
    fn angle_per_position(self, pair: usize, width: usize) -> f64 {
        let angle = self.base.powf(-((2 * pair) as f64) / width as f64);
        self.scaling.map_or(angle, |scaling| scaling.scaled(angle))
    }
}

impl fmt::Debug for Rotary {
    /// The scaling is written if there is one. Files of weights store this text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rotary = f.debug_struct("Rotary");
        rotary.field("base", &self.base).field("pairs", &self.pairs);
        if let Some(scaling) = self.scaling {
            rotary.field("scaling", &scaling);
        }
        rotary.finish()
    }
}

/// The columns that rotary positions rotate together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotaryPairs {
    /// Columns `2j` and `2j + 1` (RoFormer).
    Adjacent,
    /// Columns `j` and `HeadDim / 2 + j` (GPT-NeoX, and Llama in the weights of HuggingFace).
    Halves,
}

/// A column of a head, as one of its pair.
struct PairedColumn {
    /// The number of the pair.
    pair: usize,
    /// Whether the column is `b` of the pair `(a, b)`.
    is_second: bool,
    /// The other column of the pair.
    other: usize,
}

impl RotaryPairs {
    /// The pair of a column of a head of `width` columns.
    fn of_column(self, column: usize, width: usize) -> PairedColumn {
        let half = width / 2;
        match self {
            Self::Adjacent => PairedColumn { pair: column / 2, is_second: column % 2 == 1, other: column ^ 1 },
            Self::Halves => {
                PairedColumn { pair: column % half, is_second: column >= half, other: (column + half) % width }
            }
        }
    }
}

impl Default for Rotary {
    /// [`Rotary::ROFORMER`].
    fn default() -> Self {
        Self::ROFORMER
    }
}

/// Rotates each pair of columns of a query or a key by an angle that grows with its position along the axis `S`, so
/// that the product of a query and a key depends on their distance ([Su et al.,
/// 2021](https://arxiv.org/abs/2104.09864), 3.4).
///
/// `(.., S, .., HeadDim) -> (.., S, .., HeadDim)`, for tensors of 2 to 6 axes: the columns `(a, b)` of pair `j` at
/// position `p` become `(a cos θ - b sin θ, a sin θ + b cos θ)` with `θ = p · base^(-2j / HeadDim)`, or slower by
/// [`RotaryScaling`]. The positions are `start`, `start + 1`, …
///
/// # Errors
/// [`OpError::Setting`] unless the base and the factor of a scaling are finite and above 0, its low-frequency factor is
/// finite, and its high-frequency factor is finite and above the low-frequency factor.
///
/// ```
/// use typed_transformer::{ops::{Rotary, rotary_positions}, prelude::*};
/// dims! { pub NumHeads = 1; pub HeadDim = 2; pub SeqLen = 2; pub Batch = 1; }
/// let query: Tensor<(Batch, NumHeads, SeqLen, HeadDim), f64, Cpu> = Cpu::default().tensor(vec![1.0, 0.0, 1.0, 0.0]);
/// let rotated = rotary_positions(query, axis::<SeqLen>(), 0, Rotary::default())?;
/// assert_eq!(rotated.as_vec(), [1.0, 0.0, 1f64.cos(), 1f64.sin()]);
/// # Ok::<(), OpError>(())
/// ```
///
/// `cargo build` refuses heads side by side in a tensor of up to 3 axes, because the columns of a pair would lie in
/// different heads:
///
/// ```compile_fail,E0080
/// # use typed_transformer::{ops::{Rotary, rotary_positions}, prelude::*};
/// # dims! { pub NumHeads = 2; pub HeadDim = 2; pub SeqLen = 2; pub Batch = 1; }
/// let query: Tensor<(Batch, SeqLen, Product<NumHeads, HeadDim>), f32, Cpu> = Cpu::default().zeros();
/// let rotated = rotary_positions(query, axis::<SeqLen>(), 0, Rotary::default());
/// ```
pub fn rotary_positions<Dims, S: Dim, HeadDim: Even, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<S>,
    start: usize,
    rotary: Rotary,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: HasAxis<S, WhichAxis> + EndsIn<HeadDim>,
    Dims::Remaining: EndsIn<HeadDim>,
{
    const {
        let has_axis_of_heads = Dims::NUM_DIMS > 3;
        assert!(has_axis_of_heads || HeadDim::NUM_FACTORS == 1, "rotary positions: split the heads first");
    }
    let (_, len, columns) = outer_len_inner(input.shape(), Dims::INDEX);
    rotate::<_, HeadDim, _, _, _>(input, len, columns, start, rotary)
}

/// [`rotary_positions`] of heads side by side: `(B, S, Product<H, HeadDim>) -> (B, S, Product<H, HeadDim>)`. The
/// caller knows that the number of columns of a head is even.
pub(crate) fn rotate_heads<B: DataDim, S: Dim, H: Factor, HeadDim: ConstDim, E: Real, D: Backend<E>, T>(
    input: Tensor<(B, S, Product<H, HeadDim>), E, D, T>,
    start: usize,
    rotary: Rotary,
) -> Result<Tensor<(B, S, Product<H, HeadDim>), E, D, T>, OpError>
where
    T: Tape<E, D>,
{
    let len = input.shape().1.size();
    rotate::<_, HeadDim, _, _, _>(input, len, H::SIZE * HeadDim::SIZE, start, rotary)
}

/// Rotates vectors of `HeadDim` columns. Each of `len` positions has one or more vectors, with `columns` in all.
fn rotate<Dims: Shape, HeadDim: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    len: usize,
    columns: usize,
    start: usize,
    rotary: Rotary,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    ensure_positions(OP, start, len)?;
    ensure_not_empty(OP, &(HeadDim::default(),))?;
    rotary.ensure_valid()?;
    let (shape, vectors) = (*input.shape(), columns / HeadDim::SIZE);
    if D::HAS_KERNELS {
        let rotation = rotation((rotary, start, len, HeadDim::SIZE), vectors);
        return run_kernel(OP, shape, |tape| rotary_kernel(D::read(input, tape)?, rotation));
    }
    let sequences = shape.num_elements() / (len * columns).max(1);
    let sizes = (Unchecked(sequences), Unchecked(len), Unchecked(vectors), Unchecked(HeadDim::SIZE));
    reshape_to(OP, rotate_by_dfdx(reshape_to(OP, input, sizes)?, start, rotary)?, shape)
}

/// `(sequences, len, vectors, HeadDim)`, of sizes alone.
type Vectors<E, D, T> = Tensor<(Unchecked, Unchecked, Unchecked, Unchecked), E, D, T>;

/// The definition of [`rotate`].
fn rotate_by_dfdx<E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Vectors<E, D, T>,
    start: usize,
    rotary: Rotary,
) -> Result<Vectors<E, D, T>, OpError> {
    let (sizes, device, error) = (*input.shape(), input.device().clone(), device_error::<D::Err>(OP));
    let (_, len, _, width) = sizes;
    let tables = Tables::of_columns(rotary, start, len.0, width.0);
    // A product with this matrix swaps the columns of each pair; a gather would need an index for each element. But an
    // infinite element makes its whole vector NaN, not its pair alone.
    let is_other = |i| rotary.pairs.of_column(i / width.0, width.0).other == i % width.0;
    let swap = (0..width.0 * width.0).map(|i| cast(f64::from(u8::from(is_other(i))))).collect::<Vec<E>>();
    let swap = device.try_tensor_from_vec(swap, (width, width)).map_err(&error)?.retaped::<T>();
    let others = reshape_to(OP, matmul_2d_transposed(OP, rows(OP, input.clone())?, swap)?, sizes)?;
    let broadcast = |table: &[f64]| {
        let table: Tensor<(Unchecked, Unchecked), E, D> = device.try_tensor_from_vec(cast_all(table), (len, width))?;
        table.try_broadcast_like::<_, Axes2<0, 2>>(&sizes)
    };
    let (cosines, sines) = (broadcast(&tables.cosines).map_err(&error)?, broadcast(&tables.sines).map_err(&error)?);
    let input = zip(OP, input, cosines, |x, y| x.try_mul(y))?;
    let others = zip(OP, others, sines, |x, y| x.try_mul(y))?;
    zip(OP, input, others, |x, y| x.try_add(y))
}
