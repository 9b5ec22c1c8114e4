//! Everything that kernels need besides arithmetic: operands, the tape, scratch memory and threads.

mod backward_pass;
mod buffer;
mod gradients;
mod operand;
mod output_memory;
mod partition;
mod runs;
mod shared_tape;
mod storage;
mod strided_operand;
mod sums;
mod unnamed;
mod worker_pool;

pub use backward_pass::{GradientHook, Leaves};
pub use buffer::Buffer;
pub use gradients::{Gradients, tensor_id};
pub use operand::{FlatTensor, GradientTarget, KernelOutput, Operand, record_kernel, with_backward};
pub use output_memory::{count_step, prefer_huge_pages};
pub use partition::{
    Chunk, MACS_PER_READ, Partition, SplitBy, add_in_parallel, copied, partition_elements, partition_repeated,
    partition_rows,
};
pub use runs::Runs;
pub use shared_tape::{BackwardError, SharedTape, Tape};
pub use storage::{elements, elements_mut, reshape};
pub use strided_operand::StridedOperand;
pub use sums::SumsInParts;
pub use unnamed::{Unnamed, UnnamedTensor, unnamed};
pub use worker_pool::{num_threads, parallel_map};
