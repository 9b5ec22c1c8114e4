//! The ranges of distances come from the configuration.
//! Covers `NumBuckets` of `models::t5::T5Config`.
//! Right with `NumBuckets` for `OtherBuckets` in line 8.
use typed_transformer::{models::t5::{T5, T5Config}, prelude::*};

dims! { NumBuckets = 32; OtherBuckets = 32; NumHeads = 4; }

trait Small: T5Config<NumBuckets = OtherBuckets, NumHeads = NumHeads> {}

fn read<Config: Small>(model: &T5<Config, f32, Cpu>) {
    let _weight: &Tensor<(NumBuckets, NumHeads), f32, Cpu> = &model.encoder_position_bias;
}

fn main() {}
