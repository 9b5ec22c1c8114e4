//! The README and the pages of `docs` quote the repository as it is.
//!
//! `README=overwrite cargo test --test readme` draws `docs/refusal.svg` anew.

#[path = "support/terminal.rs"]
mod terminal;

use std::{env, fs, path::Path};

/// Programs that must not compile, and beside each the compiler's words.
const WRONG_PROGRAMS: &str = "ui-tests/refused";
/// The wrong program of the README, in that folder.
const WIRED_WRONG: &str = "nn/the_residual_of_cross_attention_is_on_the_query";
/// The picture of what the compiler says to it.
const PICTURE: &str = "docs/refusal.svg";

fn path(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(file: &str) -> String {
    fs::read_to_string(path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn picture_in_readme_shows_the_compiler_error() {
    let error = read(&format!("{WRONG_PROGRAMS}/{WIRED_WRONG}.stderr"));
    // The headline and the marked lines, without the notes after them.
    let lines: Vec<&str> = error.lines().take_while(|line| !line.trim_start().starts_with('=')).collect();
    let lines = lines.strip_suffix(&["   |"]).unwrap_or(&lines);
    let drawn = terminal::draw("cargo check", lines);
    if env::var("README").is_ok_and(|what| what == "overwrite") {
        fs::write(path(PICTURE), &drawn).unwrap();
    }
    assert!(read(PICTURE) == drawn, "{PICTURE} is out of date; `README=overwrite cargo test --test readme`");
    assert!(read("README.md").contains(&format!("]({PICTURE})")));
}

#[test]
fn wrong_program_in_readme_is_the_one_in_the_picture() {
    let program = read(&format!("{WRONG_PROGRAMS}/{WIRED_WRONG}.rs"));
    let wrong = &program[program.find("\nfn ").unwrap()..program.find("\nfn main()").unwrap()];
    assert!(read("README.md").contains(wrong));
}

#[test]
fn counts_in_readme_are_those_of_the_messages() {
    let count = |page: &str, row: &str| -> Vec<usize> {
        let page = read(page);
        let row = page.lines().find(|line| line.starts_with(row)).unwrap_or_else(|| panic!("{row}"));
        row.split('|').filter_map(|cell| cell.trim().parse().ok()).collect()
    };
    for (in_readme, in_messages) in [
        ("| refused by `cargo check` |", "| `cargo check` refuses"),
        ("| never noticed once the confused sizes are equal |", "| nothing fails once the sizes are equal |"),
    ] {
        assert_eq!(count("README.md", in_readme), count("docs/messages.md", in_messages), "{in_readme}");
    }
    let mistakes = read("docs/messages.md").lines().filter(|line| line.starts_with("# ")).count();
    assert_eq!(mistakes, 12, "the README says 12");
}

#[test]
fn links_lead_to_files() {
    for page in ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        let text = read(page);
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.starts_with("http")) {
            assert!(path(target).exists(), "{page}: {target}");
        }
    }
}

/// A fenced block of code: the line before it, what follows its opening backticks, and its lines.
struct Block {
    caption: String,
    info: String,
    lines: Vec<String>,
}

fn blocks(page: &str) -> Vec<Block> {
    let page = read(page);
    let parts: Vec<&str> = page.split("```").collect();
    assert!(parts.len() % 2 == 1, "a block has no end");
    let block = |pair: &[&str]| {
        let caption = pair[0].trim_end().lines().next_back().unwrap_or_default();
        let (info, code) = pair[1].split_once('\n').unwrap();
        Block {
            caption: caption.to_string(),
            info: info.to_string(),
            lines: code.lines().map(String::from).collect(),
        }
    };
    parts.chunks_exact(2).map(block).collect()
}

/// A line that rustdoc hides, without its mark.
fn hidden(line: &str) -> Option<&str> {
    (line == "#").then_some("").or(line.strip_prefix("# "))
}

/// From the first empty line on: a program without the comment at its head.
fn body(program: &str) -> &str {
    program.split_once("\n\n").unwrap().1.trim()
}

#[test]
fn guide_shows_the_whole_example() {
    let program = read("examples/own_model/program.rs");
    let mut rest = body(&program);
    for block in blocks("docs/guide.md").iter().filter(|block| block.info.is_empty()) {
        let shown = block.lines.iter().filter(|line| hidden(line).is_none());
        let shown: Vec<&str> = shown.map(String::as_str).collect();
        // The other blocks try out what was shown before.
        if let Some(after) = rest.strip_prefix(&shown.join("\n")) {
            rest = after.trim_start();
        }
    }
    assert_eq!(rest, "", "the guide does not show this part");
}

#[test]
fn mistakes_in_guide_are_refused_in_the_words_shown() {
    let files = fs::read_dir(path(WRONG_PROGRAMS).join("guide")).unwrap().map(|file| file.unwrap().path());
    let mut programs: Vec<_> = files.filter(|file| file.extension().unwrap() == "rs").collect();
    for pair in blocks("docs/guide.md").windows(2) {
        let [mistake, answer] = pair else { unreachable!() };
        let Some(code) = mistake.info.strip_prefix("compile_fail,") else {
            continue;
        };
        let whole = mistake.lines.iter().map(|line| hidden(line).unwrap_or(line));
        let whole = whole.collect::<Vec<_>>().join("\n");
        let place = programs.iter().position(|file| {
            let program = fs::read_to_string(file).unwrap();
            // Its first line says the rule.
            program.split_once('\n').unwrap().1.trim() == whole
        });
        let file = programs.remove(place.unwrap_or_else(|| panic!("not refused:\n{whole}")));
        let text = fs::read_to_string(file.with_extension("stderr")).unwrap();
        assert!(text.starts_with(&format!("error[{code}]")), "{code}: {text}");
        assert_eq!(answer.info, "text");
        assert!(answer.lines.len() >= 6, "{}", file.display());
        let first: Vec<&str> = text.lines().take(answer.lines.len()).collect();
        assert_eq!(answer.lines, first, "{}", file.display());
    }
    assert!(programs.is_empty(), "not in the guide: {programs:?}");
}

#[test]
fn annotated_reading_quotes_the_source_and_the_compiler() {
    for Block { caption, info, lines } in blocks("docs/annotated.md") {
        let shown = lines.join("\n");
        match info.as_str() {
            // The line before a quote of the source is its file, in backticks.
            "rust,ignore" => {
                let file = caption.trim_matches('`');
                assert!(file.starts_with("src/") && file.ends_with(".rs"), "no file before:\n{shown}");
                let source = unindented(&read(file));
                assert!(source.contains(&unindented(&shown)), "{file} does not contain:\n{shown}");
            }
            // The second line of an error is its place, in the program that it is said of.
            "text" => {
                let place = lines[1].trim().strip_prefix("--> ").unwrap();
                let program = place.split_once(".rs:").unwrap().0;
                let error = read(&format!("{program}.stderr"));
                assert!(error.starts_with(&(shown + "\n")), "the error of {program}:\n{error}");
            }
            other => panic!("a block of {other}"),
        }
    }
}

/// The text without the space at the beginning of its lines.
fn unindented(text: &str) -> String {
    text.lines().map(|line| line.trim_start().to_string() + "\n").collect()
}
