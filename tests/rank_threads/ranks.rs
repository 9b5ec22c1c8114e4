//! Ranks: collective operations, and data-parallel training against one rank.

use dfdx::shapes::Shape;
use dfdx::tensor::AsArray;
use rand::Rng;
use std::ops::Range;
use typed_transformer::nn::Linear;
use typed_transformer::ops::{dropout, partial_cross_entropy};
use typed_transformer::prelude::*;
use typed_transformer::ranks;
use typed_transformer::ranks::{Partial, Ranks, RanksError, Replicated, Shard};
use typed_transformer::tensor_parallel::scale;
use typed_transformer::train::{Adam, Evaluation, GradientsOf, Recording, Step, TrainError, Trainer};

ranks! { World; Data; Tp = 2; }
dims! { VocabSize = 11; EmbedDim = 6; SeqLen = 3; Batch; }

const PAD: Fin<VocabSize> = Fin::literal::<10>();

/// Values of which rank `rank` has the term `rank + 1` times as large, except for rounding.
fn terms(rank: usize, len: usize) -> Vec<f32> {
    (0..len).map(|i| (rank + 1) as f32 * (0.1 + i as f32).sin()).collect()
}

#[test]
fn sums_are_made_in_the_order_of_the_ranks() {
    for ranks in 1..=5 {
        // One message, and two; fewer elements than ranks; parts that differ in length.
        for len in [0, 1, 3, 1024, 1025, 5003] {
            let all: Vec<Vec<f32>> = (0..ranks).map(|rank| terms(rank, len)).collect();
            let sum = |i: usize| all.iter().map(|terms| terms[i]).reduce(|sum, term| sum + term).unwrap();
            let expected: Vec<f32> = (0..len).map(sum).collect();
            let sums = Ranks::<World>::in_threads(ranks, |world| {
                let mut values = terms(world.rank(), len);
                world.all_reduce(&mut values).map(|()| values)
            });
            assert_eq!(sums, vec![Ok(expected); ranks], "{ranks} ranks, {len} elements");
        }
    }
}

#[test]
fn an_all_reduce_sends_no_more_than_it_must() {
    let (ranks, len) = (4, 40_000);
    let sent = Ranks::<World>::in_threads(ranks, |world| {
        world.all_reduce(&mut vec![1.0_f32; len]).unwrap();
        world.sent_bytes()
    });
    assert_eq!(sent, [2 * 3 * 4 * len as u64 / 4; 4]);
}

#[test]
fn a_gathered_reduce_scatter_is_an_all_reduce() {
    let lens = [5, 0, 2];
    let results = Ranks::<World>::in_threads(3, |world| {
        let mut sums = terms(world.rank(), 7);
        let part = world.reduce_scatter(&sums, &lens).unwrap();
        assert_eq!(part.len(), lens[world.rank()]);
        world.all_reduce(&mut sums).unwrap();
        (world.all_gather(&part, &lens).unwrap(), sums)
    });
    for (gathered, sums) in results {
        assert_eq!(gathered, sums);
    }
}

#[test]
fn wrong_lengths_are_errors_that_name_rank_and_operation() {
    let errors = Ranks::<World>::in_threads(2, |world| {
        [world.all_gather(&[1.0_f64], &[2, 2]).unwrap_err(), world.reduce_scatter(&[1.0_f64], &[2, 2]).unwrap_err()]
            .map(|error| error.to_string())
    });
    assert_eq!(errors[1][0], "rank 1 of `World`: all-gather needs 2 elements, but there are 1");
    assert_eq!(errors[0][1], "rank 0 of `World`: reduce-scatter needs 1 elements, but there are 4");
}

/// One rank gathers its one number, the other one sums by parts.
#[test]
fn ranks_of_different_lengths_are_an_error_of_each() {
    let sums = Ranks::<World>::in_threads(2, |world| {
        let len = if world.rank() == 0 { 1 } else { 2_000 };
        world.all_reduce(&mut vec![1.0_f32; len])
    });
    assert!(sums.iter().all(|sum| matches!(sum, Err(RanksError::Transport { .. }))), "{sums:?}");
}

/// Each rank sums a part. The parts of a longer vector begin and end at other places.
#[test]
fn a_slightly_other_length_is_an_error_of_each() {
    let sums = Ranks::<World>::in_threads(3, |world| {
        let len = if world.rank() == 1 { 3_001 } else { 3_000 };
        world.all_reduce(&mut vec![1.0_f32; len])
    });
    assert!(sums.iter().all(|sum| matches!(sum, Err(RanksError::Transport { .. }))), "{sums:?}");
}

