/// A factor that may depend on the width of the embedding.
///
/// ```
/// use typed_transformer::nn::WidthScale;
/// let scales = [WidthScale::One, WidthScale::Constant(0.02), WidthScale::Sqrt, WidthScale::InvSqrt];
/// assert_eq!(scales.map(|scale| scale.of(16)), [1.0, 0.02, 4.0, 0.25]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WidthScale {
    /// 1.
    One,
    /// The same for every width.
    Constant(f64),
    /// The square root of the width ([*Attention Is All You Need*](https://arxiv.org/abs/1706.03762), 3.4).
    Sqrt,
    /// 1 over the square root of the width.
    InvSqrt,
}

impl WidthScale {
    /// The factor for `width` columns.
    #[must_use]
    pub fn of(self, width: usize) -> f64 {
        let width = width as f64;
        match self {
            Self::One => 1.0,
            Self::Constant(factor) => factor,
            Self::Sqrt => width.sqrt(),
            Self::InvSqrt => width.sqrt().recip(),
        }
    }
}
