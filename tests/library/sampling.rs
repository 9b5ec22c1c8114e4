//! The tokens that a sampler chooses, and their frequencies.

use crate::numbers::device;
use dfdx::tensor::AutoDevice;
use proptest::prelude::*;
use typed_transformer::generate::{Sampler, SamplingError};
use typed_transformer::ops::OpError;
use typed_transformer::prelude::*;
use typed_transformer::tokens::CharTokenizer;

dims! { VocabSize = 5; }

const LOGITS: [f64; 5] = [1.0, -0.5, 2.0, 0.25, 1.5];

fn logits<E: Real>(elements: [E; 5]) -> Tensor<(VocabSize,), E, AutoDevice>
where
    AutoDevice: Backend<E>,
{
    device().tensor(elements.to_vec())
}

/// The relative frequency of each token over this many samples.
fn frequencies(mut sampler: Sampler<VocabSize>, samples: usize) -> [f64; 5] {
    let (mut counts, logits) = ([0.0; 5], logits(LOGITS));
    for _ in 0..samples {
        counts[sampler.choose(&logits).unwrap().value()] += 1.0 / samples as f64;
    }
    counts
}

/// `softmax(logits / temperature)` over the tokens in `kept`.
fn probabilities(temperature: f64, kept: &[usize]) -> [f64; 5] {
    let weight = |token: usize| (LOGITS[token] / temperature).exp();
    let sum: f64 = kept.iter().map(|&token| weight(token)).sum();
    std::array::from_fn(|token| if kept.contains(&token) { weight(token) / sum } else { 0.0 })
}

#[track_caller]
fn assert_close(found: [f64; 5], expected: [f64; 5]) {
    for (found, expected) in found.into_iter().zip(expected) {
        // Five standard deviations of the frequency of a token among 20,000 samples.
        let deviation = (expected * (1.0 - expected) / 20_000.0).sqrt();
        assert!((found - expected).abs() <= 5.0 * deviation + 1e-9, "{found} instead of {expected}");
    }
}

#[test]
fn token_frequencies_match_the_softmax() {
    for temperature in [0.3, 1.0, 2.5] {
        let sampler = Sampler::with_temperature(temperature, 11).unwrap();
        assert_close(frequencies(sampler, 20_000), probabilities(temperature, &[0, 1, 2, 3, 4]));
    }
}

#[test]
fn min_p_keeps_tokens_by_their_share_of_the_most_likely_one() {
    // Beside the most likely token, the others have 0.61, 0.37, 0.17 and 0.08 of its probability.
    let with_min_p = |temperature, p| Sampler::with_temperature(temperature, 13).unwrap().min_p(p).unwrap();
    assert_close(frequencies(with_min_p(1.0, 0.3), 20_000), probabilities(1.0, &[2, 4, 0]));
    assert_close(frequencies(with_min_p(2.0, 0.3), 20_000), probabilities(2.0, &[2, 4, 0, 3]));
    assert_close(frequencies(with_min_p(1.0, 1.0), 100), probabilities(1.0, &[2]));
    assert_close(frequencies(with_min_p(1.0, 0.0), 20_000), probabilities(1.0, &[0, 1, 2, 3, 4]));
    for p in [-0.1, 1.1, f64::NAN] {
        assert!(matches!(Sampler::<VocabSize>::greedy().min_p(p), Err(SamplingError::MinP(_))));
    }
}

#[test]
fn a_repetition_penalty_is_positive() {
    for penalty in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let error = Sampler::<VocabSize>::greedy().repetition_penalty(penalty).unwrap_err();
        assert!(matches!(error, SamplingError::RepetitionPenalty(_)));
    }
}

#[test]
fn top_k_keeps_the_k_most_likely_tokens() {
    let sampler = Sampler::with_temperature(1.0, 12).unwrap().top_k(3).unwrap();
    assert_close(frequencies(sampler, 20_000), probabilities(1.0, &[2, 4, 0]));
    let all = Sampler::with_temperature(1.0, 12).unwrap().top_k(99).unwrap();
    assert_close(frequencies(all, 20_000), probabilities(1.0, &[0, 1, 2, 3, 4]));
}

/// The first of equally likely tokens are kept.
#[test]
fn top_k_keeps_k_of_equally_likely_tokens() {
    let (mut sampler, mut counts) = (Sampler::with_temperature(1.0, 12).unwrap().top_k(3).unwrap(), [0; 5]);
    let logits = logits([1.0, 1.0, 2.0, 1.0, 0.5]);
    (0..1000).for_each(|_| counts[sampler.choose(&logits).unwrap().value()] += 1);
    assert!(counts[..3].iter().all(|count| *count > 0) && counts[3..] == [0, 0], "{counts:?}");
}

#[test]
fn top_p_keeps_the_token_that_reaches_p() {
    let all = probabilities(1.0, &[0, 1, 2, 3, 4]);
    // Tokens 2, 4 and 0 are the most likely; slightly more than the sum of the first two needs the third.
    let two = all[2] + all[4];
    let sampler = |p| Sampler::with_temperature(1.0, 13).unwrap().top_p(p).unwrap();
    assert_close(frequencies(sampler(two + 1e-6), 20_000), probabilities(1.0, &[2, 4, 0]));
    assert_close(frequencies(sampler(two - 1e-6), 20_000), probabilities(1.0, &[2, 4]));
    assert_close(frequencies(sampler(1e-9), 100), probabilities(1.0, &[2]));
    assert_close(frequencies(sampler(1.0), 20_000), probabilities(1.0, &[0, 1, 2, 3, 4]));
}

