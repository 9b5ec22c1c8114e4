//! Beam search finds what `generate(num_beams=..)` of HuggingFace's `transformers` finds with the same weights.

use crate::fixture;
use crate::hugging_face::{Batch, Read, ids, load};
use crate::small_models::{
    VocabSize, small_gemma3, small_gpt2, small_llama, small_mixtral, small_olmo2, small_qwen3, small_t5,
};
use dfdx::tensor::AutoDevice;
use serde_json::Value;
use std::cell::Cell;
use typed_transformer::generate::{
    Beam, BeamOptions, EarlyStopping, Generation, Sampler, Speculation, beam_search, beam_search_by,
};
use typed_transformer::models::gemma3::Gemma3;
use typed_transformer::models::gpt2::Gpt2;
use typed_transformer::models::llama::Llama;
use typed_transformer::models::mixtral::Mixtral;
use typed_transformer::models::t5::T5;
use typed_transformer::nn::{Autoregressive, EditableCache, init};
use typed_transformer::ops::{Activation, Sigmoid, slice_last, stack, take, unstack, zeros};
use typed_transformer::prelude::*;

fn cases(name: &str) -> Vec<Value> {
    let json = include_str!("../fixtures/hugging_face/beams.json");
    let mut all: Value = serde_json::from_str(json).unwrap();
    serde_json::from_value(all[name].take()).unwrap()
}

fn numbers(value: &Value) -> Vec<usize> {
    serde_json::from_value(value.clone()).unwrap()
}

/// Compares the texts of a search and their scores with those of a case.
fn check_case<Model>(model: &Model, prompt: &[usize], case: &Value)
where
    Model: Autoregressive<Batch, f32, AutoDevice, VocabSize = VocabSize, Cache: EditableCache<Batch>>,
{
    let early_stopping = match &case["early_stopping"] {
        Value::Bool(true) => EarlyStopping::WhenFull,
        Value::Bool(false) => EarlyStopping::Heuristic,
        _ => EarlyStopping::Never,
    };
    let options = BeamOptions { length_penalty: case["length_penalty"].as_f64().unwrap(), early_stopping };
    let (ends, beams) = (numbers(&case["ends"]), num_beams(case));
    let end_tokens = ends.iter().map(|&end| Fin::new(end).unwrap());
    let prompt_ids = ids(prompt, (Const, Read::new(prompt.len())));
    if case["no_repeat_ngram_size"].is_null() {
        let found = beam_search(model, &prompt_ids, beams, end_tokens, 10, options).unwrap();
        return assert_found(&found, case);
    }
    assert_eq!([&case["no_repeat_ngram_size"], &case["min_new_tokens"]], [2, 5]);
    let rules = |text: &[Fin<VocabSize>], log_probabilities: &mut [f64]| {
        let read: Vec<usize> = prompt.iter().copied().chain(text.iter().map(|token| token.value())).collect();
        let repeats = read.windows(2).filter(|pair| Some(&pair[0]) == read.last()).map(|pair| pair[1]);
        for token in repeats.chain(ends.iter().copied().filter(|_| text.len() < 5)) {
            log_probabilities[token] = f64::NEG_INFINITY;
        }
    };
    let found = beam_search_by(model, &prompt_ids, beams, end_tokens, 10, options, rules).unwrap();
    assert_found(&found, case);
}

// This function is not generic in models, so it is compiled once.
#[track_caller]
fn assert_found(found: &[Beam<VocabSize>], case: &Value) {
    let texts: Vec<Vec<usize>> =
        found.iter().map(|beam| beam.tokens.iter().map(|token| token.value()).collect()).collect();
    let expected: Vec<Vec<usize>> = case["texts"].as_array().unwrap().iter().map(numbers).collect();
    assert_eq!(texts, expected, "{case}");
    for (beam, score) in found.iter().zip(case["scores"].as_array().unwrap()) {
        assert!((beam.score - score.as_f64().unwrap()).abs() < 1e-4, "{} {case}", beam.score);
    }
}

fn num_beams(case: &Value) -> Batch {
    Batch::new(case["num_beams"].as_u64().unwrap() as usize)
}