#[test]
fn a_grid_needs_a_multiple_of_its_inner_axis() {
    let errors = Ranks::<World>::in_threads(3, |world| world.split::<Data, Tp>().unwrap_err().to_string());
    assert_eq!(errors[0], "the 3 ranks of `World` cannot be split into groups of 2 for `Tp`");
}

#[test]
fn the_axes_of_a_grid_reduce_along_themselves() {
    let sums = Ranks::<World>::in_threads(6, |world| {
        let (data, tp) = world.split::<Data, Tp>().unwrap();
        let value = || Partial::<f64, Data>::term(10f64.powi(world.rank() as i32));
        let along_tp = Partial::<f64, Tp>::term(10f64.powi(world.rank() as i32)).all_reduce(&tp).unwrap();
        (*value().all_reduce(&data).unwrap(), *along_tp, data.size(), tp.size())
    });
    assert_eq!(sums[0], (10101.0, 11.0, 3, 2));
    assert_eq!(sums[3], (101010.0, 1100.0, 3, 2));
}

#[test]
fn a_thread_that_ends_is_an_error_of_the_others() {
    let results = Ranks::<World>::in_threads(3, |world| if world.rank() == 1 { Ok(()) } else { world.barrier() });
    let error = results[0].clone().unwrap_err().to_string();
    assert_eq!(error, "rank 0 of `World`: all-gather failed: the thread of rank 1 has ended");
    // Also if the thread returns its ranks.
    let results = Ranks::<World>::in_threads(2, |world| (world.clone(), world.rank() == 1 || world.barrier().is_err()));
    assert!(results.iter().all(|(_, is_refused)| *is_refused));
    // Also if they are those of a part of the grid, whose other parts go on.
    let results = Ranks::<World>::in_threads(4, |world| {
        let (_, tp) = world.split::<Data, Tp>().unwrap();
        (tp.clone(), world.rank() == 1 || tp.barrier().is_err() == world.is_first())
    });
    assert!(results.iter().all(|(_, is_right)| *is_right));
}

#[test]
fn an_error_that_the_ranks_cannot_agree_on_stays() {
    let results = Ranks::<World>::in_threads(2, |world| {
        if world.rank() == 1 {
            return None;
        }
        let own: Result<(), Box<dyn std::error::Error>> = Err("no such file".into());
        Some(world.fail_together(own).unwrap_err().to_string())
    });
    assert_eq!(results[0].as_deref(), Some("no such file"));
}

#[test]
fn a_shard_that_no_rank_made_has_no_place() {
    let ranges = Ranks::<Tp>::in_threads(2, |tp| {
        let made = Shard::<EmbedDim, Tp>::default();
        assert_eq!((made.size(), made.whole_size()), (3, Some(6)));
        let error = made.range().unwrap_err().to_string();
        assert_eq!(
            error,
            "the place of Shard<EmbedDim, Tp>=3 of 6 is not known; `Ranks::shard` makes a shard that knows it",
        );
        tp.shard(EmbedDim).range().unwrap()
    });
    assert_eq!(ranges, [0..3, 3..6]);
}

/// A model in `f64`; its loss has dropout.
type Model = Linear<EmbedDim, VocabSize, f64, Cpu>;
type Loss = Tensor<(), f64, Cpu, Recording<Model, f64, Cpu>>;

/// A row: its input and its labels, of which some are padding.
type Row = (Vec<f64>, Vec<Fin<VocabSize>>);

fn random_row(step: &mut Step) -> Row {
    let input = (0..SeqLen::SIZE * EmbedDim::SIZE).map(|_| step.rng.gen_range(-1.0..1.0)).collect();
    let labels = (0..step.rng.gen_range(1..=SeqLen::SIZE)).map(|_| Fin::new(step.rng.gen_range(0..10)).unwrap());
    (input, labels.collect())
}

