//! An index belongs to its axis.
//! Covers `Axis` of `tokens::IndexOf`.
//! Right with `NumHeads` for `NumExperts` in line 13.
use typed_transformer::{dims::AxisOf, prelude::*, tokens::IndexOf};

dims! { NumExperts = 4; NumHeads = 4; }

fn place<Axis: Dim>(_: AxisOf<Axis>, index: impl IndexOf<Axis>) -> usize {
    index.index()
}

fn number(head: Fin<NumHeads>) -> usize {
    place(axis::<NumExperts>(), head)
}

fn main() {}
