//! A model belongs to the ranks that divide it.
//! Covers `Axis` of `tensor_parallel::Distributed`.
//! Right with `Axis` for the second `OtherAxis` in line 6.
use typed_transformer::tensor_parallel::Distributed;

fn replace<Model, Other, Axis, OtherAxis>(model: &mut Distributed<Model, Axis>, other: Distributed<Model, OtherAxis>) {
    *model = other;
}

fn main() {}