fn loss(model: &Model, rows: &[Row], shard: Shard<Batch, World>, reduction: Reduction) -> Partial<Loss, World> {
    let device = Cpu::default();
    if shard.is_empty() {
        return Partial::of_no_rows(&device, model.recording()).unwrap();
    }
    let input = rows.iter().flat_map(|(input, _)| input.clone()).collect();
    let input: Tensor<_, f64, Cpu> = device.tensor_from_vec(input, (shard, SeqLen, EmbedDim));
    let labels: Vec<_> = rows.iter().map(|(_, labels)| labels).collect();
    let labels = LabelIds::from(TokenIds::padded(&labels, PAD, (shard, SeqLen)).unwrap());
    let dropped = dropout(input.put_tape(model.recording()), 0.3).unwrap();
    partial_cross_entropy(model.forward(dropped).unwrap(), &labels, reduction).unwrap()
}

/// Losses and parameters after each step.
fn train(count: usize, batch: usize, reduction: Reduction) -> Vec<(Vec<f64>, Vec<Vec<f64>>)> {
    Ranks::<World>::in_threads(count, |ranks| {
        let model: Model = Model::build(&Cpu::seed_from_u64(ranks.rank() as u64));
        // The initial parameters are those of rank 0, whatever its seed.
        let mut model = ranks.replicate(model).unwrap();
        let mut trainer = Trainer::new(Adam::default(), 0.01, 20, 7);
        let (mut losses, mut parameters) = (Vec::new(), Vec::new());
        while let Some(mut step) = trainer.next_step() {
            let rows: Vec<Row> = (0..batch).map(|_| random_row(&mut step)).collect();
            let shard = step.assign_rows(ranks, Batch::new(batch));
            let loss = loss(&model, &rows[shard.range().unwrap()], shard, reduction);
            let value = loss.value();
            let gradients = loss.backward().unwrap().all_reduce(ranks, &model).unwrap();
            let report = trainer.update_replicated(ranks, &mut model, gradients, value, batch).unwrap();
            ranks.ensure_replicated(&model).unwrap();
            losses.push(report.loss);
            parameters.push([model.weight.as_vec(), model.bias.as_vec()].concat());
        }
        (losses, parameters)
    })
}

#[test]
fn ranks_train_as_one() {
    for reduction in [Reduction::MeanAll, Reduction::MeanPerSequence] {
        // Equal parts, unequal ones, and a rank without a row.
        for batch in [8, 5, 2] {
            let alone = &train(1, batch, reduction)[0];
            for count in 2..=4 {
                let together = train(count, batch, reduction);
                for (losses, parameters) in &together {
                    for (loss, expected) in losses.iter().zip(&alone.0) {
                        assert!((loss - expected).abs() < 1e-12, "{loss} {expected}");
                    }
                    for (value, expected) in parameters.concat().iter().zip(alone.1.concat()) {
                        assert!((value - expected).abs() < 1e-9, "{value} {expected}");
                    }
                }
                assert!(together.iter().all(|rank| *rank == together[0]), "the ranks have other bits");
                assert_eq!(together, train(count, batch, reduction), "another run has other bits");
            }
        }
    }
}

#[test]
fn the_loss_does_not_depend_on_the_number_of_ranks() {
    // With 5 rows on 2 ranks, a mean over each rank's rows counts the rows of rank 1 too much.
    let count_of_row = |ranks: usize| {
        Ranks::<World>::in_threads(ranks, |ranks| {
            let rows = ranks.shard(Batch::new(5));
            let labels = vec![Fin::<VocabSize>::literal::<1>(); SeqLen::SIZE];
            let labels = TokenIds::padded(&vec![labels; rows.size()], PAD, (rows, SeqLen)).unwrap();
            let labels = LabelIds::from(labels);
            // The first row is certain to be wrong.
            let logits = rows.range().unwrap().flat_map(|row| {
                let logit = if row == 0 { -3.0 } else { 3.0 };
                [0.0, logit, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0].repeat(SeqLen::SIZE)
            });
            let logits = Cpu::default().tensor_from_vec(logits.collect::<Vec<f64>>(), (rows, SeqLen, VocabSize));
            partial_cross_entropy(logits, &labels, Reduction::MeanAll).unwrap().all_reduce(ranks).unwrap().array()
        })[0]
    };
    assert!((count_of_row(1) - count_of_row(2)).abs() < 1e-12);
    assert!((count_of_row(1) - count_of_row(4)).abs() < 1e-12);
}

