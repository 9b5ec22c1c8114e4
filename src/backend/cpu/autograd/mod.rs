//! Everything that kernels need besides arithmetic: operands, the tape, scratch memory and threads.

mod buffer;
mod operand;
mod partition;
mod storage;
mod view;
mod worker_pool;

pub use buffer::Buffer;
#[cfg(test)]
pub use operand::FlatTensor;
pub use operand::{KernelOutput, Operand, record_kernel, with_backward};
pub use partition::{Partition, Split, UnitRange};
pub use storage::{elements, elements_mut};
pub use view::View;
pub use worker_pool::parallel_map;
