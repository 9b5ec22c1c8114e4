use itertools::Itertools;
use std::fmt;

/// The error of a collective operation, or of the start of the ranks.
///
/// ```
/// use typed_transformer::{ranks, ranks::{Ranks, RanksError}};
/// ranks! { pub Tp = 2; }
/// // One process was started, not two.
/// let error = Ranks::<Tp>::single().unwrap_err();
/// assert_eq!(error.to_string(), "`Tp` has 2 ranks, but 1 was started");
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the fields of a variant are the words of its sentence")]
pub enum RanksError {
    /// Another number of ranks than the type says.
    #[error("`{axis}` has {expected} ranks, but {}", started(*found))]
    Size { axis: &'static str, expected: usize, found: usize },
    /// The ranks cannot be arranged in rows of `columns` ranks.
    #[error("the {size} ranks of `{axis}` cannot be split into groups of {columns} for `{inner}`")]
    Grid { axis: &'static str, size: usize, inner: &'static str, columns: usize },
    /// No `Distributed` has given a layer its ranks.
    #[error(
        "the layer has no ranks of `{axis}`: `Distributed` gives them to a model, and a copy in another dtype or on another device loses them"
    )]
    Unconnected { axis: &'static str },
    /// The engine failed.
    #[error("rank {rank} of `{axis}`: {operation} failed: {message}")]
    Engine { rank: usize, axis: &'static str, operation: &'static str, message: String },
    /// The device failed, for example because it is out of memory.
    #[error("{operation}: {message}")]
    Device { operation: &'static str, message: String },
    /// A slice has another length than the operation needs.
    #[error("rank {rank} of `{axis}`: {operation} needs {expected} elements, but there are {found}")]
    Len { rank: usize, axis: &'static str, operation: &'static str, expected: usize, found: usize },
    /// A shard does not know which part of the dimension it is.
    #[error("the place of {dim} is not known; `Ranks::shard` makes a shard that knows it")]
    Place { dim: String },
    /// Other ranks failed in an operation of all ranks, so this one stops too.
    #[error("{} of `{axis}` failed", listed(ranks))]
    OtherRanks { axis: &'static str, ranks: Vec<usize> },
    /// Values that should be the same bits on all ranks differ.
    #[error("{what} differs between rank 0 and {} of `{axis}`", listed(ranks))]
    Differs { axis: &'static str, what: &'static str, ranks: Vec<usize> },
    /// A setting that all ranks should have alike is another one on a rank. A rank that does not have it has `absent`.
    #[error("{setting} is {expected} on rank 0, but {found} on rank {rank} of `{axis}`")]
    Setting { axis: &'static str, rank: usize, setting: String, expected: String, found: String },
    /// A launcher started several processes, but the program cannot reach the others. `launcher` is the launcher's
    /// variable of the environment.
    #[error(
        "this process is one of several that `{launcher}` started, but the program was built without the feature `mpi`"
    )]
    NoEngine { launcher: &'static str },
    /// The engine could not start.
    #[error("the ranks could not be started: {message}")]
    Start { message: String },
    /// The ranks were started before: a process can start them once.
    #[error("the ranks were started before: a process starts them once")]
    StartedBefore,
}
crate::error::debug_by_sentence!(RanksError);

impl RanksError {
    /// Adds the name of the operation to a failure of the device.
    pub(crate) fn device<Error: fmt::Display>(operation: &'static str) -> impl Fn(Error) -> Self {
        move |error| Self::Device { operation, message: error.to_string() }
    }
}

fn started(count: usize) -> String {
    if count == 1 { "1 was started".into() } else { format!("{count} were started") }
}

/// `rank 2`, `ranks 0 and 2` or `ranks 0, 1 and 2`.
fn listed(ranks: &[usize]) -> String {
    match ranks {
        [] => "no rank".into(),
        [one] => format!("rank {one}"),
        [first @ .., last] => format!("ranks {} and {last}", first.iter().join(", ")),
    }
}
