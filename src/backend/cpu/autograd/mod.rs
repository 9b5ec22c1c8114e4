//! Everything that kernels need besides arithmetic: operands, the tape, scratch memory and threads.

mod buffer;
pub mod gradient_hook;
mod operand;
mod partition;
mod storage;
mod unnamed;
mod view;
mod worker_pool;

pub use buffer::Buffer;
pub use operand::{FlatTensor, KernelOutput, Operand, record_kernel, with_backward};
pub use partition::{Partition, Split, UnitRange};
pub use storage::{elements, elements_mut};
pub use unnamed::{Unnamed, UnnamedTensor, unnamed};
pub use view::View;
pub use worker_pool::parallel_map;
