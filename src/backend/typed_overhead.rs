//! Measures the run-time cost of typed dimensions. It is a unit test, not a bench, because it calls a private
//! function.

use super::{ActivationKind, Backend, FeedForwardParams, LinearParams, ResidualNormParams};
use crate::dims;
use dfdx::tensor::{Cpu, NoneTape, SampleTensor, Tensor, TensorFromVec};
use std::time::{Duration, Instant};
use typed_transformer_cpu::{FlatTensor, Linear, Operand, ResidualNorm, feed_forward_kernel};

dims! { Batch = 32; SeqLen = 16; EmbedDim = 128; HiddenDim = 512; }

// Run it by hand and alone, because it measures time:
// cargo test --release --lib typed_overhead -- --ignored --nocapture
#[test]
#[ignore = "measures time"]
fn typed_overhead_is_at_most_two_percent() {
    let device = Cpu::default();
    let input: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.sample(rand_distr::StandardNormal);
    let hidden: Tensor<(HiddenDim, EmbedDim), f32, Cpu> = device.sample(rand_distr::StandardNormal);
    let output: Tensor<(EmbedDim, HiddenDim), f32, Cpu> = device.sample(rand_distr::StandardNormal);
    let params = FeedForwardParams {
        hidden: LinearParams { weight: &hidden, bias: None },
        output: LinearParams { weight: &output, bias: None },
        activation: Some(ActivationKind::GeluTanh),
    };
    let typed = || {
        let output = Cpu::feed_forward_kernel(input.clone(), &params, &ResidualNormParams::Plain);
        output.unwrap().as_vec()
    };
    let flat = |elements: Vec<f32>| -> FlatTensor {
        let shape = (elements.len(),);
        device.tensor_from_vec(elements, shape)
    };
    let [x, w1, w2] = [input.as_vec(), hidden.as_vec(), output.as_vec()].map(flat);
    let untyped = || {
        let [x, w1, w2] = [&x, &w1, &w2].map(|tensor| Operand::read(tensor.clone(), &mut NoneTape).unwrap());
        let hidden = Linear::new(w1, None, 128, 512);
        let output = Linear::new(w2, None, 512, 128);
        let (y, _) = feed_forward_kernel(x, hidden, output, ActivationKind::GeluTanh, ResidualNorm::Plain).unwrap();
        y.as_vec()
    };
    assert_eq!(typed(), untyped());
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..2_000 {
        for (fastest, run) in fastest.iter_mut().zip([&typed as &dyn Fn() -> _, &untyped]) {
            let start = Instant::now();
            std::hint::black_box(run());
            *fastest = start.elapsed().min(*fastest);
        }
    }
    let [typed, untyped] = fastest.map(|time| time.as_secs_f64());
    println!("typed {typed:.3e} s, untyped {untyped:.3e} s, ratio {:.3}", typed / untyped);
    assert!(typed / untyped <= 1.02);
}
