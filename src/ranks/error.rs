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
pub enum RanksError {
    /// Another number of ranks than the type says.
    #[error("`{axis}` has {expected} ranks, but {}", started(*found))]
    Size {
        /// The axis of ranks.
        axis: &'static str,
        /// The number of ranks of its type.
        expected: usize,
        /// The number of ranks there are.
        found: usize,
    },
    /// The ranks cannot be arranged in rows of `columns` ranks.
    #[error("the {size} ranks of `{axis}` cannot be split into groups of {columns} for `{inner}`")]
    Grid {
        /// The axis that is split.
        axis: &'static str,
        /// Its number of ranks.
        size: usize,
        /// The inner axis of the grid.
        inner: &'static str,
        /// Its number of ranks.
        columns: usize,
    },
    /// The engine failed.
    #[error("rank {rank} of `{axis}`: {operation} failed: {message}")]
    Engine {
        /// This process's rank.
        rank: usize,
        /// The axis of ranks.
        axis: &'static str,
        /// The collective operation.
        operation: &'static str,
        /// The engine's own words.
        message: String,
    },
    /// The device failed, for example because it is out of memory.
    #[error("{operation}: {message}")]
    Device {
        /// The operation.
        operation: &'static str,
        /// The device's own words.
        message: String,
    },
    /// A slice has another length than the operation needs.
    #[error("rank {rank} of `{axis}`: {operation} needs {expected} elements, but there are {found}")]
    Len {
        /// This process's rank.
        rank: usize,
        /// The axis of ranks.
        axis: &'static str,
        /// The collective operation.
        operation: &'static str,
        /// The number of elements it needs.
        expected: usize,
        /// The number of elements given.
        found: usize,
    },
    /// A shard does not know which part of the dimension it is.
    #[error("the place of {dim} is not known; `Ranks::shard` makes a shard that knows it")]
    Place {
        /// The shard, with its size.
        dim: String,
    },
    /// Other ranks failed in an operation of all ranks, so this one stops too.
    #[error("{} of `{axis}` failed", Listed(ranks))]
    OtherRanks {
        /// The axis of ranks.
        axis: &'static str,
        /// The ranks that failed.
        ranks: Vec<usize>,
    },
    /// Values that should be the same bits on all ranks differ.
    #[error("{what} differs between rank 0 and {} of `{axis}`", Listed(ranks))]
    Differs {
        /// The axis of ranks.
        axis: &'static str,
        /// The value.
        what: &'static str,
        /// The ranks whose value is not that of rank 0.
        ranks: Vec<usize>,
    },
    /// A setting that all ranks should have alike is another one on a rank.
    #[error("{setting} is {expected} on rank 0, but {found} on rank {rank} of `{axis}`")]
    Setting {
        /// The axis of ranks.
        axis: &'static str,
        /// The first rank that differs.
        rank: usize,
        /// The first setting that differs.
        setting: String,
        /// Its value on rank 0, or `absent`.
        expected: String,
        /// Its value on that rank, or `absent`.
        found: String,
    },
    /// A launcher started several processes, but the program cannot reach the others.
    #[error(
        "this process is one of several that `{launcher}` started, but the program was built without the feature `mpi`"
    )]
    NoEngine {
        /// The launcher's variable of the environment.
        launcher: &'static str,
    },
    /// The engine could not start.
    #[error("the ranks could not be started: {message}")]
    Start {
        /// The engine's own words.
        message: String,
    },
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
struct Listed<'a>(&'a [usize]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("no rank"),
            [one] => write!(f, "rank {one}"),
            [first @ .., last] => {
                let first: Vec<String> = first.iter().map(usize::to_string).collect();
                write!(f, "ranks {} and {last}", first.join(", "))
            }
        }
    }
}
