//! The compiler says in a few lines why it refuses a wrong program.
//!
//! `ui-tests/tests/ui.rs` compares its words with the `.stderr` files; here they are read.

use crate::coverage::NAMES_IN_MESSAGES;
use crate::program::{self, Program};
use crate::source;
use std::collections::BTreeSet;

/// The first lines of an error: they name what does not fit.
const HEAD_LINES: usize = 5;
/// The maximum number of lines of an error.
const MAX_LINES: usize = 25;
/// The maximum of the median number of lines.
const MAX_MEDIAN_LINES: usize = 15;
/// The maximum number of characters of the path of a type.
const MAX_PATH_CHARS: usize = 100;
/// Words that mean nothing to the user of a model, and code of the standard library, which is there only if its
/// source is.
const NOISE: [&str; 8] = [
    "$RUST",
    "UInt<",
    "UTerm",
    "StaticSize",
    "other types implement",
    "other candidates",
    "the full type name has been written to",
    "warning",
];

#[test]
fn errors_are_short_and_in_the_words_of_the_model() {
    let mut lengths = Vec::new();
    let mut failures = Vec::new();
    for program in &program::all() {
        let text = program.stderr();
        lengths.push(text.lines().count());
        let faults = faults(&text).into_iter().chain(faults_of_head(program, &text));
        failures.extend(faults.map(|fault| format!("{}: {fault}", program.path)));
    }
    assert!(failures.is_empty(), "{failures:#?}");
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(median <= MAX_MEDIAN_LINES, "the median is {median} lines");
}

/// The faults that any error may have.
fn faults(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let errors = text.lines().filter(|line| line.starts_with("error"));
    let (errors, lines) = (errors.count(), text.lines().count());
    if errors != 1 {
        faults.push(format!("{errors} errors"));
    }
    if lines > MAX_LINES {
        faults.push(format!("{lines} lines"));
    }
    let noise = NOISE.iter().filter(|noise| text.contains(**noise));
    faults.extend(noise.map(|noise| format!("it contains `{noise}`")));
    for line in text.lines().filter(|line| !is_source(line)) {
        // An unreduced associated type is printed as `<Type as Trait>::Name`.
        let cast = line.split_once(" as ");
        if cast.is_some_and(|(_, rest)| rest.contains(">::")) {
            faults.push("it shows a projection".to_string());
        }
        let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        if line.split(|c| !is_path(c)).any(|path| path.len() > MAX_PATH_CHARS) {
            faults.push("a path is longer than a line".to_string());
        }
    }
    faults
}

/// Headlines about another kind of type, not about dimensions. They do not name the type, because the compiler writes
/// its path if it is imported by a glob.
const KINDS: [&str; 11] = [
    "]: expected a tensor, or a reference to one without a tape, as an operand",
    "]: expected the elements of a tensor",
    "]: expected a mask kind",
    "]: expected a padding rule",
    "]: expected an architecture",
    "]: expected the conventions of a model",
    "]: expected a schedule of learning rates",
    "]: a loss without a tape has no gradients",
    "]: the ranks cannot sum this value",
    "]: the weight has a tape that the input does not have",
    "]: a tensor has more than 6 axes",
];

