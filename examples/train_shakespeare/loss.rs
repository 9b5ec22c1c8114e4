//! The loss of a model of text: of a batch, on this rank, and over the validation text.

use crate::{
    Batch, BlockSize, SeqLen,
    cli::Cli,
    support::{BoxError, Trainable, ranks::World},
    text::{Text, Windows},
};
use rand::{SeedableRng, rngs::StdRng};
use typed_transformer::{
    ops::{cross_entropy, partial_cross_entropy},
    prelude::*,
    ranks::{Partial, Shard},
    train::Recording,
};

/// Batches per estimate of a loss.
const EVAL_BATCHES: usize = 20;

type Loss<M, D> = Tensor<(), f32, D, Recording<M, f32, D>>;

/// A model that is trained here: the one of characters, or GPT-2.
pub trait TextModel<D: Backend<f32>>: Trainable<D> {
    type VocabSize: ConstDim;

    fn logits<B: DataDim, T: Tape<f32, D>>(
        &self,
        ids: &TokenIds<B, SeqLen, Self::VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, SeqLen, Self::VocabSize), f32, D, T>, OpError>;
}

/// The part of the loss that this rank's windows have.
pub fn partial_loss<M: TextModel<D>, D: Backend<f32>>(
    model: &M,
    text: &Text,
    starts: &[usize],
    rows: Shard<Batch, World>,
    device: &D,
) -> Result<Partial<Loss<M, D>, World>, BoxError> {
    if rows.is_empty() {
        return Ok(Partial::of_no_rows(device, model.recording())?);
    }
    let windows = Windows::at(&text.training, starts, rows, BlockSize::SIZE)?;
    let logits = model.logits(&windows.inputs, model.recording())?; // (Shard<Batch, World>, SeqLen, VocabSize)
    Ok(partial_cross_entropy(logits, &windows.labels, Reduction::MeanAll)?)
}

/// The loss of a whole batch.
fn loss<M: TextModel<D>, D: Backend<f32>>(
    model: &M,
    windows: &Windows<Batch, M::VocabSize>,
) -> Result<Tensor<(), f32, D>, OpError> {
    let logits = model.logits(&windows.inputs, NoneTape)?; // (Batch, SeqLen, VocabSize)
    cross_entropy(logits, &windows.labels, Reduction::MeanAll)
}

/// The mean loss per token.
fn mean_loss<M: TextModel<D>, D: Backend<f32>>(
    model: &M,
    batches: impl Iterator<Item = Result<Windows<Batch, M::VocabSize>, BoxError>>,
) -> Result<f64, BoxError> {
    let (mut sum, mut count) = (0.0, 0);
    for windows in batches {
        let windows = windows?;
        let tokens = windows.inputs.as_slice().len();
        sum += f64::from(loss(model, &windows)?.array()) * tokens as f64;
        count += tokens;
    }
    Ok(sum / count as f64)
}

/// Training and validation loss, over the same few batches at every call.
pub fn estimate_loss<M: TextModel<D>, D: Backend<f32>>(
    model: &M,
    text: &Text,
    cli: &Cli,
) -> Result<(f64, f64), BoxError> {
    let estimate = |part: &[usize]| {
        let mut rng = StdRng::seed_from_u64(cli.seed);
        mean_loss(model, (0..EVAL_BATCHES).map(|_| Windows::random(part, cli.batch, &mut rng)))
    };
    Ok((estimate(&text.training)?, estimate(&text.validation)?))
}

/// The loss over the validation text, as a line.
pub fn validation<M: TextModel<D>, D: Backend<f32>>(
    cli: &Cli,
    model: &M,
    text: &Text,
    unit: &str,
) -> Result<String, BoxError> {
    let loss = mean_loss(model, Windows::all(&text.validation, cli.batch))?;
    Ok(format!("validation loss {loss:.4} over all {} {unit}", text.validation.len()))
}
