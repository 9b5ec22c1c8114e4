//! The kernels at the levels of vector instructions below this processor's own.

use std::{env, process::Command};

/// The levels below this processor's own, as `TYPED_TRANSFORMER_SIMD` names them.
fn lower_levels() -> &'static [&'static str] {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        return &["none", "avx2"];
    }
    &["none"]
}

#[test]
fn kernels_agree_at_lower_levels() {
    for level in lower_levels() {
        let mut again = Command::new(env::current_exe().unwrap());
        again.args(["kernels::", "kernel_sizes::", "sublayers::"]).env("TYPED_TRANSFORMER_SIMD", level);
        let output = again.output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !stdout.contains(" 0 passed"), "{level}: {stdout}");
    }
}

/// A closure that is not inlined into a loop with vector instructions calls a function for each of them, which takes
/// several times as long. The symbols of the crate of kernels are the functions that it calls or has of its own.
#[cfg(target_arch = "x86_64")]
#[test]
fn no_vector_instruction_is_a_call() {
    let program = env::current_exe().unwrap();
    let files = std::fs::read_dir(program.parent().unwrap()).unwrap().map(|file| file.unwrap().path());
    let is_kernels = |name: &str| name.starts_with("libtyped_transformer_cpu-") && name.ends_with(".rlib");
    let kernels = files.filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_kernels));
    let newest = kernels.max_by_key(|path| path.metadata().unwrap().modified().unwrap());
    let newest = newest.expect("Cargo builds the kernels into the folder of this test");
    let library = std::fs::read(&newest).unwrap();
    let find = |text: &[u8]| library.windows(text.len()).position(|bytes| bytes == text);
    // Debug information names functions that are inlined.
    if find(b"debug_info").is_some() {
        return;
    }
    let called =
        find(b"9core_arch3x86").map(|start| String::from_utf8_lossy(&library[start..]).chars().take(48).collect());
    assert_eq!(called, None::<String>, "{newest:?}");
}