macro_rules! check_decoders {
    ($($name:ident: $model:ty;)*) => {$(
        #[test]
        fn $name() {
            let model: $model = load(stringify!($name));
            for case in cases(stringify!($name)) {
                check_case(&model, &numbers(&case["prompt"]), &case);
            }
        }
    )*};
}

check_decoders! {
    gpt2: Gpt2<small_gpt2::Config, f32, AutoDevice>;
    llama: Llama<small_llama::Config, f32, AutoDevice>;
    mixtral: Mixtral<small_mixtral::Config, f32, AutoDevice>;
    qwen3: Llama<small_qwen3::Config, f32, AutoDevice>;
    olmo2: Llama<small_olmo2::Config, f32, AutoDevice>;
    gemma3: Gemma3<small_gemma3::Config, f32, AutoDevice>;
}

#[test]
fn t5() {
    let model: T5<small_t5::Config, f32, AutoDevice> = load("t5");
    for case in cases("t5") {
        let (source, beams) = (numbers(&case["prompt"]), num_beams(&case));
        let sources = ids(&source.repeat(beams.size()), (beams, Read::new(source.len())));
        check_case(&model.encode(&sources).unwrap(), &[0], &case);
    }
}

#[test]
fn one_beam_is_a_greedy_text_as_long_as_the_model_reads() {
    let model = DecoderOnly::<fixture::TypedModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(9));
    let prompt = TokenIds::from_ids(&[3, 1, 4], None, (Const::<1>, fixture::SeqLen::new(3).unwrap())).unwrap();
    let mut sampler = Sampler::greedy();
    let greedy = Generation::new(&model, &prompt, None, &mut sampler).unwrap();
    let greedy: Vec<_> = greedy.map(|tokens| tokens.unwrap()[0].unwrap()).collect();
    let search = |beams, max| beam_search(&model, &prompt, Batch::new(beams), None, max, BeamOptions::default());
    let found = search(1, 100).unwrap();
    // The model reads 12 tokens.
    assert_eq!((found.len(), &found[0].tokens, greedy.len()), (1, &greedy, 10));
    assert!(search(0, 5).unwrap().is_empty() && search(3, 0).unwrap().is_empty());
    // More beams find a text that is at least as likely.
    assert!(search(6, 100).unwrap()[0].score >= found[0].score);
}

#[test]
fn a_search_ends_with_the_first_token_if_every_token_ends_a_text() {
    let model = DecoderOnly::<fixture::TypedModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(9));
    let prompt = TokenIds::from_ids(&[3], None, (Const, Const::<1>)).unwrap();
    let options = BeamOptions { early_stopping: EarlyStopping::Never, ..BeamOptions::default() };
    let found = beam_search(&model, &prompt, Batch::new(3), Fin::all(), 5, options).unwrap();
    assert_eq!(found.iter().map(|beam| beam.tokens.len()).collect::<Vec<_>>(), [1, 1, 1]);
}

#[test]
fn a_rule_forbids_a_token_by_minus_infinity_or_nan() {
    let model = DecoderOnly::<fixture::TypedModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(9));
    let prompt = TokenIds::from_ids(&[3], None, (Const, Const::<1>)).unwrap();
    let counts = |text: &[Fin<_>], log_probabilities: &mut [f64]| {
        for (token, log_probability) in
            log_probabilities.iter_mut().enumerate().filter(|(token, _)| *token != text.len())
        {
            *log_probability = if token % 2 == 0 { f64::NAN } else { f64::NEG_INFINITY };
        }
    };
    let found = beam_search_by(&model, &prompt, Batch::new(2), None, 3, BeamOptions::default(), counts).unwrap();
    let texts: Vec<Vec<usize>> =
        found.iter().map(|beam| beam.tokens.iter().map(|token| token.value()).collect()).collect();
    assert_eq!(texts, [[0, 1, 2]]);
}

