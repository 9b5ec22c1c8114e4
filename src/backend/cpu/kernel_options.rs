//! Options that a kernel takes as run-time values.

/// The elementwise functions that the kernels support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivationKind {
    /// `max(x, 0)`.
    Relu,
    /// GELU by its approximation with tanh.
    GeluTanh,
    /// GELU by the error function.
    Gelu,
    /// `x σ(x)`.
    Silu,
    /// `tanh x`.
    Tanh,
    /// `σ(x) = 1 / (1 + e⁻ˣ)`.
    Sigmoid,
    /// `ln(1 + eˣ)`.
    Softplus,
    /// `eˣ`.
    Exp,
    /// `√x`.
    Sqrt,
    /// `ln x`.
    Ln,
    /// `|x|`.
    Abs,
}

/// The loss of a number and its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// `(x - t)²`.
    SquaredError,
    /// `-t · log σ(x) - (1 - t) · log(1 - σ(x))`.
    BinaryCrossEntropy,
}

/// The kind of norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormKind {
    /// To mean 0 and variance 1.
    LayerNorm,
    /// To a mean square of 1 (*Learning the Transformer*).
    RmsNorm,
}

/// The logit of a key that the mask hides.
///
/// Both kinds give the same attention weights if the amount of [`Subtract`](Self::Subtract) is far above any logit and
/// a query sees at least one key. A query that sees no key attends to all keys alike under
/// [`MinValue`](Self::MinValue), and as if there were no mask under `Subtract`. Neither gives a NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MaskFill {
    /// The lowest finite number (*The Typed Transformer*).
    MinValue,
    /// The logit minus this amount (*Another annotated transformer*: 10,000), or minus half of the dtype's largest
    /// number if that is less.
    Subtract(f64),
}

/// An axis of the contraction of two tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContractionAxis {
    /// The number of its elements.
    pub size: usize,
    /// Its position in the left operand, if that has it.
    pub left: Option<usize>,
    /// Its position in the right operand, if that has it.
    pub right: Option<usize>,
    /// Whether the output has it. If not, it is summed over.
    pub is_in_output: bool,
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    Maximum,
    Minimum,
}

/// What an axis is reduced to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionKind {
    Sum,
    Mean,
    Max,
}
