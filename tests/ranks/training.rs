//! A training run of a program's own: an optimizer whose state is sharded over the ranks, and a loss that is no number
//! on one rank.

use crate::launch::on_ranks;
use rand::Rng;
use std::{fs, path::Path};
use typed_transformer::nn::Linear;
use typed_transformer::ops::partial_cross_entropy;
use typed_transformer::prelude::*;
use typed_transformer::ranks;
use typed_transformer::ranks::{Partial, Ranks};
use typed_transformer::train::{AdamW, Optimizer, ShardedState, TrainError, Trainer};

ranks! { World; }
dims! { VocabSize = 11; EmbedDim = 6; SeqLen = 2; Batch; }

type Model = Linear<EmbedDim, VocabSize, f32, Cpu>;

/// The rows of a batch: one rank of four has one row less than the others.
const ROWS: usize = 7;
const STEPS: usize = 30;

/// Trains until step `until`, from the checkpoint at `path` if there is one, and saves one every 2 steps. The loss of
/// `bad_rank` is no number in step `until`. Returns the losses of this run's steps.
fn train<O: Optimizer<Model, f32>>(
    ranks: &Ranks<World>,
    optimizer: O,
    path: &Path,
    until: usize,
    bad_rank: Option<usize>,
) -> Result<(Vec<f64>, O), TrainError> {
    let device = Cpu::seed_from_u64(2);
    let mut trainer = Trainer::new(optimizer, 0.05, STEPS, 9);
    let mut model = Model::build(&device);
    if ranks.is_first() {
        if path.exists() {
            model = trainer.resume(path, &device).unwrap();
        }
        trainer.checkpoint_every(path, 2).unwrap();
    }
    trainer.replicate(ranks, &device)?;
    let mut model = ranks.replicate(model)?;
    let mut losses = Vec::new();
    while let Some(mut step) = trainer.next_step().filter(|step| step.number < until || bad_rank.is_some()) {
        let x: Vec<f32> = (0..ROWS * 12).map(|_| step.rng.gen_range(-1.0..1.0)).collect();
        let ids: Vec<usize> = (0..ROWS * 2).map(|_| step.rng.gen_range(0..11)).collect();
        let rows = step.assign_rows(ranks, Batch::new(ROWS));
        let own = |len: usize| rows.range().unwrap().start * len..rows.range().unwrap().end * len;
        let x = device.tensor_from_vec(x[own(12)].to_vec(), (rows, SeqLen, EmbedDim));
        let labels = LabelIds::from_ids(&ids[own(2)], None, (rows, SeqLen)).unwrap();
        let loss =
            partial_cross_entropy(model.forward(x.put_tape(model.recording())).unwrap(), &labels, Reduction::MeanAll)
                .unwrap();
        let value = match bad_rank == Some(ranks.rank()) && step.number == until {
            true => Partial::term(f64::NAN),
            false => loss.value(),
        };
        let gradients = loss.backward_all_reduce(ranks, &model)?;
        losses.push(trainer.update_replicated(ranks, &mut model, gradients, value, ROWS * 2)?.loss);
        ranks.ensure_replicated(&model)?;
    }
    Ok((losses, trainer.optimizer))
}

#[test]
fn sharded_state_is_that_of_one_rank_and_needs_a_part_of_the_memory() {
    const TEST: &str = "training::sharded_state_is_that_of_one_rank_and_needs_a_part_of_the_memory";
    // Each number of ranks goes on where the one before it stopped.
    let counts = [2, 4, 1, 3];
    on_ranks(
        TEST,
        &counts,
        |_| {},
        |folder| {
            let ranks = Ranks::<World>::start().unwrap();
            let turn = 1 + counts.iter().position(|&count| count == ranks.size()).unwrap();
            let [shared, whole] = ["shared", "whole"].map(|name| folder.join(name));
            let (losses, optimizer) =
                train(&ranks, ShardedState::new(AdamW::default(), &ranks), &shared, 4 * turn, None).unwrap();
            let (same_losses, _) = train(&ranks, AdamW::default(), &whole, 4 * turn, None).unwrap();
            assert_eq!(losses, same_losses);
            assert!(fs::read(&shared).unwrap() == fs::read(&whole).unwrap(), "the checkpoints differ");

            let len = (EmbedDim::SIZE + 1) * VocabSize::SIZE;
            let moments = Optimizer::<Model, f32>::state(&optimizer).num_elements();
            // The first rank has just gathered them for the checkpoint.
            let of_rank = if ranks.is_first() { len } else { ranks.part_of(len, ranks.rank()).len() };
            assert_eq!(moments, 2 * of_rank);

            let alone = Ranks::<World>::single().unwrap();
            let none = folder.join(format!("alone-{}-{}", ranks.size(), ranks.rank()));
            let (expected, _) = train(&alone, AdamW::default(), &none, 4 * turn, None).unwrap();
            for (loss, expected) in losses.iter().zip(&expected[4 * (turn - 1)..]) {
                assert!((loss - expected).abs() < 1e-5, "{loss} and not {expected}");
            }
            ranks.end_together();
        },
    );
}

#[test]
fn a_loss_that_is_no_number_on_one_rank_ends_all_after_the_same_step() {
    const TEST: &str = "training::a_loss_that_is_no_number_on_one_rank_ends_all_after_the_same_step";
    let counts = [2, 3, 4];
    on_ranks(
        TEST,
        &counts,
        |_| {},
        |folder| {
            let ranks = Ranks::<World>::start().unwrap();
            let until = 5 + 4 * counts.iter().position(|&count| count == ranks.size()).unwrap();
            let path = folder.join("checkpoint");
            let ended = train(&ranks, AdamW::default(), &path, until, Some(ranks.size() - 1)).map(|_| ());
            assert!(matches!(ended, Err(TrainError::Loss { step, .. }) if step == until), "{ended:?}");
            // The next number of ranks goes on from here.
            let mut trainer = Trainer::new(AdamW::default(), 0.05, STEPS, 9);
            let _: Model = trainer.resume(&path, &Cpu::default()).unwrap();
            assert_eq!(trainer.steps_made(), until - 1);
        },
    );
}