/// A beam whose text has a forbidden token neither ends nor is asked about.
#[test]
fn a_text_that_is_the_only_one_allowed_is_found() {
    let model = DecoderOnly::<fixture::TypedModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(9));
    let prompt = TokenIds::from_ids(&[3], None, (Const, Const::<1>)).unwrap();
    let counts = |text: &[Fin<_>], log_probabilities: &mut [f64]| {
        assert!(text.iter().enumerate().all(|(place, token)| token.value() == place), "{text:?}");
        let others = log_probabilities.iter_mut().enumerate().filter(|(token, _)| *token != text.len());
        others.for_each(|(_, log_probability)| *log_probability = f64::NEG_INFINITY);
    };
    for early_stopping in [EarlyStopping::WhenFull, EarlyStopping::Heuristic, EarlyStopping::Never] {
        let options = BeamOptions { early_stopping, ..BeamOptions::default() };
        let end = Some(Fin::new(3).unwrap());
        let found = beam_search_by(&model, &prompt, Batch::new(3), end, 9, options, counts).unwrap();
        let texts: Vec<Vec<usize>> =
            found.iter().map(|beam| beam.tokens.iter().map(|token| token.value()).collect()).collect();
        assert_eq!(texts, [[0, 1, 2, 3]], "{early_stopping:?}");
    }
}

#[test]
fn a_search_refuses_a_length_penalty_that_is_no_number_and_returns_no_copies() {
    let model = DecoderOnly::<fixture::TypedModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(9));
    let prompt = TokenIds::from_ids(&[3], None, (Const, Const::<1>)).unwrap();
    let search = |beams, length_penalty| {
        let options = BeamOptions { length_penalty, ..BeamOptions::default() };
        beam_search(&model, &prompt, Batch::new(beams), None, 1, options)
    };
    assert!(matches!(search(2, f64::NAN), Err(OpError::Setting { name: "the length penalty", .. })));
    // A text of one token is one of as many as there are tokens.
    let num_tokens = <fixture::TypedModel as SingleStack>::VocabSize::SIZE;
    let found = search(num_tokens + 5, 1.0).unwrap();
    assert_eq!(
        found.iter().map(|beam| beam.tokens[0].value()).collect::<std::collections::BTreeSet<_>>().len(),
        num_tokens
    );
    assert_eq!(found.len(), num_tokens);
}

dims! { Letters = 9; StateDim = 4; MaxLen = 100; Written = 3; }

/// A recurrent model: `h ← σ(W x) h + x`.
#[module(output = Letters)]
struct Recurrent<E, D> {
    #[param(|weight| init::normal(weight, 1.0))]
    embedding: Tensor<(Letters, StateDim), E, D>,
    gate: Linear<StateDim, StateDim, E, D>,
    logit: Linear<StateDim, Letters, E, D>,
}

/// Its cache: the states after the last positions, the newest last. Speculative decoding goes back to an earlier one.
struct States<B: Dim, E: Real, D: Backend<E>> {
    len: usize,
    last: Vec<Tensor<(B, StateDim), E, D>>,
}

/// The most tokens that a draft of the test proposes. One more state is kept: the one before them.
const MAX_PROPOSED: usize = 4;

thread_local!(static NUM_READ: Cell<usize> = const { Cell::new(0) });

impl<B: Dim, E: Real, D: Backend<E>> EditableCache<B> for States<B, E, D> {
    fn truncate(&mut self, len: usize) -> Result<(), OpError> {
        let num_dropped = self.len.saturating_sub(len);
        if num_dropped >= self.last.len() {
            let (part, whole) = ("the states".into(), "those that are kept".into());
            return Err(OpError::Range { op: "truncate", part, start: len, whole });
        }
        self.last.truncate(self.last.len() - num_dropped);
        self.len -= num_dropped;
        Ok(())
    }

    fn reorder(&mut self, rows: &Indices<(B,), B>) -> Result<(), OpError> {
        for state in &mut self.last {
            *state = take(state.clone(), axis::<B>(), rows)?;
        }
        Ok(())
    }
}

impl<B: Dim, E: Real, D: Backend<E>> Autoregressive<B, E, D> for Recurrent<E, D> {
    type VocabSize = Letters;
    type MaxSeqLen = MaxLen;
    type Cache = States<B, E, D>;

