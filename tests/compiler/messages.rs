//! `docs/messages.md` shows what the compiler and the programs print, word for word.
//!
//! The page is made from the files in `ui-tests/` alone. `ui-tests/README.md` says how to renew both.

use crate::program::{self, list, read, root};
use std::{collections::BTreeSet, env, fmt::Write, fs};

const PAGE: &str = "docs/messages.md";
const PEERS: &str = "ui-tests/peers";
/// The page shows at most this many lines of a text.
const MAX_LINES: usize = 25;

#[test]
fn the_page_shows_the_files() {
    let page = page();
    if env::var_os("BLESS").is_some() {
        fs::write(root().join(PAGE), &page).unwrap();
    }
    let shown = read(PAGE);
    let changed = shown.lines().zip(page.lines()).find(|(one, two)| one != two);
    assert_eq!(changed, None, "a line of the page, and of the files");
    assert_eq!(shown.len(), page.len());
}

#[test]
fn programs_with_equal_sizes_run() {
    for program in mistakes().into_iter().flat_map(|mistake| mistake.programs) {
        let has_equal_sizes = program.source.contains("equal_sizes");
        assert_eq!(program.equal_sizes.is_some(), has_equal_sizes, "{}", program.path);
        let when = program.equal_sizes.map(|outcome| outcome.when);
        assert!(when.is_none_or(|when| when == "never"), "{}", program.path);
    }
}

#[test]
fn all_programs_are_for_one_compiler() {
    let version = format!("rust-version = \"{}\"\n", env!("CARGO_PKG_RUST_VERSION"));
    assert!(read(&format!("{PEERS}/Cargo.toml")).contains(&version));
}

#[test]
fn the_page_shows_no_path_of_a_machine() {
    let page = read(PAGE);
    for path in ["/home/", "/root/", "/Users/", "/tmp/", ".cargo/", ".rustup/"] {
        assert!(!page.contains(path), "{path}");
    }
}

/// One mistake, made three times.
struct Mistake {
    /// The rule that it breaks.
    rule: String,
    /// In the order of [`LIBRARIES`].
    programs: [Program; 3],
}

const LIBRARIES: [&str; 3] = ["Here", "dfdx", "candle"];

/// A program that makes the mistake, and its outcome.
struct Program {
    path: String,
    source: String,
    outcome: Outcome,
    /// The outcome when the dimensions that the program confuses have the same size.
    equal_sizes: Option<Outcome>,
}

struct Outcome {
    /// `check`, `build` or `run`, whichever fails first, or `never`.
    when: String,
    /// The output of the compiler or of the program.
    text: String,
}

/// Every mistake that has programs of the peers.
fn mistakes() -> Vec<Mistake> {
    let folder = format!("{PEERS}/examples/");
    let names: BTreeSet<_> = list(folder.trim_end_matches('/'))
        .iter()
        .map(|file| match file.strip_prefix(&folder).and_then(|file| file.rsplit_once("_in_")) {
            Some((name, "dfdx.rs" | "dfdx.txt" | "candle.rs" | "candle.txt")) => name.to_owned(),
            _ => panic!("{file} is neither a peer's program nor the outcome of one"),
        })
        .collect();
    let ours = program::all();
    names.iter().map(|name| mistake(name, &ours)).collect()
}

/// The mistake `<item>_<parameter>` of one of our programs.
fn mistake(name: &str, ours: &[program::Program]) -> Mistake {
    let has_name = |program: &&program::Program| {
        let (_module, program) = program.name.split_once('/').unwrap();
        program.replace('/', "_") == name
    };
    let ours = ours.iter().find(has_name).unwrap_or_else(|| panic!("ui-tests/fail has no {name}"));
    Mistake {
        rule: ours.rule.trim_end_matches('.').to_owned(),
        programs: [
            Program {
                path: ours.path.clone(),
                source: ours.source.clone(),
                outcome: Outcome { when: "check".to_owned(), text: ours.stderr() },
                equal_sizes: None,
            },
            peer(&format!("{PEERS}/examples/{name}_in_dfdx.rs")),
            peer(&format!("{PEERS}/examples/{name}_in_candle.rs")),
        ],
    }
}

/// A peer's program and its outcomes.
fn peer(path: &str) -> Program {
    let outcomes = read(&path.replace(".rs", ".txt"));
    let mut outcomes = outcomes.split("=== ").skip(1).map(|part| {
        let (when, text) = part.split_once('\n').unwrap();
        Outcome { when: when.trim_start_matches("equal sizes, ").to_owned(), text: text.to_owned() }
    });
    Program {
        path: path.to_owned(),
        source: read(path),
        outcome: outcomes.next().unwrap(),
        equal_sizes: outcomes.next(),
    }
}

fn page() -> String {
    let mistakes = mistakes();
    let mut page = introduction(&mistakes);
    for Mistake { rule, programs } in &mistakes {
        write!(page, "\n## {rule}\n").unwrap();
        for (library, program) in LIBRARIES.iter().zip(programs) {
            write!(page, "\n{}", section(library, program)).unwrap();
        }
    }
    page
}

