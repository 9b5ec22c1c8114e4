/// How vectors are normalized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormKind {
    /// To mean 0 and variance 1: [`ops::layer_norm`](super::layer_norm()).
    LayerNorm,
    /// To a mean square of 1: [`ops::rms_norm`](super::rms_norm()) (*Learning the Transformer*).
    RmsNorm,
}
