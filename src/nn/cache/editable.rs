use super::{Cache, CachedHeads, DecoderCache, KeyValueCache};
use crate::backend::Backend;
use crate::dims::{ConstDim, Dim};
use crate::nn::Layers;
use crate::ops::{OpError, Real};
use crate::tokens::Indices;

/// A cache of the batch `B` that can go on from other texts: a [`KeyValueCache`], a [`Cache`], a [`DecoderCache`], or one
/// of these for each layer. [Beam search](crate::generate::beam_search) and [speculative
/// decoding](crate::generate::Speculation) need it.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{Cache, EditableCache, KeyValueCache, Layers}, prelude::*};
/// dims! { pub Beams = 2; }
/// fn is_editable<Edited: EditableCache<Beams>>() {}
/// is_editable::<Cache<Beams, MaxSeqLen, NumLayers, Model>>();
/// is_editable::<Layers<NumLayers, KeyValueCache<Beams, MaxSeqLen, Model>>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no cache of `{B}` that can be edited",
    label = "`{Self}` does not implement `EditableCache<{B}>`",
    note = "beam search reorders the rows of a cache, and speculative decoding truncates it"
)]
pub trait EditableCache<B: Dim> {
    /// Keeps the first `len` positions: [`Cache::truncate`].
    ///
    /// # Errors
    /// Those of [`Cache::truncate`].
    fn truncate(&mut self, len: usize) -> Result<(), OpError>;

    /// Row `i` of the batch becomes a copy of row `rows[i]`: [`Cache::reorder`].
    ///
    /// # Errors
    /// Those of [`Cache::reorder`].
    fn reorder(&mut self, rows: &Indices<(B,), B>) -> Result<(), OpError>;
}

macro_rules! editable {
    ($([$($parameter:ident: $bound:path),*] $cache:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<B: Dim, $($parameter: $bound,)* A: CachedHeads, E: Real, D: Backend<E>> EditableCache<B> for $cache {
            fn truncate(&mut self, len: usize) -> Result<(), OpError> {
                self.truncate(len)
            }

            fn reorder(&mut self, rows: &Indices<(B,), B>) -> Result<(), OpError> {
                self.reorder(rows)
            }
        }
    )*};
}

editable! {
    [MaxLen: ConstDim] KeyValueCache<B, MaxLen, A, E, D>;
    [MaxLen: ConstDim, NumLayers: ConstDim] Cache<B, MaxLen, NumLayers, A, E, D>;
    [Src: Dim, MaxLen: ConstDim, NumLayers: ConstDim] DecoderCache<B, Src, MaxLen, NumLayers, A, E, D>;
}

#[diagnostic::do_not_recommend]
impl<B: Dim, NumLayers: ConstDim, Layer: EditableCache<B>> EditableCache<B> for Layers<NumLayers, Layer> {
    fn truncate(&mut self, len: usize) -> Result<(), OpError> {
        self.iter_mut().try_for_each(|layer| layer.truncate(len))
    }

    fn reorder(&mut self, rows: &Indices<(B,), B>) -> Result<(), OpError> {
        self.iter_mut().try_for_each(|layer| layer.reorder(rows))
    }
}
