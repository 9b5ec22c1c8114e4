//! `--device`: where an example runs.

use clap::ValueEnum;
use dfdx::tensor::AutoDevice;

/// A device by its name.
#[derive(Clone, Copy, ValueEnum)]
pub enum DeviceName {
    Cpu,
    Cuda,
}

impl Default for DeviceName {
    /// The name of [`AutoDevice`].
    fn default() -> Self {
        if cfg!(feature = "cuda") {
            Self::Cuda
        } else {
            Self::Cpu
        }
    }
}

/// The first GPU, or in one line what is missing for it.
#[cfg(feature = "cuda")]
pub fn cuda(seed: u64) -> Result<AutoDevice, String> {
    AutoDevice::try_seed_from_u64(seed).map_err(|error| format!("--device cuda: {error}"))
}

/// In one line what is missing for a GPU.
#[cfg(not(feature = "cuda"))]
pub fn cuda(_seed: u64) -> Result<AutoDevice, String> {
    Err("--device cuda: this program was built without CUDA; build it with --features cuda".into())
}
