//! The compiler's verdict on many programs, in few runs.
//!
//! Each program becomes a module of its own of a generated crate that holds up to [`AT_ONCE`] of them,
//! and one `cargo check` checks all of these crates. An error belongs to the program in whose file
//! it stands, or in whose file the macro was called that it comes from. Errors of an early phase keep
//! the compiler from a later one, in the whole crate; so those that went uncriticised beside others
//! that did not are checked again, until a crate of such programs compiles as a whole.

use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// How many programs share a crate: more of them need less time for loading dependencies, and more
/// memory.
const AT_ONCE: usize = 50;

/// A generated cargo project that depends on this crate.
pub struct Compiler(PathBuf);

impl Compiler {
    /// A project by this name, in the place that cargo keeps for such things.
    pub fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let project = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&project).unwrap();
        let manifest = format!(
            "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\ndfdx = \"0.13\"\ntyped-transformer = {{ path = {root:?} }}\n\n[workspace]\n"
        );
        fs::write(project.join("Cargo.toml"), manifest).unwrap();
        fs::copy(root.join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
        Self(project)
    }

    /// What the compiler says first against each program; nothing, if it accepts it. The items of
    /// `shared` stand in the module above each program.
    pub fn refusals(&self, shared: &str, programs: &[String]) -> Vec<Option<String>> {
        let mut refusals = vec![None; programs.len()];
        let mut open: Vec<usize> = (0..programs.len()).collect();
        while !open.is_empty() {
            let crates: Vec<&[usize]> = open.chunks(AT_ONCE).collect();
            for (number, members) in crates.iter().enumerate() {
                self.write(number, shared, members, programs);
            }
            for (program, error) in self.check(crates.len()) {
                refusals[program] = Some(error);
            }
            let refused = |program: &usize| refusals[*program].is_some();
            let unsure = crates.into_iter().filter(|members| members.iter().any(refused));
            open = unsure.flatten().copied().filter(|program| !refused(program)).collect();
        }
        refusals
    }

    fn write(&self, number: usize, shared: &str, members: &[usize], programs: &[String]) {
        let folder = self.0.join(format!("src/bin/crate{number}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let mut main = format!("#![allow(warnings)]\n{shared}\nfn main() {{}}\n");
        for &member in members {
            main += &format!("mod p{member};\n");
            fs::write(folder.join(format!("p{member}.rs")), &programs[member]).unwrap();
        }
        fs::write(folder.join("main.rs"), main).unwrap();
    }

    /// The first error of each program that has one, in the first `crates` crates.
    fn check(&self, crates: usize) -> BTreeMap<usize, String> {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["check", "--offline", "--keep-going", "--quiet", "--message-format=json"])
            .args((0..crates).map(|number| format!("--bin=crate{number}")))
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_TARGET_DIR", self.0.with_file_name("checked"))
            .current_dir(&self.0);
        let output = cargo.output().unwrap();
        let mut errors = BTreeMap::new();
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let message = &serde_json::from_str::<Value>(line).unwrap()["message"];
            let text = message["message"].as_str().unwrap_or_default();
            let is_summary = text.starts_with("aborting due to");
            if !message["level"].as_str().is_some_and(|level| level.starts_with("error")) || is_summary {
                continue;
            }
            let spans = message["spans"].as_array().unwrap();
            let program = spans.iter().find_map(program).unwrap_or_else(|| {
                panic!("an error in no program: {}", message["rendered"].as_str().unwrap_or(text))
            });
            errors.entry(program).or_insert_with(|| text.to_string());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), errors.is_empty(), "cargo says: {said}");
        errors
    }
}

/// The program in whose file `src/bin/crate*/p*.rs` a span stands, or the call of the macro that it
/// is in.
fn program(span: &Value) -> Option<usize> {
    let file = Path::new(span["file_name"].as_str()?);
    let number = file.file_stem()?.to_str()?.strip_prefix('p').and_then(|n| n.parse().ok());
    number.filter(|_| file.starts_with("src/bin")).or_else(|| program(&span["expansion"]["span"]))
}
