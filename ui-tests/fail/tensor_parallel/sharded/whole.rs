//! The parts are those of the whole model.
//! Covers `Whole` of `tensor_parallel::Sharded`.
//! Right with `Small` for `Large` in line 11.
use typed_transformer::{
    prelude::*,
    ranks::Ranks,
    tensor_parallel::{DividesLayersOf, Distributed, OnRanks, Sharded},
};

fn f<Small: SingleStack, Large: SingleStack, Tp: DividesLayersOf<Small>>(
    whole: &DecoderOnly<Large, f32, Cpu>,
    ranks: &Ranks<Tp>,
) where DecoderOnly<OnRanks<Small, Tp>>: Sharded<Tp, f32, Cpu, Whole = DecoderOnly<Small>> {
    let _model = Distributed::<DecoderOnly<OnRanks<Small, Tp>, f32, Cpu>, Tp>::from_whole(whole, &Cpu::default(), ranks);
}

fn main() {}
