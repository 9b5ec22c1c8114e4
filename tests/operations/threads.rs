//! Kernels where the system starts no threads.

use crate::memory::steps;
use std::{env, process::Command, thread};
use typed_transformer::ops::dropout;
use typed_transformer::prelude::*;
use typed_transformer::train::Recording;

/// As where a limit of processes is reached, rayon cannot start its pool, and panics if it is asked for its threads.
#[test]
fn a_training_step_runs_where_no_thread_starts() {
    const STACK_BYTES: &str = "RUST_MIN_STACK";
    // More than any address space.
    let too_many = (1_u64 << 60).to_string();
    if env::var(STACK_BYTES).as_ref() != Ok(&too_many) {
        let mut again = Command::new(env::current_exe().unwrap());
        again.args(["--exact", "threads::a_training_step_runs_where_no_thread_starts"]).env(STACK_BYTES, too_many);
        let output = again.output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
        return;
    }
    assert!(thread::Builder::new().spawn(|| ()).is_err());
    steps::<Const<256>, Const<64>, Const<1024>>()();
    let x: Tensor<(Const<70_000>,), f32, Cpu> = Cpu::default().tensor(vec![1.0; 70_000]);
    dropout(x.put_tape(Recording::<(), f32, Cpu>::default()), 0.5).unwrap();
}
