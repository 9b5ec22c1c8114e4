//! Decisions that all ranks make together, so that none waits for one that has gone.

use super::{RankAxis, Ranks, RanksError};

impl<Axis: RankAxis> Ranks<Axis> {
    /// Returns `result` if no rank failed. Otherwise all ranks fail: a failed rank with its own error, the others with
    /// [`RanksError::OtherRanks`]. If a rank left alone, the others would wait for it.
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
    ///     ranks.fail_together::<Vec<i32>, Box<dyn std::error::Error>>(data).map_err(|error| error.to_string())
    /// });
    /// assert_eq!(opened, [Err("rank 1 of `World` failed".into()), Err("no such file".into())]);
    /// ```
    pub fn fail_together<Value, Error: From<RanksError>>(&self, result: Result<Value, Error>) -> Result<Value, Error> {
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

    /// Declares that all ranks have agreed to end. Each may then leave when it is done, and waits for the others
    /// without a limit. Without it, a rank that leaves ends the others after 5 seconds.
    ///
    /// The next collective operation cancels it. On an axis of a [`split`](Self::split) it has no effect, because a
    /// split does not hold all ranks.
    pub fn finish(&self) {
        if self.is_world {
            self.worker.set_finished(true);
        }
    }
}
