use super::{PairedColumn, Rotary, RotaryPairs};
use crate::backend::Rotation;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The cosines and sines of the angles of some positions, for each pair of columns, `(S, HeadDim / 2)`, or for each
/// column, `(S, HeadDim)`.
pub(super) struct Tables {
    pub cosines: Vec<f64>,
    pub sines: Vec<f64>,
}

impl Tables {
    /// The tables for `len` positions from `start` on, and for heads of `width` columns.
    pub fn of(rotary: Rotary, start: usize, len: usize, width: usize) -> Self {
        let angles: Vec<f64> = (0..width / 2).map(|pair| rotary.angle_per_position(pair, width)).collect();
        let all = (start..start + len).flat_map(|position| angles.iter().map(move |angle| position as f64 * angle));
        let (sines, cosines) = all.map(f64::sin_cos).unzip();
        Self { cosines, sines }
    }

    /// The tables of `x'[c] = cosines[c] · x[c] + sines[c] · x[other(c)]`: `(S, HeadDim)` each. The sine of the first
    /// column of a pair is negative.
    pub fn of_columns(rotary: Rotary, start: usize, len: usize, width: usize) -> Self {
        let tables = Self::of(rotary, start, len, width);
        let columns: Vec<PairedColumn> = (0..width).map(|column| rotary.pairs.of_column(column, width)).collect();
        let widened = |table: Vec<f64>, sign: fn(&PairedColumn) -> f64| {
            let rows = table.chunks((width / 2).max(1));
            rows.flat_map(|row| columns.iter().map(|column| sign(column) * row[column.pair])).collect()
        };
        Self {
            cosines: widened(tables.cosines, |_| 1.0),
            sines: widened(tables.sines, |column| if column.is_second { 1.0 } else { -1.0 }),
        }
    }
}

/// The values that decide a table: the [`Rotary`], the first position, the number of positions, and the number of columns.
type TableKey = (Rotary, usize, usize, usize);

/// The tables that were made last. All layers of a model use the same, and so do the steps of a training.
static RECENT: Mutex<VecDeque<(TableKey, Rotation)>> = Mutex::new(VecDeque::new());
/// The number of tables that are kept: one for local and one for global layers, in training and in validation.
const MAX_KEPT: usize = 4;
/// The most numbers in a table that is kept; a longer one is made for each call. So kept tables take at most 16 MiB.
const MAX_KEPT_LEN: usize = 1 << 19;

/// The rotations of heads of `width` columns at `len` positions from `start` on, `vectors_per_position` at each.
pub(super) fn rotation(key @ (rotary, start, len, width): TableKey, vectors_per_position: usize) -> Rotation {
    // A lock of a thread that has panicked is used: a table is added whole or not at all.
    let recent = || RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    let found = recent().iter().find(|(other, _)| *other == key).map(|(_, rotation)| rotation.clone());
    if let Some(rotation) = found {
        return Rotation { vectors_per_position, ..rotation };
    }
    let tables = Tables::of(rotary, start, len, width);
    let single = |table: Vec<f64>| -> Arc<[f32]> { table.into_iter().map(|x| x as f32).collect() };
    let distance = match rotary.pairs {
        RotaryPairs::Adjacent => 1,
        RotaryPairs::Halves => width / 2,
    };
    let (cosines, sines) = (single(tables.cosines), single(tables.sines));
    let rotation = Rotation { cosines, sines, width, distance, vectors_per_position };
    if rotation.cosines.len() <= MAX_KEPT_LEN {
        let mut recent = recent();
        recent.truncate(MAX_KEPT - 1);
        recent.push_front((key, rotation.clone()));
    }
    rotation
}
