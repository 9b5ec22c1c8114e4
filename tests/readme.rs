//! What the README shows is what there is.

use std::{fs, path::Path};

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn its_compiler_errors_are_the_compiler_s() {
    let readme = read("README.md");
    for (rule, lines) in [
        ("ops/residual_needs_equal_lengths", 8),
        ("nn/an_embedder_refuses_a_length_above_its_maximum", 6),
    ] {
        let text = read(&format!("ui-tests/refused/{rule}.stderr"));
        let shown: Vec<_> = text.lines().take(lines).collect();
        assert!(readme.contains(&shown.join("\n")), "{rule}");
    }
}

#[test]
fn its_wrong_program_is_the_one_that_is_refused() {
    let program = read("ui-tests/refused/ops/residual_needs_equal_lengths.rs");
    let wrong = &program[program.find("fn add(").unwrap()..program.find("\nfn main()").unwrap()];
    assert!(read("README.md").contains(wrong));
}

#[test]
fn its_links_lead_somewhere() {
    let readme = read("README.md");
    let targets = readme
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    for target in targets.filter(|target| !target.starts_with("http")) {
        assert!(
            Path::new(env!("CARGO_MANIFEST_DIR")).join(target).exists(),
            "{target}"
        );
    }
}
