//! The data: random runs of consecutive integers, up or down, and the two numbers that come next.

use crate::{MaxSeqLen, SrcLen, TgtLen, VocabSize, support::BoxError};
use rand::Rng;
use std::ops::RangeInclusive;
use typed_transformer::prelude::*;

/// All numbers are below this.
const NUM_NUMBERS: usize = 125;
/// The number of given numbers.
const GIVEN: RangeInclusive<usize> = 3..=15;

/// Input of the decoder before the first number.
pub const BEGIN: Fin<VocabSize> = Fin::literal::<126>();
/// Fills sequences up to a common length.
pub const PAD: Fin<VocabSize> = Fin::literal::<127>();

pub type Numbers = Vec<Fin<VocabSize>>;

/// A run of consecutive integers.
pub struct Sequence {
    pub given: Numbers,
    pub next: Numbers,
}

impl Sequence {
    /// Every length and every direction is equally likely and, for each length, every lowest number.
    pub fn random(rng: &mut impl Rng) -> Self {
        let len = rng.gen_range(GIVEN);
        let count = len + TgtLen::SIZE;
        let lowest = rng.gen_range(0..=NUM_NUMBERS - count);
        let mut given: Numbers = Fin::all().skip(lowest).take(count).collect();
        if rng.gen_bool(0.5) {
            given.reverse();
        }
        let next = given.split_off(len);
        Self { given, next }
    }

    pub fn is_ascending(&self) -> bool {
        self.given[0].value() < self.given[1].value()
    }
}

/// The given numbers as a batch, padded.
pub fn sources<B: DataDim>(sequences: &[Sequence], batch: B) -> Result<TokenIds<B, SrcLen, VocabSize>, BoxError> {
    let rows: Vec<_> = sequences.iter().map(|sequence| &sequence.given).collect();
    let shape = (batch, SrcLen::new(MaxSeqLen::SIZE)?);
    Ok(TokenIds::padded(&rows, PAD, shape)?)
}

/// The next numbers as a batch.
pub fn targets<B: DataDim>(sequences: &[Sequence], batch: B) -> Result<TokenIds<B, TgtLen, VocabSize>, TokenError> {
    let rows: Vec<_> = sequences.iter().map(|sequence| &sequence.next).collect();
    TokenIds::padded(&rows, PAD, (batch, TgtLen))
}

/// Numbers side by side; a token that is not a number becomes `~`.
pub fn format_numbers(numbers: &[Fin<VocabSize>]) -> String {
    numbers.iter().map(format_number).collect::<Vec<_>>().join(" ")
}

pub fn format_number(number: &Fin<VocabSize>) -> String {
    match number.value() {
        number if number < NUM_NUMBERS => number.to_string(),
        _ => "~".into(),
    }
}