    fn cache(&self, batch: B) -> Result<Self::Cache, OpError> {
        Ok(States { len: 0, last: vec![zeros(self.embedding.device(), (batch, StateDim))?] })
    }

    fn last_logits<S: Dim, Last: Dim>(
        &self,
        ids: &TokenIds<B, S, Letters>,
        States { len, last: states }: &mut Self::Cache,
        last: Last,
    ) -> Result<Tensor<(B, Last, Letters), E, D>, OpError> {
        let x = embed(&self.embedding, ids, NoneTape)?;
        let gates = Sigmoid::apply(self.gate.forward(x.clone())?)?;
        for (gate, x) in unstack(gates, axis::<S>())?.into_iter().zip(unstack(x, axis::<S>())?) {
            states.push(add(mul(states[states.len() - 1].clone(), gate)?, x)?);
        }
        let read = ids.shape().1;
        let new: Tensor<(B, S, StateDim), E, D> = stack(states[states.len() - read.size()..].to_vec(), read)?;
        states.drain(..states.len().saturating_sub(MAX_PROPOSED + 1));
        *len += read.size();
        NUM_READ.set(NUM_READ.get() + read.size());
        self.logit.forward(slice_last(new, axis::<S>(), last)?)
    }
}

/// 81 beams, one for each text of two tokens, find the best texts of three.
#[test]
fn a_state_is_a_cache() {
    let model = Recurrent::<f32, AutoDevice>::build(&AutoDevice::seed_from_u64(9));
    let prompt = TokenIds::from_ids(&[1, 2], None, (Const, Read::new(2))).unwrap();
    let found = beam_search(&model, &prompt, Batch::new(81), None, 3, BeamOptions::default()).unwrap();
    let found = found[..5].iter().map(|beam| beam.tokens.iter().map(|token| token.value()).collect());

    let texts = Vec::from_iter((0..9 * 9 * 9).map(|text| [text / 81, text / 9 % 9, text % 9]));
    let read = Vec::from_iter(texts.iter().flat_map(|text| [1, 2, text[0], text[1]]));
    let read = TokenIds::from_ids(&read, None, (Batch::new(texts.len()), Read::new(4))).unwrap();
    let logits = model.last_logits(&read, &mut model.cache(Batch::new(texts.len())).unwrap(), Written).unwrap();
    let log_probabilities = log_softmax_over(logits, axis::<Letters>()).unwrap().as_vec();
    let score = |text: &[usize], of: &[f32]| (0..3).map(|i| of[9 * i + text[i]]).sum::<f32>();
    let scores = texts.iter().zip(log_probabilities.chunks(27)).map(|(text, of)| (score(text, of), text.to_vec()));
    let mut scores = Vec::from_iter(scores);
    scores.sort_by(|one, other| other.0.total_cmp(&one.0));
    assert_eq!(Vec::<Vec<usize>>::from_iter(found), Vec::from_iter(scores.into_iter().take(5).map(|(_, text)| text)));
}

#[test]
fn speculation_goes_back_to_an_earlier_state() {
    let [target, draft] = [9, 10].map(|seed| Recurrent::<f32, AutoDevice>::build(&AutoDevice::seed_from_u64(seed)));
    let prompt = TokenIds::from_ids(&[1, 2], None, (Const, Read::new(2))).unwrap();
    let greedy = Generation::with_own_sampler(&target, &prompt, None, Sampler::greedy()).unwrap();
    let greedy = Vec::from_iter(greedy.map(|tokens| tokens.unwrap()[0].unwrap()));
    NUM_READ.set(0);
    let mut text =
        Speculation::with_own_sampler(&target, &draft, &prompt, None, MAX_PROPOSED, Sampler::greedy()).unwrap();
    assert_eq!(Vec::from_iter(text.by_ref().map(Result::unwrap)), greedy);
    assert!(text.acceptance().unwrap() < 0.9);
    // The draft reads at most four positions at once, and the target five. Without earlier states it is the whole text.
    assert!(NUM_READ.get() < 9 * greedy.len(), "{} for {} tokens", NUM_READ.get(), greedy.len());
}
