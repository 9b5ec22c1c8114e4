//! Decisions that all ranks make together, so that none waits for one that has gone.

use super::{RankAxis, Ranks, RanksError};
use std::collections::BTreeMap;

type Settings = BTreeMap<String, String>;

/// Settings by name. The values of one name are joined, so that a comparison sees each.
pub(crate) fn by_name(settings: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>) -> Settings {
    let mut values = BTreeMap::<String, Vec<String>>::new();
    for (name, value) in settings {
        values.entry(name.into()).or_default().push(value.into());
    }
    values.into_iter().map(|(name, values)| (name, values.join(" and "))).collect()
}

impl<Axis: RankAxis> Ranks<Axis> {
    /// Returns `result` if no rank failed. Otherwise all ranks fail: a failed rank with its own error, the others with
    /// [`RanksError::OtherRanks`]. If a single rank returned early, the others would wait for it.
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
    /// values; [`RanksError::Engine`].
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