fn introduction(mistakes: &[Mistake]) -> String {
    let mut page = format!(
        "# Error messages

The output for {all} mistakes: of this library, of plain dfdx {dfdx}, and of candle {candle}.

<!-- Made by `BLESS=1 cargo test --test compiler messages` from the files in ui-tests. -->

Each mistake is made three times, in the same few lines. In dfdx's programs a fixed size is a `Const` and
a run-time size is a `usize`; candle's tensors have no dimensions in their types. The peers' programs run with
different sizes first and then with equal sizes. Our programs use equal fixed sizes from the start, because
names decide. In the second table **check**, **build** and **run** say what finds the mistake, and **never** that
nothing does. rustc writes `ProductDim` for `Product`, which is its alias. Rust is {rust}. The output is the tools'
own, without paths of the machine and closing lines, and cut after {MAX_LINES} lines.

| of {all} mistakes | here | dfdx | candle |
| --- | --: | --: | --: |
",
        all = mistakes.len(),
        dfdx = version("dfdx"),
        candle = version("candle-core"),
        rust = env!("CARGO_PKG_RUST_VERSION"),
    );
    let mut row = |what: &str, is_so: &dyn Fn(&Program) -> bool| {
        let count = |place: usize| mistakes.iter().filter(|m| is_so(&m.programs[place])).count();
        let [here, dfdx, candle] = [0, 1, 2].map(count);
        writeln!(page, "| {what} | {here} | {dfdx} | {candle} |").unwrap();
    };
    for (when, what) in [
        ("check", "refused by `cargo check` and by an editor"),
        ("build", "refused by `cargo build` only"),
        ("run", "fails at run time"),
        ("never", "no failure"),
    ] {
        row(what, &|program| program.outcome.when == when);
    }
    row("compiles and runs if the two sizes are equal", &|program| {
        let equal_sizes = program.equal_sizes.as_ref();
        equal_sizes.unwrap_or(&program.outcome).when == "never"
    });
    row("the text points at the line with the mistake", &|program| {
        let path = program.path.trim_start_matches("ui-tests/").trim_start_matches("peers/");
        program.outcome.text.contains(path)
    });
    page += "\n| mistake against | here | dfdx | candle |\n| --- | --- | --- | --- |\n";
    for Mistake { rule, programs } in mistakes {
        let [here, dfdx, candle] = programs.each_ref().map(cell);
        writeln!(page, "| {rule} | {here} | {dfdx} | {candle} |").unwrap();
    }
    page
}

/// The outcome of a program in one or two lines.
fn cell(program: &Program) -> String {
    let Outcome { when, text } = &program.outcome;
    let mut cell = format!("**{when}**");
    if when != "never" {
        let (lines, words) = (lines(text), headline(text).replace('|', "\\|"));
        write!(cell, ", {lines}: `` {words} ``").unwrap();
    }
    if let Some(equal) = &program.equal_sizes {
        write!(cell, "<br>equal sizes: **{}**", equal.when).unwrap();
    }
    cell
}

/// The first statement of a text about the mistake.
fn headline(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap();
    if first.starts_with("thread 'main' panicked") {
        return lines.map(str::trim).collect::<Vec<_>>().join(", ");
    }
    let (_, headline) = first.split_once(": ").unwrap();
    if headline != "mismatched types" {
        return headline.to_owned();
    }
    let marked = lines.find(|line| line.contains('^')).unwrap();
    let (_, label) = marked.rsplit_once('^').unwrap();
    format!("{headline}:{label}")
}

/// The whole outcome of a program, and its source.
fn section(library: &str, program: &Program) -> String {
    let Program { path, source, outcome, equal_sizes } = program;
    let Outcome { when, text } = outcome;
    let says = match when.as_str() {
        "never" => format!("nothing fails; it prints `{}`.", text.trim()),
        "check" => format!("`cargo check` refuses it in {}.", lines(text)),
        "build" => format!("`cargo check` passes; `cargo build` refuses it in {}.", lines(text)),
        _ => format!("`cargo build` passes; `cargo run` fails in {}.", lines(text)),
    };
    let mut section = format!("**{library}**: {says}");
    if let Some(Outcome { text, .. }) = equal_sizes {
        let printed = text.trim();
        write!(section, " With equal sizes nothing fails; it prints `{printed}`.").unwrap();
    }
    if when != "never" {
        let shown: Vec<_> = text.lines().take(MAX_LINES).collect();
        write!(section, "\n\n```text\n{}\n", shown.join("\n")).unwrap();
        match text.lines().count() - shown.len() {
            0 => {}
            left => writeln!(section, "… and {left} more lines").unwrap(),
        }
        section += "```";
    }
    let summary = format!("<summary><code>{path}</code></summary>");
    write!(section, "\n\n<details>{summary}\n\n```rust\n{source}```\n\n</details>\n").unwrap();
    section
}

fn lines(text: &str) -> String {
    match text.lines().count() {
        1 => "1 line".to_owned(),
        lines => format!("{lines} lines"),
    }
}

/// The version of a crate in the lock file of the peers.
fn version(of: &str) -> String {
    let lock = read(&format!("{PEERS}/Cargo.lock"));
    let entry = format!("name = \"{of}\"\nversion = \"");
    let (_, after) = lock.split_once(&entry).unwrap();
    after.split_once('"').unwrap().0.to_owned()
}
