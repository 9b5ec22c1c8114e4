//! `docs/messages.md` shows what the compiler and the programs say, word for word.
//!
//! The page is made of the files in `ui-tests/` and of nothing else; `MESSAGES=overwrite cargo test
//! --test messages` makes it anew. `ui-tests/README.md` says how those files are renewed.

use std::{collections::BTreeSet, env, fmt::Write, fs, path::Path};

const PAGE: &str = "docs/messages.md";
const REFUSED: &str = "ui-tests/refused";
const PEERS: &str = "ui-tests/peers";
/// The most lines of a text that the page shows.
const MOST_LINES: usize = 25;

#[test]
fn the_page_is_what_the_files_say() {
    let page = page();
    if env::var("MESSAGES").is_ok_and(|what| what == "overwrite") {
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE), &page).unwrap();
    }
    let shown = read(PAGE);
    let changed = shown.lines().zip(page.lines()).find(|(one, two)| one != two);
    assert_eq!(changed, None, "what the page shows, and what the files say");
    assert_eq!(shown.len(), page.len());
}

#[test]
fn only_the_sizes_are_wrong_with_what_equal_sizes_put_right() {
    for program in mistakes().into_iter().flat_map(|m| m.programs) {
        let asks = program.source.contains("equal_sizes");
        assert_eq!(program.equal_sizes.is_some(), asks, "{}", program.path);
        let when = program.equal_sizes.map(|outcome| outcome.when);
        assert!(when.is_none_or(|when| when == "never"), "{}", program.path);
    }
}

#[test]
fn all_programs_are_for_one_compiler() {
    let pin = format!("rust-version = \"{}\"\n", env!("CARGO_PKG_RUST_VERSION"));
    assert!(read(&format!("{PEERS}/Cargo.toml")).contains(&pin));
}

#[test]
fn nothing_tells_whose_machine_it_was() {
    let page = read(PAGE);
    for trace in ["/home/", "/root/", "/Users/", "/tmp/", ".cargo/", ".rustup/"] {
        assert!(!page.contains(trace), "{trace}");
    }
}

/// One mistake, made three times.
struct Mistake {
    /// The rule that it breaks.
    rule: String,
    /// In the order of [`WHERE`].
    programs: [Program; 3],
}

const WHERE: [&str; 3] = ["Here", "dfdx", "candle"];

/// A program that makes the mistake, and what comes of it.
struct Program {
    path: String,
    source: String,
    outcome: Outcome,
    /// What comes of it when the dimensions that it confuses have one size.
    equal_sizes: Option<Outcome>,
}

struct Outcome {
    /// `check`, `build` or `run`, whichever fails first, or `never`.
    when: String,
    /// What the compiler or the program says then, or what the program prints.
    text: String,
}

/// Every mistake that a peer has a program for.
fn mistakes() -> Vec<Mistake> {
    let folder = format!("{PEERS}/examples");
    let names: BTreeSet<_> = list(&folder)
        .iter()
        .map(|file| match file.rsplit_once("_in_") {
            Some((name, "dfdx.rs" | "dfdx.txt" | "candle.rs" | "candle.txt")) => name.to_owned(),
            _ => panic!("{folder}/{file} is neither a peer's program nor what comes of one"),
        })
        .collect();
    names.iter().map(|name| mistake(name)).collect()
}

fn mistake(name: &str) -> Mistake {
    let ours = list(REFUSED)
        .iter()
        .map(|room| format!("{REFUSED}/{room}/{name}.rs"))
        .find(|path| Path::new(env!("CARGO_MANIFEST_DIR")).join(path).exists())
        .unwrap_or_else(|| panic!("{REFUSED} has no {name}"));
    let source = read(&ours);
    let rule = source.lines().next().unwrap().trim_start_matches("//! ");
    Mistake {
        rule: rule.trim_end_matches('.').to_owned(),
        programs: [
            Program {
                outcome: Outcome { when: "check".to_owned(), text: read(&ours.replace(".rs", ".stderr")) },
                path: ours,
                source,
                equal_sizes: None,
            },
            peer(&format!("{PEERS}/examples/{name}_in_dfdx.rs")),
            peer(&format!("{PEERS}/examples/{name}_in_candle.rs")),
        ],
    }
}

