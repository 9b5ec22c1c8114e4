//! Tensor parallelism: the ranks divide the heads and the hidden columns of each layer among themselves
//! ([*Megatron-LM*](https://arxiv.org/abs/1909.08053), section 3).
//!
//! The layers of [`nn`](crate::nn) are divided by the type of their configuration: `DecoderOnly<OnRanks<Config, Tp>>`
//! is a rank's part of `DecoderOnly<Config>` ([`OnRanks`]). [`Distributed`] builds, loads and saves such a model.
//!
//! A layer of your own is divided by the operations here. The type of a tensor says what each rank of an axis `Tp`
//! holds:
//!
//! | type | on each rank | its gradient |
//! | --- | --- | --- |
//! | `Tensor<(B, S, M)>` | replicated | replicated |
//! | [`Entered<Tensor<(B, S, M)>, Tp>`](Entered) | replicated | this rank's term of a sum |
//! | `Tensor<(B, S, Shard<M, Tp>)>` | its part of `M` | the part's |
//! | [`Partial<Tensor<(B, S, M)>, Tp>`](crate::ranks::Partial) | its term of a sum | replicated |
//!
//! Each operation between them says what it does to the gradient:
//!
//! | operation | from | to | gradient of the input |
//! | --- | --- | --- | --- |
//! | [`enter`] | `X` | `Entered<X>` | all-reduce of the terms |
//! | [`all_reduce`] | `Partial<X>` | `X` | that of the output |
//! | [`all_gather`] | `Shard` | `X` | this rank's part |
//! | [`all_gather_entered`] | `Shard` | `Entered<X>` | reduce-scatter |
//! | [`reduce_scatter`] | `Partial<X>` | `Shard` | all-gather |
//! | [`shard`] | `Entered<X>` | `Shard` | pads with zeros |
//! | [`linear_column`] | `Entered<X>` | `Shard` of the output | this rank's term |
//! | [`linear_row`] | `Shard` of the input | `Partial<X>` | this rank's part |
//!
//! The weight's gradient, in both forms of `linear`, is that of the rank's shard. It is complete without communication.
//!
//! An operation that communicates returns [`OpError::Ranks`](crate::ops::OpError::Ranks) if a rank fails, and so does a
//! layer of such operations.
//!
//! All other operations take shards as they are, on every axis that they do not sum, normalize, index or order:
//! activations, products of two shards, attention and its cache in a rank's heads; attention with dropout is
//! [`multi_head_attention`] or [`grouped_query_attention`] of this module. A sum, mean, norm, softmax or
//! contraction along a shard does not compile: it would take a part for the whole. Nor does a weight that repeats along
//! a shard of the model: each rank would have only a term of the weight's gradient. Only what is linear takes a
//! `Partial`: [`add`] and [`scale`].
//!
//! So a layer of your own is the layer of one process, with these forms of `linear`, an [`enter`] before them and an
//! [`all_reduce`] after them. [`guide::ranks`](crate::guide::ranks) has the layers of Llama, and the mistakes that do
//! not compile.

mod distributed;
mod entered;
mod gather;
mod on_ranks;
mod operations;
mod parameter_sharding;
mod sharding;

pub use crate::ranks::Entered;
pub use distributed::{Distributed, Sharded};
pub use entered::{CanEnter, EnteredOver, all_reduce, enter};
pub use gather::{CanGather, CanShard, all_gather, all_gather_entered, reduce_scatter, shard};
pub use on_ranks::{DividesLayersOf, OnRanks};
pub use operations::{add, grouped_query_attention, linear_column, linear_row, multi_head_attention, scale};
pub use sharding::{DistributedError, update_sharded, update_sharded_replicated};
