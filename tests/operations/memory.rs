//! The memory that kernels share with tensors, allocate and keep.

use crate::recorded::OwnTape;
use dfdx::tensor::{PutTape, SampleTensor, Tensor};
use dfdx::tensor_ops::{MeanTo, SumTo};
use std::{env, marker::PhantomData, process::Command};
use typed_transformer::models::nano_gpt::NanoGpt;
use typed_transformer::nn::{Autoregressive, Linear, Module};
use typed_transformer::ops::{mean, multi_head_attention, select, unstack};
use typed_transformer::prelude::*;
use typed_transformer::train::{AdamW, Sgd, update};

/// The kernels read parameters in place, so an update must not change what an older tape reads.
#[test]
fn an_update_does_not_change_a_pass_that_is_still_on_its_tape() {
    dims! { Batch = 2; SeqLen = 3; InDim = 5; VocabSize = 7; }
    type Classifier = Linear<InDim, VocabSize, f32, Cpu>;
    let device = Cpu::default();
    let mut model = Classifier::build(&device);
    let input: Tensor<(Batch, SeqLen, InDim), f32, Cpu> = device.sample_normal();
    let labels = LabelIds::from_ids(&[3, 1, 4, 1, 5, 2], None, (Batch, SeqLen)).unwrap();
    let loss = |model: &Classifier| {
        let logits = model.forward(input.clone().put_tape(model.recording())).unwrap();
        cross_entropy(logits, &labels, Reduction::MeanAll).unwrap()
    };
    let input_gradient = |model: &Classifier| loss(model).backward().unwrap().of(&input).unwrap().as_vec();
    let expected = input_gradient(&model);

    let older = loss(&model);
    let gradients = loss(&model).backward().unwrap();
    update(&mut model, gradients, &mut Sgd::default(), 1.0, 1.0).unwrap();
    assert_eq!(older.backward().unwrap().of(&input).unwrap().as_vec(), expected);
    assert_ne!(input_gradient(&model), expected);
}

/// Runs a test again with one and with two threads, each time in a process of its own. All threads of a process share
/// its pool of scratch memory, so other tests would change what a step allocates. gemm packs parts of matrices for each
/// thread; for models as small as these that would count with more threads.
fn in_own_process(test: &str, check: fn()) {
    const OWN_PROCESS: &str = "TYPED_TRANSFORMER_TEST_OWN_PROCESS";
    if env::var_os(OWN_PROCESS).is_some() {
        return check();
    }
    for threads in ["1", "2"] {
        let mut again = Command::new(env::current_exe().unwrap());
        again.args(["--exact", test]).env(OWN_PROCESS, "").env("RAYON_NUM_THREADS", threads);
        let output = again.output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && stdout.contains("1 passed"), "{threads} threads: {stdout}");
    }
}

