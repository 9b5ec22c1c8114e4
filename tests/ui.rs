//! Wrong programs do not compile, and the compiler says why in a few lines.
//!
//! `ui-tests/refused/<room>/<rule>.rs` breaks the rule of its name; `ui-tests/accepted/` holds the
//! same program with the one token put right, so that nothing else can be what is refused. Texts that
//! changed on purpose are written anew by `TRYBUILD=overwrite cargo test --test ui`.

#[path = "support/compiler.rs"]
mod compiler;
#[path = "support/source.rs"]
mod source;

use compiler::Compiler;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The lines in which a reader finds what does not fit.
const HEAD_LINES: usize = 5;
/// The most lines that the text of a refusal may have.
const MOST_LINES: usize = 25;
/// The most that the middle one of them may have, by length.
const MEDIAN_LINES: usize = 15;
/// The most characters of a line, and of the path of a type.
const LINE: usize = 100;
/// What says nothing to the user of a model.
const NOISE: [&str; 7] = [
    "UInt<",
    "UTerm",
    "StaticSize",
    "other types implement",
    "other candidates",
    "the full type name has been written to",
    "warning",
];

// Another compiler words its errors otherwise; what it refuses is the same.
#[test]
fn wrong_programs_are_refused() {
    if is_compiler_of_the_texts() {
        // With no `pass` among its cases, trybuild runs `cargo check` and builds nothing.
        trybuild::TestCases::new().compile_fail("ui-tests/refused/*/*.rs");
    } else {
        let accepted: Vec<_> = refusals("other_compiler", "refused", read)
            .into_iter()
            .filter(|(_, refusal)| refusal.is_none())
            .collect();
        assert!(accepted.is_empty(), "{accepted:#?}");
    }
}