fn peer(path: &str) -> Program {
    let said = read(&path.replace(".rs", ".txt"));
    let mut outcomes = said.split("=== ").skip(1).map(|part| {
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
        write!(page, "\n# {rule}\n").unwrap();
        for (place, program) in WHERE.iter().zip(programs) {
            write!(page, "\n{}", section(place, program)).unwrap();
        }
    }
    page
}

fn introduction(mistakes: &[Mistake]) -> String {
    let mut page = format!(
        "What is said to {all} mistakes: by this library, by plain dfdx {dfdx}, by candle {candle}.

<!-- Made by `MESSAGES=overwrite cargo test --test messages`; ui-tests/README.md says of what. -->

Each mistake is made three times, in the same few lines. In dfdx's programs a size that is fixed is a
`Const` and one that only a run knows is a `usize`; candle's tensors have no dimensions in their types.
The sizes that a mistake confuses differ in theirs, and a second time they are equal. Here the names
decide, so two fixed sizes that a mistake confuses are equal from the start. Rust is {rust}. The words
are the tools' own, without paths of the machine and closing lines, and cut after {MOST_LINES} lines.

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
        ("check", "`cargo check` refuses, and so does an editor"),
        ("build", "`cargo check` passes, `cargo build` refuses"),
        ("run", "the program fails when it runs"),
        ("never", "nothing fails"),
    ] {
        row(what, &|program| program.outcome.when == when);
    }
    row("nothing fails once the sizes are equal", &|program| {
        let equal_sizes = program.equal_sizes.as_ref();
        equal_sizes.unwrap_or(&program.outcome).when == "never"
    });
    row("the words point at the wrong line", &|program| {
        let (_, file) = program.path.rsplit_once('/').unwrap();
        program.outcome.text.contains(file)
    });
    page += "\n| mistake against | here | dfdx | candle |\n| --- | --- | --- | --- |\n";
    for Mistake { rule, programs } in mistakes {
        let [here, dfdx, candle] = programs.each_ref().map(cell);
        writeln!(page, "| {rule} | {here} | {dfdx} | {candle} |").unwrap();
    }
    page
}

/// What comes of a program, in a line or two.
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

/// The first thing that a text says of the mistake.
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

/// What comes of a program, in full, and the program.
fn section(place: &str, program: &Program) -> String {
    let Program { path, source, outcome, equal_sizes } = program;
    let Outcome { when, text } = outcome;
    let says = match when.as_str() {
        "never" => format!("nothing fails; it prints `{}`.", text.trim()),
        "check" => format!("`cargo check` refuses it in {}.", lines(text)),
        "build" => format!("`cargo check` passes; `cargo build` refuses it in {}.", lines(text)),
        _ => format!("`cargo build` passes; `cargo run` fails in {}.", lines(text)),
    };
    let mut section = format!("**{place}**: {says}");
    if let Some(Outcome { text, .. }) = equal_sizes {
        let printed = text.trim();
        write!(section, " With equal sizes nothing fails; it prints `{printed}`.").unwrap();
    }
    if when != "never" {
        let shown: Vec<_> = text.lines().take(MOST_LINES).collect();
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

/// Which version of a crate the peers' programs were given.
fn version(of: &str) -> String {
    let lock = read(&format!("{PEERS}/Cargo.lock"));
    let entry = format!("name = \"{of}\"\nversion = \"");
    let (_, after) = lock.split_once(&entry).unwrap();
    after.split_once('"').unwrap().0.to_owned()
}

/// The names in a folder, sorted.
fn list(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    let entries = entries.unwrap_or_else(|error| panic!("{folder}: {error}"));
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
    let mut names: Vec<_> = entries.map(|entry| name(entry).unwrap()).collect();
    names.sort();
    names
}

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}
