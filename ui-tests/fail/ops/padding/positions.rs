//! Padding is that of its own positions.
//! Covers `Positions` of `ops::Padding`.
//! Right with `SrcLen` for `TgtLen` in line 9.
use typed_transformer::{ops::Padding, prelude::*};

dims! { SrcLen; TgtLen; Batch; }

fn count(_: &impl Padding<(Batch, SrcLen)>) {}
fn tokens(padding: &PaddingMask<Batch, TgtLen>) {
    count(padding);
}

fn main() {}