/// Every rank has drawn the labels of all, so it knows how many of them are not padding.
#[test]
fn a_mean_over_tokens_is_a_scaled_sum() {
    let labels = [3, 1, 2].map(|len| vec![Fin::<VocabSize>::literal::<1>(); len]);
    let count: usize = labels.iter().map(Vec::len).sum();
    let elements = |rows: Range<usize>| -> Vec<f64> {
        rows.flat_map(|row| (0..SeqLen::SIZE * VocabSize::SIZE).map(move |i| ((row + i) as f64).sin())).collect()
    };
    let batch = Batch::new(3);
    let all = LabelIds::from(TokenIds::padded(&labels, PAD, (batch, SeqLen)).unwrap());
    let logits = Cpu::default().tensor_from_vec(elements(0..3), (batch, SeqLen, VocabSize));
    let expected = cross_entropy(logits, &all, Reduction::MeanTokens).unwrap().array();
    let losses = Ranks::<World>::in_threads(2, |ranks| {
        let rows = ranks.shard(batch);
        let own = rows.range().unwrap();
        let labels = LabelIds::from(TokenIds::padded(&labels[own.clone()], PAD, (rows, SeqLen)).unwrap());
        let logits = Cpu::default().tensor_from_vec(elements(own), (rows, SeqLen, VocabSize));
        let error = partial_cross_entropy(logits.clone(), &labels, Reduction::MeanTokens).err().unwrap().to_string();
        assert!(error.ends_with("`tensor_parallel::scale` divides the term of `Reduction::Sum` by the number of all"));
        let sum = partial_cross_entropy(logits, &labels, Reduction::Sum).unwrap();
        scale(sum, 1.0 / count as f64).unwrap().all_reduce(ranks).unwrap().array()
    });
    assert!(losses.iter().all(|loss| (loss - expected).abs() < 1e-12), "{losses:?}, not {expected}");
}

/// One of three ranks has no row, and its own loss would be NaN.
#[test]
fn an_evaluation_of_all_ranks_is_that_of_one() {
    let evaluations = |count: usize| {
        Ranks::<World>::in_threads(count, |ranks| {
            let own = ranks.part_of(2, ranks.rank());
            let mut evaluation = Evaluation::default();
            if !own.is_empty() {
                let batch = Batch::new(own.len());
                let logit = |row: usize| (0..VocabSize::SIZE).map(move |class| ((row + class) as f64).sin());
                let logits = own.clone().flat_map(logit).collect::<Vec<f64>>();
                let logits = Cpu::default().tensor_from_vec(logits, (batch, VocabSize));
                let labels: Vec<usize> = own.map(|row| 2 * row).collect();
                evaluation.add(&logits, &Indices::new(&labels, (batch,), VocabSize).unwrap()).unwrap();
            }
            Partial::<_, World>::term(evaluation).all_reduce(ranks).unwrap().into_inner()
        })
    };
    let alone = evaluations(1)[0];
    for together in evaluations(3) {
        assert_eq!((together.tokens(), together.accuracy()), (2, alone.accuracy()));
        assert!((together.loss() - alone.loss()).abs() < 1e-12, "{together}, not {alone}");
    }
}

/// Runs steps in which rank 1's loss is that of `spoil`. Returns each rank's error and steps.
fn spoiled(spoil: impl Fn(usize, &mut Trainer<Adam<Model, f64>, f64>) -> f64 + Sync) -> Vec<(String, usize)> {
    spoiled_from(false, spoil)
}

/// [`spoiled`], where rank 1 may be stopped before the first step.
fn spoiled_from(
    is_stopped: bool,
    spoil: impl Fn(usize, &mut Trainer<Adam<Model, f64>, f64>) -> f64 + Sync,
) -> Vec<(String, usize)> {
    Ranks::<World>::in_threads(3, |ranks| {
        let mut model = ranks.replicate(Model::build(&Cpu::seed_from_u64(0))).unwrap();
        let mut trainer = Trainer::new(Adam::default(), 0.01, 10, 7);
        trainer.stop.store(is_stopped && ranks.rank() == 1, std::sync::atomic::Ordering::Relaxed);
        while let Some(step) = trainer.next_step() {
            let gradients = Partial::term(GradientsOf::zeros(&*model).allow_unused(&*model));
            let gradients: Replicated<GradientsOf<Model, f64, Cpu>, World> =
                gradients.all_reduce(ranks, &model).unwrap();
            let loss = if ranks.rank() == 1 { spoil(step.number, &mut trainer) } else { 1.0 };
            let report = trainer.update_replicated(ranks, &mut model, gradients, Partial::term(loss), 1);
            if let Err(error) = report {
                return (error.to_string(), trainer.steps_made());
            }
        }
        (format!("stopped: {}", trainer.stopped()), trainer.steps_made())
    })
}

