//! Modules of one's own on ranks: written once, they compute what they compute in one process.

use typed_transformer::nn::init;
use typed_transformer::prelude::*;
use typed_transformer::ranks;
use typed_transformer::ranks::{Element, Ranks, Shard};
use typed_transformer::tensor_parallel::{Distributed, Sharded};

ranks! { One = 1; }
dims! { EmbedDim = 6; HiddenDim = 8; }

#[module(output = EmbedDim)]
struct Gated<E, D> {
    #[param(init::ones)]
    gate: Tensor<(HiddenDim, EmbedDim), E, D>,
    #[param(init::zeros)]
    up: Tensor<(HiddenDim, EmbedDim), E, D>,
}

/// A part of [`Gated`] whose fields stand in another order.
#[module(output = EmbedDim)]
struct Reordered<E, D> {
    #[param(init::zeros)]
    up: Tensor<(Shard<HiddenDim, One>, EmbedDim), E, D>,
    #[param(init::ones)]
    gate: Tensor<(Shard<HiddenDim, One>, EmbedDim), E, D>,
}

impl<E: Element, D: Backend<E>> Sharded<One, E, D> for Reordered<E, D> {
    type Whole = Gated<E, D>;
}

#[test]
#[should_panic(expected = "`Reordered<f32, Cpu>` has other parameters than its `Whole`, or in another order\n  \
                           left: [\"up\", \"gate\"]\n right: [\"gate\", \"up\"]")]
fn fields_of_a_part_in_another_order_are_refused() {
    let _ = Distributed::<Reordered<f32, Cpu>, One>::build(&Cpu::default(), &Ranks::<One>::single().unwrap());
}
