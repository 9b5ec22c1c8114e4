//! The level of vector instructions that kernels use.

use pulp::Arch;
#[cfg(target_arch = "x86_64")]
use pulp::x86::{V3, V4};
use std::{env, sync::LazyLock};

/// The environment variable that lowers the level: `none`, `avx2` (with FMA) or `avx512`. So a test on one processor
/// takes the path of another; PyTorch has `ATEN_CPU_CAPABILITY` for this. gemm chooses by itself and does not read it.
const VARIABLE: &str = "TYPED_TRANSFORMER_SIMD";

/// The highest level of this processor, or the one that [`VARIABLE`] names if the processor has it. The variable is
/// read once.
pub fn level() -> Arch {
    static LEVEL: LazyLock<Arch> = LazyLock::new(|| {
        let name = env::var(VARIABLE).unwrap_or_default();
        named(&name).unwrap_or_default()
    });
    *LEVEL
}

fn named(name: &str) -> Option<Arch> {
    match name {
        "none" => Some(Arch::Scalar),
        #[cfg(target_arch = "x86_64")]
        "avx2" => V3::try_new().map(Arch::V3),
        #[cfg(target_arch = "x86_64")]
        "avx512" => V4::try_new().map(Arch::V4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::simd_width;
    use std::{mem::discriminant, process::Command};

    /// Runs all other tests of this crate again at each other level that this processor has.
    #[test]
    fn all_tests_pass_at_every_level() {
        const THIS: &str = "simd::level::tests::all_tests_pass_at_every_level";
        let is_other = |name: &&str| named(name).is_some_and(|other| discriminant(&other) != discriminant(&level()));
        for name in ["none", "avx2", "avx512"].into_iter().filter(is_other) {
            let output =
                Command::new(env::current_exe().unwrap()).args(["--skip", THIS]).env(VARIABLE, name).output().unwrap();
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && !stdout.contains(" 0 passed"), "{name}: {stdout}");
        }
    }

    #[test]
    fn vectors_have_the_width_of_the_level() {
        let expected = match (env::var(VARIABLE).as_deref(), Arch::new()) {
            (Ok("none"), _) | (_, Arch::Scalar) => 1,
            #[cfg(target_arch = "x86_64")]
            (Ok("avx2"), _) | (_, Arch::V3(_)) => 8,
            #[cfg(target_arch = "x86_64")]
            (_, Arch::V4(_)) => 16,
            #[cfg(target_arch = "aarch64")]
            (_, Arch::Neon(_)) => 4,
            (_, other) => panic!("{other:?} has no width here"),
        };
        assert_eq!(simd_width(), expected);
    }
}
