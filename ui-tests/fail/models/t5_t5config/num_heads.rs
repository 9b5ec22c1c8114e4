//! The heads of a T5 come from its configuration.
//! Covers `NumHeads` of `models::t5::T5Config`.
//! Right with `NumHeads` for `Others` in line 8.
use typed_transformer::{models::t5::{T5, T5Config}, prelude::*};

dims! { NumHeads = 4; Others = 4; NumBuckets = 32; }

trait Small: T5Config<NumHeads = Others, NumBuckets = NumBuckets> {}

fn read<Config: Small>(model: &T5<Config, f32, Cpu>) {
    let _weight: &Tensor<(NumBuckets, NumHeads), f32, Cpu> = &model.encoder_position_bias;
}

fn main() {}
