//! The wrong programs of `ui-tests/fail/<module>/<item>/<parameter>.rs`.
//!
//! A program has a head. Its first line states the rule that the program breaks. Lines that begin with `Covers` name
//! the type parameters that it is wrong in (`tests/compiler/coverage.rs`). One line says how the program becomes
//! right. Lines that begin with `Mutants cover` name the type parameters that its right form with another name in one
//! place is wrong in, and the name that stands for each:
//!
//! ```text
//! //! A residual adds sequences of the same length.
//! //! Covers `S` of `ops::residual`.
//! //! Right with `source` for `target` in line 12.
//! //! Mutants cover `B` by `Batch`, `M` by `EmbedDim` of `ops::residual`.
//! ```
//!
//! The right form is made by that replacement, so a program and its right form differ in one token. Where a `?` is
//! forgotten, it stands behind the right token: ``Right with `)?` for `)` in line 12.``
//!
//! Programs below `ui-tests/fail-tokenizers` need the feature `tokenizers` of the library.

use crate::source;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The words for one of several equal tokens in a line.
const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

/// A wrong program.
pub struct Program {
    /// `<module>/<item>/<parameter>`.
    pub name: String,
    /// The path of its source from the root of the repository.
    pub path: String,
    pub source: String,
    /// The first line of the head.
    pub rule: String,
    /// Each type parameter that it covers, and the path of the item that has this parameter.
    pub covers: Vec<(String, String)>,
    pub mutants_cover: Vec<Cover>,
    pub correction: Correction,
}

/// A type parameter that the mutants of one name cover.
pub struct Cover {
    pub parameter: String,
    /// The name in the program.
    pub by: String,
    /// The path of the item that has the parameter.
    pub item: String,
}

/// The replacement of one token that makes a wrong program right.
pub struct Correction {
    place: Range<usize>,
    /// The token in the wrong program.
    pub wrong: String,
    /// The token in the right form.
    pub right: String,
}

impl Program {
    fn read(path: String) -> Self {
        let source = read(&path);
        let parts: Vec<_> = path.trim_end_matches(".rs").split('/').collect();
        let ["ui-tests", "fail" | "fail-tokenizers", module, item, parameter] = parts[..] else {
            panic!("{path} is not `ui-tests/fail/<module>/<item>/<parameter>.rs`")
        };
        let name = format!("{module}/{item}/{parameter}");
        let head: Vec<&str> = source.lines().map_while(|line| line.strip_prefix("//! ")).collect();
        let rule = head.first().filter(|rule| rule.ends_with('.'));
        let rule = rule.unwrap_or_else(|| panic!("{path} states no rule")).to_string();
        let covers = head.iter().filter(|line| line.starts_with("Covers")).map(|line| {
            let ["Covers ", parameter, " of ", item, "."] = line.split('`').collect::<Vec<_>>()[..] else {
                panic!("{path}: `{line}` is not of the form ``Covers `S` of `ops::residual`.``")
            };
            (parameter.to_string(), item.to_string())
        });
        let covers = covers.collect();
        let mutants_cover = head.iter().filter(|line| line.starts_with("Mutants cover"));
        let mutants_cover = mutants_cover.flat_map(|line| {
            Cover::read(line).unwrap_or_else(|| panic!("{path}: `{line}` is not of the form {COVER_FORM}"))
        });
        let mutants_cover = mutants_cover.collect();
        let correction = Correction::read(&source, &head).unwrap_or_else(|problem| panic!("{path}: {problem}"));
        Self { name, path, source, rule, covers, mutants_cover, correction }
    }

    /// The source with the right token in place of the wrong one.
    pub fn right_form(&self) -> String {
        source::replaced(&self.source, [(self.correction.place.clone(), &*self.correction.right)])
    }

    /// The path of the expected compiler output.
    pub fn stderr_path(&self) -> String {
        self.path.replace(".rs", ".stderr")
    }

    /// The expected compiler output.
    pub fn stderr(&self) -> String {
        read(&self.stderr_path())
    }

    /// Whether it is refused because two types differ, and not by a relation between sizes.
    pub fn is_mismatch(&self) -> bool {
        self.stderr().starts_with("error[E0308]")
    }
}

const COVER_FORM: &str = "``Mutants cover `B` by `Batch`, `S` by `SrcLen` of `ops::residual`.``";

impl Cover {
    /// Reads a line of the form [`COVER_FORM`].
    fn read(line: &str) -> Option<Vec<Self>> {
        let parts: Vec<_> = line.split('`').collect();
        let [pairs @ .., " of ", item, "."] = &parts[..] else { return None };
        let pairs = pairs.chunks(4).enumerate().map(|(i, pair)| match pair {
            [before, parameter, " by ", by] if *before == if i == 0 { "Mutants cover " } else { ", " } => {
                Some(Self { parameter: parameter.to_string(), by: by.to_string(), item: item.to_string() })
            }
            _ => None,
        });
        pairs.collect()
    }
}

