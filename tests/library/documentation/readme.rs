//! The README: its picture, its programs, its counts and its addresses.

use super::{RENEWAL, WRONG_PROGRAMS, is_blessed, pages, path, read, split_at_fences};
use crate::terminal;
use std::fs;

/// The wrong program of the README, in that folder.
const RESIDUAL_OF_KEY: &str = "nn/cross_attention_forward/residual_of_key";
/// The picture of the error that it causes.
const PICTURE: &str = "docs/refusal.svg";

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
        ("| compiles and runs if the two sizes are equal |", "| compiles and runs if the two sizes are equal |"),
    ] {
        assert_eq!(count("README.md", in_readme), count("docs/messages.md", in_messages), "{in_readme}");
    }
    let mistakes = read("docs/messages.md").lines().filter(|line| line.starts_with("## ")).count();
    assert_eq!(mistakes, 12, "the README says 12");
}

#[test]
fn readme_and_guide_have_the_same_profile() {
    let profile = |page: &str| {
        let parts = split_at_fences(page);
        let profiles = parts.into_iter().skip(1).step_by(2).filter(|block| block.starts_with("toml\n[profile.dev]"));
        profiles.collect::<Vec<_>>()
    };
    assert_eq!((profile("README.md").len(), profile("README.md")), (1, profile("docs/guide.md")));
}

/// An optimizer that is made in the line of the update begins anew in each step of a loop.
#[test]
fn programs_in_pages_make_an_optimizer_before_the_step() {
    for page in pages().iter().map(String::as_str).chain(["src/lib.rs"]) {
        assert!(!read(page).contains("&mut Adam::default()"), "{page}");
    }
}

/// `Cargo.toml` has the address of the repository, and the minimum version of Rust.
#[test]
fn address_and_version_in_readme_are_those_of_the_manifest() {
    let manifest = read("Cargo.toml");
    let value = |key: &str| {
        let line = manifest.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")));
        line.and_then(|line| line.strip_suffix('"')).unwrap_or_else(|| panic!("{key}"))
    };
    let (repository, readme) = (value("repository"), read("README.md"));
    assert!(readme.contains(&format!("\ngit clone {repository}\n")), "{repository}");
    let version = value("rust-version");
    assert!(readme.contains(&format!("\nRust {version} or newer;")));
    assert!(
        readme.contains(&format!("[![Rust {version} or newer](https://img.shields.io/badge/rust-{version}%2B-blue)]"))
    );
}
