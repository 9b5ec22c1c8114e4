//! Stacked tensors have the other axes of the result.
//! Covers `Smaller` of `ops::stack`.
//! Right with `Source` for `Target` in line 12.
//! Mutants cover `Dims` by `SrcLen`, `Name` by `NumExperts` of `ops::stack`.
use typed_transformer::{ops::stack, prelude::*};

dims! { NumExperts = 2; SrcLen = 5; TgtLen = 7; Batch; }

type Source = Tensor<(Batch, SrcLen), f32, Cpu>;
type Target = Tensor<(Batch, TgtLen), f32, Cpu>;

fn of_all(outputs: Vec<Target>) -> Result<Tensor<(Batch, NumExperts, SrcLen), f32, Cpu>, OpError> {
    stack(outputs, NumExperts)
}

fn main() {}
