use crate::ops::OpError;
use crate::ranks::RanksError;
use crate::weights::{LoadError, SaveError};

/// The error of building, loading or saving a sharded model.
///
/// ```no_run
/// use typed_transformer::{doctest::*, prelude::*, ranks, ranks::Ranks, tensor_parallel::{Distributed, DistributedError, OnRanks}};
/// ranks! { pub Tp = 1; }
/// type Part = DecoderOnly<OnRanks<Model, Tp>, f32, Cpu>;
/// let ranks = Ranks::<Tp>::start()?;
/// match Distributed::<Part, Tp>::load("weights.safetensors", &Cpu::default(), &ranks) {
///     Err(DistributedError::Ranks(error)) => println!("another rank could not load its part: {error}"),
///     Err(error) => println!("{error}"),
///     Ok(model) => println!("{model:?}"),
/// }
/// # Ok::<(), typed_transformer::ranks::RanksError>(())
/// ```
#[derive(thiserror::Error)]
pub enum DistributedError {
    /// A collective operation or another rank failed.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// The file could not be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The file could not be saved.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// The device failed.
    #[error(transparent)]
    Op(#[from] OpError),
}
crate::error::debug_by_sentence!(DistributedError);