impl Correction {
    /// Reads ``Right with `right` for the second `wrong` in line 12.``
    fn read(source: &str, head: &[&str]) -> Result<Self, String> {
        let lines: Vec<_> = head.iter().filter(|line| line.starts_with("Right with")).collect();
        let [line] = lines[..] else {
            return Err(format!("{} lines of the head say what is right", lines.len()));
        };
        let parts: Vec<_> = line.split('`').collect();
        let malformed = || format!("`{line}` is not of the form ``Right with `a` for `b` in line 12.``");
        let &["Right with ", right, which, wrong, place] = &parts[..] else { return Err(malformed()) };
        let which = which.trim().strip_prefix("for").ok_or_else(malformed)?.trim();
        let number = place.strip_prefix(" in line ").and_then(|place| place.strip_suffix('.'));
        let number: usize = number.and_then(|number| number.parse().ok()).ok_or_else(malformed)?;

        let is_token = |text: &str| matches!(&source::tokens(text)[..], [token] if *token == (0..text.len()));
        // `)?` is right for `)` where a `?` is forgotten.
        let has_question_mark = right.strip_suffix('?') == Some(wrong);
        if !is_token(right) && !has_question_mark || !is_token(wrong) || right == wrong {
            return Err(format!("`{right}` and `{wrong}` are not two tokens"));
        }
        let start: usize = source.split_inclusive('\n').take(number - 1).map(str::len).sum();
        let end = start + source[start..].find('\n').unwrap_or(source.len() - start);
        let mut places = source::tokens(source);
        places.retain(|token| start <= token.start && token.end <= end && &source[token.clone()] == wrong);
        let index = match (which, places.len()) {
            ("", 1) => Some(0),
            (_, 2..) => ORDINALS.iter().position(|ordinal| which == format!("the {ordinal}")),
            _ => None,
        };
        let place = index.and_then(|index| places.get(index));
        let place = place.ok_or(format!("line {number} has {} times `{wrong}`", places.len()))?.clone();
        Ok(Self { place, wrong: wrong.to_string(), right: right.to_string() })
    }
}

/// All wrong programs, sorted by name.
pub fn all() -> Vec<Program> {
    let mut files = vec!["ui-tests/fail".to_string(), "ui-tests/fail-tokenizers".to_string()];
    for _level in ["module", "item", "parameter"] {
        files = files.iter().flat_map(|folder| list(folder)).collect();
    }
    let is_expected_output = |file: &String| {
        let program = file.strip_suffix(".stderr");
        program.is_some_and(|program| files.contains(&format!("{program}.rs")))
    };
    let sources: Vec<_> = files.iter().filter(|file| !is_expected_output(file)).cloned().collect();
    assert!(!sources.is_empty());
    sources.into_iter().map(Program::read).collect()
}

/// The wrong programs for which the library has the features they need.
pub fn all_with_features() -> Vec<Program> {
    let mut programs = all();
    programs.retain(|program| cfg!(feature = "tokenizers") || !program.path.starts_with("ui-tests/fail-tokenizers"));
    programs
}

/// The features of the library that are on.
pub fn features() -> Vec<&'static str> {
    let features = [
        ("default", cfg!(feature = "default")),
        ("plot", cfg!(feature = "plot")),
        ("cuda", cfg!(feature = "cuda")),
        ("cudnn", cfg!(feature = "cudnn")),
        ("mpi", cfg!(feature = "mpi")),
        ("f16", cfg!(feature = "f16")),
        ("tokenizers", cfg!(feature = "tokenizers")),
    ];
    features.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| name).collect()
}

/// The paths in a folder, sorted.
pub fn list(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut paths: Vec<_> = entries.map(|entry| format!("{folder}/{}", name(entry))).collect();
    paths.sort();
    paths
}

/// A text file, by its path from the root of the repository.
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

#[test]
fn a_malformed_cover_is_refused() {
    let read = |line: &str| {
        let covers = Cover::read(line)?;
        Some(covers.into_iter().map(|cover| [cover.parameter, cover.by, cover.item].join(" ")).collect::<Vec<_>>())
    };
    let line = "Mutants cover `B` by `Batch`, `S` by `SrcLen` of `ops::add`.";
    assert_eq!(read(line), Some(vec!["B Batch ops::add".to_string(), "S SrcLen ops::add".to_string()]));
    for line in [
        "Mutants cover `B` of `ops::add`.",
        "Mutants cover `B` by `Batch` `S` by `SrcLen` of `ops::add`.",
        "Mutants cover `B` by `Batch`, `S` of `ops::add`.",
        "Mutants cover `B` by `Batch`.",
        "Mutants cover B by Batch of ops::add.",
    ] {
        assert!(read(line).is_none(), "{line}");
    }
}

#[test]
fn a_malformed_correction_is_refused() {
    let source = "fn f(a: Q, b: K, c: K) {}\n";
    let correct = |line: &str| Correction::read(source, &[line]).map(|correction| correction.place);
    assert_eq!(correct("Right with `K` for `Q` in line 1."), Ok(8..9));
    assert_eq!(correct("Right with `Q` for the first `K` in line 1."), Ok(14..15));
    assert_eq!(correct("Right with `Q` for the second `K` in line 1."), Ok(20..21));
    assert_eq!(correct("Right with `Q?` for `Q` in line 1."), Ok(8..9));
    for line in [
        "Right with `K?` for `Q` in line 1.",
        "Right with `Q` for `K` in line 1.",
        "Right with `Q` for the third `K` in line 1.",
        "Right with `K` for the first `Q` in line 1.",
        "Right with `K` for `Q` in line 2.",
        "Right with `K` for `Q` in line one.",
        "Right with `K, K` for `Q` in line 1.",
        "Right with `Q` for `Q` in line 1.",
    ] {
        assert!(correct(line).is_err(), "{line}");
    }
}