#[test]
fn right_programs_are_accepted() {
    let refused: Vec<_> =
        refusals("right", "accepted", read).into_iter().filter(|(_, refusal)| refusal.is_some()).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

// Relations are about sizes; all else is about names.
#[test]
fn names_decide_where_sizes_are_equal() {
    let equal = |file: &Path| source::with_equal_sizes(&read(file));
    let mut wrong = Vec::new();
    for (file, refusal) in refusals("equal_refused", "refused", equal) {
        if text(&file).starts_with("error[E0308]") && refusal.is_none() {
            wrong.push(format!("{} is accepted", rule(&file)));
        }
    }
    for (file, refusal) in refusals("equal_accepted", "accepted", equal) {
        if refusal.is_some_and(|error| error == "mismatched types") {
            wrong.push(format!("the right form of {} is refused", rule(&file)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn one_token_makes_the_difference() {
    let [refused, accepted] = ["refused", "accepted"].map(|kind| files(kind, "rs"));
    let rules = |files: &[PathBuf]| -> BTreeSet<String> { files.iter().map(|f| rule(f)).collect() };
    assert_eq!(rules(&refused), rules(&accepted));
    assert!(!refused.is_empty());
    for file in &refused {
        let (wrong, right) = (read(file), read(&accepted_form(file)));
        assert!(wrong.starts_with("//! "), "{} states no rule", rule(file));
        let count = |program: &str| source::tokens(program).len();
        assert_eq!(
            (differences(&wrong, &right).len(), count(&wrong)),
            (1, count(&right)),
            "tokens that differ, and tokens in all, of {}",
            rule(file),
        );
    }
}

#[test]
fn refusals_are_short_and_in_the_words_of_the_model() {
    let files = files("refused", "rs");
    let mut lengths = Vec::new();
    let mut wrong = Vec::new();
    for file in &files {
        let text = text(file);
        lengths.push(text.lines().count());
        let faults = faults(&text).into_iter().chain(faults_of_head(file, &text));
        wrong.extend(faults.map(|fault| format!("{}: {fault}", rule(file))));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(median <= MEDIAN_LINES, "the median is {median} lines");
}

/// What is wrong with the text of a refusal, whatever it is of.
fn faults(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let errors = text.lines().filter(|line| line.starts_with("error"));
    let (errors, lines) = (errors.count(), text.lines().count());
    if errors != 1 {
        faults.push(format!("{errors} errors"));
    }
    if lines > MOST_LINES {
        faults.push(format!("{lines} lines"));
    }
    let noise = NOISE.iter().filter(|noise| text.contains(**noise));
    faults.extend(noise.map(|noise| format!("it says `{noise}`")));
    for line in text.lines().filter(|line| !is_source(line)) {
        // So the compiler spells what it cannot reduce: `<Type as Trait>::Name`.
        let cast = line.split_once(" as ");
        if cast.is_some_and(|(_, rest)| rest.contains(">::")) {
            faults.push("it shows a projection".to_string());
        }
        let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        if line.split(|c| !is_path(c)).any(|path| path.len() > LINE) {
            faults.push("a path is longer than a line".to_string());
        }
    }
    faults
}

/// What is missing in the first lines: the dimensions that do not fit, by the names in the program.
///
/// Where a relation does not hold, the headline is the relation's own and says of which two. Where two
/// types are not one, rustc's headline is always "mismatched types"; the label under the marked
/// line has to name what differs between them.
fn faults_of_head(file: &Path, text: &str) -> Vec<String> {
    let head = text.lines().take(HEAD_LINES).collect::<Vec<_>>().join("\n");
    let headline = text.lines().next().unwrap_or_default();
    let (wrong, right) = (read(file), read(&accepted_form(file)));
    let mut faults = Vec::new();
    let mut needed = BTreeSet::new();
    if headline.starts_with("error[E0277]") {
        let quoted: Vec<_> = headline.split('`').skip(1).step_by(2).collect();
        if headline.contains("is not satisfied") || quoted.is_empty() {
            faults.push("its headline is not that of the relation".to_string());
        }
        // A number is a `Const` to rustc.
        let is_said = |name: &&str| *name == "Const" || has_word(&wrong, name);
        let unsaid = quoted.iter().flat_map(|ty| names(ty)).find(|name| !is_said(name));
        faults.extend(unsaid.map(|name| format!("its headline says `{name}`")));
    } else {
        let meant = differences(&wrong, &right).into_iter().map(|(_, meant)| meant);
        needed.extend(meant.map(str::to_string));
    }
    for (given, _) in differences(&wrong, &right) {
        needed.insert(dim_of_size(&wrong, given).unwrap_or(given.to_string()));
    }
    needed.retain(|name| dims(&wrong).contains(name));
    let known = |name: &String| dims(&wrong).contains(name) || is_generic_in(&wrong, name);
    needed.extend(unlike(text).into_iter().filter(known));
    let missing = needed.into_iter().filter(|name| !has_word(&head, name));
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

/// The names that differ between the types that the note spells in full.
fn unlike(text: &str) -> Vec<String> {
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

/// The tokens in which two texts differ, one by one.
fn differences<'a>(one: &'a str, other: &'a str) -> Vec<(&'a str, &'a str)> {
    let pairs = words(one).into_iter().zip(words(other));
    pairs.filter(|(one, other)| one != other).collect()
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

/// Whether a line of the compiler's text quotes a program; under it stand marks and what they mean.
fn is_source(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
    let quoted = line.strip_prefix('|').map(str::trim_start);
    quoted.is_some_and(|quoted| !quoted.starts_with(['^', '-', '|']))
}

/// The files of one kind with one extension, sorted by rule.
fn files(kind: &str, extension: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui-tests").join(kind);
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

/// What the compiler says first against each program of one kind, as `form` has it, checked in a
/// `project` of its own.
fn refusals(project: &str, kind: &str, form: impl Fn(&Path) -> String) -> Vec<(PathBuf, Option<String>)> {
    let files = files(kind, "rs");
    assert!(!files.is_empty());
    let programs: Vec<String> = files.iter().map(|file| form(file)).collect();
    let refusals = Compiler::new(project).refusals("", &programs);
    files.into_iter().zip(refusals).collect()
}

/// Whether this is the compiler whose words are in `ui-tests/`: the oldest that the crate takes.
fn is_compiler_of_the_texts() -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let version = Command::new(rustc).arg("--version").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    version.starts_with(&format!("rustc {}.", env!("CARGO_PKG_RUST_VERSION")))
}

/// The program of the same rule that is right.
fn accepted_form(refused: &Path) -> PathBuf {
    let root = refused.ancestors().nth(3).unwrap();
    root.join("accepted").join(rule(refused) + ".rs")
}

/// `<room>/<rule>` of a file.
fn rule(file: &Path) -> String {
    let room = file.parent().and_then(Path::file_name).unwrap();
    format!("{}/{}", room.display(), file.file_stem().unwrap().display())
}

/// What the compiler says of a program.
fn text(file: &Path) -> String {
    read(&file.with_extension("stderr"))
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}
