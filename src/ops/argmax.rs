use super::{OpError, Real};
use crate::dims::{ConstDim, Dim};
use crate::tokens::{Fin, TokenIds};
use dfdx::{shapes::HasShape, tensor::Tensor, tensor_ops::Device};
use typed_transformer_macros::panicking;

/// The token with the highest logit at each position; the first of several such tokens.
///
/// `(B, S, V) -> (B, S) ids of V`
///
/// The tokens belong to the vocabulary of the logits. A NaN is never the highest logit. No token of the result
/// counts as padding.
///
/// # Errors
/// [`OpError::NotANumber`] if every logit of a position is NaN.
///
/// ```
/// use typed_transformer::{ops::{argmax, try_argmax}, prelude::*};
/// dims! { pub VocabSize = 3; pub SeqLen = 2; pub Batch = 1; }
/// let device = Cpu::default();
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> =
///     device.tensor(vec![0.1, 0.7, 0.2, 0.4, f32::NAN, 0.4]);
/// let ids: TokenIds<Batch, SeqLen, VocabSize> = argmax(&logits);
/// assert_eq!(ids.as_slice(), [1, 0]);
///
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = device.tensor(vec![f32::NAN; 6]);
/// let error = try_argmax(&logits).unwrap_err();
/// assert_eq!(error.to_string(), "argmax: every logit is NaN or -inf");
/// ```
#[panicking]
pub fn try_argmax<B: Dim, S: Dim, V: ConstDim, E: Real, D: Device<E>, T>(
    logits: &Tensor<(B, S, V), E, D, T>,
) -> Result<TokenIds<B, S, V>, OpError> {
    let (batch, len, _) = *logits.shape();
    let logits = logits.as_vec();
    let tokens: Option<Vec<Fin<V>>> = logits.chunks(V::SIZE.max(1)).map(highest).collect();
    let tokens = tokens.ok_or(OpError::NotANumber { op: "argmax" })?;
    Ok(TokenIds::from_fn((batch, len), |row, position| tokens[row * len.size() + position]))
}

/// The first token with the highest logit; `None` if every logit is NaN.
fn highest<V: ConstDim, E: Real>(logits: &[E]) -> Option<Fin<V>> {
    Fin::all()
        .zip(logits)
        .filter(|(_, logit)| !logit.is_nan())
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
        .map(|(token, _)| token)
}
