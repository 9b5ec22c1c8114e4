//! Ranks that are threads of one process: the transport of a single process, and one for tests without a launcher.

use super::transport::{Communicator, TransportResult};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The state that the threads of a group share.
struct GroupState {
    state: Mutex<State>,
    changed: Condvar,
    size: usize,
}

#[derive(Default)]
struct State {
    /// The number of the exchange that is going on.
    exchange: u64,
    /// The message of each rank that has sent in this exchange.
    sent: BTreeMap<usize, Arc<[u8]>>,
    /// The number of ranks that have not read yet, once all have sent.
    unread: usize,
    /// The ranks whose thread has ended.
    left: Vec<usize>,
    /// The subgroups that are being made, by their number.
    groups: BTreeMap<usize, Arc<GroupState>>,
}

/// A thread's ranks in its groups.
type Places = Mutex<Vec<(usize, Arc<GroupState>)>>;

/// A thread's place in a group of threads.
pub struct ThreadRank {
    rank: usize,
    shared: Arc<GroupState>,
    /// This place, and those in the groups that are split from this one.
    places: Arc<Places>,
}

impl ThreadRank {
    /// The members of a new group of `size` threads.
    pub fn group(size: usize) -> Vec<Self> {
        let shared = Arc::new(GroupState::new(size));
        (0..size).map(|rank| Self::new(rank, shared.clone(), Arc::default())).collect()
    }

    fn new(rank: usize, shared: Arc<GroupState>, places: Arc<Places>) -> Self {
        places.lock().unwrap_or_else(PoisonError::into_inner).push((rank, shared.clone()));
        Self { rank, shared, places }
    }

    /// The others of all groups learn that this thread has left when the result is dropped. The drop of the
    /// `ThreadRank` may come too late: a value that the thread returns may hold it.
    pub fn leaving(&self) -> Leaving {
        Leaving(self.places.clone())
    }

    /// Sends bytes to all ranks, and returns those of every rank.
    fn exchange(&self, bytes: &[u8]) -> TransportResult<Vec<Arc<[u8]>>> {
        let GroupState { changed, size, .. } = &*self.shared;
        let mut state = self.shared.lock();
        // The exchange before must have been read by all.
        while state.unread > 0 {
            state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let exchange = state.exchange;
        state.sent.insert(self.rank, bytes.into());
        if state.sent.len() == *size {
            state.unread = *size;
            changed.notify_all();
        }
        while state.unread == 0 && state.exchange == exchange {
            if let Some(rank) = state.left.first() {
                return Err(format!("the thread of rank {rank} has ended"));
            }
            state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let all = state.sent.values().cloned().collect();
        state.unread -= 1;
        if state.unread == 0 {
            state.sent.clear();
            state.exchange += 1;
            changed.notify_all();
        }
        Ok(all)
    }
}

impl GroupState {
    fn new(size: usize) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), size }
    }

    /// A panic of a thread cannot break an invariant of the state, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the others that a rank sends nothing more.
    fn leave(&self, rank: usize) {
        self.lock().left.push(rank);
        self.changed.notify_all();
    }
}

impl Drop for ThreadRank {
    fn drop(&mut self) {
        self.shared.leave(self.rank);
    }
}

/// The places of a thread, until it leaves them.
pub struct Leaving(Arc<Places>);

impl Drop for Leaving {
    fn drop(&mut self) {
        for (rank, group) in &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            group.leave(*rank);
        }
    }
}

impl Communicator for ThreadRank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.shared.size
    }

    fn all_to_all(&self, send: &[u8], lens: &[usize], mut receive: &mut [u8]) -> TransportResult {
        // Each rank sends all of its blocks behind their lengths.
        let header: Vec<u8> = lens.iter().flat_map(|len| (*len as u64).to_ne_bytes()).collect();
        let (start, len) = (header.len() + lens[..self.rank].iter().sum::<usize>(), lens[self.rank]);
        for message in self.exchange(&[&header[..], send].concat())?.iter() {
            // A rank with other lengths may be in another operation.
            let sent = message.get(start..start + len).filter(|_| message.starts_with(&header));
            let block = receive.split_off_mut(..len).unwrap_or_default();
            block.copy_from_slice(sent.ok_or("a rank sent a block of another length")?);
        }
        Ok(())
    }

    fn all_gather(&self, part: &[u8], mut whole: &mut [u8], lens: &[usize]) -> TransportResult {
        for (message, &len) in self.exchange(part)?.iter().zip(lens) {
            if message.len() != len {
                return Err(format!("a rank sent {} bytes, but {len} were expected", message.len()));
            }
            whole.split_off_mut(..len).unwrap_or_default().copy_from_slice(message);
        }
        Ok(())
    }

    fn broadcast(&self, data: &mut [u8], root: usize) -> TransportResult {
        let sent = self.exchange(if self.rank == root { data } else { &[] })?;
        if sent[root].len() != data.len() {
            return Err(format!("rank {root} sent {} bytes, but {} were expected", sent[root].len(), data.len()));
        }
        data.copy_from_slice(&sent[root]);
        Ok(())
    }

    fn split(&self, group: usize) -> TransportResult<Arc<dyn Communicator>> {
        let groups = self.exchange(&group.to_ne_bytes())?;
        let members: Vec<usize> = (0..self.size()).filter(|&rank| *groups[rank] == group.to_ne_bytes()).collect();
        let size = members.len();
        let shared = self.shared.lock().groups.entry(group).or_insert_with(|| Arc::new(GroupState::new(size))).clone();
        let rank = members.iter().position(|&rank| rank == self.rank).ok_or("this rank is in no group")?;
        // The next split makes new groups.
        self.exchange(&[])?;
        self.shared.lock().groups.clear();
        self.exchange(&[])?;
        Ok(Arc::new(Self::new(rank, shared, self.places.clone())))
    }
}
