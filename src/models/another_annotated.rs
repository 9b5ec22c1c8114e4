//! *Another annotated transformer*.
use crate::{
    mask::PadSourceKeys,
    nn::{PowerOfWidth, Sinusoidal, Style},
    ops::{MaskedLogit, Relu},
};

/// The style of *Another annotated transformer*: ReLU, sinusoidal positions added to scaled
/// embeddings, attention with biases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Annotated;

impl Style for Annotated {
    type Activation = Relu;
    type Positions = Sinusoidal;
    type Padding = PadSourceKeys;
    const ATTENTION_BIAS: bool = true;
    const MASKED_LOGIT: MaskedLogit = MaskedLogit::Minus(10_000.0);
    const EMBEDDING_SCALE: PowerOfWidth = PowerOfWidth::Sqrt;
    const EMBEDDING_DEVIATION: PowerOfWidth = PowerOfWidth::InverseSqrt;
    const EMBEDDING_NORM: bool = false;
    const NORM_EPSILON: f64 = 1e-6;
}
