use super::threads::ThreadRank;
use super::transport::{Communicator, Pending, TransportResult, Worker};
use super::{ConstRankAxis, RankAxis, RanksError, Shard};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, marker::PhantomData, ops::Range, sync::Arc, thread, time::Duration};

/// The variables by which launchers of MPI programs say how many processes they started.
const LAUNCHERS: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"];
/// The variable by which launchers with PMIx say which process this is. It does not say how many there are.
const PMIX_LAUNCHER: &str = "PMIX_RANK";
/// The variable that names a launcher with PMIx.
const PMIX_NAMESPACE: &str = "PMIX_NAMESPACE";
/// The variable in which Slurm says how many processes it started.
const SLURM_TASKS: &str = "SLURM_STEP_NUM_TASKS";

/// The time in which collective operations ran, and the part of it in which the caller waited. The difference was
/// hidden behind computation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommunicationTime {
    /// The time in which operations ran.
    pub running: Duration,
    /// The part of it in which the caller waited for them.
    pub waited: Duration,
}

/// The communicator (process group) of the ranks of `Axis`, as this process sees it: its rank, their number, and the
/// collective operations. Clones are the same communicator.
///
/// ```
/// use typed_transformer::{ranks, ranks::{Ranks, RanksError}};
/// ranks! { pub World; pub Tp = 2; }
/// let ranks = Ranks::<World>::start()?;
/// assert_eq!((ranks.rank(), ranks.size()), (0, 1)); // `mpirun -n 4` starts four
/// let time = ranks.communication_time();
/// assert!(time.waited <= time.running);
/// assert_eq!(Ranks::<World>::single()?.size(), 1);
/// assert!(Ranks::<Tp>::single().is_err());
/// # Ok::<(), RanksError>(())
/// ```
pub struct Ranks<Axis> {
    pub(super) communicator: Arc<dyn Communicator>,
    pub(super) worker: Arc<Worker>,
    /// Whether these are all ranks, not those of a split.
    pub(super) is_world: bool,
    axis: PhantomData<fn() -> Axis>,
}

impl<Axis: RankAxis> Ranks<Axis> {
    /// Joins the processes that `mpirun -n N` started, or is the only rank.
    ///
    /// A launcher is recognized by a variable of the environment: `OMPI_COMM_WORLD_SIZE` (Open MPI), `PMI_SIZE`
    /// (MPICH, Intel MPI, `srun --mpi=pmi2`), `MPI_LOCALNRANKS` (MPICH) or `PMIX_RANK` (`srun --mpi=pmix`, unless Slurm
    /// says that it started one process).
    ///
    /// Call [`end_together`](Self::end_together) before the last clone is dropped. A process that drops the last clone
    /// without this call ends all others after 5 seconds.
    ///
    /// # Errors
    /// [`RanksError::NoTransport`] under a launcher without the feature `mpi`; [`RanksError::Size`] if the type of the
    /// axis says another number of ranks; [`RanksError::StartedBefore`]; [`RanksError::Start`].
    pub fn start() -> Result<Self, RanksError> {
        match launcher(|variable| env::var(variable).ok()) {
            None => Self::single(),
            #[cfg(not(feature = "mpi"))]
            Some(launcher) => Err(RanksError::NoTransport { launcher }),
            #[cfg(feature = "mpi")]
            Some(_) => {
                let (communicator, worker) = super::mpi::start()?;
                Self::new(communicator, Arc::new(worker))
            }
        }
    }

    /// A single rank: this process.
    ///
    /// # Errors
    /// [`RanksError::Size`] if the type of the axis says another number of ranks.
    pub fn single() -> Result<Self, RanksError> {
        Self::new(Arc::new(ThreadRank::group(1).remove(0)), Arc::default())
    }

    /// Runs `run` on `count` threads of this process, which are ranks to each other: for tests and examples. Returns
    /// the results in the order of the ranks.
    ///
    /// # Panics
    /// If a thread panics, or if the type of the axis says another number of ranks.
    pub fn in_threads<Value: Send>(count: usize, run: impl Fn(&Self) -> Value + Sync) -> Vec<Value> {
        Self::run_in_threads(count, &run)
    }

