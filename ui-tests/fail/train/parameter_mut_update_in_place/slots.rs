//! An update in place has as many slots as it is called with.
//! Covers `SLOTS` of `train::ParameterMut::update_in_place`.
//! Right with `1` for `2` in line 10.
use typed_transformer::{train::ParameterMut, prelude::*};

fn step(
    mut parameter: ParameterMut<'_, f32>,
    slots: [&mut Tensor<(usize,), f32, Cpu>; 1],
) -> Result<bool, OpError> {
    parameter.update_in_place::<2>(slots, |_, _, _, _| ())
}

fn main() {}
