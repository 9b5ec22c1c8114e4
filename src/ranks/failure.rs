//! The error of ranks, and what they decide together: whether they are alike, fail or end, so that none waits for one
//! that has gone.

use super::{RankAxis, Ranks};
use itertools::Itertools;
use std::{cell::RefCell, collections::BTreeMap, fmt};

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
    /// The transport failed.
    #[error("rank {rank} of `{axis}`: {operation} failed: {message}")]
    Transport { rank: usize, axis: &'static str, operation: &'static str, message: String },
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
    /// A setting that all ranks should share differs on a rank. `absent` stands for a rank without the setting.
    #[error("{setting} is {expected} on rank 0, but {found} on rank {rank} of `{axis}`")]
    Setting { axis: &'static str, rank: usize, setting: String, expected: String, found: String },
    /// A launcher started several processes, but the program cannot reach the others. `launcher` is the launcher's
    /// variable of the environment.
    #[error(
        "this process is one of several that `{launcher}` started, but the program was built without the feature `mpi`"
    )]
    NoTransport { launcher: &'static str },
    /// The transport could not start.
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

impl<Axis: RankAxis> Ranks<Axis> {
    /// Returns `result` if no rank failed. Otherwise all ranks fail: a failed rank with its own error, the others with
    /// [`RanksError::OtherRanks`]. If a single rank returned early, the others would wait for it.
    ///
    /// # Errors
    /// The error of `result`; [`RanksError::OtherRanks`]; [`RanksError::Transport`].
    ///
    /// ```
    /// use typed_transformer::{ranks, ranks::{Ranks, RanksError}};
    /// ranks! { pub World; }
    /// let opened = Ranks::<World>::in_threads(2, |ranks| {
    ///     // Rank 1 cannot read its data.
    ///     let data = if ranks.rank() == 1 { Err("no such file".into()) } else { Ok(vec![1, 2]) };
    ///     ranks.fail_together::<Vec<i32>, Box<dyn std::error::Error>>(data).map_err(|error| error.to_string())
    /// });
    /// assert_eq!(opened, [Err("rank 1 of `World` failed".into()), Err("no such file".into())]);
    /// ```
    pub fn fail_together<Value, Error: From<RanksError>>(&self, result: Result<Value, Error>) -> Result<Value, Error> {
        let failed = match self.all_gather_bytes([u8::from(result.is_err())]) {
            Ok(failed) => failed,
            Err(error) => return result.and(Err(error.into())),
        };
        let ranks: Vec<usize> = (0..self.size()).filter(|&rank| failed[rank] == [1]).collect();
        if ranks.is_empty() {
            return result;
        }
        self.end_together();
        result.and(Err(RanksError::OtherRanks { axis: Axis::NAME, ranks }.into()))
    }

    /// Compares named settings of all ranks, such as the command line. A name may have several values. Call it first:
    /// ranks that differ may wait for each other for ever, or train different models.
    ///
    /// # Errors
    /// On all ranks, [`RanksError::Setting`] with the first rank that differs from rank 0, the setting, and both
    /// values; [`RanksError::Transport`].
    ///
    /// ```
    /// use typed_transformer::{ranks, ranks::{Ranks, RanksError}};
    /// ranks! { pub World; }
    /// let compared = Ranks::<World>::in_threads(2, |ranks| {
    ///     let steps = if ranks.rank() == 1 { "20" } else { "30" };
    ///     ranks.ensure_same([("the seed", "0"), ("the number of steps", steps)]).map_err(|error| error.to_string())
    /// });
    /// let error = "the number of steps is 30 on rank 0, but 20 on rank 1 of `World`";
    /// assert_eq!(compared, [Err(error.to_string()), Err(error.to_string())]);
    /// ```
    pub fn ensure_same(
        &self,
        settings: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Result<(), RanksError> {
        let own = by_name(settings);
        let failed = RanksError::device("ensure_same");
        let texts = self.all_gather_vec(&serde_json::to_vec(&own).map_err(&failed)?)?;
        let all = texts.iter().map(|text| serde_json::from_slice::<Settings>(text));
        let all: Vec<Settings> = all.collect::<Result<_, _>>().map_err(&failed)?;
        let first = &all[0];
        for (rank, other) in all.iter().enumerate().skip(1) {
            if let Some(setting) = first.keys().chain(other.keys()).find(|&name| first.get(name) != other.get(name)) {
                self.end_together();
                let value = |settings: &Settings| settings.get(setting).map_or("absent", String::as_str).to_string();
                let (expected, found) = (value(first), value(other));
                return Err(RanksError::Setting { axis: Axis::NAME, rank, setting: setting.clone(), expected, found });
            }
        }
        Ok(())
    }

    /// Whether a flag is set on some rank.
    pub(crate) fn any(&self, is_set: bool) -> Result<bool, RanksError> {
        let mut count = [f64::from(u8::from(is_set))];
        self.all_reduce(&mut count)?;
        Ok(count != [0.0])
    }

    /// Declares that all ranks have agreed to end. A rank that then leaves waits for the others without a limit of
    /// time, and does not end them. Without this call, a rank that leaves ends the others after 5 seconds.
    ///
    /// The next collective operation cancels it. On an axis of a [`split`](Self::split) it has no effect, because a
    /// split does not hold all ranks.
    pub fn end_together(&self) {
        if self.is_world {
            self.worker.set_ends_together(true);
        }
    }
}

thread_local! {
    /// An error of a collective operation in a backward pass. The closures of a pass can return only the device's
    /// errors, so it waits here until the pass is over.
    static FAILURE: RefCell<Option<RanksError>> = const { RefCell::new(None) };
}

/// Keeps the first error of a backward pass on this thread.
pub fn put_aside(error: RanksError) {
    FAILURE.with_borrow_mut(|failure| {
        failure.get_or_insert(error);
    });
}

/// Whether a collective operation of the backward pass has failed. A further one would wait for ranks that have
/// stopped.
pub fn has_failed() -> bool {
    FAILURE.with_borrow(Option::is_some)
}

/// Returns the error that [`put_aside`] kept, and keeps it no longer.
pub fn take_error() -> Result<(), RanksError> {
    FAILURE.take().map_or(Ok(()), Err)
}

type Settings = BTreeMap<String, String>;

/// Settings by name. The values of one name are joined, so that a comparison sees each.
pub(crate) fn by_name(settings: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>) -> Settings {
    let mut values = BTreeMap::<String, Vec<String>>::new();
    for (name, value) in settings {
        values.entry(name.into()).or_default().push(value.into());
    }
    values.into_iter().map(|(name, values)| (name, values.join(" and "))).collect()
}
