//! What kernels share with tensors, allocate and keep.

use dfdx::tensor::SampleTensor;
use typed_transformer::{
    nn::Linear,
    prelude::*,
    train::{Recording, Sgd, update},
};

dims! { Batch = 2; SeqLen = 3; InDim = 5; VocabSize = 7; }

type Model = Linear<InDim, VocabSize, f32, Cpu>;
type Input = Tensor<(Batch, SeqLen, InDim), f32, Cpu>;

/// The loss of a linear layer, on a tape.
fn loss(model: &Model, input: &Input) -> Tensor<(), f32, Cpu, Recording<Model, f32, Cpu>> {
    let labels = TokenIds::from_ids(&[3, 1, 4, 1, 5, 2], None, (Batch, SeqLen)).unwrap();
    cross_entropy(model.forward(input.clone().put_tape(model.recording())), &labels, Reduction::MeanAll)
}

/// The kernels read parameters in place, so an update must not change what an older tape reads.
#[test]
fn an_update_does_not_change_a_pass_that_is_still_on_its_tape() {
    let device = Cpu::default();
    let mut model = Model::build(&device);
    let input: Input = device.sample_normal();
    let expected = loss(&model, &input).backward().of(&input).unwrap().as_vec();

    let older = loss(&model, &input);
    let gradients = loss(&model, &input).backward();
    update(&mut model, gradients, &mut Sgd::default(), 1.0, 1.0).unwrap();
    assert_eq!(older.backward().of(&input).unwrap().as_vec(), expected);
    assert_ne!(loss(&model, &input).backward().of(&input).unwrap().as_vec(), expected);
}
