//! The compiler's verdict on programs that use this crate.
//!
//! `rustc` runs directly and takes the library from the files that this test is linked with, so neither the
//! library nor a dependency is compiled a second time.

use crate::{
    profile,
    program::{Program, features, root},
};
use rayon::prelude::*;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
};

/// The number of programs that share a crate. A larger crate spends less time on loading dependencies, but more
/// programs are checked again if one of them fails.
const PROGRAMS_PER_CRATE: usize = 50;

/// The compiler and the library.
pub static COMPILER: LazyLock<Compiler> = LazyLock::new(Compiler::new);

pub struct Compiler {
    rustc: PathBuf,
    /// `--extern` and `-L` for the library and its dependencies.
    libraries: Vec<String>,
}

impl Compiler {
    fn new() -> Self {
        let rustc = env::var_os("RUSTC").map_or("rustc".into(), PathBuf::from);
        // The compiler itself: the `rustc` of rustup first looks for the right toolchain.
        let sysroot = Command::new(&rustc).args(["--print", "sysroot"]).output().unwrap().stdout;
        let sysroot = Path::new(str::from_utf8(&sysroot).unwrap().trim_end());
        let direct = sysroot.join("bin/rustc").with_extension(env::consts::EXE_EXTENSION);
        let rustc = if direct.exists() { direct } else { rustc };
        Self { rustc, libraries: libraries() }
    }

    /// Whether its version is `version`, whatever the patch level.
    pub fn is_version(&self, version: &str) -> bool {
        let output = Command::new(&self.rustc).arg("--version").output().unwrap();
        String::from_utf8(output.stdout).unwrap().starts_with(&format!("rustc {version}."))
    }

    /// The compiler's output for one program, without the parts that depend on the machine and without the lines
    /// of code outside the program. `path` starts at the root of the repository.
    pub fn stderr(&self, path: &str) -> String {
        joined(self.check(Path::new(path)).iter().map(|diagnostic| normalized(rendered(diagnostic), path)))
    }