    // `run` is a trait object, so this is compiled once for each type of a value, and not for each call.
    fn run_in_threads<Value: Send>(count: usize, run: &(dyn Fn(&Self) -> Value + Sync)) -> Vec<Value> {
        thread::scope(|scope| {
            let start = |member: ThreadRank| {
                scope.spawn(move || {
                    let _leaving = member.leaving();
                    let ranks = Self::new(Arc::new(member), Arc::default());
                    run(&ranks.unwrap_or_else(|error| panic!("{error}")))
                })
            };
            let threads: Vec<_> = ThreadRank::group(count).into_iter().map(start).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, Value>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        })
    }

    fn new(communicator: Arc<dyn Communicator>, worker: Arc<Worker>) -> Result<Self, RanksError> {
        let found = communicator.size();
        match Axis::EXPECTED_SIZE {
            Some(expected) if expected != found => Err(RanksError::Size { axis: Axis::NAME, expected, found }),
            _ => Ok(Self { communicator, worker, is_world: true, axis: PhantomData }),
        }
    }

    /// Arranges the ranks in a grid of the axes `Outer` and `Inner`, for example data × tensor parallel. Rank `r` is
    /// `r / n` along `Outer` and `r % n` along `Inner`, where `n` is the number of ranks of `Inner`. So the ranks of
    /// one `Inner` have consecutive numbers, and launchers usually start such ranks on one machine.
    ///
    /// # Errors
    /// [`RanksError::Grid`] if `Inner` does not divide the number of ranks; [`RanksError::Size`] if the type of
    /// `Outer` says another number of ranks; [`RanksError::Transport`].
    ///
    /// ```
    /// use typed_transformer::{ranks, ranks::Ranks};
    /// ranks! { pub World; pub Data; pub Tp = 2; }
    /// let places = Ranks::<World>::in_threads(4, |ranks| {
    ///     let (data, tp) = ranks.split::<Data, Tp>()?;
    ///     Ok((data.rank(), tp.rank()))
    /// });
    /// # let _: &Vec<Result<(usize, usize), typed_transformer::ranks::RanksError>> = &places;
    /// assert_eq!(places, [Ok((0, 0)), Ok((0, 1)), Ok((1, 0)), Ok((1, 1))]);
    /// ```
    pub fn split<Outer: RankAxis, Inner: ConstRankAxis>(&self) -> Result<(Ranks<Outer>, Ranks<Inner>), RanksError> {
        let (size, columns) = (self.size(), <Inner as dfdx::shapes::ConstDim>::SIZE);
        if !size.is_multiple_of(columns) {
            return Err(RanksError::Grid { axis: Axis::NAME, size, inner: Inner::NAME, columns });
        }
        let (row, column) = (self.rank() / columns, self.rank() % columns);
        let outer = self.start_operation("split", move |communicator| Ok((communicator.split(column)?, 0))).wait()?;
        let inner = self.start_operation("split", move |communicator| Ok((communicator.split(row)?, 0))).wait()?;
        let outer = Ranks { is_world: false, ..Ranks::new(outer, self.worker.clone())? };
        let inner = Ranks { is_world: false, ..Ranks::new(inner, self.worker.clone())? };
        Ok((outer, inner))
    }

