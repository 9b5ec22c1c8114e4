//! Wrong programs do not compile, and the compiler says why in a few lines.
//!
//! `ui-tests/refused/<room>/<rule>.rs` breaks the rule of its name; `ui-tests/accepted/` holds the
//! same program with the one token put right, so that nothing else can be what is refused. Texts that
//! changed on purpose are written anew by `TRYBUILD=overwrite cargo test --test ui`.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The most lines that the text of a refusal may have.
const MOST_LINES: usize = 25;
/// The most that the middle one of them may have, by length.
const MEDIAN_LINES: usize = 15;

// With no `pass` among its cases, trybuild runs `cargo check` and builds nothing.
#[test]
fn wrong_programs_are_refused() {
    trybuild::TestCases::new().compile_fail("ui-tests/refused/*/*.rs");
}

#[test]
fn right_programs_are_accepted() {
    trybuild::TestCases::new().pass("ui-tests/accepted/*/*.rs");
}

#[test]
fn one_token_makes_the_difference() {
    let [refused, accepted] = ["refused", "accepted"].map(|kind| files(kind, "rs"));
    let rules = |files: &[PathBuf]| -> BTreeSet<String> { files.iter().map(|f| rule(f)).collect() };
    assert_eq!(rules(&refused), rules(&accepted));
    assert!(!refused.is_empty());
    for (refused, accepted) in refused.iter().zip(&accepted) {
        let (wrong, right) = (read(refused), read(accepted));
        assert!(
            wrong.starts_with("//! "),
            "{} states no rule",
            rule(refused)
        );
        let (wrong, right) = (tokens(&wrong), tokens(&right));
        let different = wrong.iter().zip(&right).filter(|(one, other)| one != other);
        assert_eq!(
            (different.count(), wrong.len()),
            (1, right.len()),
            "tokens that differ, and tokens in all, of {}",
            rule(refused),
        );
    }
}

#[test]
fn refusals_are_short_and_in_the_words_of_the_model() {
    let texts = files("refused", "stderr");
    assert_eq!(texts.len(), files("refused", "rs").len());
    let mut lengths = Vec::new();
    for file in &texts {
        let (rule, text) = (rule(file), read(file));
        let errors = text.lines().filter(|line| line.starts_with("error"));
        assert_eq!(errors.count(), 1, "errors of {rule}");
        assert!(!text.contains("warning"), "{rule} warns");
        for noise in ["UInt<", "other types implement", "UTerm", "StaticSize"] {
            assert!(!text.contains(noise), "{rule} says `{noise}`");
        }
        assert!(!has_projection(&text), "{rule} shows a projection");
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{rule} takes {lines} lines");
        lengths.push(lines);
    }
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(median <= MEDIAN_LINES, "the median is {median} lines");
}

/// The files of one kind with one extension, sorted by rule.
fn files(kind: &str, extension: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("ui-tests")
        .join(kind);
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let rooms = list(&root);
    let mut files: Vec<_> = rooms.iter().flat_map(|room| list(room)).collect();
    files.retain(|file| file.extension().is_some_and(|found| found == extension));
    files.sort();
    files
}

/// `<room>/<rule>` of a file.
fn rule(file: &Path) -> String {
    let room = file.parent().and_then(Path::file_name).unwrap();
    format!("{}/{}", room.display(), file.file_stem().unwrap().display())
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// Identifiers and numbers whole, and every other character by itself.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (token, after) = rest.split_at(if is_word(first) {
            word
        } else {
            first.len_utf8()
        });
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// Whether the compiler spells a type `<Type as Trait>::Name`, as it does with what it cannot reduce.
fn has_projection(text: &str) -> bool {
    let spells = |line: &str| {
        let cast = line.split_once(" as ");
        cast.is_some_and(|(_, rest)| rest.contains(">::"))
    };
    text.lines().any(|line| !is_source(line) && spells(line))
}

/// Whether a line of the compiler's text quotes a program; under it stand marks and what they mean.
fn is_source(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
    let quoted = line.strip_prefix('|').map(str::trim_start);
    quoted.is_some_and(|quoted| !quoted.starts_with(['^', '-', '|']))
}
