//! The programs, errors and links in the README and the guide are up to date.

use std::{fs, path::Path};

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn compiler_errors_in_the_readme_are_the_expected_ones() {
    let readme = read("README.md");
    for (rule, lines) in
        [("ops/residual_needs_equal_lengths", 8), ("nn/an_embedder_refuses_a_length_above_its_maximum", 6)]
    {
        let text = read(&format!("ui-tests/refused/{rule}.stderr"));
        let shown: Vec<_> = text.lines().take(lines).collect();
        assert!(readme.contains(&shown.join("\n")), "{rule}");
    }
}

#[test]
fn the_wrong_program_in_the_readme_is_a_ui_test() {
    let program = read("ui-tests/refused/ops/residual_needs_equal_lengths.rs");
    let wrong = &program[program.find("fn add(").unwrap()..program.find("\nfn main()").unwrap()];
    assert!(read("README.md").contains(wrong));
}

#[test]
fn links_in_the_readme_exist() {
    let readme = read("README.md");
    let targets = readme.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    for target in targets.filter(|target| !target.starts_with("http")) {
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(target).exists(), "{target}");
    }
}

/// A code block: the text after its opening backticks, and its lines.
struct Block {
    info: String,
    lines: Vec<String>,
}

/// The code blocks of the guide.
fn blocks() -> Vec<Block> {
    let guide = read("docs/guide.md");
    let parts: Vec<&str> = guide.split("```").collect();
    assert!(parts.len() % 2 == 1, "a block has no end");
    let block = |part: &&str| {
        let (info, code) = part.split_once('\n').unwrap();
        Block { info: info.to_string(), lines: code.lines().map(String::from).collect() }
    };
    parts.iter().skip(1).step_by(2).map(block).collect()
}

/// A line that rustdoc hides, without its `#`.
fn hidden(line: &str) -> Option<&str> {
    (line == "#").then_some("").or(line.strip_prefix("# "))
}

/// The program without the comment at its head: everything after the first empty line.
fn body(program: &str) -> &str {
    program.split_once("\n\n").unwrap().1.trim()
}

#[test]
fn the_guide_shows_every_line_of_the_example() {
    let program = read("examples/own_model/program.rs");
    let mut rest = body(&program);
    for block in blocks().iter().filter(|block| block.info.is_empty()) {
        let shown = block.lines.iter().filter(|line| hidden(line).is_none());
        let shown: Vec<&str> = shown.map(String::as_str).collect();
        // Other blocks use the program shown before them.
        if let Some(after) = rest.strip_prefix(&shown.join("\n")) {
            rest = after.trim_start();
        }
    }
    assert_eq!(rest, "", "what the guide does not show");
}

#[test]
fn the_mistakes_in_the_guide_are_the_ui_tests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui-tests/refused/guide");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut programs: Vec<_> = files.filter(|file| file.extension().unwrap() == "rs").collect();
    let blocks = blocks();
    for pair in blocks.windows(2) {
        let [mistake, answer] = pair else { unreachable!() };
        let Some(code) = mistake.info.strip_prefix("compile_fail,") else {
            continue;
        };
        let whole = mistake.lines.iter().map(|line| hidden(line).unwrap_or(line));
        let whole = whole.collect::<Vec<_>>().join("\n");
        let place = programs.iter().position(|file| {
            let program = fs::read_to_string(file).unwrap();
            // The first line is a comment with the rule.
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