#[test]
fn a_loss_that_is_not_a_number_on_one_rank_ends_all() {
    let ends = spoiled(|step, _| if step == 4 { f64::NAN } else { 1.0 });
    assert_eq!(ends, vec![("the loss is NaN at step 4".to_string(), 4); 3]);
}

#[test]
fn a_step_after_the_last_one_ends_all_ranks() {
    let ends = Ranks::<World>::in_threads(2, |ranks| {
        let mut model = ranks.replicate(Model::build(&Cpu::seed_from_u64(0))).unwrap();
        let mut trainer = Trainer::new(Adam::default(), 0.01, 1, 7);
        [(); 2].map(|()| {
            let gradients = Partial::term(GradientsOf::zeros(&*model).allow_unused(&*model));
            let gradients: Replicated<GradientsOf<Model, f64, Cpu>, World> =
                gradients.all_reduce(ranks, &model).unwrap();
            let report = trainer.update_replicated(ranks, &mut model, gradients, Partial::term(1.0), 1);
            report.map(|report| report.steps_made).map_err(|error| error.to_string())
        })
    });
    assert_eq!(ends, vec![[Ok(1), Err("the training ends after step 1".to_string())]; 2]);
}

#[test]
fn a_stop_on_one_rank_stops_all_after_the_same_step() {
    let ends = spoiled(|step, trainer| {
        trainer.stop.store(step == 6, std::sync::atomic::Ordering::Relaxed);
        1.0
    });
    assert_eq!(ends, vec![("stopped: true".to_string(), 7); 3]);
    assert_eq!(spoiled_from(true, |_, _| 1.0), vec![("stopped: true".to_string(), 1); 3]);
}

/// Otherwise early stopping would end one rank, and the others would wait for it.
#[test]
fn all_ranks_count_the_steps_since_rank_0_recorded_the_best_loss() {
    let counts = Ranks::<World>::in_threads(2, |ranks| {
        let mut model = ranks.replicate(Model::build(&Cpu::seed_from_u64(0))).unwrap();
        let mut trainer = Trainer::new(Adam::default(), 0.01, 10, 7);
        [None, Some(3.0), Some(2.0), Some(2.5), Some(f64::NAN), Some(1.0)].map(|recorded| {
            if let Some(loss) = recorded.filter(|_| ranks.is_first()) {
                trainer.record_best(loss);
            }
            let gradients = Partial::term(GradientsOf::zeros(&*model).allow_unused(&*model));
            let gradients: Replicated<GradientsOf<Model, f64, Cpu>, World> =
                gradients.all_reduce(ranks, &model).unwrap();
            trainer.update_replicated(ranks, &mut model, gradients, Partial::term(1.0), 1).unwrap();
            (trainer.steps_since_best(), trainer.best_loss())
        })
    });
    assert_eq!(counts, [[(1, f64::INFINITY), (1, 3.0), (1, 2.0), (2, 2.0), (3, 2.0), (1, 1.0)]; 2]);
}

#[test]
fn an_error_on_one_rank_is_agreed_on() {
    let results = Ranks::<World>::in_threads(3, |ranks| {
        let result = if ranks.rank() == 2 { Err(TrainError::Loss { step: 0, loss: f64::NAN }) } else { Ok(1) };
        ranks.fail_together(result).map_err(|error| error.to_string())
    });
    assert_eq!(results[0], Err("rank 2 of `World` failed".to_string()));
    assert_eq!(results[2], Err("the loss is NaN at step 0".to_string()));
    assert_eq!(results[1], results[0]);
}

