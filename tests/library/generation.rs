//! Generation with any autoregressive model: rows end on their own, tokens come one by one, and what a model cannot
//! read is an error.

use crate::fixture::*;
use crate::numbers::device;
use dfdx::tensor::AutoDevice;
use std::{cell::Cell, iter};
use typed_transformer::generate::{Generation, Sampler, generate_from_prompt};
use typed_transformer::nn::Autoregressive;
use typed_transformer::prelude::*;

/// Writes the letter after the last one, over and over: a model whose only state is the number of letters read.
#[derive(Default)]
struct Alphabet {
    reads: Cell<usize>,
    fails_at: Option<usize>,
}

impl<B: Dim> Autoregressive<B, f32, AutoDevice> for Alphabet {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type Cache = usize;

    fn cache(&self, _: B) -> Result<usize, OpError> {
        Ok(0)
    }

    fn last_logits<S: Dim, Last: Dim>(
        &self,
        tokens: &TokenIds<B, S, VocabSize>,
        num_read: &mut usize,
        last: Last,
    ) -> Result<Tensor<(B, Last, VocabSize), f32, AutoDevice>, OpError> {
        let (batch, len) = tokens.shape();
        *num_read += len.size();
        assert!(*num_read <= MaxSeqLen::SIZE);
        self.reads.set(self.reads.get() + 1);
        if self.fails_at == Some(*num_read) {
            return Err(OpError::NotANumber { op: "alphabet" });
        }
        let letters = tokens.as_slice().chunks(len.size()).flat_map(|row| &row[len.size() - last.size()..]);
        let logits = letters.flat_map(|letter| {
            let next = (letter + 1) % VocabSize::SIZE;
            (0..VocabSize::SIZE).map(move |token| if token == next { 1.0 } else { 0.0 })
        });
        Ok(device().tensor((logits.collect::<Vec<f32>>(), (batch, last, VocabSize))))
    }
}

fn prompt(rows: &[&[usize]]) -> TokenIds<Batch, SeqLen, VocabSize> {
    let shape = (Batch::new(rows.len()), SeqLen::new(rows[0].len()).unwrap());
    TokenIds::from_ids(&rows.concat(), None, shape).unwrap()
}

/// The tokens of each step; `None` where a row has ended.
fn steps(model: &Alphabet, rows: &[&[usize]], end: Option<usize>) -> Vec<Vec<Option<usize>>> {
    let end = end.map(|end| Fin::new(end).unwrap());
    let mut sampler = Sampler::greedy();
    let generation = Generation::new(model, &prompt(rows), end, &mut sampler).unwrap();
    generation.map(|step| step.unwrap().into_iter().map(|token| token.map(Fin::value)).collect()).collect()
}

#[test]
fn rows_end_at_different_times() {
    let model = Alphabet::default();
    let steps = steps(&model, &[&[0, 3], &[0, 1], &[0, 4]], Some(5));
    assert_eq!(
        steps,
        [[Some(4), Some(2), Some(5)], [Some(5), Some(3), None], [None, Some(4), None], [None, Some(5), None],]
    );
    // The prompt, and each step but the last.
    assert_eq!(model.reads.get(), 4);
}

#[test]
fn generation_ends_when_the_model_can_read_no_more() {
    // The model reads 12 tokens: 10 of the prompt, and 2 that it wrote. A third one is written after these.
    let prompt: Vec<usize> = (0..10).collect();
    assert_eq!(steps(&Alphabet::default(), &[&prompt], None), [[Some(10)], [Some(11)], [Some(12)]]);
    let full: Vec<usize> = (0..12).collect();
    assert_eq!(steps(&Alphabet::default(), &[&full], Some(3)), [[Some(12)]]);
}

#[test]
fn a_token_is_written_before_the_model_reads_it() {
    let model = Alphabet::default();
    let mut sampler = Sampler::greedy();
    let prompt = prompt(&[&[0]]);
    let mut generation = Generation::new(&model, &prompt, None, &mut sampler).unwrap();
    for step in 1..4 {
        assert_eq!(generation.next().unwrap().unwrap()[0].unwrap().value(), step);
        assert_eq!(model.reads.get(), step);
    }
}

/// A program that takes requests while it writes other texts.
#[test]
fn a_generation_may_own_its_sampler() {
    let model = DecoderOnly::<NanoGptModel, f32, AutoDevice>::build(&device());
    let request = |request: usize| {
        let sampler = Sampler::with_temperature(0.8, request as u64).unwrap();
        (prompt(&[&[request]]), sampler)
    };
    let (mut running, mut texts) = (Vec::new(), [const { Vec::new() }; 3]);
    for number in 0..3 {
        let (prompt, sampler) = request(number);
        running.push(Generation::with_own_sampler(&model, &prompt, None, sampler).unwrap());
        for (generation, text) in running.iter_mut().zip(&mut texts) {
            text.push(generation.next().unwrap().unwrap());
        }
    }
    for (number, text) in texts.into_iter().enumerate() {
        let (prompt, mut sampler) = request(number);
        let alone = Generation::new(&model, &prompt, None, &mut sampler).unwrap();
        assert_eq!(text, alone.take(3 - number).map(Result::unwrap).collect::<Vec<_>>());
    }
}

