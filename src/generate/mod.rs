//! Decoding: generating tokens with a model.
//!
//! [`generate`] decodes the output of an encoder-decoder, [`greedy`] does so with the most likely tokens, and
//! [`generate_from_prompt`] continues a prompt with a decoder-only model. All three cache the keys and values
//! of earlier positions: an encoder-decoder in a [`DecoderCache`](crate::nn::DecoderCache), a decoder-only model
//! in a [`Cache`](crate::nn::Cache).

mod sampler;

pub use sampler::{Sampler, SamplingError};

use crate::{
    backend::Backend,
    dims::{AtMost, Const, ConstDim, Dim},
    nn::{DecoderOnly, LM, Seq2Seq, SingleStack},
    ops::{OpError, Real},
    tokens::{Fin, TokenIds},
};
use dfdx::{shapes::ConstDim as _, tensor::NoneTape};
use typed_transformer_macros::panicking;

/// Decodes a target for each source with the most likely token at each position.
///
/// `(B, Src) ids of SrcVocab -> (B, Tgt) ids of TgtVocab`
///
/// It is [`generate`] with [`Sampler::greedy`].
///
/// # Errors
/// [`OpError::NotANumber`] if all logits of a position are NaN or −∞; [`OpError::Device`] if the device fails.
///
/// ```
/// # use typed_transformer::{doctest::*, generate::greedy, prelude::*};
/// const START: Fin<VocabSize> = Fin::literal::<26>();
/// const END: Fin<VocabSize> = Fin::literal::<27>();
/// let model = LM::<Model, f32, Cpu>::build(&Cpu::default());
/// let source = TokenIds::from_ids(&[7, 4, 24, 0], Some(END), (Batch, SrcLen))?;
/// let target: TokenIds<Batch, TgtLen, VocabSize> = greedy(&model, &source, START, END, TgtLen);
/// # Ok::<(), TokenError>(())
/// ```
#[panicking]
pub fn try_greedy<
    B: Dim,
    Src: AtMost<Config::MaxSrcLen>,
    Tgt: AtMost<Config::MaxTgtLen>,
    Config: Seq2Seq,
    E: Real,
    D: Backend<E>,
>(
    model: &LM<Config, E, D>,
    source: &TokenIds<B, Src, Config::SrcVocab>,
    start: Fin<Config::TgtVocab>,
    end: Fin<Config::TgtVocab>,
    len: Tgt,
) -> Result<TokenIds<B, Tgt, Config::TgtVocab>, OpError> {
    try_generate(model, source, start, end, len, &mut Sampler::greedy())
}

/// Decodes a target for each source with tokens that `sampler` chooses.
///
/// `(B, Src) ids of SrcVocab -> (B, Tgt) ids of TgtVocab`
///
/// Decoding begins with `start`, which is not part of the result. A row ends with `end` or after `len`
/// tokens; in the result, `end` is the padding token. The type of `len` keeps it within the model's maximum.
///
/// # Errors
/// [`OpError::NotANumber`] if all logits of a position are NaN or −∞; [`OpError::Device`] if the device fails.
///
/// ```
/// # use typed_transformer::{doctest::*, generate::{Sampler, generate}, prelude::*};
/// const START: Fin<VocabSize> = Fin::literal::<26>();
/// const END: Fin<VocabSize> = Fin::literal::<27>();
/// let model = LM::<Model, f32, Cpu>::build(&Cpu::default());
/// let source = TokenIds::from_ids(&[7, 4, 24, 0], Some(END), (Batch, SrcLen))?;
/// let mut sampler = Sampler::with_temperature(0.8, 1)?;
/// let target: TokenIds<Batch, TgtLen, VocabSize> = generate(&model, &source, START, END, TgtLen, &mut sampler);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[panicking]
pub fn try_generate<
    B: Dim,
    Src: AtMost<Config::MaxSrcLen>,
    Tgt: AtMost<Config::MaxTgtLen>,
    Config: Seq2Seq,
    E: Real,
    D: Backend<E>,
>(
    model: &LM<Config, E, D>,
    source: &TokenIds<B, Src, Config::SrcVocab>,
    start: Fin<Config::TgtVocab>,
    end: Fin<Config::TgtVocab>,
    len: Tgt,
    sampler: &mut Sampler<Config::TgtVocab>,
) -> Result<TokenIds<B, Tgt, Config::TgtVocab>, OpError> {
    let (batch, _) = source.shape();
    let encoded = model.encoder.try_forward(source, NoneTape)?;
    let mut cache = model.decoder.try_cache(encoded, &source.padding_mask())?;
    let mut state = DecodingState::new(batch, Some(end), vec![Vec::new(); batch.size()]);
    let mut next = TokenIds::from_fn((batch, Const::<1>), |_, _| start);
    for position in 0..len.size() {
        let decoded = model.decoder.try_forward_cached(&next, &mut cache)?;
        let logits = model.try_logits(decoded)?.as_vec();
        next = state.append_next(&logits, sampler)?;
        if state.all_ended() || position + 1 == len.size() {
            break;
        }
    }
    Ok(state.into_token_ids(len))
}

