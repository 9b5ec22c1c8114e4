//! Dimensions are told apart by their names and not by their sizes.
//!
//! Every program of `ui-tests/` again, with all sizes that its `dims!` give at compile time equal:
//! what was refused is refused, what was accepted is accepted. Only rules about sizes themselves may
//! change.

#[path = "support/compiler.rs"]
mod compiler;
#[path = "support/source.rs"]
mod source;

use compiler::Compiler;
use std::{collections::BTreeSet, fs, path::Path};

/// The rules that are about sizes: how they compare, what divides them, whether they are even.
const ABOUT_SIZES: [&str; 10] = [
    "dims/heads_of_a_quotient_divide_the_embedding",
    "generate/greedy_writes_no_further_than_the_maximum",
    "models/the_embedding_of_a_model_with_sinusoids_is_even",
    "nn/a_sequence_longer_than_the_maximum_is_refused_whatever_becomes_of_it",
    "nn/an_embedder_refuses_a_length_above_its_maximum",
    "nn/an_embedder_refuses_an_anonymous_length_above_its_maximum",
    "nn/an_embedder_with_sinusoids_has_an_even_embedding",
    "ops/learned_positions_do_not_outnumber_their_table",
    "ops/sinusoids_fill_an_even_embedding",
    "tokens/a_literal_is_below_its_bound",
];

#[test]
fn sizes_decide_only_what_is_about_sizes() {
    let compiler = Compiler::new("equal-sizes");
    let mut changed = BTreeSet::new();
    for (folder, is_accepted) in [("accepted", true), ("refused", false)] {
        let (rules, programs): (Vec<String>, Vec<String>) = programs(folder).into_iter().unzip();
        let refusals = compiler.refusals("", &programs);
        assert!(!rules.is_empty());
        for (rule, refusal) in rules.into_iter().zip(refusals) {
            if refusal.is_none() != is_accepted {
                changed.insert(rule);
            }
        }
    }
    let about_sizes: BTreeSet<String> = ABOUT_SIZES.iter().map(|rule| rule.to_string()).collect();
    assert_eq!(changed, about_sizes);
}

/// The programs of `ui-tests/<folder>/` with equal sizes, each with its `<room>/<rule>`.
fn programs(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("ui-tests")
        .join(folder);
    let list = |folder: &Path| {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
    };
    list(&root)
        .flat_map(|room| list(&room))
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
        .map(|file| {
            let rule = file.strip_prefix(&root).unwrap().with_extension("");
            let program = source::with_equal_sizes(&fs::read_to_string(&file).unwrap());
            (rule.display().to_string(), program)
        })
        .collect()
}
