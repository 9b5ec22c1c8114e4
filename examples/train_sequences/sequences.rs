//! The task: runs of consecutive integers, up or down, and the two numbers that come next.

use rand::Rng;
use typed_transformer::prelude::*;

dims! {
    /// The numbers, `<begin>`, `<pad>`, and one token that stands for nothing.
    pub VocabSize = 128;
    /// The longest sequence of the model.
    pub MaxSeqLen = 16;
    /// Numbers that are given, and what fills them up.
    pub SrcLen <= MaxSeqLen;
    /// Numbers that are asked for.
    pub TgtLen = 2;
    /// Sequences in a batch.
    pub Batch;
}

/// Every number is below this.
pub const NUMBERS: usize = 125;
/// The fewest and the most numbers that are given.
const GIVEN: std::ops::RangeInclusive<usize> = 3..=15;

/// What the decoder reads before the first number.
pub const BEGIN: Fin<VocabSize> = Fin::literal::<126>();
/// What fills sequences up.
pub const PAD: Fin<VocabSize> = Fin::literal::<127>();

pub type Numbers = Vec<Fin<VocabSize>>;

/// A run of consecutive integers.
pub struct Sequence {
    pub given: Numbers,
    pub next: Numbers,
}

impl Sequence {
    /// Every length as likely as any other, both directions too, and then every place in which all
    /// the numbers are there.
    pub fn random(rng: &mut impl Rng) -> Self {
        let given = rng.gen_range(GIVEN);
        let count = given + TgtLen::SIZE;
        let lowest = rng.gen_range(0..=NUMBERS - count);
        let mut numbers: Numbers = Fin::all().skip(lowest).take(count).collect();
        if rng.gen_bool(0.5) {
            numbers.reverse();
        }
        let next = numbers.split_off(given);
        let given = numbers;
        Self { given, next }
    }

    pub fn is_ascending(&self) -> bool {
        self.given[0].value() < self.given[1].value()
    }
}

/// What is given of each, filled up.
pub fn sources(
    sequences: &[Sequence],
) -> Result<TokenIds<Batch, SrcLen, VocabSize>, Box<dyn std::error::Error>> {
    let rows: Vec<_> = sequences.iter().map(|s| &s.given).collect();
    let shape = (Batch::new(rows.len()), SrcLen::new(MaxSeqLen::SIZE)?);
    Ok(TokenIds::padded(&rows, PAD, shape)?)
}

/// What comes next in each.
pub fn labels(sequences: &[Sequence]) -> Result<TokenIds<Batch, TgtLen, VocabSize>, TokenError> {
    let rows: Vec<_> = sequences.iter().map(|s| &s.next).collect();
    TokenIds::padded(&rows, PAD, (Batch::new(rows.len()), TgtLen))
}
