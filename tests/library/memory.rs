//! The memory that kernels share with tensors, allocate and keep.

use dfdx::{
    tensor::{OwnedTape, PutTape, SampleTensor, Tensor},
    tensor_ops::SumTo,
};
use std::marker::PhantomData;
use typed_transformer::{
    models::nano_gpt::NanoGpt,
    nn::{Linear, Module},
    ops::multi_head_attention,
    prelude::*,
    train::{AdamW, Sgd, update},
};

/// The kernels read parameters in place, so an update must not change what an older tape reads.
#[test]
fn an_update_does_not_change_a_pass_that_is_still_on_its_tape() {
    dims! { Batch = 2; SeqLen = 3; InDim = 5; VocabSize = 7; }
    type Classifier = Linear<InDim, VocabSize, f32, Cpu>;
    let device = Cpu::default();
    let mut model = Classifier::build(&device);
    let input: Tensor<(Batch, SeqLen, InDim), f32, Cpu> = device.sample_normal();
    let labels = TokenIds::from_ids(&[3, 1, 4, 1, 5, 2], None, (Batch, SeqLen)).unwrap();
    let loss = |model: &Classifier| {
        let logits = model.forward(input.clone().put_tape(model.recording()));
        cross_entropy(logits, &labels, Reduction::MeanAll)
    };
    let input_gradient = |model: &Classifier| loss(model).backward().of(&input).unwrap().as_vec();
    let expected = input_gradient(&model);

    let older = loss(&model);
    let gradients = loss(&model).backward();
    update(&mut model, gradients, &mut Sgd::default(), 1.0, 1.0).unwrap();
    assert_eq!(older.backward().of(&input).unwrap().as_vec(), expected);
    assert_ne!(input_gradient(&model), expected);
}

dims! { VocabSize = 300; MaxSeqLen = 64; NumHeads = 4; NumLayers = 2; }

/// A configuration of any width.
struct Config<Width, HeadDim, HiddenDim>(PhantomData<(Width, HeadDim, HiddenDim)>);
impl<Width: ConstDim, HeadDim: ConstDim, HiddenDim: ConstDim> Arch for Config<Width, HeadDim, HiddenDim> {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = NanoGpt;
}
impl<Width: ConstDim, HeadDim: ConstDim, HiddenDim: ConstDim> SingleStack for Config<Width, HeadDim, HiddenDim> {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = Width;
    type NumLayers = NumLayers;
}
type Model<Width, HeadDim, HiddenDim> = DecoderOnly<Config<Width, HeadDim, HiddenDim>, f32, Cpu>;

/// The number of parameters of a model of this width, and the bytes that one decoding step allocates.
fn decoding_step<Width: ConstDim, HeadDim: ConstDim, HiddenDim: ConstDim>() -> (usize, u64) {
    let model = Model::<Width, HeadDim, HiddenDim>::build(&Cpu::default());
    let token = TokenIds::from_ids(&[7], None, (Const::<1>, Const::<1>)).unwrap();
    let mut cache = model.try_cache(Const::<1>).unwrap();
    let mut step = || drop(model.try_forward_cached(&token, &mut cache).unwrap());
    // The first steps fill the pool of scratch memory.
    (0..3).for_each(|_| step());
    let memory = allocation_counter::measure(step);
    (Model::<Width, HeadDim, HiddenDim>::NUM_PARAMS, memory.bytes_total)
}

#[test]
fn a_decoding_step_allocates_nothing_that_grows_with_the_parameters() {
    let (narrow_params, narrow_bytes) = decoding_step::<Const<64>, Const<16>, Const<256>>();
    let (wide_params, wide_bytes) = decoding_step::<Const<256>, Const<64>, Const<1024>>();
    assert!(wide_params > 10 * narrow_params);
    // Rows of activations grow with the width.
    assert!(wide_bytes <= 5 * narrow_bytes, "{wide_bytes} bytes in place of {narrow_bytes}");
}

/// The number of parameters of a model of this width, the most bytes that its training holds at once, and the bytes
/// that a later step allocates.
fn training_steps<Width: ConstDim, HeadDim: ConstDim, HiddenDim: ConstDim>() -> (usize, u64, u64) {
    let ids = TokenIds::from_ids(&[1, 4, 1, 5], None, (Const::<1>, Const::<4>)).unwrap();
    let mut later_bytes = 0;
    let training = allocation_counter::measure(|| {
        let mut model = Model::<Width, HeadDim, HiddenDim>::build(&Cpu::default());
        let mut adamw = AdamW::default();
        let mut step = || {
            let loss = cross_entropy(model.forward(&ids, model.recording()), &ids, Reduction::MeanAll);
            update(&mut model, loss.backward(), &mut adamw, 1e-3, 0.1).unwrap();
        };
        // The first steps fill the pools of scratch memory and of tensors.
        (0..3).for_each(|_| step());
        later_bytes = allocation_counter::measure(step).bytes_total;
    });
    (Model::<Width, HeadDim, HiddenDim>::NUM_PARAMS, training.bytes_max, later_bytes)
}

#[test]
fn a_training_holds_four_numbers_for_each_parameter() {
    let (narrow_params, _, narrow_bytes) = training_steps::<Const<64>, Const<16>, Const<256>>();
    let (wide_params, held_bytes, wide_bytes) = training_steps::<Const<256>, Const<64>, Const<1024>>();
    assert!(wide_params > 10 * narrow_params);
    assert!(wide_bytes <= 5 * narrow_bytes, "{wide_bytes} bytes in place of {narrow_bytes}");
    // The parameter, its gradient and two averages; the rest is activations.
    let four_bytes = 4 * 4 * wide_params as u64;
    assert!((four_bytes..four_bytes * 11 / 10).contains(&held_bytes), "{held_bytes} bytes, {four_bytes} of them four");
}

#[test]
fn attention_keeps_nothing_for_each_query_and_key() {
    dims! { Batch = 1; SeqLen = 2048; Heads = 2; HeadDim = 4; }
    let device = Cpu::default();
    let x: Tensor<(Batch, SeqLen, Product<Heads, HeadDim>), f32, Cpu> = device.sample_normal();
    let padding = PaddingMask::without_padding((Batch, SeqLen));
    let memory = allocation_counter::measure(|| {
        let mask = mk_mask::<CausalMask, PadQueriesAndKeys, _, _>(&padding);
        let query = x.clone().put_tape(OwnedTape::<f32, Cpu>::default());
        let (key, value) = (x.retaped(), x.retaped());
        let (scale, fill) = (AttentionScale::HeadDim, MaskFill::MinValue);
        let attended: Tensor<(Batch, SeqLen, Product<Heads, HeadDim>), f32, Cpu, _> =
            multi_head_attention(query, key, value, &mask, scale, fill, 0.0);
        drop(attended.square().sum().backward());
    });
    // One byte for each query and key would be 4 MB, and a number for each head 32 MB.
    assert!(memory.bytes_total < 3 << 20, "{memory:?}");
}