#[test]
fn an_error_ends_the_generation() {
    let model = Alphabet { fails_at: Some(3), ..Alphabet::default() };
    let mut sampler = Sampler::greedy();
    let prompt = prompt(&[&[0]]);
    let generation = Generation::new(&model, &prompt, None, &mut sampler).unwrap();
    let steps: Vec<bool> = generation.map(|step| step.is_ok()).collect();
    assert_eq!(steps, [true, true, false]);
}

#[test]
fn a_prompt_longer_than_the_model_reads_is_an_error() {
    dims! { Prompt; }
    let ids = |len| TokenIds::from_ids(&vec![0; len], None, (Batch::new(1), Prompt::new(len))).unwrap();
    let model = DecoderOnly::<NanoGptModel, f32, AutoDevice>::build(&device());
    let mut sampler = Sampler::greedy();
    assert!(Generation::new(&model, &ids(12), None, &mut sampler).is_ok());
    let error = Generation::new(&model, &ids(13), None, &mut sampler).err().unwrap();
    assert_eq!(error.to_string(), "generate: Prompt=13 from 0 on is not inside MaxSeqLen=12");
}

/// Prompts of different lengths, padded with token 12.
fn padded(rows: &[&[usize]]) -> TokenIds<Batch, SeqLen, VocabSize> {
    let len = rows.iter().map(|row| row.len()).max().unwrap();
    let row = |row: &&[usize]| row.iter().copied().chain([12; 12]).take(len).collect::<Vec<_>>();
    let ids: Vec<usize> = rows.iter().flat_map(row).collect();
    TokenIds::from_ids(&ids, Some(Fin::literal::<12>()), (Batch::new(rows.len()), SeqLen::new(len).unwrap())).unwrap()
}

#[test]
fn longer_prompts_are_read_while_shorter_texts_are_written() {
    let (model, mut sampler) = (Alphabet::default(), Sampler::greedy());
    let prompts = padded(&[&[3, 0], &[0, 1, 2, 7, 8, 9], &[4]]);
    let end = Some(Fin::literal::<6>());
    let generation = Generation::new(&model, &prompts, end, &mut sampler).unwrap().max_new_tokens(3);
    let steps: Vec<Vec<Option<usize>>> =
        generation.map(|step| step.unwrap().into_iter().map(|token| token.map(Fin::value)).collect()).collect();
    assert_eq!(
        steps,
        [
            [None, None, Some(5)],
            [Some(1), None, Some(6)],
            [Some(2), None, None],
            [Some(3), None, None],
            // Both short texts have ended, so the rest of the long prompt was read at once.
            [None, Some(10), None],
            [None, Some(11), None],
            [None, Some(12), None],
        ]
    );
    assert_eq!(model.reads.get(), 7);
}

#[test]
fn padding_before_a_token_is_an_error() {
    let model = Alphabet::default();
    let error = |ids: &[usize]| {
        let shape = (Batch::new(2), SeqLen::new(ids.len() / 2).unwrap());
        let ids = TokenIds::from_ids(ids, Some(Fin::literal::<0>()), shape).unwrap();
        Generation::new(&model, &ids, None, &mut Sampler::greedy()).unwrap_err().to_string()
    };
    let at = |row: usize, position: usize| {
        format!("generate: prompt {row} has padding at position {position}, but padding stands only behind its tokens")
    };
    assert_eq!(error(&[1, 2, 3, 0, 5, 6]), at(1, 0));
    assert_eq!(error(&[1, 0, 3, 4, 5, 0]), at(0, 1));
    assert_eq!(error(&[1, 2, 3, 0, 0, 0]), at(1, 0));
    let prompts = padded(&[&[1, 2, 3], &[4]]);
    let mut sampler = Sampler::greedy();
    let generation = Generation::new(&model, &prompts, None, &mut sampler).unwrap();
    assert_eq!(format!("{generation:?}"), "Generation (Batch=2, 1 of MaxSeqLen=12 read, 0 ended)");
}

