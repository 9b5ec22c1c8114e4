//! Decoding: letting a model write.

mod sampler;

pub use sampler::{Sampler, SamplingError};

use crate::{
    backend::Backend,
    dims::{AtMost, Const, ConstDim, Dim},
    nn::{DecoderOnly, LM, Seq2Seq, SingleStack},
    ops::{OpError, Real},
    tokens::{Fin, TokenIds},
};
use dfdx::tensor::NoneTape;
use typed_transformer_macros::panicking;

/// Writes, for each source, the token that the model holds most likely, and the next one after it,
/// until it writes `end` or has written `len` tokens.
///
/// `(B, Src) ids of SrcVocab -> (B, Tgt) ids of TgtVocab`
///
/// The model reads its own output and never the answer: a decoder begins with `start`. By type it
/// never writes past the model's maximum. In the result, `end` is padding.
///
/// # Errors
/// Those of [`try_generate`].
///
/// ```
/// # use typed_transformer::{doctest::*, generate::greedy, prelude::*};
/// const START: Fin<VocabSize> = Fin::literal::<26>();
/// const END: Fin<VocabSize> = Fin::literal::<27>();
/// let model = LM::<Model, f32, Cpu>::build(&Cpu::default());
/// let source = TokenIds::from_ids(&[7, 4, 24, 0], Some(END), (Batch, SrcLen))?;
/// let written: TokenIds<Batch, TgtLen, VocabSize> = greedy(&model, &source, START, END, TgtLen);
/// # Ok::<(), TokenError>(())
/// ```
#[panicking]
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
    try_generate(model, source, start, end, len, &mut Sampler::greedy())
}

/// As [`greedy`], but each token is what `sampler` chooses.
///
/// `(B, Src) ids of SrcVocab -> (B, Tgt) ids of TgtVocab`
///
/// What was read and written is kept in a [`DecoderCache`](crate::nn::DecoderCache), so each token costs
/// the same.
///
/// # Errors
/// [`OpError::NotANumber`] if the model's logits are NaN; [`OpError::Device`] if the device fails.
pub fn try_generate<
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
    sampler: &mut Sampler<M::TgtVocab>,
) -> Result<TokenIds<B, Tgt, M::TgtVocab>, OpError> {
    let (batch, _) = source.shape();
    let encoded = model.encoder.try_forward(source, NoneTape)?;
    let mut cache = model.decoder.try_cache(encoded, &source.padding_mask())?;
    let mut rows = Rows::new(batch, Some(end), vec![Vec::new(); batch.size()]);
    let mut next = TokenIds::from_fn((batch, Const::<1>), |_, _| start);
    for position in 0..len.size() {
        let decoded = model.decoder.try_forward_cached(&next, &mut cache)?;
        let logits = model.try_logits(decoded)?.as_vec();
        next = rows.choose(&logits, sampler)?;
        if rows.all_ended() || position + 1 == len.size() {
            break;
        }
    }
    Ok(rows.written(len))
}

/// Writes on from a prompt: reads it, then writes the token that `sampler` chooses, and the next one after
/// it, until it writes `end` or prompt and writing together are `len` tokens.
///
/// `(B, Prompt) ids of VocabSize -> (B, Len) ids of VocabSize`
///
/// By type the whole is never longer than the model's maximum. Rows may end at different times; in the
/// result, `end` is padding. What was read is kept in a [`Cache`](crate::nn::Cache), so each token costs the
/// same.
///
/// # Errors
/// [`OpError::Range`] if the prompt is longer than `len`; [`OpError::NotANumber`] if the model's logits are
/// NaN; [`OpError::Device`] if the device fails.
///
/// ```
/// # use typed_transformer::{doctest::*, generate::{Sampler, try_complete}, prelude::*};
/// let model = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::default());
/// let prompt = TokenIds::from_ids(&[7, 4, 11], None, (Batch, TgtLen))?;
/// let mut sampler = Sampler::with_temperature(0.8, 1)?.top_k(5)?;
/// let whole: TokenIds<Batch, MaxSeqLen, VocabSize> = try_complete(&model, &prompt, None, MaxSeqLen, &mut sampler)?;
/// assert!(whole.as_slice().starts_with(&[7, 4, 11]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn try_complete<
    B: Dim,
    Prompt: AtMost<M::MaxSeqLen>,
    Len: AtMost<M::MaxSeqLen>,
    M: SingleStack,
    E: Real,
    D: Backend<E>,
>(
    model: &DecoderOnly<M, E, D>,
    prompt: &TokenIds<B, Prompt, M::VocabSize>,
    end: Option<Fin<M::VocabSize>>,
    len: Len,
    sampler: &mut Sampler<M::VocabSize>,
) -> Result<TokenIds<B, Len, M::VocabSize>, OpError> {
    let (batch, read) = prompt.shape();
    if read.size() > len.size() {
        return Err(OpError::Range {
            op: "complete",
            part: format!("{read:?}"),
            start: 0,
            whole: format!("{len:?}"),
        });
    }
    let mut cache = model.try_cache(batch)?;
    let begin = (0..batch.size()).filter_map(|row| prompt.row(row));
    let mut rows = Rows::new(batch, end, begin.collect());
    let logits = model.try_forward_cached(prompt, &mut cache)?.as_vec();
    // Of each row only what follows its last token.
    let size = M::VocabSize::SIZE;
    let last = logits.chunks(read.size() * size).flat_map(|row| &row[row.len() - size..]);
    let mut logits: Vec<E> = last.copied().collect();
    for position in read.size()..len.size() {
        let next = rows.choose(&logits, sampler)?;
        if rows.all_ended() || position + 1 == len.size() {
            break;
        }
        logits = model.try_forward_cached(&next, &mut cache)?.as_vec();
    }
    Ok(rows.written(len))
}

/// What is written to each row of a batch, and which rows have ended.
struct Rows<B, V> {
    batch: B,
    end: Option<Fin<V>>,
    tokens: Vec<Vec<Fin<V>>>,
    ended: Vec<bool>,
}

impl<B: Dim, V: ConstDim> Rows<B, V> {
    fn new(batch: B, end: Option<Fin<V>>, begin: Vec<Vec<Fin<V>>>) -> Self {
        Self { batch, end, ended: vec![false; batch.size()], tokens: begin }
    }

    /// Adds to each row that has not ended what is chosen from its logits; the others go on with `end`.
    fn choose<E: Real>(
        &mut self,
        logits: &[E],
        sampler: &mut Sampler<V>,
    ) -> Result<TokenIds<B, Const<1>, V>, OpError> {
        let rows = self.tokens.iter_mut().zip(&mut self.ended);
        let mut next = Vec::new();
        for ((tokens, ended), logits) in rows.zip(logits.chunks(V::SIZE)) {
            let token = match self.end {
                Some(end) if *ended => end,
                _ => sampler.choose(logits)?,
            };
            *ended |= Some(token) == self.end;
            tokens.push(token);
            next.push(token);
        }
        Ok(TokenIds::from_fn((self.batch, Const), |row, _| next[row]))
    }

    fn all_ended(&self) -> bool {
        self.ended.iter().all(|&ended| ended)
    }

    /// The rows, filled up with `end`, which is padding.
    fn written<Len: Dim>(self, len: Len) -> TokenIds<B, Len, V> {
        let token = |row: usize, position: usize| {
            let written = self.tokens[row].get(position).copied();
            // Without an end no row is shorter than `len`.
            written.or(self.end).unwrap_or_else(|| self.tokens[row][0])
        };
        TokenIds::from_fn((self.batch, len), token).with_padding(self.end)
    }
}
