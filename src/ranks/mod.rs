//! Ranks: the processes that train one model together. Types say how a value relates to the values of the other ranks.
//!
//! [`ranks!`](crate::ranks!) declares an axis of ranks as a type, and [`Ranks<World>`](Ranks) is this process's place
//! on it. The type of a value says what the ranks hold of it:
//!
//! | type | what a rank holds | made by | opened by |
//! | --- | --- | --- | --- |
//! | `X` | a value of its own | | |
//! | [`Replicated<X, W>`](Replicated) | the same bits as every other rank | [`Ranks::replicate`], a reduction | `Deref` |
//! | [`Partial<X, W>`](Partial) | its term of a sum over the ranks | a loss of its own rows | a reduction only |
//! | a tensor over [`Shard<Dim, W>`](Shard) | its part of a dimension | [`Ranks::shard`] | a gather |
//!
//! Collective operations are called by all ranks, in the same order. Sums are made in the order of the ranks, so they
//! have the same bits on all ranks, and in each run with the same number of ranks.
//!
//! # Transports
//!
//! | transport | ranks | started by |
//! | --- | --- | --- |
//! | a single process | one | [`Ranks::start`] |
//! | MPI (feature `mpi`) | processes, on one machine or many | [`Ranks::start`] under `mpirun -n N` |
//! | threads of one process, for tests | threads | [`Ranks::in_threads`] |

mod collectives;
pub(crate) mod failure;
mod group;
#[cfg(feature = "mpi")]
mod mpi;
mod partial;
mod replicated;
mod shard;
mod threads;
mod transport;

pub use failure::RanksError;
pub(crate) use failure::by_name;
pub use group::{CommunicationTime, Ranks};
pub use partial::{Element, Partial, Reduce, ReducedOver};
#[doc(hidden)]
pub use partial::{SumOver, TermOver};
pub(crate) use partial::{in_f32_or_f64, swap_if_big_endian};
pub use replicated::{Entered, Replicated};
pub(crate) use shard::is_sharded;
pub use shard::{ConstRankAxis, DataRanks, RankAxis, Shard};
#[doc(hidden)]
pub use shard::{IsAllOf, Part, PartOfData};
pub use transport::Pending;
