//! The compiler's verdict on thousands of programs that use this crate.
//!
//! `rustc` runs directly and takes the library from the files that this test is linked with, so neither the
//! library nor a dependency is compiled a second time. Loading them takes longer than checking a program, so programs
//! share crates.

use crate::profile;
use crate::program::{features, root};
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::{env, fs};

/// The number of programs that share a crate. A larger crate spends less time on loading dependencies, but more
/// programs are checked again if one of them fails.
const PROGRAMS_PER_CRATE: usize = 50;

/// The compiler itself: the `rustc` of rustup first looks for the right toolchain.
static RUSTC: LazyLock<PathBuf> = LazyLock::new(|| {
    let rustc = env::var_os("RUSTC").map_or("rustc".into(), PathBuf::from);
    let sysroot = Command::new(&rustc).args(["--print", "sysroot"]).output().unwrap().stdout;
    let sysroot = Path::new(str::from_utf8(&sysroot).unwrap().trim_end());
    let direct = sysroot.join("bin/rustc").with_extension(env::consts::EXE_EXTENSION);
    if direct.exists() { direct } else { rustc }
});

/// What `rustc --version` prints.
pub fn version() -> String {
    let output = Command::new(&*RUSTC).arg("--version").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim_end().to_string()
}

/// The flags that name the library and its dependencies.
static LIBRARIES: LazyLock<Vec<String>> = LazyLock::new(libraries);

/// The first error of each program, or `None` if the program compiles. The items of `shared` stand in
/// the module above each program.
///
/// Each program is a module of a generated crate. An error of an early compiler phase suppresses
/// later phases for its whole crate, so programs without errors are checked again until a crate of
/// such programs compiles as a whole.
pub fn first_errors(shared: &str, programs: &[String]) -> Vec<Option<String>> {
    let mut first_errors = vec![None; programs.len()];
    let mut unknown: Vec<usize> = (0..programs.len()).collect();
    while !unknown.is_empty() {
        let crates: Vec<&[usize]> = unknown.chunks(PROGRAMS_PER_CRATE).collect();
        let errors: Vec<_> = crates.par_iter().map(|members| check_crate(shared, members, programs)).collect();
        let failed = crates.iter().zip(&errors).filter(|(_, errors)| !errors.is_empty());
        let checked_again =
            failed.flat_map(|(members, errors)| members.iter().copied().filter(|member| !errors.contains_key(member)));
        let checked_again = checked_again.collect();
        for (program, error) in errors.into_iter().flatten() {
            first_errors[program] = Some(error);
        }
        unknown = checked_again;
    }
    first_errors
}

/// What rustc says about a crate of these files, the first of which is its root. Nothing is built.
pub fn check_files(files: &[(PathBuf, String)]) -> Output {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Command::new(&*RUSTC)
        .args(["--edition=2024", "--crate-name=program", "--crate-type=lib", "--emit=metadata"])
        .args(&*LIBRARIES)
        .args(["-o", "metadata"])
        .arg(&files[0].0)
        .current_dir(folder.path())
        .output()
        .unwrap()
}

/// The first error of each program in a crate, if it has one. Nothing is built.
fn check_crate(shared: &str, members: &[usize], programs: &[String]) -> BTreeMap<usize, String> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = folder.path();
    let mut main = format!("#![allow(warnings)]\n{shared}\nfn main() {{}}\n");
    for member in members {
        main += &format!("mod p{member};\n");
        fs::write(folder.join(format!("p{member}.rs")), &programs[*member]).unwrap();
    }
    fs::write(folder.join("main.rs"), main).unwrap();
    let output = Command::new(&*RUSTC)
        .args(["--edition=2024", "--crate-name=program", "--emit=metadata", "--error-format=json"])
        .args(&*LIBRARIES)
        .args(["-o", "metadata", "main.rs"])
        .current_dir(folder)
        .output()
        .unwrap();

    let stderr = String::from_utf8(output.stderr).unwrap();
    let mut first_errors = BTreeMap::new();
    for line in stderr.lines() {
        let diagnostic: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("rustc failed: {stderr}"));
        let message = diagnostic["message"].as_str().unwrap();
        if diagnostic["level"] == "error" && !message.starts_with("aborting due to") {
            let member = diagnostic["spans"].as_array().unwrap().iter().find_map(program);
            let member = member.unwrap_or_else(|| panic!("an error in no program: {}", diagnostic["rendered"]));
            first_errors.entry(member).or_insert_with(|| message.to_string());
        }
    }
    assert_eq!(output.status.success(), first_errors.is_empty(), "rustc says: {stderr}");
    first_errors
}

/// The program `12` in whose file `p12.rs` a span stands, or from which the macro was called that the span is in.
fn program(span: &Value) -> Option<usize> {
    let file = span["file_name"].as_str()?;
    let number = file.strip_prefix('p').and_then(|file| file.strip_suffix(".rs"));
    number.and_then(|number| number.parse().ok()).or_else(|| program(&span["expansion"]["span"]))
}

/// [`LIBRARIES`], as cargo has built them for this test.
fn libraries() -> Vec<String> {
    let (profile_folder, profile) = profile::folder_and_name();
    let output = Command::new(env!("CARGO"))
        .args(["test", "--no-run", "--locked", "--quiet", "--message-format=json", "--test=compiler"])
        .args(["--profile", &profile, "--no-default-features", "--features"])
        .arg(features().join(","))
        .arg("--target-dir")
        .arg(profile_folder.parent().unwrap())
        .current_dir(root())
        .env_remove("CARGO_BUILD_TARGET")
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo says: {}", String::from_utf8_lossy(&output.stderr));
    let stdout = String::from_utf8(output.stdout).unwrap();
    let messages: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let file = |name: &str| {
        let is_library = |message: &&Value| {
            message["target"]["name"] == name && message["target"]["kind"] == serde_json::json!(["lib"])
        };
        let files = messages.iter().find(is_library).unwrap()["filenames"].as_array().unwrap();
        files.iter().map(|file| file.as_str().unwrap()).max_by_key(|file| file.ends_with(".rmeta")).unwrap()
    };
    let (library, dfdx) = (file("typed_transformer"), file("dfdx"));
    let folder = Path::new(library).parent().unwrap().display();
    vec![
        format!("--extern=typed_transformer={library}"),
        format!("--extern=dfdx={dfdx}"),
        format!("-Ldependency={folder}"),
    ]
}