/// The names missing in the first lines: the dimensions that do not fit, by their names in the program.
///
/// If a relation does not hold, the headline is the relation's own message and names both dimensions. If two
/// types differ, rustc's headline is always "mismatched types"; the label under the marked line has to name
/// what differs between them. If rustc shortens the types in the label, the note below has them in full.
fn faults_of_head(program: &Program, text: &str) -> Vec<String> {
    let head = text.lines().take(HEAD_LINES).collect::<Vec<_>>().join("\n");
    let headline = text.lines().next().unwrap_or_default();
    let (source, correction) = (&*program.source, &program.correction);
    let mut faults = Vec::new();
    let mut needed = BTreeSet::new();
    if headline.starts_with("error[E0277]") && !KINDS.iter().any(|kind| headline.contains(kind)) {
        let quoted: Vec<_> = headline.split('`').skip(1).step_by(2).collect();
        if headline.contains("is not satisfied") || quoted.is_empty() {
            faults.push("its headline is not that of the relation".to_string());
        }
        // rustc calls a number a `Const`, and a `Product` a `ProductDim`.
        let is_alias = |name: &str| {
            NAMES_IN_MESSAGES.contains(&name) && name.strip_suffix("Dim").is_some_and(|alias| has_word(source, alias))
        };
        let is_in_program = |name: &&str| *name == "Const" || has_word(source, name) || is_alias(name);
        let unknown = quoted.iter().flat_map(|ty| names(ty)).find(|name| !is_in_program(name));
        faults.extend(unknown.map(|name| format!("its headline contains `{name}`")));
    } else if !headline.starts_with("error: ") {
        // A macro has a headline of its own, about the wrong token.
        needed.insert(correction.right.clone());
    }
    needed.insert(dim_of_size(source, &correction.wrong).unwrap_or(correction.wrong.clone()));
    needed.retain(|name| dims(source).contains(name));
    let known = |name: &String| dims(source).contains(name) || is_generic_in(source, name);
    let differing = differing_names(text);
    let is_shortened = head.lines().any(|line| line.contains(" expected `") && line.contains("...>"));
    if !is_shortened {
        needed.extend(differing.iter().filter(|name| known(name)).cloned());
    }
    let is_named = |name: &String| has_word(&head, name) || is_shortened && differing.contains(name);
    let missing = needed.into_iter().filter(|name| !is_named(name));
    faults.extend(missing.map(|name| format!("`{name}` is not in its first {HEAD_LINES} lines")));
    faults
}

/// The dimensions of a program.
fn dims(program: &str) -> BTreeSet<String> {
    let dims = source::declarations(program).0;
    dims.into_iter().map(|(name, _)| program[name].to_string()).collect()
}

/// Whether a program has a type parameter of that name.
fn is_generic_in(program: &str, name: &str) -> bool {
    let is_type = name.starts_with(|c: char| c.is_uppercase());
    is_type && words(program).windows(2).any(|pair| pair == [name, ":"])
}

/// The dimension whose size `token` is.
fn dim_of_size(program: &str, token: &str) -> Option<String> {
    let dims = source::declarations(program).0;
    let found = dims.into_iter().find(|(_, size)| size.clone().is_some_and(|size| &program[size] == token));
    found.map(|(name, _)| program[name].to_string())
}

/// The names that differ between the expected and the found type, which the note spells in full.
fn differing_names(text: &str) -> Vec<String> {
    let full = |what: &str| -> Vec<&str> {
        let is_it = |line: &&str| line.trim_start_matches([' ', '=']).starts_with(what);
        let line = text.lines().find(is_it);
        let ty = line.and_then(|line| line.split_once('`'));
        ty.map_or(Vec::new(), |(_, ty)| names(ty).collect())
    };
    let pairs = full("note: expected").into_iter().zip(full("found"));
    pairs
        .filter(|(expected, found)| expected != found && ![*expected, *found].contains(&"_"))
        .flat_map(|(expected, found)| [expected.to_string(), found.to_string()])
        .collect()
}

fn words(text: &str) -> Vec<&str> {
    let tokens = source::tokens(text);
    tokens.into_iter().map(|token| &text[token]).collect()
}

fn has_word(text: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !is_word(c)).any(|found| found == word)
}

/// The names in a type, without the paths before them.
fn names(ty: &str) -> impl Iterator<Item = &str> {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let paths = ty.split(move |c| !is_path(c));
    let last = paths.filter_map(|path| path.rsplit("::").next());
    last.filter(|name| !name.is_empty())
}

/// Whether a line of an error quotes a program. The lines below it hold marks and labels.
fn is_source(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
    let quoted = line.strip_prefix('|').map(str::trim_start);
    quoted.is_some_and(|quoted| !quoted.starts_with(['^', '-', '|']))
}
