//! What kernels share with tensors, allocate and keep.

use dfdx::tensor::SampleTensor;
use typed_transformer::{
    nn::Linear,
    prelude::*,
    train::{Sgd, update},
};

dims! { Batch = 2; SeqLen = 3; InDim = 5; VocabSize = 7; }

type Input = Tensor<(Batch, SeqLen, InDim), f32, Cpu>;

/// The loss of a linear layer, on a tape.
fn loss(model: &Linear<InDim, VocabSize, f32, Cpu>, input: &Input) -> Tensor<(), f32, Cpu, OwnedTape<f32, Cpu>> {
    let labels = TokenIds::from_ids(&[3, 1, 4, 1, 5, 2], None, (Batch, SeqLen)).unwrap();
    cross_entropy(model.forward(input.leaky_trace()), &labels, Reduction::MeanAll)
}

/// The kernels read parameters in place, so an update must not change what an older tape reads.
#[test]
fn an_update_does_not_change_a_pass_that_is_still_on_its_tape() {
    let device = Cpu::default();
    let mut model = Linear::<InDim, VocabSize, f32, Cpu>::build(&device);
    let input: Input = device.sample_normal();
    let expected = loss(&model, &input).backward().get(&input).as_vec();

    let older = loss(&model, &input);
    let gradients = loss(&model, &input).backward();
    update(&mut model, gradients, &mut Sgd::default(), 1.0, 1.0).unwrap();
    assert_eq!(older.backward().get(&input).as_vec(), expected);
    assert_ne!(loss(&model, &input).backward().get(&input).as_vec(), expected);
}
