//! The run-time cost of typed dimensions: a feed-forward layer with its residual, forward and backward, against the
//! same kernels on tensors without dimensions. It fails above 1.02.

use dfdx::tensor::{Cpu, PutTape, SampleTensor, Tensor, TensorFromVec};
use dfdx::{shapes::HasShape, tensor_ops::SumTo};
use std::hint::black_box;
use std::time::{Duration, Instant};
use typed_transformer::dims;
use typed_transformer::ops::{Activation, GeluTanh, linear, residual};
use typed_transformer::train::{Backpropagate, Recording};
use typed_transformer_cpu::{
    ActivationKind, Arithmetic, FlatTensor, KernelOutput, Linear, Operand, StridedOperand, activation_kernel,
    arithmetic_kernel, linear_kernel, record_kernel,
};

dims! { Batch = 32; SeqLen = 16; EmbedDim = 128; HiddenDim = 512; }

type Pass = Recording<(), f32, Cpu>;
type TapedFlat = Tensor<(usize,), f32, Cpu, Pass>;

fn record(output: KernelOutput, tape: Pass) -> TapedFlat {
    let shape = *output.0.shape();
    record_kernel(output, shape, tape).unwrap()
}

fn untyped_linear(x: TapedFlat, weight: &FlatTensor, in_features: usize, out_features: usize) -> TapedFlat {
    let mut tape = Pass::default();
    let x = Operand::read(x, &mut tape).unwrap();
    let weight = Operand::read_parameter(weight, &mut tape).unwrap();
    record(linear_kernel(x, Linear::new(weight, None, in_features, out_features)).unwrap(), tape)
}

fn untyped_gelu(x: TapedFlat) -> TapedFlat {
    let mut tape = Pass::default();
    let x = Operand::read(x, &mut tape).unwrap();
    record(activation_kernel(x, ActivationKind::GeluTanh).unwrap(), tape)
}

fn untyped_residual(x: TapedFlat, y: TapedFlat) -> TapedFlat {
    let mut tape = Pass::default();
    let x = Operand::read(x, &mut tape).unwrap();
    let y = StridedOperand::read(y, &mut tape);
    record(arithmetic_kernel(x, y, Arithmetic::Add).unwrap(), tape)
}

fn main() {
    let device = Cpu::default();
    let input: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.sample(rand_distr::StandardNormal);
    let hidden: Tensor<(HiddenDim, EmbedDim), f32, Cpu> = device.sample(rand_distr::StandardNormal);
    let output: Tensor<(EmbedDim, HiddenDim), f32, Cpu> = device.sample(rand_distr::StandardNormal);
    // Both return the output and the gradient of the first weight, of a forward and a backward pass.
    let typed = || {
        let x = input.clone().put_tape(Pass::default());
        let activated = GeluTanh::apply(linear(x.clone(), &hidden, None).unwrap()).unwrap();
        let y: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu, _> =
            residual(x, linear(activated, &output, None).unwrap()).unwrap();
        let elements = y.as_vec();
        (elements, y.sum().backward().unwrap().of(&hidden).unwrap().as_vec())
    };
    let flat = |elements: Vec<f32>| -> FlatTensor {
        let shape = (elements.len(),);
        device.tensor_from_vec(elements, shape)
    };
    let [flat_input, flat_hidden, flat_output] = [input.as_vec(), hidden.as_vec(), output.as_vec()].map(flat);
    let untyped = || {
        let x = flat_input.clone().put_tape(Pass::default());
        let activated = untyped_gelu(untyped_linear(x.clone(), &flat_hidden, 128, 512));
        let y = untyped_residual(x, untyped_linear(activated, &flat_output, 512, 128));
        let elements = y.as_vec();
        (elements, y.sum::<(), _>().backward().unwrap().of(&flat_hidden).unwrap().as_vec())
    };
    assert_eq!(typed(), untyped());
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..1_000 {
        for (fastest, run) in fastest.iter_mut().zip([&typed as &dyn Fn() -> _, &untyped]) {
            let start = Instant::now();
            black_box(run());
            *fastest = start.elapsed().min(*fastest);
        }
    }
    let [typed, untyped] = fastest.map(|time| time.as_secs_f64());
    println!("typed {typed:.3e} s, untyped {untyped:.3e} s, ratio {:.3}", typed / untyped);
    assert!(typed / untyped <= 1.02);
}