#[test]
fn all_ranks_go_on_from_rank_0s_checkpoint() {
    let folder = crate::support::temp_dir();
    let path = folder.path().join("checkpoint");
    let run = |count: usize, until: usize, resume: bool| {
        Ranks::<World>::in_threads(count, |ranks| {
            let mut trainer = Trainer::new(Adam::default(), 0.01, 20, 7);
            let model = match resume && ranks.is_first() {
                true => trainer.resume(&path, &Cpu::default()).unwrap(),
                false => Model::build(&Cpu::seed_from_u64(ranks.rank() as u64)),
            };
            let mut model = ranks.replicate(model).unwrap();
            trainer.replicate(ranks, &Cpu::default()).unwrap();
            let mut losses = Vec::new();
            while let Some(mut step) = trainer.next_step() {
                if step.number == until {
                    break;
                }
                let rows: Vec<Row> = (0..5).map(|_| random_row(&mut step)).collect();
                let shard = step.assign_rows(ranks, Batch::new(5));
                let loss = loss(&model, &rows[shard.range().unwrap()], shard, Reduction::MeanAll);
                let value = loss.value();
                let gradients = loss.backward().unwrap().all_reduce(ranks, &model).unwrap();
                losses.push(trainer.update_replicated(ranks, &mut model, gradients, value, 5).unwrap().loss);
            }
            if ranks.is_first() && !resume {
                trainer.save(&*model, &path).unwrap();
            }
            ranks.ensure_replicated(&model).unwrap();
            (losses, model.bias.as_vec())
        })
    };
    let whole = run(1, 20, false).remove(0);
    for (before, after) in [(1, 3), (3, 2), (4, 1)] {
        std::fs::remove_file(&path).unwrap();
        let first = run(before, 8, false).remove(0);
        let rest = run(after, 20, true);
        assert!(rest.iter().all(|rank| *rank == rest[0]));
        for (loss, expected) in [first.0, rest[0].0.clone()].concat().iter().zip(&whole.0) {
            assert!((loss - expected).abs() < 1e-12);
        }
        for (value, expected) in rest[0].1.iter().zip(&whole.1) {
            assert!((value - expected).abs() < 1e-9);
        }
    }
}

/// Rank 0 has resumed, and nobody has called `Trainer::replicate`.
#[test]
fn ranks_that_have_made_other_numbers_of_steps_are_refused() {
    let folder = crate::support::temp_dir();
    let path = folder.path().join("checkpoint");
    let run = |count: usize, steps: usize| {
        Ranks::<World>::in_threads(count, |ranks| {
            let mut trainer = Trainer::new(Adam::default(), 0.01, 20, 7);
            let new = || Model::build(&Cpu::seed_from_u64(0));
            let resumed = ranks.is_first().then(|| trainer.resume_or(&path, &Cpu::default(), new).unwrap());
            let mut model = ranks.replicate(resumed.unwrap_or_else(new)).unwrap();
            for _ in 0..steps {
                let gradients = Partial::term(GradientsOf::zeros(&*model).allow_unused(&*model));
                let gradients: Replicated<GradientsOf<Model, f64, Cpu>, World> =
                    gradients.all_reduce(ranks, &model).unwrap();
                let report = trainer.update_replicated(ranks, &mut model, gradients, Partial::term(1.0), 1);
                report.map_err(|error| error.to_string())?;
            }
            trainer.save(&*model, &path).map_err(|error| error.to_string())
        })
    };
    assert_eq!(run(1, 8), [Ok(())]);
    let error = "the number of steps made is 8 on rank 0, but 0 on rank 1 of `World`";
    assert_eq!(run(2, 1), vec![Err(error.to_string()); 2]);
}

/// Each setting that the trainer knows, and one of the caller's.
#[test]
fn trainers_that_differ_are_refused_on_all_ranks() {
    type Change = fn(&mut Trainer<Adam<Model, f64>, f64>);
    let changes: [(Change, &str); 6] = [
        (|trainer| trainer.clip_norm = 2.0, "the clip norm is inf on rank 0, but 2 on rank 2"),
        (|trainer| trainer.schedule = 0.5, "the schedule is 0.01 on rank 0, but 0.5 on rank 2"),
        (
            |trainer| trainer.optimizer.beta1 = 0.5,
            "the optimizer is Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 } on rank 0, but \
             Adam { beta1: 0.5, beta2: 0.999, epsilon: 1e-8 } on rank 2",
        ),
        (|trainer| trainer.require_same("the text", "a"), "the text is absent on rank 0, but a on rank 2"),
        (
            |trainer| *trainer = Trainer::new(Adam::default(), 0.01, 30, 7),
            "the number of steps is 20 on rank 0, but 30 on rank 2",
        ),
        (|trainer| trainer.loss_may_rise = true, "whether the loss may rise is false on rank 0, but true on rank 2"),
    ];
    for (change, message) in changes {
        let compared = Ranks::<World>::in_threads(3, |ranks| {
            let mut trainer = Trainer::new(Adam::default(), 0.01, 20, 7);
            if ranks.rank() == 2 {
                change(&mut trainer);
            }
            trainer.replicate(ranks, &Cpu::default()).map_err(|error| error.to_string())
        });
        assert_eq!(compared, vec![Err(format!("{message} of `World`")); 3]);
    }
}