#[test]
fn a_text_is_ended_from_outside() {
    let (model, mut sampler) = (Alphabet::default(), Sampler::greedy());
    let prompts = prompt(&[&[0], &[4]]);
    let mut generation = Generation::new(&model, &prompts, None, &mut sampler).unwrap().max_new_tokens(3);
    let mut next = || generation.next().map(|step| step.unwrap().into_iter().flatten().count());
    assert_eq!(next(), Some(2));
    assert_eq!(generation.end_text(2).unwrap_err().to_string(), "generate: 2 is not an index of Batch=2");
    generation.end_text(0).unwrap();
    assert_eq!(generation.map(|step| step.unwrap()[0].is_none()).collect::<Vec<_>>(), [true, true]);
    assert_eq!(Generation::new(&model, &prompts, None, &mut sampler).unwrap().max_new_tokens(0).count(), 0);
    let mut begun = Generation::new(&model, &prompts, None, &mut sampler).unwrap();
    assert!(begun.by_ref().take(2).all(|tokens| tokens.is_ok()));
    assert_eq!(begun.max_new_tokens(1).count(), 0);
}

#[test]
fn rules_change_the_logits_of_a_token() {
    let (model, mut sampler) = (Alphabet::default(), Sampler::greedy());
    let prompts = padded(&[&[3], &[0, 1]]);
    let mut seen = Vec::new();
    // The letter after the last one is forbidden in row 0, so the first of the others is taken.
    let mut generation = Generation::new(&model, &prompts, None, &mut sampler).unwrap().max_new_tokens(3);
    let mut rule = |row: usize, text: &[Fin<_>], logits: &mut [f64]| {
        seen.push((row, text.iter().map(|token| token.value()).collect::<Vec<_>>()));
        if row == 0 {
            let best = logits.iter().position(|logit| *logit == 1.0).unwrap();
            logits[best] = f64::NEG_INFINITY;
        }
    };
    let values = |step: Result<Vec<Option<Fin<_>>>, _>| step.unwrap().into_iter().map(|token| token.map(Fin::value));
    let steps: Vec<Vec<Option<usize>>> =
        iter::from_fn(|| generation.next_by(&mut rule)).map(|step| values(step).collect()).collect();
    assert_eq!(steps, [[Some(0), None], [Some(0), Some(2)], [Some(0), Some(3)], [None, Some(4)]]);
    let texts: [(usize, &[usize]); 6] = [(0, &[]), (0, &[0]), (1, &[]), (0, &[0, 0]), (1, &[2]), (1, &[2, 3])];
    assert_eq!(seen, texts.map(|(row, text)| (row, text.to_vec())));

    let mut nothing = Generation::new(&model, &prompts, None, &mut sampler).unwrap();
    let mut next = || nothing.next_by(|_, _, logits| logits.fill(f64::NAN));
    assert_eq!(next(), Some(Err(OpError::NotANumber { op: "choose" })));
    assert_eq!(next(), None);
    // A generation that is used no more does not hold its sampler.
    let _restricted = sampler.restrict_to([Fin::literal::<1>()]);
}

#[test]
fn a_batch_writes_what_each_row_writes_alone() {
    let model = DecoderOnly::<NanoGptModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(5));
    let rows: Vec<Vec<usize>> = (0..4).map(|row| vec![row, 2 * row + 1, 7]).collect();
    let write = |rows: &[&[usize]], end| -> Vec<Vec<usize>> {
        let text: TokenIds<_, MaxSeqLen, _> =
            generate_from_prompt(&model, &prompt(rows), Some(end), MaxSeqLen, &mut Sampler::greedy()).unwrap();
        let values = |row| text.row(row).unwrap().into_iter().map(Fin::value).collect();
        (0..rows.len()).map(values).collect()
    };
    // The fifth token of row 2 ends it, and perhaps others.
    let refs: Vec<&[usize]> = rows.iter().map(Vec::as_slice).collect();
    let end = Fin::new(write(&refs, Fin::literal::<0>())[2][5]).unwrap();
    let together = write(&refs, end);
    let alone: Vec<Vec<usize>> = refs.iter().flat_map(|row| write(&[row], end)).collect();
    assert_eq!(together, alone);
    assert!(together[2][5..].iter().all(|&token| token == end.value()));
}

#[test]
fn an_encoder_decoder_writes_only_for_the_batch_that_it_has_read() {
    let model = LM::<TypedModel, f32, AutoDevice>::build(&device());
    let source = TokenIds::from_ids(&[1, 2], None, (Batch::new(2), SrcLen::new(1).unwrap())).unwrap();
    let encoded = model.encode(&source).unwrap();
    let mut sampler = Sampler::greedy();
    let error = Generation::new(&encoded, &prompt(&[&[1], &[1], &[1]]), None, &mut sampler).err().unwrap();
    assert_eq!(error.to_string(), "cache: `Batch` is 2 in the sources and 3 in the targets");
}
