//! Decisions that all ranks make together, so that none waits for one that has gone.

use super::{RankAxis, Ranks, RanksError};

impl<Axis: RankAxis> Ranks<Axis> {
    /// The result, if no rank failed. If any did, all ranks fail: those that did with their own error, the others with
    /// [`RanksError::OtherRanks`]. A rank that left alone would let the others wait for it.
    ///
    /// # Errors
    /// The error of `result`; [`RanksError::OtherRanks`]; [`RanksError::Engine`].
    ///
    /// ```
    /// use typed_transformer::{ranks, ranks::{Ranks, RanksError}};
    /// ranks! { pub World; }
    /// let opened = Ranks::<World>::in_threads(2, |ranks| {
    ///     // Rank 1 cannot read its data.
    ///     let data = if ranks.rank() == 1 { Err("no such file".into()) } else { Ok(vec![1, 2]) };
    ///     ranks.agree::<Vec<i32>, Box<dyn std::error::Error>>(data).map_err(|error| error.to_string())
    /// });
    /// assert_eq!(opened, [Err("rank 1 of `World` failed".into()), Err("no such file".into())]);
    /// ```
    pub fn agree<Value, Error: From<RanksError>>(&self, result: Result<Value, Error>) -> Result<Value, Error> {
        let failed = match self.all_gather_bytes(&[u8::from(result.is_err())]) {
            Ok(failed) => failed,
            Err(error) => return result.and(Err(error.into())),
        };
        let ranks: Vec<usize> = (0..self.size()).filter(|&rank| failed[rank] == [1]).collect();
        if ranks.is_empty() {
            return result;
        }
        self.finish();
        result.and(Err(RanksError::OtherRanks { axis: Axis::NAME, ranks }.into()))
    }

    /// Says that all ranks have agreed to end: from now on each may leave when it is done, and waits for the others
    /// as long as they need. A rank that leaves without it ends the others after 5 seconds.
    ///
    /// It holds until the next collective operation. On an axis of a [`split`](Self::split) it does nothing, since that
    /// is not all ranks.
    pub fn finish(&self) {
        if self.is_world {
            self.worker.set_finished(true);
        }
    }
}
