//! The model of the guide trains on ranks, with the difference that `docs/ranks.md` shows.

// The guide's own file, as it is: some of it serves no test.
#![allow(dead_code, reason = "the program of the guide also saves its model and referees the game")]

include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/own_model/program.rs"));

use typed_transformer::ops::partial_cross_entropy;
use typed_transformer::ranks;
use typed_transformer::ranks::{Ranks, Replicated};
use typed_transformer::train::update_replicated;

ranks! { World; }

/// `train` of the guide, changed as `docs/ranks.md` shows.
#[rustfmt::skip]
mod changed {
    use super::*;

    pub fn train<D: Backend<f32>>(ranks: &Ranks<World>, model: &mut Replicated<Model<D>, World>, rng: &mut StdRng) -> Result<(), Box<dyn Error>> {
        let steps = 250;
        let schedule = WarmupCosine {
            peak_value: 0.02,
            end_value: 1e-4,
            warmup_steps: 20,
            steps,
        };
        let mut adam = Adam::default();
        for step in 0..steps {
            let batch = ranks.shard(Batch::new(32));
            let Examples { words, ends } = examples(batch, &random(32, rng)[batch.range()?])?;
            let logits = model.forward(&words, model.recording())?;
            let loss = partial_cross_entropy(logits, &ends, Reduction::MeanAll)?;
            let rate = schedule.learning_rate(step);
            update_replicated(model, loss.backward()?.all_reduce(ranks, model)?, &mut adam, rate, 1.0)?;
        }
        Ok(())
    }
}

/// The number of letters that the model predicts right, of 400.
fn count_right(model: &Model<Cpu>) -> usize {
    let words = random(200, &mut StdRng::seed_from_u64(1));
    let Examples { words, ends } = examples(Batch::new(200), &words).unwrap();
    let answers = answer(model, &words).unwrap();
    answers.as_slice().iter().zip(ends.as_slice()).filter(|(answer, end)| answer == end).count()
}

#[test]
fn the_guides_model_trains_on_ranks_as_in_one_process() {
    let mut alone = Model::build(&Cpu::seed_from_u64(0));
    train(&mut alone, &mut StdRng::seed_from_u64(0)).unwrap();
    assert!(count_right(&alone) >= 396);
    // 3 ranks do not divide the 32 words.
    let of_ranks = Ranks::<World>::in_threads(3, |ranks| {
        let mut model = ranks.replicate(Model::build(&Cpu::seed_from_u64(0))).unwrap();
        changed::train(ranks, &mut model, &mut StdRng::seed_from_u64(0)).unwrap();
        ranks.ensure_replicated(&model).unwrap();
        (count_right(&model), model.answer.weight.as_vec())
    });
    let (right, weight) = &of_ranks[0];
    assert!(*right >= 396);
    // Rounding differs from step to step, and 250 steps make the difference grow.
    for (found, expected) in weight.iter().zip(alone.answer.weight.as_vec()) {
        assert!((found - expected).abs() < 0.02, "{found} {expected}");
    }
}

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/ranks.md"));

/// The lines of the diff `number` of `docs/ranks.md` that begin with a space or with `sign`, without this character.
fn side_of_diff(number: usize, sign: char) -> Vec<String> {
    let diff = PAGE.split("```diff\n").nth(number).unwrap().split("```").next().unwrap();
    let lines = diff.lines().filter(|line| line.starts_with([' ', sign]));
    lines.map(|line| line[1..].trim().to_string()).collect()
}

/// Whether the lines stand one after another in a program, however far each is from the next.
fn stand_in_order(lines: &[String], program: &str) -> bool {
    let mut rest = program.lines().map(|line| line.trim().trim_start_matches("pub "));
    lines.iter().all(|line| rest.any(|other| other == line))
}

#[test]
fn the_diff_leads_from_the_guides_loop_to_this_one() {
    let guides = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/own_model/program.rs"));
    assert!(stand_in_order(&side_of_diff(1, '-'), guides));
    assert!(stand_in_order(&side_of_diff(1, '+'), include_str!("guide.rs")));
    // No other line of the loop changes.
    let body = |program: &str| -> Vec<String> {
        let from = program.split("fn train<").nth(1).unwrap();
        let lines = from.split("Ok(())").next().unwrap().lines().skip(1);
        lines.map(|line| line.trim().to_string()).collect()
    };
    let same = |lines: Vec<String>, sign: char| -> Vec<String> {
        let changed: Vec<String> = side_of_diff(1, sign);
        lines.into_iter().filter(|line| !changed.contains(line)).collect()
    };
    assert_eq!(same(body(guides), '-'), same(body(include_str!("guide.rs")), '+'));
}

#[test]
fn the_diff_of_tensor_parallelism_leads_to_its_program() {
    let section = PAGE.split("## When one layer is too large").nth(1).unwrap();
    let program = section.split("```rust\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(stand_in_order(&side_of_diff(2, '+'), program));
}