    /// The programs whose [`stderr`](Self::stderr) is not the expected one, and what it is instead.
    ///
    /// Loading the library takes longer than checking a program, so programs share crates at first. There each is a
    /// module, and rustc writes the path of the module before its names. All else is as it is alone, or differs from
    /// it: a name that another program has too is written with its path, and errors of an early compiler phase hide
    /// those of others. So a text that is the expected one without the module is right, and every other program is
    /// compiled alone.
    pub fn unexpected<'a>(&self, programs: &[&'a Program]) -> Vec<(&'a Program, String)> {
        let crates: Vec<&[&Program]> = programs.chunks(PROGRAMS_PER_CRATE).collect();
        let outputs = crates.par_iter().flat_map(|members| {
            let sources: Vec<_> = members.iter().map(|program| &*program.source).enumerate().collect();
            let folder = scratch_path();
            let found = self.check_modules("", &sources, &folder);
            let text = |number: usize, program: &Program| {
                let file = format!("{}/p{number}.rs", folder.display());
                let texts = found.get(&number)?.iter().map(|diagnostic| {
                    let text = rendered(diagnostic).replace(&file, &program.path);
                    normalized(&text.replace(&format!("p{number}::"), ""), &program.path)
                });
                Some(joined(texts))
            };
            let texts: Vec<_> = members.iter().enumerate().map(|(number, program)| text(number, program)).collect();
            texts
        });
        let outputs: Vec<Option<String>> = outputs.collect();
        let differing =
            programs.iter().zip(outputs).filter(|(program, output)| output.is_none() || *output != program.expected());
        let differing: Vec<&Program> = differing.map(|(program, _)| *program).collect();
        println!("{} of {} programs are compiled alone", differing.len(), programs.len());
        let alone: Vec<_> = differing.into_par_iter().map(|program| (program, self.stderr(&program.path))).collect();
        let is_wrong =
            |(program, output): &(&Program, String)| output.is_empty() || Some(output) != program.expected().as_ref();
        alone.into_iter().filter(is_wrong).collect()
    }

    /// The first error of each program, or `None` if the program compiles. The items of `shared` stand in
    /// the module above each program.
    ///
    /// Each program is a module of a generated crate. An error of an early compiler phase suppresses
    /// later phases for its whole crate, so programs without errors are checked again until a crate of
    /// such programs compiles as a whole.
    pub fn first_errors(&self, shared: &str, programs: &[String]) -> Vec<Option<String>> {
        let mut first_errors = vec![None; programs.len()];
        let mut unknown: Vec<usize> = (0..programs.len()).collect();
        while !unknown.is_empty() {
            let crates: Vec<&[usize]> = unknown.chunks(PROGRAMS_PER_CRATE).collect();
            let errors: Vec<_> = crates.par_iter().map(|members| self.check_crate(shared, members, programs)).collect();
            let failed = crates.iter().zip(&errors).filter(|(_, errors)| !errors.is_empty());
            let checked_again = failed
                .flat_map(|(members, errors)| members.iter().copied().filter(|member| !errors.contains_key(member)));
            let checked_again = checked_again.collect();
            for (program, error) in errors.into_iter().flatten() {
                first_errors[program] = Some(error);
            }
            unknown = checked_again;
        }
        first_errors
    }

    /// The first error of each program in a crate, if it has one.
    fn check_crate(&self, shared: &str, members: &[usize], programs: &[String]) -> BTreeMap<usize, String> {
        let root = format!("#![allow(warnings)]\n{shared}");
        let sources = members.iter().map(|member| (*member, &*programs[*member]));
        let diagnostics = self.check_modules(&root, &sources.collect::<Vec<_>>(), &scratch_path());
        let first = |(program, diagnostics): (usize, Vec<Value>)| {
            let message = diagnostics[0]["message"].as_str().unwrap();
            (program, message.to_string())
        };
        diagnostics.into_iter().map(first).collect()
    }

    /// The errors and warnings of each program in a crate whose root begins with `root`. The crate is written to
    /// `folder`, where the file of program `12` is `p12.rs`.
    fn check_modules(&self, root: &str, programs: &[(usize, &str)], folder: &Path) -> BTreeMap<usize, Vec<Value>> {
        fs::create_dir_all(folder).unwrap();
        let mut main = format!("{root}\nfn main() {{}}\n");
        for (number, source) in programs {
            main += &format!("mod p{number};\n");
            fs::write(folder.join(format!("p{number}.rs")), source).unwrap();
        }
        fs::write(folder.join("main.rs"), main).unwrap();
        let mut found = BTreeMap::<usize, Vec<Value>>::new();
        for diagnostic in self.check(&folder.join("main.rs")) {
            let spans = diagnostic["spans"].as_array().unwrap();
            let program = spans.iter().find_map(|span| program(span, folder));
            let program = program.unwrap_or_else(|| panic!("an error in no program: {}", diagnostic["rendered"]));
            found.entry(program).or_default().push(diagnostic);
        }
        fs::remove_dir_all(folder).unwrap();
        found
    }

    /// The errors and warnings of a crate. Nothing is built.
    fn check(&self, main: &Path) -> Vec<Value> {
        let metadata = scratch_path();
        let output = Command::new(&self.rustc)
            .args(["--edition=2024", "--crate-name=program", "--crate-type=bin", "--emit=metadata"])
            // Verbose, so that no part of a type is left out of a note.
            .args(["--error-format=json", "--verbose", "--allow=dead_code"])
            .args(&self.libraries)
            .arg("-o")
            .arg(&metadata)
            .arg(main)
            .current_dir(root())
            .output()
            .unwrap();
        // It is there only if the crate compiles.
        let _ = fs::remove_file(metadata);
        let stderr = String::from_utf8(output.stderr).unwrap();
        let diagnostics = stderr
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("rustc failed: {stderr}")));
        let is_summary = |text: &str| text.starts_with("aborting due to") || text.ends_with("emitted");
        let mut diagnostics: Vec<_> = diagnostics.collect();
        diagnostics.retain(|diagnostic| {
            let level = diagnostic["level"].as_str().unwrap();
            let is_diagnostic = level.starts_with("error") || level == "warning";
            is_diagnostic && !is_summary(diagnostic["message"].as_str().unwrap())
        });
        let has_error = diagnostics.iter().any(|one| one["level"].as_str().unwrap().starts_with("error"));
        assert_eq!(output.status.success(), !has_error, "rustc says: {stderr}");
        diagnostics
    }
}

