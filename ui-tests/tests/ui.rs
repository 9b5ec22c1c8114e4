//! Every program below `fail` is refused, in the words of the file beside it.
//!
//! ```text
//! cargo test --test ui                                              # all of them
//! cargo test --test ui -- ui trybuild=linear                        # those whose path contains `linear`
//! TRYBUILD=overwrite cargo test --features tokenizers --test ui     # renews the .stderr files
//! ```

use std::{
    env, fs,
    io::{Write, stderr},
    panic::catch_unwind,
    path::PathBuf,
    process::{Command, Stdio},
};

/// The compiler whose words are expected.
const COMPILER: &str = concat!("rustc ", env!("CARGO_PKG_RUST_VERSION"), ".");

/// The flags of rustc that trybuild 1.0.122 has for the programs. It first checks what they depend on without the last
/// flag. Cargo would check that a second time with it.
const FLAGS: &str = "--cfg\x1ftrybuild\x1f--verbose\x1f-Adead_code\x1f--diagnostic-width=140";
/// Where Cargo reads flags that replace those of trybuild.
const FLAGS_VARIABLE: &str = "CARGO_ENCODED_RUSTFLAGS";

/// The number of folders whose programs Cargo checks at once. Cargo takes memory for the square of the number of
/// programs, and a compiler starts the later, the more memory Cargo has.
const FOLDERS_AT_ONCE: usize = 4;

#[test]
fn ui() {
    let rustc = env::var_os("RUSTC").unwrap_or("rustc".into());
    let version = String::from_utf8(Command::new(rustc).arg("--version").output().unwrap().stdout).unwrap();
    if !version.starts_with(COMPILER) {
        // Not by `println!`, which a test that passes does not show.
        let notice =
            "the texts are not compared; `cargo test --test compiler programs` checks that it refuses the programs";
        writeln!(stderr(), "\n{} is not {COMPILER}*: {notice}", version.trim()).unwrap();
        return;
    }
    if env::var(FLAGS_VARIABLE).as_deref() != Ok(FLAGS) {
        // No safe function changes the environment of this process, so a new one has it.
        let mut ui = Command::new(env::current_exe().unwrap());
        let output =
            ui.args(env::args_os().skip(1)).env(FLAGS_VARIABLE, FLAGS).stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let mut folders: Vec<_> = fs::read_dir("fail").unwrap().map(|folder| folder.unwrap().path()).collect();
    if cfg!(feature = "tokenizers") {
        folders.push("fail-tokenizers".into());
    }
    folders.sort();
    // A run for one program prints the results of one check.
    let at_once =
        if env::args().any(|argument| argument.starts_with("trybuild=")) { folders.len() } else { FOLDERS_AT_ONCE };
    let failed = folders.chunks(at_once).filter(|folders| catch_unwind(|| check(folders)).is_err()).count();
    assert_eq!(failed, 0, "groups of folders with a program that failed");
}

fn check(folders: &[PathBuf]) {
    let programs = trybuild::TestCases::new();
    for folder in folders {
        assert!(folder.is_dir(), "a program lies in a folder of `fail`, which {folder:?} is not");
        programs.compile_fail(folder.join("**/*.rs"));
    }
}
