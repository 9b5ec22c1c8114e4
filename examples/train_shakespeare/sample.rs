//! Writing.

use crate::{
    model::{Block, Model, SeqLen, VocabSize},
    support::Failure,
};
use dfdx::tensor::NoneTape;
use typed_transformer::{generate::Sampler, prelude::*};

/// The prompt and `count` characters that the model adds to it.
pub fn sample<D: Backend<f32>>(
    model: &Model<D>,
    sampler: &mut Sampler<VocabSize>,
    prompt: &[Fin<VocabSize>],
    count: usize,
) -> Result<Vec<Fin<VocabSize>>, Failure> {
    let mut text = prompt.to_vec();
    for _ in 0..count {
        let block = &text[text.len().saturating_sub(Block::SIZE)..];
        text.push(sampler.choose(&next_logits(model, block)?)?);
    }
    Ok(text)
}

/// A logit for each character that may come next.
fn next_logits<D: Backend<f32>>(model: &Model<D>, block: &[Fin<VocabSize>]) -> Result<Vec<f32>, Failure> {
    let ids: Vec<usize> = block.iter().map(|token| token.value()).collect();
    let ids = TokenIds::from_ids(&ids, None, (Const::<1>, SeqLen::new(ids.len())?))?;
    let mut logits = model.try_forward(&ids, NoneTape)?.as_vec();
    Ok(logits.split_off(logits.len() - VocabSize::SIZE))
}
