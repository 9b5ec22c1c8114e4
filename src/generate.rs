//! Decoding: letting a model write.

use crate::{
    backend::Backend,
    dims::{AtMost, ConstDim, Dim},
    nn::{LM, Seq2Seq},
    ops::{OpError, Real, highest, or_panic},
    tokens::{Fin, TokenIds},
};
use dfdx::tensor::NoneTape;

/// Writes, for each source, the token that the model holds most likely, and the next one after it,
/// until it writes `end` or has written `len` tokens.
///
/// `(B, Src) ids of SrcVocab -> (B, Tgt) ids of TgtVocab`
///
/// The model reads its own output and never the answer: a decoder begins with `start`. By type it
/// never writes past the model's maximum. In the result, `end` is padding.
///
/// # Panics
/// If the model's logits are NaN or the device fails; [`try_greedy`] returns the error.
///
/// ```
/// # use typed_transformer::{generate::greedy, prelude::*};
/// # dims! {
/// #     pub VocabSize = 28; pub MaxSeqLen = 15; pub EmbedDim = 8; pub NumHeads = 7; pub HeadDim = 5;
/// #     pub HiddenDim = 5; pub NumLayers = 1; pub SrcLen = 4; pub TgtLen = 3; pub Batch = 1;
/// # }
/// # pub struct Rot13;
/// # impl Arch for Rot13 {
/// #     type NumHeads = NumHeads;
/// #     type QKDim = HeadDim;
/// #     type VODim = HeadDim;
/// #     type HiddenDim = HiddenDim;
/// #     type Style = TypedTransformer;
/// # }
/// # impl Seq2Seq for Rot13 {
/// #     type SrcVocab = VocabSize;
/// #     type TgtVocab = VocabSize;
/// #     type MaxSrcLen = MaxSeqLen;
/// #     type MaxTgtLen = MaxSeqLen;
/// #     type EmbedDim = EmbedDim;
/// #     type EncoderLayers = NumLayers;
/// #     type DecoderLayers = NumLayers;
/// # }
/// const START: Fin<VocabSize> = Fin::literal::<26>();
/// const END: Fin<VocabSize> = Fin::literal::<27>();
/// let model = LM::<Rot13, f32, Cpu>::build(&Cpu::default());
/// let source = TokenIds::from_ids(&[7, 4, 24, 0], Some(END), (Batch, SrcLen))?;
/// let written: TokenIds<Batch, TgtLen, VocabSize> = greedy(&model, &source, START, END, TgtLen);
/// # Ok::<(), TokenError>(())
/// ```
#[track_caller]
pub fn greedy<
    B: Dim,
    Src: AtMost<M::MaxSrcLen>,
    Tgt: AtMost<M::MaxTgtLen>,
    M: Seq2Seq,
    E: Real,
    D: Backend<E>,
>(
    model: &LM<M, E, D>,
    source: &TokenIds<B, Src, M::SrcVocab>,
    start: Fin<M::TgtVocab>,
    end: Fin<M::TgtVocab>,
    len: Tgt,
) -> TokenIds<B, Tgt, M::TgtVocab> {
    or_panic(try_greedy(model, source, start, end, len))
}

/// Fallible [`greedy`].
///
/// # Errors
/// [`OpError::NotANumber`] if the model's logits are NaN; [`OpError::Device`] if the device fails.
pub fn try_greedy<
    B: Dim,
    Src: AtMost<M::MaxSrcLen>,
    Tgt: AtMost<M::MaxTgtLen>,
    M: Seq2Seq,
    E: Real,
    D: Backend<E>,
>(
    model: &LM<M, E, D>,
    source: &TokenIds<B, Src, M::SrcVocab>,
    start: Fin<M::TgtVocab>,
    end: Fin<M::TgtVocab>,
    len: Tgt,
) -> Result<TokenIds<B, Tgt, M::TgtVocab>, OpError> {
    let (batch, _) = source.shape();
    let encoded = model.encoder.try_forward(source, NoneTape)?;
    let source_padding = source.padding_mask();
    let mut written = TokenIds::filled(end, (batch, len));
    let mut ended = vec![false; batch.size()];
    for position in 0..len.size() {
        if ended.iter().all(|&ended| ended) {
            break;
        }
        // What stands after `position` does not matter yet, since the mask is causal; and nothing
        // before it is padding, not even a `start` that is also `end`.
        let decoded = model.decoder.try_forward(
            &written.shifted_right(start).without_padding(),
            encoded.clone(),
            &source_padding,
        )?;
        let logits = model.logit.try_forward(decoded)?.as_vec();
        for (row, ended) in ended.iter_mut().enumerate().filter(|(_, ended)| !**ended) {
            let first = (row * len.size() + position) * M::TgtVocab::SIZE;
            let token = highest(&logits[first..][..M::TgtVocab::SIZE])
                .ok_or(OpError::NotANumber { op: "greedy" })?;
            written.set(row, position, token);
            *ended = token == end;
        }
    }
    Ok(written)
}
