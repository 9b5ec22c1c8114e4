//! The ranks of a shard are those that divide its dimension.
//! Covers `Axis` of `dims::Factor`.
//! Right with `Tp` for `Other` in line 14.
use std::marker::PhantomData;
use typed_transformer::{dims::Factor, prelude::*, ranks, ranks::Shard};

ranks! { Tp = 2; Other = 2; }
dims! { HiddenDim = 16; }

fn ranks_of<Columns: Factor>(_: Columns) -> PhantomData<Columns::Axis> {
    PhantomData
}

fn f(part: Shard<HiddenDim, Tp>) -> PhantomData<Other> {
    ranks_of(part)
}

fn main() {}
