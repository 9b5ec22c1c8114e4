//! Decoding: generating tokens with a model.
//!
//! [`Generation`] generates texts token by token with any [`Autoregressive`] model, and hands out each token at once.
//! So does [`Speculation`], with a small model that proposes what a large one checks. The functions return whole texts:
//! [`generate_from_prompt`] continues a prompt; [`generate_target`] generates the targets of an encoder-decoder;
//! [`beam_search`] looks for the most likely text, and [`beam_search_by`] for the most likely one that follows rules. A
//! [`Sampler`] chooses the tokens. A model reads each token once, because its cache keeps the keys and values of
//! earlier positions.

mod beams;
mod ends;
mod generation;
mod sampler;
mod speculation;

pub use beams::{Beam, BeamOptions, EarlyStopping, beam_search, beam_search_by};
#[doc(hidden)]
pub use ends::Ends;
pub use generation::Generation;
pub use sampler::{Sampler, SamplingError};
pub use speculation::{SameVocabulary, Speculation};

use crate::backend::Backend;
use crate::dims::{AtMost, Const, DataDim, Dim};
use crate::nn::{Autoregressive, LM, Seq2Seq};
use crate::ops::{OpError, Real, range_error};
use crate::tokens::{Fin, TokenIds};

/// Decodes a target for each source with tokens that `sampler` chooses.
///
/// `(B, Src) ids of SrcVocab -> (B, Tgt) ids of TgtVocab`
///
/// Decoding begins with `start`, which is not part of the result. A row ends with `end` or after `len`
/// tokens; in the result, `end` is the padding token. The type of `len` keeps it within the model's maximum.
///
/// # Errors
/// [`OpError::NotANumber`] if all logits of a position are NaN or −∞; [`OpError::Empty`] if `sampler` is restricted to
/// no token.
///
/// ```
/// # use typed_transformer::{doctest::*, generate::{Sampler, generate_target}, prelude::*};
/// const START: Fin<VocabSize> = Fin::literal::<26>();
/// const END: Fin<VocabSize> = Fin::literal::<27>();
/// let model = LM::<Model, f32, Cpu>::build(&Cpu::default());
/// let source = TokenIds::from_ids(&[7, 4, 24, 0], Some(END), (Batch, SrcLen))?;
/// let mut sampler = Sampler::with_temperature(0.8, 1)?;
/// let target: TokenIds<Batch, TgtLen, VocabSize> = generate_target(&model, &source, START, END, TgtLen, &mut sampler)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn generate_target<
    B: DataDim,
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
    let start = TokenIds::from_fn((batch, Const::<1>), |_, _| start);
    extend(&model.encode(source)?, &start, Some(end), 1, len, sampler)
}

/// Continues each prompt with tokens that `sampler` chooses.
///
/// `(B, Prompt) ids of VocabSize -> (B, Len) ids of VocabSize`
///
/// Prompts of different lengths have padding behind their tokens. A row of the result is a prompt without its padding
/// and the tokens after it. It ends with `end`, if there is one, or at `len` tokens; in the result, `end` is the
/// padding token. The type of `len` keeps it within the model's maximum.
///
/// # Errors
/// [`OpError::Range`] if the prompts are longer than `len`; [`OpError::Padding`] if one has padding before a token, or
/// no token; [`OpError::NotANumber`] if all logits of a position are NaN or −∞; [`OpError::Empty`] if `sampler` is
/// restricted to no token.
///
/// ```
/// # use typed_transformer::{doctest::*, generate::{Sampler, generate_from_prompt}, prelude::*};
/// let model = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::default());
/// let prompt = TokenIds::from_ids(&[7, 4, 11], None, (Batch, TgtLen))?;
/// let mut sampler = Sampler::with_temperature(0.8, 1)?.top_k(5)?;
/// let text: TokenIds<Batch, MaxSeqLen, VocabSize> =
///     generate_from_prompt(&model, &prompt, None, MaxSeqLen, &mut sampler)?;
/// assert!(text.as_slice().starts_with(&[7, 4, 11]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn generate_from_prompt<
    B: DataDim,
    Prompt: AtMost<Model::MaxSeqLen>,
    Len: AtMost<Model::MaxSeqLen>,
    Model: Autoregressive<B, E, D>,
    E: Real,
    D: Backend<E>,
>(
    model: &Model,
    prompt: &TokenIds<B, Prompt, Model::VocabSize>,
    end: Option<Fin<Model::VocabSize>>,
    len: Len,
    sampler: &mut Sampler<Model::VocabSize>,
) -> Result<TokenIds<B, Len, Model::VocabSize>, OpError> {
    let (_, prompt_len) = prompt.shape();
    if prompt_len.size() > len.size() {
        return Err(range_error("generate", &prompt_len, 0, &len));
    }
    extend(model, prompt, end, 0, len, sampler)
}

/// Continues each text of `prompt` until it ends or has `num_omitted + len` tokens. Returns the tokens after the first
/// `num_omitted`, padded with `end`.
fn extend<B: DataDim, Prompt: Dim, Len: Dim, Model: Autoregressive<B, E, D>, E: Real, D: Backend<E>>(
    model: &Model,
    prompt: &TokenIds<B, Prompt, Model::VocabSize>,
    end: Option<Fin<Model::VocabSize>>,
    num_omitted: usize,
    len: Len,
    sampler: &mut Sampler<Model::VocabSize>,
) -> Result<TokenIds<B, Len, Model::VocabSize>, OpError> {
    let (batch, _) = prompt.shape();
    let mut generation = Generation::new(model, prompt, end, sampler)?;
    generation.max_len = num_omitted + len.size();
    generation.by_ref().try_for_each(|tokens| tokens.map(drop))?;
    let token = |row: usize, position: usize| {
        let tokens = &generation.texts[row].tokens;
        // Without an `end`, no text is shorter than the result, so the second fallback is unreachable.
        tokens.get(num_omitted + position).copied().or(end).unwrap_or(tokens[0])
    };
    Ok(TokenIds::from_fn((batch, len), token).with_padding(end))
}
