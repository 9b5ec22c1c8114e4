//! Everything that kernels need besides arithmetic: operands, the tape, scratch memory and threads.

mod backward_pass;
mod buffer;
pub mod elementwise;
mod gradients;
mod operand;
mod output_memory;
mod partition;
mod reshape;
mod shared_tape;
mod storage;
mod strided_operand;
mod sums_in_parts;
mod unnamed;
mod worker_pool;

pub use backward_pass::{GradientHook, Leaves};
pub use buffer::Buffer;
pub use gradients::{Gradients, tensor_id};
pub use operand::{FlatTensor, GradientTarget, KernelOutput, Operand, record_kernel, with_backward};
pub use partition::{Chunk, MACS_PER_READ, Partition, Split};
pub use reshape::reshape;
pub use shared_tape::{BackwardError, SharedTape, Tape};
pub use storage::{elements, elements_mut};
pub use strided_operand::{Runs, StridedOperand, partition_repeated};
pub use sums_in_parts::SumsInParts;
pub use unnamed::{Unnamed, UnnamedTensor, unnamed};
pub use worker_pool::parallel_map;
