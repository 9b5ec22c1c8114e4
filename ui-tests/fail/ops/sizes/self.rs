//! A tensor has up to 6 axes.
//! Right with `6` for `7` in line 7.
use typed_transformer::ops::Sizes;

fn plain<Any: Sizes>() {}

fn apply() { plain::<[usize; 7]>() }

fn main() {}
