//! The right forms of the programs of `ui-tests` are accepted, and the mutants of these are refused. So are the wrong
//! programs by a compiler whose words `cargo test --test ui` does not know.
//!
//! A plain `cargo test` tries one mutant for each type parameter that the mutants of a program cover. To try all:
//!
//! ```text
//! cargo test --test compiler every_mutant_of_a_right_form -- --ignored
//! ```

use crate::program::{self, Program};
use crate::rustc::{first_errors, version};
use crate::source;
use crate::variants::{self, Kind, Variant};
use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};
use std::io::{Write, stderr};

/// The compiler by which `cargo test --test ui` checks that the wrong programs are refused.
const UI_COMPILER: &str = concat!("rustc ", env!("CARGO_PKG_RUST_VERSION"), ".");

#[test]
fn another_compiler_refuses_the_wrong_programs() {
    let version = version();
    if version.starts_with(UI_COMPILER) {
        // Not by `println!`, which a test that passes does not show.
        writeln!(stderr(), "\n{version}: `cargo test --test ui` checks that it refuses the programs").unwrap();
        return;
    }
    let programs = program::all_with_features();
    let errors = first_errors("", &forms(&programs, |program| program.source.clone()));
    let accepted = programs.iter().zip(errors).filter(|(_, error)| error.is_none());
    let accepted: Vec<_> = accepted.map(|(program, _)| &program.path).collect();
    assert!(accepted.is_empty(), "{accepted:#?}");
}

#[test]
fn right_forms_are_accepted() {
    let programs = program::all_with_features();
    let errors = first_errors("", &forms(&programs, Program::right_form));
    let refused = programs.iter().zip(errors).filter_map(|(program, error)| Some((&program.path, error?)));
    let refused: Vec<_> = refused.collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

/// The head of a program of `ui-tests` replaces one token, and `MaxLen` for `MaxLen::SIZE` replaces four.
#[test]
fn a_bound_is_not_the_size_of_its_dimension() {
    let declared = |declaration: &str| {
        format!(
            "use typed_transformer::{{local_dims, prelude::*}};\ndims! {{ MaxLen = 16; }}\nfn f() {{ {declaration} }}\n"
        )
    };
    let declarations = [
        "dims! { Len <= MaxLen::SIZE; }",
        "local_dims! { let len: Len <= MaxLen::SIZE = 4; }",
        "dims! { Len <= MaxLen; }",
        "local_dims! { let len: Len <= MaxLen = 4; }",
    ];
    let error = "the bound of `Len` is the dimension `MaxLen`, not its size: `Len <= MaxLen;`".to_string();
    assert_eq!(first_errors("", &declarations.map(declared)), [Some(error.clone()), Some(error), None, None]);
}

// Equal sizes must not make a type mismatch compile. Only relations compare sizes.
#[test]
fn names_decide_where_sizes_are_equal() {
    let mut programs = program::all_with_features();
    // In the others all sizes are equal from the start.
    programs.retain(|program| source::has_different_sizes(&program.source));
    let mut failures = Vec::new();
    let mismatches: Vec<_> = programs.iter().filter(|program| program.is_mismatch()).collect();
    let equal = mismatches.iter().map(|program| source::with_equal_sizes(&program.source));
    let errors = first_errors("", &equal.collect::<Vec<_>>());
    for (program, error) in mismatches.iter().zip(errors) {
        if error.is_none() {
            failures.push(format!("{} is accepted", program.path));
        }
    }
    let errors = first_errors("", &forms(&programs, |program| source::with_equal_sizes(&program.right_form())));
    for (program, error) in programs.iter().zip(errors) {
        if error.is_some_and(|error| error == "mismatched types") {
            failures.push(format!("the right form of {} is refused", program.path));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_mutant_for_each_type_parameter_is_refused() {
    let mut rng = StdRng::seed_from_u64(0);
    try_mutants(|mutants| {
        mutants.shuffle(&mut rng);
        mutants.truncate(1);
    });
}

#[test]
#[ignore = "takes many minutes"]
fn every_mutant_of_a_right_form_is_refused() {
    try_mutants(|_| ());
}

/// Tries the mutants that `sample` keeps, which gets those of one name that stands for a type parameter. The refusal
/// of one that is refused because two types differ does not depend on sizes.
fn try_mutants(mut sample: impl FnMut(&mut Vec<Variant>)) {
    let programs = program::all_with_features();
    let mut mutants = Vec::new();
    for program in &programs {
        let right = program.right_form();
        let right = variants::Program::new(&right);
        for cover in &program.mutants_cover {
            let mut of_name = right.mutants_of(&cover.by);
            of_name.retain(|mutant| mutant.kind == Kind::IllTyped);
            assert!(!of_name.is_empty(), "{} has no mutants of `{}`", program.path, cover.by);
            sample(&mut of_name);
            mutants.extend(of_name.into_iter().map(|mutant| (program, mutant)));
        }
    }
    let errors = first_errors("", &mutants.iter().map(|(_, mutant)| mutant.text.clone()).collect::<Vec<_>>());
    let mut failures = Vec::new();
    let mut with_equal_sizes = Vec::new();
    for ((program, mutant), error) in mutants.iter().zip(errors) {
        match error.as_deref() {
            None => failures.push(format!("{}, {}", program.path, mutant.what)),
            Some("mismatched types") if source::has_different_sizes(&mutant.text) => {
                with_equal_sizes.push((program, mutant));
            }
            Some(_) => {}
        }
    }
    let equal = with_equal_sizes.iter().map(|(_, mutant)| source::with_equal_sizes(&mutant.text));
    let errors = first_errors("", &equal.collect::<Vec<_>>());
    let accepted = with_equal_sizes.iter().zip(errors).filter(|(_, error)| error.is_none());
    failures.extend(accepted.map(|((program, mutant), _)| format!("{}, {}, equal sizes", program.path, mutant.what)));
    println!("{} mutants are tried, {} of them with equal sizes as well", mutants.len(), with_equal_sizes.len());
    assert!(failures.is_empty(), "{} are accepted:\n{}", failures.len(), failures.join("\n"));
}

fn forms(programs: &[Program], form: impl Fn(&Program) -> String) -> Vec<String> {
    programs.iter().map(form).collect()
}
