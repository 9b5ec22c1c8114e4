mod declare;
mod field;
mod summary;

pub use summary::{Summary, SummaryRow, child_path};

use std::collections::BTreeSet;

/// A module whose parameters and dimensions are known from its type alone.
///
/// [`module!`](crate::module!) implements it.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{Linear, Module}, prelude::*};
/// type Logits = Linear<EmbedDim, VocabSize, f32, Cpu>;
/// const _: () = assert!(Logits::NUM_PARAMS == 8 * 28 + 28);
/// ```
pub trait Module {
    /// Number of trainable scalars.
    const NUM_PARAMS: usize;

    /// Appends a summary row for the module at `path` and one for each of its submodules.
    fn describe(path: &str, rows: &mut Vec<SummaryRow>);

    /// The summary of the module.
    fn summary(&self) -> Summary
    where
        Self: Sized,
    {
        Summary::of::<Self>()
    }

    /// Adds to `out` the [conventions](super::Conventions::conventions) of the module and its submodules.
    fn conventions(out: &mut BTreeSet<(&'static str, String)>);
}
