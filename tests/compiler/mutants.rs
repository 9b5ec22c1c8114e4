//! The compiler refuses a model in which a single dimension is wrong, wherever that is.
//!
//! `tests/compiler/mutants/` holds right programs. A mutant has another name in one place (`variants.rs`). Types tie
//! every dimension of these programs to others, so every mutant is ill-typed and must be refused. The only exceptions
//! are marked in the programs, and exactly these mutants must be accepted: a length with a declared maximum may have
//! a smaller maximum, a number of layers may be another one, and an operation that keeps all axes may run over
//! another one of them. A *renaming* gives dimensions other names throughout the program, and must be accepted.
//!
//! All of this also holds if all sizes are equal: names decide, and sizes only where they are compared.
//!
//! A plain `cargo test` tries a sample. To try every mutant of every program, and see the counts:
//!
//! ```text
//! cargo test --test compiler every_mutant -- --ignored --nocapture
//! PROGRAM=decode_loop cargo test --test compiler every_mutant -- --ignored --nocapture
//! ```

// Its functions are checked, and none runs.
#[expect(dead_code)]
mod configs;
mod contractions;
mod data_parallel;
mod decode_loop;
mod experts;
mod model;
mod tensor_parallel;
mod training_step;
// Their functions are checked, and none runs. A type parameter that is used nowhere stands in a place of a mutant.
#[expect(dead_code, clippy::extra_unused_type_parameters)]
mod published;
#[expect(dead_code, clippy::extra_unused_type_parameters)]
mod types;

use crate::source;
use crate::variants::{Kind, Program, Variant};
use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};
use std::{collections::BTreeMap, time::Instant};

pub const PROGRAMS: [(&str, &str); 10] = [
    ("model", include_str!("mutants/model.rs")),
    ("training_step", include_str!("mutants/training_step.rs")),
    ("decode_loop", include_str!("mutants/decode_loop.rs")),
    ("experts", include_str!("mutants/experts.rs")),
    ("contractions", include_str!("mutants/contractions.rs")),
    ("data_parallel", include_str!("mutants/data_parallel.rs")),
    ("tensor_parallel", include_str!("mutants/tensor_parallel.rs")),
    ("published", include_str!("mutants/published.rs")),
    ("types", include_str!("mutants/types.rs")),
    ("configs", include_str!("mutants/configs.rs")),
];

#[test]
fn the_programs_run() {
    model::main();
    training_step::main();
    decode_loop::main();
    experts::main();
    contractions::main();
    data_parallel::main();
    tensor_parallel::main();
}

#[test]
fn a_sample_of_mutants_is_refused() {
    let mut rng = StdRng::seed_from_u64(0);
    try_all(|variants, max| {
        variants.shuffle(&mut rng);
        variants.truncate(max);
    });
}

#[test]
#[ignore = "takes many minutes"]
fn every_mutant_is_refused() {
    try_all(|_, _| ());
}

/// Tries the mutants and the renamings of each program that `sample` keeps. `sample` gets all of them and the
/// size of a sample.
fn try_all(mut sample: impl FnMut(&mut Vec<Variant>, usize)) {
    let mut failures = Vec::new();
    println!("program        sizes  places  mutants  refused  marked  survive  renamed  seconds");
    let chosen = std::env::var("PROGRAM").ok();
    let is_chosen = |name: &str| chosen.as_deref().is_none_or(|chosen| chosen == name);
    for (name, source) in PROGRAMS.into_iter().filter(|(name, _)| is_chosen(name)) {
        let equal = source::with_equal_sizes(source);
        for (sizes, source, enough) in [("own", source, 8), ("equal", &equal, 4)] {
            let begun = Instant::now();
            let program = Program::new(source);
            let (mut mutants, mut renamings) = (program.mutants(), program.renamings());
            sample(&mut mutants, enough);
            sample(&mut renamings, enough / 4);
            let tried = mutants.len();
            let variants = [program.unchanged(), mutants, renamings].concat();

            let mut counts = BTreeMap::<(Kind, bool), usize>::new();
            for (variant, error) in program.first_errors(variants) {
                let is_accepted = error.is_none();
                *counts.entry((variant.kind, is_accepted)).or_default() += 1;
                if is_accepted == (variant.kind == Kind::IllTyped) {
                    let verdict = error.as_deref().unwrap_or("accepted");
                    failures.push(format!("{name}, {sizes} sizes, {}: {verdict}", variant.what));
                }
            }
            let count = |kind, is_accepted| counts.get(&(kind, is_accepted)).unwrap_or(&0);
            println!(
                "{name:14} {sizes:5} {:7} {tried:8} {:8} {:7} {:8} {:8} {:8}",
                program.places().len(),
                count(Kind::IllTyped, false),
                count(Kind::Marked, true),
                count(Kind::IllTyped, true),
                count(Kind::Renaming, true),
                begun.elapsed().as_secs(),
            );
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