    /// This process's rank, from 0.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.communicator.rank()
    }

    /// The number of ranks.
    #[must_use]
    pub fn size(&self) -> usize {
        self.communicator.size()
    }

    /// Whether this is rank 0, the one that writes files and shows progress.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// The part of `0..len` that belongs to `rank`. Parts are consecutive and differ in length by at most one; the
    /// longer ones come first.
    #[must_use]
    pub fn part_of(&self, len: usize, rank: usize) -> Range<usize> {
        part_of(len, rank, self.size())
    }

    /// This rank's part of a dimension.
    pub fn shard<Whole: crate::dims::Dim>(&self, whole: Whole) -> Shard<Whole, Axis> {
        Shard::new(self.part_of(whole.size(), self.rank()), whole.size())
    }

    /// Bytes of values that this process has sent to other ranks so far. Messages that compare settings or report
    /// failures are not counted.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.worker.traffic.sent_bytes.load(Ordering::Relaxed)
    }

    /// The time that communication has taken in this process so far.
    #[must_use]
    pub fn communication_time(&self) -> CommunicationTime {
        let traffic = &self.worker.traffic;
        let load = |nanoseconds: &AtomicU64| Duration::from_nanos(nanoseconds.load(Ordering::Relaxed));
        CommunicationTime { running: load(&traffic.running_nanoseconds), waited: load(&traffic.waited_nanoseconds) }
    }

    /// Starts a collective operation, which returns its value and the number of bytes that this rank sends.
    pub(super) fn start_operation<Value: Send + 'static>(
        &self,
        name: &'static str,
        operation: impl FnOnce(&dyn Communicator) -> TransportResult<(Value, usize)> + Send + 'static,
    ) -> Pending<Value> {
        // This cancels an earlier `end_together`: the others would wait for ever for a rank that leaves now.
        self.worker.set_ends_together(false);
        let rank = self.rank();
        let describe = move |message| RanksError::Transport { rank, axis: Axis::NAME, operation: name, message };
        self.worker.start(&self.communicator, Box::new(describe), Box::new(operation))
    }
}

crate::dims::cloned!([Axis] Ranks<Axis> { communicator, worker, is_world, axis });
crate::error::debug_as!(
    [Axis: RankAxis] Ranks<Axis>,
    |this, f| write!(f, "rank {} of {} of `{}`", this.rank(), this.size(), Axis::NAME)
);

/// The variable of the launcher that started several processes; `read` gives the value of a variable.
fn launcher(read: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let sizes: Vec<_> = LAUNCHERS.into_iter().filter_map(|launcher| Some((launcher, read(launcher)?))).collect();
    if sizes.is_empty() {
        // `mpirun` inside a Slurm step passes `SLURM_TASKS` on, so it counts only if the namespace is Slurm's own.
        let is_of_slurm = read(PMIX_NAMESPACE).is_some_and(|name| name.starts_with("slurm.pmix."));
        let is_alone = is_of_slurm && read(SLURM_TASKS).is_some_and(|tasks| tasks == "1");
        return read(PMIX_LAUNCHER).filter(|_| !is_alone).map(|_| PMIX_LAUNCHER);
    }
    sizes.into_iter().find(|(_, size)| size != "1").map(|(launcher, _)| launcher)
}

/// The part of `0..len` that belongs to `rank` of `size` ranks.
pub(super) fn part_of(len: usize, rank: usize, size: usize) -> Range<usize> {
    let (least, more) = (len / size, len % size);
    let start = rank * least + rank.min(more);
    start..start + least + usize::from(rank < more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_is_one_of_several_processes() {
        let found = |variables: &'static [(&str, &str)]| {
            launcher(|name| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).into()))
        };
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[("OMPI_COMM_WORLD_SIZE", "1"), ("PMIX_RANK", "0")]), None);
        assert_eq!(found(&[("OMPI_COMM_WORLD_SIZE", "2"), ("PMIX_RANK", "0")]), Some("OMPI_COMM_WORLD_SIZE"));
        assert_eq!(found(&[("PMI_SIZE", "3")]), Some("PMI_SIZE"));
        assert_eq!(found(&[("PMIX_RANK", "0")]), Some("PMIX_RANK"));
        assert_eq!(found(&[("PMIX_RANK", "0"), ("SLURM_STEP_NUM_TASKS", "1")]), Some("PMIX_RANK"));
        const OF_SLURM: (&str, &str) = ("PMIX_NAMESPACE", "slurm.pmix.7.0");
        assert_eq!(found(&[("PMIX_RANK", "0"), OF_SLURM, ("SLURM_STEP_NUM_TASKS", "2")]), Some("PMIX_RANK"));
        assert_eq!(found(&[("PMIX_RANK", "0"), OF_SLURM, ("SLURM_STEP_NUM_TASKS", "1")]), None);
    }
}
