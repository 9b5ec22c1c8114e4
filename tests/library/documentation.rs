//! The README and the pages of `docs` quote the repository as it is.
//!
//! `BLESS=1 cargo test --test library documentation` draws `docs/refusal.svg` anew, and copies the expected
//! compiler output into the pages that quote it.

#[path = "../support/terminal.rs"]
mod terminal;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Programs that must not compile, and beside each the expected compiler output.
const WRONG_PROGRAMS: &str = "ui-tests/fail";
/// The wrong program of the README, in that folder.
const RESIDUAL_OF_KEY: &str = "nn/cross_attention_forward/residual_of_key";
/// The picture of the error that it causes.
const PICTURE: &str = "docs/refusal.svg";
const ANNOTATED: &str = "docs/annotated.md";

const RENEWAL: &str = "`BLESS=1 cargo test --test library documentation` renews it";

/// Whether to renew the picture and the quoted errors before they are compared.
fn is_blessed() -> bool {
    env::var_os("BLESS").is_some()
}

fn path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(path)
}

fn read(file: &str) -> String {
    fs::read_to_string(path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn picture_in_readme_shows_the_compiler_error() {
    let error = read(&format!("{WRONG_PROGRAMS}/{RESIDUAL_OF_KEY}.stderr"));
    // The headline and the marked lines, without the notes after them.
    let lines: Vec<&str> = error.lines().take_while(|line| !line.trim_start().starts_with('=')).collect();
    let lines = lines.strip_suffix(&["   |"]).unwrap_or(&lines);
    let drawn = terminal::draw("cargo check", lines);
    if is_blessed() {
        fs::write(path(PICTURE), &drawn).unwrap();
    }
    assert!(read(PICTURE) == drawn, "{PICTURE} is out of date; {RENEWAL}");
    assert!(read("README.md").contains(&format!("]({PICTURE})")));
}

#[test]
fn wrong_program_in_readme_is_the_one_in_the_picture() {
    let program = read(&format!("{WRONG_PROGRAMS}/{RESIDUAL_OF_KEY}.rs"));
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
        ("| refused by `cargo check` |", "| refused by `cargo check` "),
        (
            "| compiled and ran once the two sizes were made equal |",
            "| compiled and ran once the two sizes were made equal |",
        ),
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

/// A page with the text of its fenced blocks of code in between: those at odd indices are blocks.
fn split_at_fences(page: &str) -> Vec<String> {
    let parts: Vec<_> = read(page).split("```").map(String::from).collect();
    assert!(parts.len() % 2 == 1, "{page}: a block has no end");
    parts
}

/// The info string of a block (the rest of the line with the opening backticks), and its code.
fn info_and_code(block: &str) -> (&str, &str) {
    block.split_once('\n').unwrap()
}

/// Compares the parts of a page with what they should be; [`is_blessed`] renews the page first.
fn assert_page(page: &str, expected: &[String]) {
    if is_blessed() {
        fs::write(path(page), expected.join("```")).unwrap();
    }
    for (shown, expected) in split_at_fences(page).iter().zip(expected) {
        assert_eq!(shown, expected, "{page} is out of date; {RENEWAL}");
    }
}

/// A block with the first lines of the error of a program: as many lines as `shown` has.
fn error_block(program: &Path, shown: &str) -> String {
    let error = fs::read_to_string(program.with_extension("stderr")).unwrap();
    let lines: Vec<&str> = error.lines().take(shown.lines().count()).collect();
    format!("text\n{}\n", lines.join("\n"))
}

/// The code of a line that rustdoc hides, without the `#`.
fn hidden(line: &str) -> Option<&str> {
    (line == "#").then_some("").or(line.strip_prefix("# "))
}

/// A program without the comment at its head, which ends at the first empty line.
fn body(program: &str) -> &str {
    program.split_once("\n\n").unwrap().1.trim()
}

/// The chapters of the guide: a page, the example that it shows, and the folder of its mistakes.
const CHAPTERS: [[&str; 3]; 2] = [
    ["docs/guide.md", "examples/own_model/program.rs", "guide"],
    ["docs/llama.md", "examples/llama_block/program.rs", "guide_llama"],
];

#[test]
fn guide_shows_the_whole_examples() {
    for [page, example, _] in CHAPTERS {
        let program = read(example);
        let mut rest = body(&program);
        let parts = split_at_fences(page);
        let blocks = parts.iter().skip(1).step_by(2).map(|block| info_and_code(block));
        for (_, code) in blocks.filter(|(info, _)| info.is_empty()) {
            let shown: Vec<&str> = code.lines().filter(|line| hidden(line).is_none()).collect();
            // The other blocks try out what was shown before.
            if let Some(after) = rest.strip_prefix(&shown.join("\n")) {
                rest = after.trim_start();
            }
        }
        assert_eq!(rest, "", "{page} does not show this part");
    }
}

#[test]
fn mistakes_in_guide_are_refused_in_the_words_shown() {
    for [page, _, folder] in CHAPTERS {
        let mut programs = programs_below(&path(WRONG_PROGRAMS).join(folder));
        let mut parts = split_at_fences(page);
        for mistake in (1..parts.len()).step_by(2) {
            let (info, code) = info_and_code(&parts[mistake]);
            let Some(error_code) = info.strip_prefix("compile_fail,") else {
                continue;
            };
            let whole: Vec<_> = code.lines().map(|line| hidden(line).unwrap_or(line)).collect();
            let whole = whole.join("\n");
            let is_shown = |file: &PathBuf| {
                let program = fs::read_to_string(file).unwrap();
                let code = program.lines().filter(|line| !line.starts_with("//!"));
                code.collect::<Vec<_>>().join("\n").trim() == whole
            };
            let index = programs.iter().position(is_shown);
            let program = programs.remove(index.unwrap_or_else(|| panic!("no wrong program has this code:\n{whole}")));
            let (info, shown) = info_and_code(&parts[mistake + 2]);
            assert_eq!(info, "text");
            assert!(shown.lines().count() >= 6, "{}", program.display());
            let expected = error_block(&program, shown);
            assert!(expected.starts_with(&format!("text\nerror[{error_code}]")), "{error_code}: {expected}");
            parts[mistake + 2] = expected;
        }
        assert!(programs.is_empty(), "{page} does not show {programs:?}");
        assert_page(page, &parts);
    }
}

/// All programs in a folder and in the folders in it.
fn programs_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, mut files): (Vec<_>, Vec<_>) = entries.partition(|entry| entry.is_dir());
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    files.extend(folders.iter().flat_map(|folder| programs_below(folder)));
    files
}

#[test]
fn errors_in_annotated_reading_are_those_of_the_compiler() {
    let mut parts = split_at_fences(ANNOTATED);
    for part in parts.iter_mut().skip(1).step_by(2) {
        let (info, shown) = info_and_code(part);
        if info == "text" {
            // The second line of an error names the program.
            let place = shown.lines().nth(1).unwrap().trim().strip_prefix("--> ").unwrap();
            let program = place.split_once(".rs:").unwrap().0;
            *part = error_block(&path(&format!("ui-tests/{program}.rs")), shown);
        }
    }
    assert_page(ANNOTATED, &parts);
}

#[test]
fn quotes_in_annotated_reading_are_in_the_source() {
    let parts = split_at_fences(ANNOTATED);
    for pair in parts.chunks_exact(2) {
        let (info, quote) = info_and_code(&pair[1]);
        if info == "text" {
            continue;
        }
        assert_eq!(info, "rust,ignore");
        let caption = pair[0].trim_end().lines().next_back().unwrap_or_default();
        let file = caption.trim_matches('`');
        assert!(file.starts_with("src/") && file.ends_with(".rs"), "no file above:\n{quote}");
        let source = unindented(&read(file));
        let mut rest = source.as_str();
        for piece in unindented(quote).split("// …\n") {
            let (_, after) = rest.split_once(piece).unwrap_or_else(|| panic!("not in {file}:\n{piece}"));
            rest = after;
        }
    }
}

/// The text without the indentation of its lines.
fn unindented(text: &str) -> String {
    text.lines().map(|line| line.trim_start().to_string() + "\n").collect()
}
