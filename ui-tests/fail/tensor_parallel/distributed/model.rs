//! The ranks divide one model.
//! Covers `Model` of `tensor_parallel::Distributed`.
//! Right with `Model` for the second `Other` in line 6.
use typed_transformer::tensor_parallel::Distributed;

fn replace<Model, Other, Axis, OtherAxis>(model: &mut Distributed<Model, Axis>, other: Distributed<Other, Axis>) {
    *model = other;
}

fn main() {}
