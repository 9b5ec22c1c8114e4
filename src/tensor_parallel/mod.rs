//! Tensor parallelism: the ranks divide the heads and the hidden columns of each layer among themselves
//! ([*Megatron-LM*](https://arxiv.org/abs/1909.08053), section 3).
//!
//! The type of a tensor says what each rank of an axis `Tp` holds:
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
//! | operation | from | to | backward pass |
//! | --- | --- | --- | --- |
//! | [`enter`] | `X` | `Entered<X>` | all-reduce |
//! | [`all_reduce`] | `Partial<X>` | `X` | identity |
//! | [`all_reduce_entered`] | `Partial<X>` | `Entered<X>` | all-reduce |
//! | [`all_gather`] | `Shard` | `X` | this rank's part |
//! | [`all_gather_entered`] | `Shard` | `Entered<X>` | reduce-scatter |
//! | [`reduce_scatter`] | `Partial<X>` | `Shard` | all-gather |
//! | [`shard`] | `Entered<X>` | `Shard` | pads with zeros |
//! | [`linear_column`] | `Entered<X>` | `Shard` of the output | this rank's term |
//! | [`linear_row`] | `Shard` of the input | `Partial<X>` | this rank's part |
//!
//! An operation that communicates returns [`OpError::Ranks`](crate::ops::OpError::Ranks) if a rank fails, and so does a layer
//! of such operations.
//!
//! All other operations take shards as they are, on every axis that they do not sum, normalize, index or order:
//! activations, products of two shards, attention and its cache in a rank's heads. A sum, mean, norm, softmax or
//! contraction along a shard does not compile: it would take a part for the whole. Only what is linear takes a
//! `Partial`: [`add`] and [`scale`].
//!
//! So a block of Llama is that of one process, with an [`enter`] before and an [`all_reduce`] after each sublayer:
//!
//! ```
//! use typed_transformer::{
//!     dims::Factor,
//!     nn::{CacheUpdate, Heads, KeyValueCache, init},
//!     ops::{Activation, Rotary, Silu, grouped_query_attention, rotary_positions},
//!     prelude::*,
//!     ranks,
//!     ranks::{Element, Ranks, Shard},
//!     tensor_parallel::{all_reduce, enter, linear_column, linear_row},
//! };
//!
//! ranks! { pub Tp = 2; }
//! dims! {
//!     pub EmbedDim = 8; pub HiddenDim = 16; pub NumKeyValueHeads = 2; pub GroupSize = 3; pub HeadDim = 4;
//!     pub MaxSeqLen = 16; pub SeqLen = 3; pub Batch = 1;
//! }
//! /// The columns of the keys of this rank's heads.
//! type KeyDim = Product<Shard<NumKeyValueHeads, Tp>, HeadDim>;
//! /// Those of its queries. `GroupSize` heads share a head of the keys.
//! type QueryDim = Product<Product<Shard<NumKeyValueHeads, Tp>, GroupSize>, HeadDim>;
//! /// The heads that a rank caches.
//! type CachedHeads = Heads<Shard<NumKeyValueHeads, Tp>, HeadDim, HeadDim>;
//!
//! #[module(output = EmbedDim)]
//! struct Block<E, D> {
//!     #[param(init::ones)]
//!     attention_norm: Tensor<(EmbedDim,), E, D>,
//!     #[param(|weight| init::normal(weight, 0.02))]
//!     query: Tensor<(QueryDim, EmbedDim), E, D>,
//!     #[param(|weight| init::normal(weight, 0.02))]
//!     key: Tensor<(KeyDim, EmbedDim), E, D>,
//!     #[param(|weight| init::normal(weight, 0.02))]
//!     value: Tensor<(KeyDim, EmbedDim), E, D>,
//!     #[param(|weight| init::normal(weight, 0.02))]
//!     attended: Tensor<(EmbedDim, QueryDim), E, D>,
//!     #[param(init::ones)]
//!     feed_forward_norm: Tensor<(EmbedDim,), E, D>,
//!     #[param(|weight| init::normal(weight, 0.02))]
//!     gate: Tensor<(Shard<HiddenDim, Tp>, EmbedDim), E, D>,
//!     #[param(|weight| init::normal(weight, 0.02))]
//!     hidden: Tensor<(Shard<HiddenDim, Tp>, EmbedDim), E, D>,
//!     #[param(|weight| init::normal(weight, 0.02))]
//!     output: Tensor<(EmbedDim, Shard<HiddenDim, Tp>), E, D>,
//! }
//!
//! impl<E: Element, D: Backend<E>> Block<E, D> {
//!     fn forward<B: MaybeSharded, Q: Dim, K: Dim, T: Tape<E, D>>(
//!         &self,
//!         x: Tensor<(B, Q, EmbedDim), E, D, T>,
//!         start: usize,
//!         mask: &AttentionMask<B, Q, K>,
//!         update_cache: impl CacheUpdate<B, Q, K, CachedHeads, E, D, T>,
//!         tp: &Ranks<Tp>,
//!     ) -> Result<Tensor<(B, Q, EmbedDim), E, D, T>, OpError> {
//!         let read = enter(rms_norm(x.clone(), &self.attention_norm, 1e-5)?, tp)?;
//!         let query = rotate(linear_column(read.clone(), &self.query, None)?, start)?;
//!         let key = rotate(linear_column(read.clone(), &self.key, None)?, start)?;
//!         let (key, value) = update_cache((key, linear_column(read, &self.value, None)?))?;
//!         let attended = grouped_query_attention(query, key, value, mask, AttentionOptions::default())?;
//!         let x = residual(x, all_reduce(linear_row(attended, &self.attended)?, tp)?)?;
//!
//!         let read = enter(rms_norm(x.clone(), &self.feed_forward_norm, 1e-5)?, tp)?;
//!         let gate = Silu::apply(linear_column(read.clone(), &self.gate, None)?)?;
//!         let hidden = mul(gate, linear_column(read, &self.hidden, None)?)?;
//!         residual(x, all_reduce(linear_row(hidden, &self.output)?, tp)?)
//!     }
//! }
//!
//! /// Rotates each head by its position.
//! fn rotate<B: MaybeSharded, S: Dim, H: Factor, E: Real, D: Backend<E>, T: Tape<E, D>>(
//!     heads: Tensor<(B, S, Product<H, HeadDim>), E, D, T>,
//!     start: usize,
//! ) -> Result<Tensor<(B, S, Product<H, HeadDim>), E, D, T>, OpError> {
//!     let heads = rearrange!(heads: (B, S, Product<H, HeadDim>) -> (B, S, H, HeadDim))?;
//!     let heads = rotary_positions(heads, axis::<S>(), start, Rotary::halves(10_000.0))?;
//!     rearrange!(heads: (B, S, H, HeadDim) -> (B, S, Product<H, HeadDim>))
//! }
//!
//! let results = Ranks::<Tp>::in_threads(2, |tp| {
//!     // Each rank draws its own parts here; `Distributed` draws those of a whole model.
//!     let block = Block::<f32, Cpu>::build(&Cpu::seed_from_u64(tp.rank() as u64));
//!     let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = Cpu::seed_from_u64(9).sample_normal();
//!     let mask = mk_mask::<CausalMask, PadSourceKeys, _, _>(&PaddingMask::without_padding((Batch, SeqLen)));
//!     let whole = block.forward(x.clone(), 0, &mask, Ok, tp)?;
//!     let mut cache = KeyValueCache::<Batch, MaxSeqLen, CachedHeads, f32, Cpu>::new(x.device(), Batch)?;
//!     let mask = cache.mask(SeqLen);
//!     let cached = block.forward(x, 0, &mask, |new| cache.update(new), tp)?;
//!     assert_eq!(cached.as_vec(), whole.as_vec());
//!     Ok::<(), OpError>(())
//! });
//! assert_eq!(results, [Ok(()), Ok(())]);
//! ```

mod attention;
mod distributed;
mod dropout;
mod entered;
mod error;
mod gather;
mod linear;
mod local;
mod nn;
mod parameter_sharding;
mod partial;
mod save;
mod tape;
mod update;

pub use attention::multi_head_attention;
pub use distributed::{Distributed, Sharded};
pub use entered::{CanEnter, Entered, EnteredOver, all_reduce, all_reduce_entered, enter};
pub use error::DistributedError;
pub use gather::{CanGather, CanShard, all_gather, all_gather_entered, reduce_scatter, shard};
pub use linear::{linear_column, linear_row};
pub use nn::{DividesLayersOf, ShardedAttention, ShardedDecoderOnly, ShardedFeedForward, ShardedLM};
pub use partial::{add, scale};
pub use update::{update_sharded, update_sharded_replicated};