/// Continues each prompt with tokens that `sampler` chooses.
///
/// `(B, Prompt) ids of VocabSize -> (B, Len) ids of VocabSize`
///
/// The result begins with the prompt. A row ends with `end`, if there is one, or at `len` tokens, prompt
/// included; in the result, `end` is the padding token. The type of `len` keeps it within the model's
/// maximum.
///
/// # Errors
/// [`OpError::Range`] if the prompt is longer than `len`; [`OpError::NotANumber`] if all logits of a
/// position are NaN or −∞; [`OpError::Device`] if the device fails.
///
/// ```
/// # use typed_transformer::{doctest::*, generate::{Sampler, generate_from_prompt}, prelude::*};
/// let model = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::default());
/// let prompt = TokenIds::from_ids(&[7, 4, 11], None, (Batch, TgtLen))?;
/// let mut sampler = Sampler::with_temperature(0.8, 1)?.top_k(5)?;
/// let text: TokenIds<Batch, MaxSeqLen, VocabSize> =
///     generate_from_prompt(&model, &prompt, None, MaxSeqLen, &mut sampler);
/// assert!(text.as_slice().starts_with(&[7, 4, 11]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[panicking]
pub fn try_generate_from_prompt<
    B: Dim,
    Prompt: AtMost<Config::MaxSeqLen>,
    Len: AtMost<Config::MaxSeqLen>,
    Config: SingleStack,
    E: Real,
    D: Backend<E>,
>(
    model: &DecoderOnly<Config, E, D>,
    prompt: &TokenIds<B, Prompt, Config::VocabSize>,
    end: Option<Fin<Config::VocabSize>>,
    len: Len,
    sampler: &mut Sampler<Config::VocabSize>,
) -> Result<TokenIds<B, Len, Config::VocabSize>, OpError> {
    let (batch, prompt_len) = prompt.shape();
    if prompt_len.size() > len.size() {
        return Err(OpError::Range {
            op: "generate",
            part: format!("{prompt_len:?}"),
            start: 0,
            whole: format!("{len:?}"),
        });
    }
    let mut cache = model.try_cache(batch)?;
    let prompt_rows = (0..batch.size()).filter_map(|row| prompt.row(row));
    let mut state = DecodingState::new(batch, end, prompt_rows.collect());
    let logits = model.try_forward_cached(prompt, &mut cache)?.as_vec();
    // The logits of each row's last position predict the first new token.
    let vocab_size = Config::VocabSize::SIZE;
    let rows = logits.chunks(prompt_len.size() * vocab_size);
    let mut logits: Vec<E> = rows.flat_map(|row| &row[row.len() - vocab_size..]).copied().collect();
    for position in prompt_len.size()..len.size() {
        let next = state.append_next(&logits, sampler)?;
        if state.all_ended() || position + 1 == len.size() {
            break;
        }
        logits = model.try_forward_cached(&next, &mut cache)?.as_vec();
    }
    Ok(state.into_token_ids(len))
}

/// The tokens of each row of a batch so far, and which rows have ended.
struct DecodingState<B, V> {
    batch: B,
    end: Option<Fin<V>>,
    rows: Vec<Vec<Fin<V>>>,
    has_ended: Vec<bool>,
}

impl<B: Dim, V: ConstDim> DecodingState<B, V> {
    fn new(batch: B, end: Option<Fin<V>>, rows: Vec<Vec<Fin<V>>>) -> Self {
        Self { batch, end, has_ended: vec![false; batch.size()], rows }
    }

    /// Appends to each row the token chosen from its `(V,)` logits, or `end` if the row has ended.
    ///
    /// Returns the appended tokens, which are the next input of the model.
    fn append_next<E: Real>(
        &mut self,
        logits: &[E],
        sampler: &mut Sampler<V>,
    ) -> Result<TokenIds<B, Const<1>, V>, OpError> {
        let rows = self.rows.iter_mut().zip(&mut self.has_ended);
        let mut next = Vec::new();
        for ((row, has_ended), logits) in rows.zip(logits.chunks(V::SIZE)) {
            let token = match self.end {
                Some(end) if *has_ended => end,
                _ => sampler.choose(logits)?,
            };
            *has_ended |= Some(token) == self.end;
            row.push(token);
            next.push(token);
        }
        Ok(TokenIds::from_fn((self.batch, Const), |row, _| next[row]))
    }

    fn all_ended(&self) -> bool {
        self.has_ended.iter().all(|&has_ended| has_ended)
    }

    /// The rows, padded with `end` to `len`.
    fn into_token_ids<Len: Dim>(self, len: Len) -> TokenIds<B, Len, V> {
        let token = |row: usize, position: usize| {
            let token = self.rows[row].get(position).copied();
            // Without an `end`, no row is shorter than `len`, so this fallback is unreachable.
            token.or(self.end).unwrap_or_else(|| self.rows[row][0])
        };
        TokenIds::from_fn((self.batch, len), token).with_padding(self.end)
    }
}
