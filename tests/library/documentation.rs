//! The README and the pages of `docs` quote the repository as it is.
//!
//! `BLESS=1 cargo test --test library documentation` draws `docs/refusal.svg` anew, and copies the expected
//! compiler output into the pages that quote it.

mod readme;

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Programs that must not compile, and beside each the expected compiler output.
const WRONG_PROGRAMS: &str = "ui-tests/fail";
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

/// The pages that people read: on a code host, and those of `docs` in rustdoc too.
fn pages() -> Vec<String> {
    let docs = fs::read_dir(path("docs")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let docs = docs.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}"));
    let others = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md", "ui-tests/README.md"];
    docs.chain(others.map(String::from)).collect()
}

/// The name and the target of a definition of a link, `[name]: target`.
fn definition(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix('[')?.split_once("]: ")
}

#[test]
fn links_lead_to_files() {
    for page in pages() {
        let parts = split_at_fences(&page);
        let text: String = parts.into_iter().step_by(2).collect();
        let written = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let defined = text.lines().filter_map(definition).map(|(_, target)| target);
        for target in written.chain(defined).filter(|target| !target.starts_with("http")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { page.clone() } else { beside(&page, file) };
            assert!(path(&file).exists(), "{page}: {target}");
            assert!(anchor.is_empty() || anchors(&file).contains(&anchor.to_string()), "{page}: {target}");
        }
    }
}

#[test]
fn paths_in_pages_are_those_of_files() {
    let is_path = |word: &&str| {
        let is_source = ["src/", "tests/", "examples/", "macros/", "kernels/", "autograd/"];
        let is_plain = |character: char| {
            character.is_ascii_lowercase() || character.is_ascii_digit() || "_./-".contains(character)
        };
        is_source.iter().any(|folder| word.starts_with(folder)) && word.chars().all(is_plain)
    };
    let mut num_paths = 0;
    // The list of changes names what there was.
    for page in pages().into_iter().filter(|page| page != "CHANGELOG.md") {
        let text: String = split_at_fences(&page).into_iter().step_by(2).collect();
        for word in text.split('`').skip(1).step_by(2).filter(is_path) {
            let places = [path(word), path(&beside(&page, word)), path("src/backend/cpu").join(word)];
            assert!(places.iter().any(|place| place.exists()), "{page}: {word}");
            num_paths += 1;
        }
    }
    assert!(num_paths > 50, "{num_paths}");
}

/// The path of a file whose path is given relative to that of a page.
fn beside(page: &str, file: &str) -> String {
    Path::new(page).parent().unwrap().join(file).to_str().unwrap().into()
}