/// A diagnostic as rustc prints it.
fn rendered(diagnostic: &Value) -> &str {
    diagnostic["rendered"].as_str().unwrap()
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join("\n")
}

/// The flags that name the library and its dependencies, as cargo has built them for this test.
fn libraries() -> Vec<String> {
    let (profile_folder, profile) = profile::folder_and_name();
    let output = Command::new(env!("CARGO"))
        .args(["test", "--no-run", "--locked", "--quiet", "--message-format=json", "--test=compiler"])
        .args(["--profile", &profile, "--no-default-features", "--features"])
        .arg(features().join(","))
        .arg("--target-dir")
        .arg(profile_folder.parent().unwrap())
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo says: {}", String::from_utf8_lossy(&output.stderr));
    let stdout = String::from_utf8(output.stdout).unwrap();
    let messages: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut flags = Vec::new();
    for name in ["typed_transformer", "dfdx"] {
        let is_library = |message: &&Value| {
            message["target"]["name"] == name && message["target"]["kind"] == serde_json::json!(["lib"])
        };
        let files = messages.iter().find(is_library).unwrap()["filenames"].as_array().unwrap();
        let files = files.iter().map(|file| file.as_str().unwrap());
        let file = files.max_by_key(|file| file.ends_with(".rmeta")).unwrap();
        flags.push(format!("--extern={name}={file}"));
        let folder = Path::new(file).parent().unwrap();
        flags.push(format!("-Ldependency={}", folder.display()));
    }
    flags
}

/// A path that nothing else uses.
fn scratch_path() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("rustc-{}-{number}", std::process::id()))
}

/// The program in whose file `p*.rs` of `folder` a span stands, or from which the macro was called that the
/// span is in.
fn program(span: &Value, folder: &Path) -> Option<usize> {
    let file = Path::new(span["file_name"].as_str()?);
    let number = file.file_stem()?.to_str()?.strip_prefix('p').and_then(|number| number.parse().ok());
    number.filter(|_| file.starts_with(folder)).or_else(|| program(&span["expansion"]["span"], folder))
}

/// A diagnostic of the program `path` as it is on any machine and for any version of the other files: their
/// paths are short and their line numbers blank, and the gutter is as wide as the numbers left need.
fn normalized(rendered: &str, path: &str) -> String {
    let mut lines = Vec::new();
    let (mut old_width, mut new_width) = (None, 1);
    let mut is_in_program = true;
    for line in rendered.lines() {
        let text = line.trim_start();
        let code = line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
        let gutter = &line[..line.len() - code.len()];
        if let Some(place) = text.strip_prefix("--> ").or(text.strip_prefix("::: ")) {
            old_width.get_or_insert(line.len() - text.len());
            is_in_program = place.starts_with(path);
            let (arrow, file) = line.split_at(line.len() - place.len());
            lines.push(match is_in_program {
                true => line.to_string(),
                false => arrow.to_string() + &short_path(file),
            });
        } else if code.starts_with('|') && !is_in_program {
            lines.push(" ".repeat(gutter.len()) + code);
        } else {
            if code.starts_with('|') {
                new_width = new_width.max(gutter.trim().len());
            }
            lines.push(line.to_string());
        }
    }
    let excess = " ".repeat(old_width.unwrap_or(new_width) - new_width);
    let lines = lines.iter().map(|line| line.strip_prefix(&excess).unwrap_or(line).trim_end());
    lines.collect::<Vec<_>>().join("\n").trim_end().to_string() + "\n"
}

/// The path of a file outside the program without line, column and what depends on the machine.
fn short_path(place: &str) -> String {
    let file = place.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':');
    if let Some((_, file)) = file.split_once("/registry/src/") {
        return format!("$CARGO/{}", file.split_once('/').unwrap().1);
    }
    match file.split_once("/library/") {
        Some((_, file)) => format!("$RUST/{file}"),
        None => file.to_string(),
    }
}
