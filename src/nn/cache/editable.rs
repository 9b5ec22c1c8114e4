use crate::dims::{ConstDim, Dim, MaybeSharded};
use crate::nn::Layers;
use crate::ops::OpError;
use crate::tokens::Indices;

/// A cache of the batch `B` whose rows can be reordered and last positions dropped: a
/// [`KeyValueCache`](super::KeyValueCache), a [`Cache`](super::Cache), a [`DecoderCache`](super::DecoderCache), or one
/// of these for each layer. [Beam search](crate::generate::beam_search) and [speculative
/// decoding](crate::generate::Speculation) need it.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{Autoregressive, Cache, EditableCache}, prelude::*};
/// dims! { pub Beams = 2; }
/// let model = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::default());
/// let mut cache: Cache<Beams, MaxSeqLen, NumLayers, Model, f32, Cpu> = model.cache(Beams)?;
/// model.next_logits(&TokenIds::from_ids(&[7, 4, 11, 11], None, (Beams, Const::<2>))?, &mut cache)?;
/// let before = cache.clone();
/// cache.truncate(1)?;
/// assert_eq!((before.len(), cache.len()), (2, 1));
/// // Both beams continue the second one.
/// cache.reorder(&Indices::new(&[1, 1], (Beams,), Beams)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no cache of `{B}` that can be edited",
    label = "`{Self}` does not implement `EditableCache<{B}>`",
    note = "beam search reorders the rows of a cache, and speculative decoding truncates it"
)]
pub trait EditableCache<B: MaybeSharded> {
    /// Keeps the first `len` positions, as [`Vec::truncate`] does. So speculative decoding takes back the tokens that
    /// the model rejects.
    ///
    /// # Errors
    /// [`OpError::Range`] if a [sliding window](super::KeyValueCache::slide) has dropped positions that position `len`
    /// sees.
    fn truncate(&mut self, len: usize) -> Result<(), OpError>;

    /// Row `i` of the batch becomes a copy of row `rows[i]`; with an encoder-decoder, its source too. So beam search
    /// continues with the beams that it keeps.
    ///
    /// # Errors
    /// [`OpError::Dim`] if the rows are those of another batch. The cache is then unchanged.
    fn reorder(&mut self, rows: &Indices<(B,), B>) -> Result<(), OpError>
    where
        B: Dim;
}

#[diagnostic::do_not_recommend]
impl<B: MaybeSharded, NumLayers: ConstDim, Layer: EditableCache<B>> EditableCache<B> for Layers<NumLayers, Layer> {
    fn truncate(&mut self, len: usize) -> Result<(), OpError> {
        self.iter_mut().try_for_each(|layer| layer.truncate(len))
    }

    fn reorder(&mut self, rows: &Indices<(B,), B>) -> Result<(), OpError>
    where
        B: Dim,
    {
        self.iter_mut().try_for_each(|layer| layer.reorder(rows))
    }
}
