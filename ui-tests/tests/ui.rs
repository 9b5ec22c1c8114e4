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
    let mut rooms: Vec<_> = fs::read_dir("fail").unwrap().map(|room| room.unwrap().path()).collect();
    if cfg!(feature = "tokenizers") {
        rooms.push("fail-tokenizers".into());
    }
    rooms.sort();
    // A few folders at once: Cargo takes memory for the square of the number of programs that it checks, and its memory
    // adds to the time in which each compiler starts.
    let at_once = if env::args().any(|argument| argument.starts_with("trybuild=")) { rooms.len() } else { 4 };
    let failed = rooms.chunks(at_once).filter(|rooms| catch_unwind(|| check(rooms)).is_err()).count();
    assert_eq!(failed, 0, "folders with a program that failed");
}

fn check(rooms: &[PathBuf]) {
    let programs = trybuild::TestCases::new();
    rooms.iter().for_each(|room| programs.compile_fail(room.join("**/*.rs")));
}
