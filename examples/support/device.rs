//! `--device`: where an example runs. And how a small one ends.

use clap::ValueEnum;
use dfdx::tensor::AutoDevice;
use std::{
    error::Error,
    io::{Write, stderr},
    process::ExitCode,
};

/// A device by its name.
#[derive(Clone, Copy, ValueEnum)]
pub enum DeviceName {
    Cpu,
    Cuda,
}

impl Default for DeviceName {
    /// The name of [`AutoDevice`].
    fn default() -> Self {
        if cfg!(feature = "cuda") { Self::Cuda } else { Self::Cpu }
    }
}

/// The first GPU; the error says what is missing for it.
#[cfg(feature = "cuda")]
pub fn cuda(seed: u64) -> Result<AutoDevice, Box<dyn Error>> {
    use std::panic;
    // cudarc 0.9 panics if the driver finds no GPU; the panic's message holds the driver's error.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let device = panic::catch_unwind(|| AutoDevice::try_seed_from_u64(seed));
    panic::set_hook(hook);
    let message = match device {
        Ok(Ok(device)) => return Ok(device),
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panic.downcast_ref::<String>().cloned().unwrap_or_default(),
    };
    let error = message.rsplit(" value: ").next().unwrap_or_default();
    Err(format!("--device cuda: {error}; --device cpu needs no GPU").into())
}

/// The error says what is missing for a GPU.
#[cfg(not(feature = "cuda"))]
pub fn cuda(_seed: u64) -> Result<AutoDevice, Box<dyn Error>> {
    Err("--device cuda: this program was built without CUDA; build it with --features cuda".into())
}

/// Prints the error, if any, and returns the exit status: 0, or 1 for an error.
pub fn end(result: Result<(), Box<dyn Error>>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    // `eprintln!` panics if standard error is closed.
    let _ = writeln!(stderr(), "error: {error}");
    ExitCode::FAILURE
}