/// The bytes that a step allocates once the pools of scratch memory and of tensors are full. Each length of a buffer
/// gets its own memory within some steps, and which buffers exist at once depends on the threads.
fn allocated_bytes(mut step: impl FnMut()) -> u64 {
    (0..20).map(|_| allocation_counter::measure(&mut step).bytes_total).min().unwrap()
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

/// The number of parameters of a model of this width, and the bytes that a decoding step allocates.
fn decoding_step<Width: ConstDim, HeadDim: ConstDim, HiddenDim: ConstDim>() -> (usize, u64) {
    let model = Model::<Width, HeadDim, HiddenDim>::build(&Cpu::default());
    let token = TokenIds::from_ids(&[7], None, (Const::<1>, Const::<1>)).unwrap();
    let mut cache = model.cache(Const::<1>).unwrap();
    let bytes = allocated_bytes(|| drop(model.all_logits(&token, &mut cache).unwrap()));
    (Model::<Width, HeadDim, HiddenDim>::NUM_PARAMS, bytes)
}

#[test]
fn a_decoding_step_allocates_nothing_that_grows_with_the_parameters() {
    in_own_process("memory::a_decoding_step_allocates_nothing_that_grows_with_the_parameters", || {
        let (narrow_params, narrow_bytes) = decoding_step::<Const<64>, Const<16>, Const<256>>();
        let (wide_params, wide_bytes) = decoding_step::<Const<256>, Const<64>, Const<1024>>();
        assert!(wide_params > 10 * narrow_params);
        // Rows of activations grow with the width.
        assert!(wide_bytes <= 5 * narrow_bytes, "{wide_bytes} bytes in place of {narrow_bytes}");
    });
}

/// The steps of the training of a model of this width.
pub fn steps<Width: ConstDim, HeadDim: ConstDim, HiddenDim: ConstDim>() -> impl FnMut() {
    let ids = TokenIds::from_ids(&[1, 4, 1, 5], None, (Const::<1>, Const::<4>)).unwrap();
    let (inputs, labels) = ids.teacher_forcing(Fin::literal::<0>());
    let mut model = Model::<Width, HeadDim, HiddenDim>::build(&Cpu::default());
    let mut adamw = AdamW::default();
    move || {
        let loss =
            cross_entropy(model.forward(&inputs, model.recording()).unwrap(), &labels, Reduction::MeanAll).unwrap();
        update(&mut model, loss.backward().unwrap(), &mut adamw, 1e-3, 0.1).unwrap();
    }
}

/// The number of parameters of a model of this width, the most bytes that its training holds at once, and the bytes
/// that a later step allocates.
fn training_steps<Width: ConstDim, HeadDim: ConstDim, HiddenDim: ConstDim>() -> (usize, u64, u64) {
    // A measurement in another one counts the memory twice that a step frees and the next one takes again.
    let training = allocation_counter::measure(|| {
        let mut step = steps::<Width, HeadDim, HiddenDim>();
        (0..20).for_each(|_| step());
    });
    let later_bytes = allocated_bytes(steps::<Width, HeadDim, HiddenDim>());
    (Model::<Width, HeadDim, HiddenDim>::NUM_PARAMS, training.bytes_max, later_bytes)
}

#[test]
fn a_training_holds_four_numbers_for_each_parameter() {
    in_own_process("memory::a_training_holds_four_numbers_for_each_parameter", || {
        // gemm keeps a buffer as large as the second-level cache for each thread. It exists before the training.
        training_steps::<Const<64>, Const<16>, Const<256>>();
        let (num_params, held_bytes, later_bytes) = training_steps::<Const<256>, Const<64>, Const<1024>>();
        // Activations, and what gemm packs for each thread. A copy of one kind of weight is more.
        assert!(later_bytes < 4 * num_params as u64 / 10, "{later_bytes} bytes for {num_params} parameters");
        // The parameter, its gradient and two averages; the rest is activations.
        let four_bytes = 4 * 4 * num_params as u64;
        let is_four = (four_bytes..four_bytes * 11 / 10).contains(&held_bytes);
        assert!(is_four, "{held_bytes} bytes, {four_bytes} of them four");
    });
}

#[test]
fn attention_keeps_nothing_for_each_query_and_key() {
    dims! { Batch = 1; SeqLen = 2048; Heads = 2; HeadDim = 4; }
    let device = Cpu::default();
    let x: Tensor<(Batch, SeqLen, Product<Heads, HeadDim>), f32, Cpu> = device.sample_normal();
    let padding = PaddingMask::without_padding((Batch, SeqLen));
    let memory = allocation_counter::measure(|| {
        let mask = mk_mask::<CausalMask, PadQueriesAndKeys, _, _>(&padding);
        let query = x.clone().put_tape(OwnTape::<f32, Cpu>::default());
        let (key, value) = (x.retaped(), x.retaped());
        let attended: Tensor<(Batch, SeqLen, Product<Heads, HeadDim>), f32, Cpu, _> =
            multi_head_attention(query, key, value, &mask, AttentionOptions::default()).unwrap();
        drop(attended.square().sum().backward().unwrap());
    });
    // One byte for each query and key would be 4 MB, and a number for each head 32 MB.
    assert!(memory.bytes_total < 3 << 20, "{memory:?}");
}

/// dfdx adds the terms of its operations to memory of its own, which a kernel takes the gradient from.
#[test]
fn training_with_a_loss_of_dfdx_keeps_no_more_with_each_step() {
    in_own_process("memory::training_with_a_loss_of_dfdx_keeps_no_more_with_each_step", || {
        const STEPS: i64 = 40;
        dims! { Batch = 256; Inputs = 16; Outputs = 512; }
        let device = Cpu::default();
        let mut model = Linear::<Inputs, Outputs, f32, Cpu>::build(&device);
        let input: Tensor<(Batch, Inputs), f32, Cpu> = device.sample_normal();
        let mut step = || {
            let output = model.forward(input.clone().put_tape(model.recording())).unwrap();
            let gradients = output.square().mean().backward().unwrap();
            update(&mut model, gradients, &mut Sgd::default(), 0.1, 1.0).unwrap();
        };
        (0..10).for_each(|_| step());
        let kept_bytes = allocation_counter::measure(|| (0..STEPS).for_each(|_| step())).bytes_current;
        let output_bytes = (Batch::SIZE * Outputs::SIZE * size_of::<f32>()) as i64;
        assert!(kept_bytes < output_bytes, "{kept_bytes} bytes, where an output has {output_bytes}");
    });
}

/// The bytes that steps keep beyond their end, once the pools are full.
fn kept_bytes(mut step: impl FnMut()) -> i64 {
    (0..20).for_each(|_| step());
    allocation_counter::measure(|| (0..200).for_each(|_| step())).bytes_current
}

/// dfdx keeps the memory of each dropped tensor for one of the same length, also of one that was made from a vector.
#[test]
fn training_on_new_tensors_keeps_no_more_with_each_step() {
    in_own_process("memory::training_on_new_tensors_keeps_no_more_with_each_step", || {
        dims! { Batch = 256; Inputs = 512; Outputs = 16; }
        let device = Cpu::default();
        let mut model = Linear::<Inputs, Outputs, f32, Cpu>::build(&device);
        let mut sgd = Sgd::default();
        let forward = |model: &Linear<Inputs, Outputs, f32, Cpu>| {
            let input: Tensor<(Batch, Inputs), f32, Cpu> = device.tensor(vec![1.0; Batch::SIZE * Inputs::SIZE]);
            mean(model.forward(input.put_tape(model.recording())).unwrap()).unwrap()
        };
        let kept = kept_bytes(|| {
            let gradients = forward(&model).backward().unwrap();
            update(&mut model, gradients, &mut sgd, 0.1, 1.0).unwrap();
        });
        let input_bytes = (Batch::SIZE * Inputs::SIZE * size_of::<f32>()) as i64;
        assert!(kept < 20 * input_bytes, "{kept} bytes");
        // Neither does what a trained model computes later.
        let kept = kept_bytes(|| drop(forward(&model)));
        assert!(kept < 20 * input_bytes, "{kept} bytes");
    });
}

#[test]
fn training_on_new_lengths_keeps_the_memory_of_a_few_steps() {
    in_own_process("memory::training_on_new_lengths_keeps_the_memory_of_a_few_steps", || {
        dims! { Batch; Inputs = 16; Outputs = 512; }
        let device = Cpu::default();
        let mut model = Linear::<Inputs, Outputs, f32, Cpu>::build(&device);
        let (mut sgd, mut rows) = (Sgd::default(), 500);
        let kept = kept_bytes(|| {
            rows += 1;
            let input: Tensor<(Batch, Inputs), f32, Cpu> = device.sample_normal_like(&(Batch::new(rows), Inputs));
            let loss = mean(model.forward(input.put_tape(model.recording())).unwrap()).unwrap();
            update(&mut model, loss.backward().unwrap(), &mut sgd, 0.1, 1.0).unwrap();
        });
        assert!(kept < 20 * (720 * Outputs::SIZE * size_of::<f32>()) as i64, "{kept} bytes");
    });
}

#[test]
fn the_steps_of_a_view_take_one_copy_of_it() {
    dims! { Batch = 4; Steps = 256; EmbedDim = 64; }
    let x: Tensor<(Batch, Steps, EmbedDim), f32, Cpu> = Cpu::default().sample_normal();
    let memory = allocation_counter::measure(|| {
        let steps: Tensor<(Steps, Batch, EmbedDim), f32, Cpu> = permute(x.clone()).unwrap();
        let steps: Vec<Tensor<(Batch, EmbedDim), f32, Cpu>> = unstack(steps, axis::<Steps>()).unwrap();
        assert_eq!(steps.len(), Steps::SIZE);
    });
    let x_bytes = (Batch::SIZE * Steps::SIZE * EmbedDim::SIZE * size_of::<f32>()) as u64;
    assert!(memory.bytes_total < 8 * x_bytes, "{memory:?}");
}

#[test]
fn a_product_that_only_moves_is_not_copied() {
    dims! { Batch = 4; Steps = 256; Heads = 8; HeadDim = 8; }
    let x: Tensor<(Steps, Batch, Product<Heads, HeadDim>), f32, Cpu> = Cpu::default().sample_normal();
    let memory = allocation_counter::measure(|| {
        let _moved =
            rearrange!(&x: (Steps, Batch, Product<Heads, HeadDim>) -> (Batch, Steps, Product<Heads, HeadDim>)).unwrap();
    });
    let x_bytes = (Steps::SIZE * Batch::SIZE * Heads::SIZE * HeadDim::SIZE * size_of::<f32>()) as u64;
    assert!(memory.bytes_total < x_bytes, "{memory:?}");
}

/// Twice the steps take about twice the memory. A copy of all steps for each one would take four times as much.
#[test]
fn a_recorded_step_copies_no_other_one_without_kernels() {
    dims! { Batch = 4; Steps; EmbedDim = 64; }
    let bytes = |steps| {
        let shape = (Batch, Steps::new(steps), EmbedDim);
        let x: Tensor<_, f64, Cpu> = Cpu::default().sample_normal_like(&shape);
        let x = x.put_tape(OwnTape::<f64, Cpu>::default());
        let select_all = || Vec::from_iter((0..steps).map(|step| select(x.clone(), axis::<Steps>(), step).unwrap()));
        allocation_counter::measure(|| drop(select_all())).bytes_total
    };
    let (some, twice_as_many) = (bytes(64), bytes(128));
    assert!(twice_as_many < 3 * some, "{some} and {twice_as_many} bytes");
}