#[test]
fn every_value_of_a_setting_is_compared() {
    let compared = Ranks::<World>::in_threads(2, |ranks| {
        let first = if ranks.is_first() { "a" } else { "b" };
        ranks.ensure_same([("the text", first), ("the text", "c")]).map_err(|error| error.to_string())
    });
    let error = "the text is a and c on rank 0, but b and c on rank 1 of `World`";
    assert_eq!(compared, vec![Err(error.to_string()); 2]);
}

#[test]
fn the_highest_classes_of_a_part_of_a_batch_are_its_labels() {
    let loss = |ranks: usize| {
        Ranks::<World>::in_threads(ranks, |ranks| {
            let rows = ranks.shard(Batch::new(5));
            let logit = |row: usize, class: usize| ((row * 7 + class * 5) % 11) as f64;
            let logits = rows.range().unwrap().flat_map(|row| (0..VocabSize::SIZE).map(move |class| logit(row, class)));
            let logits = Cpu::default().tensor_from_vec(logits.collect::<Vec<f64>>(), (rows, VocabSize));
            let labels = argmax(&logits, axis::<VocabSize>()).unwrap();
            partial_cross_entropy(logits, &labels, Reduction::MeanAll).unwrap().all_reduce(ranks).unwrap().array()
        })[0]
    };
    assert!((loss(1) - loss(2)).abs() < 1e-12);
}

/// Three rows on each of two ranks, and another tensor of three rows, which both ranks have.
#[test]
fn dropout_knows_the_rows_of_the_batch_by_their_type() {
    fn dropped<B: DataDim>(rows: B) -> Vec<f64> {
        let ones = Cpu::default().tensor_from_vec(vec![1.0; 3 * EmbedDim::SIZE], (rows, EmbedDim));
        dropout(ones.put_tape(Recording::<(), f64, Cpu>::default()), 0.5).unwrap().as_vec()
    }
    let [first, second] = <[_; 2]>::try_from(Ranks::<World>::in_threads(2, |ranks| {
        let mut trainer = Trainer::new(Adam::<Model, f64>::default(), 0.01, 20, 7);
        let step = trainer.next_step().unwrap();
        let rows = step.assign_rows(ranks, Batch::new(6));
        (dropped(rows), dropped(Const::<3>))
    }))
    .unwrap();
    assert_ne!(first.0, second.0);
    assert_eq!(first.1, second.1);
}

#[test]
fn dropout_of_a_part_without_a_place_is_refused() {
    fn error<Dims: Shape>(dims: Dims) -> String {
        let ones = Cpu::default().tensor_from_vec(vec![1.0; dims.num_elements()], dims);
        let dropped = dropout(ones.put_tape(Recording::<(), f64, Cpu>::default()), 0.5);
        dropped.err().unwrap().to_string()
    }
    let expected = |dims: &str| {
        format!(
            "dropout: a rank has its part of `{dims}`, and all ranks would drop the same places of their parts; \
             `Step::assign_rows` or `DropoutSeed::assign_rows` gives a part of a batch whose rows have the numbers of \
             the whole batch"
        )
    };
    let of_rows = Ranks::<World>::in_threads(2, |ranks| {
        let mut trainer = Trainer::new(Adam::<Model, f64>::default(), 0.01, 20, 7);
        let step = trainer.next_step().unwrap();
        let before = error((ranks.shard(Batch::new(6)), EmbedDim));
        let rows = step.assign_rows(ranks, Batch::new(6));
        [before, error((rows, Shard::<EmbedDim, Tp>::default()))]
    });
    let dims = ["(Shard<Batch, World>, EmbedDim)", "(Shard<Batch, World>, Shard<EmbedDim, Tp>)"];
    assert_eq!(of_rows, vec![dims.map(expected); 2]);
    assert_eq!(error((Batch::new(3), Shard::<EmbedDim, Tp>::default())), expected("(Batch, Shard<EmbedDim, Tp>)"));
}
