//! Gives every program of `examples/` to cargo and writes down beside it what is said of it.
//!
//! `cargo run` in this folder. `<program>.txt` then holds one part for the program as it stands, and
//! one for it with the feature `equal_sizes` where it asks for that. A part opens with the first of
//! `check`, `build` and `run` that fails, or `never`, and goes on with the tool's or the program's words.

use std::{env, ffi::OsStr, fs, io, path::Path, process::Command};

/// What a compiler's text ends in or mentions that says nothing of the program, as it is
/// left out of the `.stderr` files of `../fail`.
const LEFT_OUT: [&str; 7] = [
    "error: could not compile",
    "error: aborting due to",
    "For more information about this error",
    "Some errors have detailed explanations",
    "the full name for the type has been written to",
    "consider using `--verbose` to print the full type name",
    "note: run with `RUST_BACKTRACE=1`",
];

fn main() -> io::Result<()> {
    let mut programs = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples"))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    programs.retain(|file| file.extension() == Some(OsStr::new("rs")));
    programs.sort();
    for program in programs {
        let name = program.file_stem().unwrap().to_str().unwrap();
        let mut said = format!("=== {}", outcome(name, "")?);
        if fs::read_to_string(&program)?.contains("equal_sizes") {
            said += &format!("=== equal sizes, {}", outcome(name, "equal_sizes")?);
        }
        print!("{name}\n{said}\n");
        fs::write(program.with_extension("txt"), said)?;
    }
    Ok(())
}

/// The first of cargo's commands that fails, and what is said then, or what the program prints.
fn outcome(program: &str, features: &str) -> io::Result<String> {
    let mut printed = String::new();
    for command in ["check", "build", "run"] {
        let output = Command::new(env!("CARGO"))
            .args([command, "--locked", "--quiet", "--example", program])
            .args(["--features", features])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .envs([("CARGO_TERM_COLOR", "never"), ("RUST_BACKTRACE", "0")])
            .output()?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            return Ok(format!("{command}\n{}", on_any_machine(&words)));
        }
        printed = String::from_utf8_lossy(&output.stdout).into_owned();
    }
    Ok(format!("never\n{printed}"))
}

/// The words without what differs from one machine, or one run, to the next.
fn on_any_machine(words: &str) -> String {
    words
        .lines()
        .filter(|line| !line.is_empty() && !LEFT_OUT.iter().any(|text| line.contains(text)))
        .map(|line| without_thread_id(&without_registry(line)) + "\n")
        .collect()
}

/// `--> /home/me/.cargo/registry/src/<index>/dfdx-0.13.0/…` as `--> $CARGO/dfdx-0.13.0/…`.
fn without_registry(line: &str) -> String {
    let Some((before, after)) = line.split_once("/registry/src/") else {
        return line.to_owned();
    };
    let words = before.rsplit_once(' ').map_or("", |(words, _path)| words);
    let file = after.split_once('/').map_or(after, |(_index, file)| file);
    format!("{words} $CARGO/{file}")
}

/// `thread 'main' (4711) panicked` as `thread 'main' panicked`.
fn without_thread_id(line: &str) -> String {
    match line.split_once("' (") {
        Some((thread, rest)) if thread.starts_with("thread '") => {
            let after = rest.split_once(')').map_or(rest, |(_id, after)| after);
            format!("{thread}'{after}")
        }
        _ => line.to_owned(),
    }
}
