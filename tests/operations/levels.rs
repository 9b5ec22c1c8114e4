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