#[test]
fn only_allowed_tokens_are_sampled() {
    let tokens = [1, 3].map(|token| Fin::new(token).unwrap());
    let sampler = Sampler::with_temperature(1.0, 14).unwrap().restrict_to(tokens);
    assert_close(frequencies(sampler, 20_000), probabilities(1.0, &[1, 3]));
    let best = Sampler::greedy().restrict_to(tokens).choose(&logits(LOGITS)).unwrap();
    assert_eq!(best.value(), 3);
    // Of two zeros the first is taken, whatever their signs are.
    assert_eq!(Sampler::greedy().choose(&logits([-1.0, -0.0, 0.0, -2.0, -1.0])).unwrap().value(), 1);
    // A token that is given twice counts once.
    let repeated = [3, 1, 3, 3].map(|token| Fin::new(token).unwrap());
    let sampler = || Sampler::with_temperature(1.0, 15).unwrap().restrict_to(repeated);
    assert_close(frequencies(sampler(), 20_000), probabilities(1.0, &[1, 3]));
    assert_close(frequencies(sampler().top_k(2).unwrap(), 20_000), probabilities(1.0, &[1, 3]));
    for sampler in [Sampler::greedy(), sampler()] {
        let error = sampler.restrict_to([]).choose(&logits(LOGITS)).unwrap_err();
        assert_eq!(error.to_string(), "choose: the list of allowed tokens has no elements");
    }
}

#[test]
fn equal_seeds_sample_equal_tokens() {
    let choices = |seed| -> Vec<usize> {
        let mut sampler = Sampler::<VocabSize>::with_temperature(1.5, seed).unwrap();
        (0..50).map(|_| sampler.choose(&logits(LOGITS)).unwrap().value()).collect()
    };
    assert_eq!(choices(3), choices(3));
    assert_ne!(choices(3), choices(4));
}

#[test]
fn nan_and_negative_infinity_are_never_sampled() {
    let mut samplers = [Sampler::greedy(), Sampler::with_temperature(1.0, 1).unwrap()];
    for sampler in &mut samplers {
        let odd = [f32::NAN, f32::NEG_INFINITY, -3e38, f32::NAN, f32::NAN];
        assert_eq!(sampler.choose(&logits(odd)).unwrap(), Fin::<VocabSize>::new(2).unwrap());
        let infinite = [0.0, f32::INFINITY, 0.0, f32::NAN, 0.0];
        assert_eq!(sampler.choose(&logits(infinite)).unwrap().value(), 1);
        let none = [f32::NAN, f32::NEG_INFINITY, f32::NAN, f32::NAN, f32::NAN];
        assert_eq!(sampler.choose(&logits(none)), Err(OpError::NotANumber { op: "choose" }));
    }
}

#[test]
fn invalid_settings_are_an_error() {
    for temperature in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Sampler::<VocabSize>::with_temperature(temperature, 0).is_err());
    }
    let sampler = Sampler::<VocabSize>::greedy;
    assert_eq!(sampler().top_k(0).unwrap_err(), SamplingError::TopK);
    for p in [0.0, -0.5, 1.5, f64::NAN] {
        assert!(sampler().top_p(p).is_err());
    }
    // Where nothing is drawn, values in their ranges are errors, too.
    let error = sampler().top_k(2).unwrap_err();
    assert_eq!(
        error.to_string(),
        "top-k chooses among drawn tokens, and a greedy sampler draws none: begin with `with_temperature`"
    );
    assert_eq!(sampler().top_p(0.9).unwrap_err(), SamplingError::Greedy("top-p"));
    assert_eq!(sampler().min_p(0.1).unwrap_err(), SamplingError::Greedy("min-p"));
    assert!(sampler().repetition_penalty(1.3).is_ok());
}

proptest! {
    #[test]
    fn decoding_inverts_encoding(text in "[a-eà世]{0,30}") {
        match CharTokenizer::<VocabSize>::from_text(&text) {
            Ok(characters) => {
                let tokens = characters.encode(&text).unwrap();
                prop_assert_eq!(characters.decode(&tokens), text);
                prop_assert_eq!(CharTokenizer::from_text(&characters.alphabet()).unwrap(), characters);
            }
            Err(error) => {
                let different: std::collections::BTreeSet<char> = text.chars().collect();
                prop_assert!(different.len() > 5);
                prop_assert!(error.to_string().contains(&different.len().to_string()));
            }
        }
    }
}

#[test]
fn no_rows_give_no_tokens() {
    dims! { Batch; }
    let logits: Tensor<(Batch, VocabSize), f32, AutoDevice> = device().zeros_like(&(Batch::new(0), VocabSize));
    assert_eq!(Sampler::greedy().choose_each(&logits).unwrap(), []);
}
