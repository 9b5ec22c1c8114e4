use super::{Fin, Indices, TokenError, TokenIds};
use crate::dims::{ConstDim, Dim, MaybeSharded};

/// Token ids that a loss compares logits with, of dimensions `(Batch, SeqLen)`: the `labels` of `transformers`.
///
/// A model reads [`TokenIds`], so a decoder that reads its own labels, and would learn to copy them, does not compile.
/// [`TokenIds::teacher_forcing`] and [`TokenIds::windows`] make labels together with what the decoder reads. Labels of
/// another source, such as the masked tokens of a BERT, are made by [`from_ids`](Self::from_ids), or of `TokenIds` by
/// `From`.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub VocabSize = 28; pub SrcLen; pub Batch; }
/// const PAD: Fin<VocabSize> = Fin::literal::<27>();
/// let shape = (Batch::new(1), SrcLen::new(3));
/// let labels = LabelIds::from_ids(&[7, 4, 27], Some(PAD), shape)?;
/// assert_eq!((labels.as_slice(), labels.pad_token_id()), (&[7, 4, 27][..], Some(PAD)));
/// assert_eq!(labels, LabelIds::from(TokenIds::padded(&[[Fin::literal::<7>(), Fin::literal::<4>()]], PAD, shape)?));
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct LabelIds<Batch, SeqLen, VocabSize>(TokenIds<Batch, SeqLen, VocabSize>);

impl<Batch: MaybeSharded, SeqLen: Dim, VocabSize: ConstDim> LabelIds<Batch, SeqLen, VocabSize> {
    /// Labels in row-major order. If `pad` is given, the labels equal to it are padding.
    ///
    /// # Errors
    /// Those of [`TokenIds::from_ids`].
    pub fn from_ids(ids: &[usize], pad: Option<Fin<VocabSize>>, shape: (Batch, SeqLen)) -> Result<Self, TokenError> {
        TokenIds::from_ids(ids, pad, shape).map(Self)
    }
}

impl<Batch: Copy, SeqLen: Copy, VocabSize> LabelIds<Batch, SeqLen, VocabSize> {
    /// The labels as indices of the vocabulary.
    pub fn indices(&self) -> &Indices<(Batch, SeqLen), VocabSize> {
        self.0.indices()
    }

    /// The labels in row-major order.
    pub fn as_slice(&self) -> &[usize] {
        self.0.as_slice()
    }

    /// The padding token, if the batch has one.
    pub fn pad_token_id(&self) -> Option<Fin<VocabSize>> {
        self.0.pad_token_id()
    }
}

/// Labels from elsewhere: ids that no model is to read.
impl<Batch, SeqLen, VocabSize> From<TokenIds<Batch, SeqLen, VocabSize>> for LabelIds<Batch, SeqLen, VocabSize> {
    fn from(ids: TokenIds<Batch, SeqLen, VocabSize>) -> Self {
        Self(ids)
    }
}

crate::error::debug_as!(
    [Batch: MaybeSharded, SeqLen: Dim, VocabSize: ConstDim] LabelIds<Batch, SeqLen, VocabSize>,
    |this, f| this.0.fmt_as("LabelIds", f)
);