/// The anchors of the headings of a page, as code hosts make them.
fn anchors(page: &str) -> Vec<String> {
    let parts = split_at_fences(page);
    let headings = parts.iter().step_by(2).flat_map(|text| text.lines()).filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

/// A page shows the same in rustdoc and on a code host: no line is hidden, each block says its language, and a name of
/// an item leads to its documentation in the one and to its source in the other.
#[test]
fn pages_read_alike_in_rustdoc_and_on_a_code_host() {
    let items = read("src/guide/links.md");
    let items: Vec<(&str, &str)> = items.lines().filter_map(definition).collect();
    let mut used = Vec::new();
    // rustdoc leaves these lines out.
    let is_hidden = |line: &str| line.split_whitespace().next() == Some("#");
    for page in pages().into_iter().filter(|page| page.starts_with("docs/")) {
        let parts = split_at_fences(&page);
        assert!(parts[0].starts_with("# "), "{page} has no title");
        for block in parts.iter().skip(1).step_by(2) {
            let (info, code) = info_and_code(block);
            let language = info.split(',').next().unwrap_or_default();
            assert!(["rust", "text", "toml", "diff", "json"].contains(&language), "{page}: a block of `{info}`");
            assert!(language != "rust" || !code.lines().any(is_hidden), "{page} hides lines:\n{code}");
        }
        let text: String = parts.into_iter().step_by(2).collect();
        assert!(!text.contains("](crate::") && !text.contains("](macro@"), "{page} has links of rustdoc");
        assert_eq!(text.lines().filter(|line| line.starts_with("# ")).count(), 1, "{page} has two titles");
        let is_link = |name: &str| text.split(&format!("[{name}]")).skip(1).any(|rest| !rest.starts_with('('));
        for (name, _) in items.iter().filter(|(name, _)| name.starts_with('`') && is_link(name)) {
            assert!(text.contains(&format!("\n[{name}]: ")), "{page} does not define [{name}]");
        }
        for (name, target) in text.lines().filter_map(definition) {
            let item = items.iter().find(|(item, _)| *item == name);
            let (_, item) = item.unwrap_or_else(|| panic!("src/guide/links.md does not define [{name}] of {page}"));
            used.push(name.to_string());
            if !target.ends_with(".md") && !target.starts_with("http") {
                let word = item.rsplit("::").next().unwrap().trim_matches(|c: char| !c.is_alphanumeric());
                assert!(read(&beside(&page, target)).contains(word), "{page}: {target} has no `{word}`");
            }
        }
    }
    let unused = items.iter().filter(|(name, _)| !used.iter().any(|used| used == name));
    assert_eq!(unused.count(), 0, "src/guide/links.md defines more than the pages use");
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

/// A program without the comment at its head, which ends at the first empty line.
fn body(program: &str) -> &str {
    program.split_once("\n\n").unwrap().1.trim()
}

/// The chapters of the guide: a page, the example that it shows, and the folder of its mistakes.
const CHAPTERS: [[&str; 3]; 2] = [
    ["docs/guide.md", "examples/own_model/program.rs", "guide"],
    ["docs/llama.md", "examples/llama_block/program.rs", "guide_llama"],
];
/// What the chapters try out on the examples.
const TRIES: &str = "tests/library/guide.rs";

/// The indices of the blocks that are programs that must not compile: an error follows.
fn mistakes_in(parts: &[String]) -> Vec<usize> {
    let is_followed_by_error = |index: &usize| parts.get(index + 2).is_some_and(|next| next.starts_with("text\nerror"));
    (1..parts.len()).step_by(2).filter(is_followed_by_error).collect()
}

#[test]
fn guide_shows_the_whole_examples() {
    let tries = unindented(&read(TRIES));
    let chapters = CHAPTERS.map(|[page, example, _]| [page, example]);
    for [page, example] in chapters.into_iter().chain([["docs/training.md", "examples/training_run.rs"]]) {
        let program = read(example);
        let mut rest = body(&program);
        let parts = split_at_fences(page);
        let mistakes = mistakes_in(&parts);
        for index in (1..parts.len()).step_by(2).filter(|index| !mistakes.contains(index)) {
            let (info, code) = info_and_code(&parts[index]);
            if info != "rust,ignore" {
                continue;
            }
            match rest.strip_prefix(code.trim()) {
                Some(after) => rest = after.trim_start(),
                None => assert!(tries.contains(&unindented(code)), "{TRIES} does not test, of {page}:\n{code}"),
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
        for mistake in mistakes_in(&parts) {
            let (_, code) = info_and_code(&parts[mistake]);
            // A page leaves out what it has shown before.
            let is_shown = |file: &PathBuf| {
                let program = fs::read_to_string(file).unwrap();
                let mut lines = program.lines();
                code.lines().filter(|line| !line.is_empty()).all(|shown| lines.any(|line| line == shown))
            };
            let index = programs.iter().position(is_shown);
            let program = programs.remove(index.unwrap_or_else(|| panic!("no wrong program has this code:\n{code}")));
            let (_, shown) = info_and_code(&parts[mistake + 2]);
            assert!(shown.lines().count() >= 6, "{}", program.display());
            parts[mistake + 2] = error_block(&program, shown);
        }
        assert!(programs.is_empty(), "{page} does not show {programs:?}");
        assert_page(page, &parts);
    }
}

#[test]
fn errors_in_the_page_about_ranks_are_those_of_the_compiler() {
    let errors = programs_below(&path(WRONG_PROGRAMS)).into_iter().map(|program| program.with_extension("stderr"));
    let errors: Vec<String> = errors.filter_map(|error| fs::read_to_string(error).ok()).collect();
    let parts = split_at_fences("docs/ranks.md");
    for index in mistakes_in(&parts) {
        let (_, shown) = info_and_code(&parts[index + 2]);
        assert!(errors.iter().any(|error| error.starts_with(shown)), "no wrong program has this error:\n{shown}");
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

/// The porting page and CONTRIBUTING.md say that models use public items alone.
#[test]
fn models_do_not_reshape_by_the_backend() {
    for file in programs_below(&path("src/models")) {
        let source = fs::read_to_string(&file).unwrap();
        assert!(!source.contains("D::reshape"), "{}", file.display());
    }
}

/// The text without the indentation of its lines.
fn unindented(text: &str) -> String {
    text.lines().map(|line| line.trim_start().to_string() + "\n").collect()
}
