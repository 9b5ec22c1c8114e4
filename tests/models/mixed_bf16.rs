//! Training in mixed precision with bfloat16: a linear map is PyTorch's under `torch.autocast`, and a model learns as it
//! does in `f32`.

use dfdx::tensor::AutoDevice;
use typed_transformer::models::gpt2::{Gpt2, Gpt2Config};
use typed_transformer::nn::{FullPrecision, Linear, MixedBf16, Trainable, WithPrecision};
use typed_transformer::prelude::*;
use typed_transformer::train::{Adam, update};

dims! { Batch = 2; EmbedDim = 3; HiddenDim = 2; }

/// The numbers are those of PyTorch 2.15: `F.linear` of the same tensors under `torch.autocast("cpu", torch.bfloat16)`,
/// and the gradients of the sum of its products with `factor`.
fn linear_is_that_of_autocast<E: Real>()
where
    AutoDevice: Backend<E>,
{
    let device = AutoDevice::default();
    let numbers = |numbers: &[f32]| numbers.iter().map(|&x| E::from_f32(x).unwrap()).collect::<Vec<E>>();
    let exact = |tensor: Vec<E>| tensor.into_iter().map(|x| x.to_f32().unwrap()).collect::<Vec<_>>();
    let mut map = Linear::<EmbedDim, HiddenDim, E, AutoDevice>::build(&device).with_precision::<MixedBf16>().unwrap();
    map.weight = device.tensor(numbers(&[0.61, -0.27, 1.3, -2.2, 0.9, 0.041]));
    map.bias = device.tensor(numbers(&[0.123, -4.56]));
    let x: Tensor<(Batch, EmbedDim), E, AutoDevice> = device.tensor(numbers(&[0.3, -1.7, 2.9, 1.1, 0.013, -0.77]));
    let factor: Tensor<(Batch, HiddenDim), E, AutoDevice> = device.tensor(numbers(&[1.0, 0.7, -0.33, 2.1]));

    let y = map.forward(x.clone().put_tape(map.recording())).unwrap();
    assert_eq!(exact(y.as_vec()), [4.53125, -6.625, -0.20703125, -7.0]);
    let loss = sum_over(sum_over(mul(y, &factor).unwrap(), axis::<HiddenDim>()).unwrap(), axis::<Batch>()).unwrap();
    let mut gradients = loss.backward().unwrap();
    let of_x = gradients.of(&x).unwrap().as_vec();
    assert_eq!(exact(of_x), [-0.929_687_5, 0.359375, 1.328125, -4.8125, 1.96875, -0.341_796_88]);
    let of_weight = gradients.of(&map.weight).unwrap().as_vec();
    assert_eq!(exact(of_weight), [-0.062_988_28, -1.710_937_5, 3.15625, 2.515625, -1.164_062_5, 0.421875]);
    assert_eq!(exact(gradients.of(&map.bias).unwrap().as_vec()), [0.671875, 2.796875]);
}

#[test]
fn a_linear_map_is_that_of_autocast() {
    linear_is_that_of_autocast::<f32>();
    linear_is_that_of_autocast::<f64>();
}

#[test]
fn a_map_that_the_loss_does_not_use_is_named() {
    let device = Cpu::default();
    let mut map = Linear::<EmbedDim, HiddenDim, f32, Cpu>::build(&device).with_precision::<MixedBf16>().unwrap();
    let x: Tensor<(Batch, EmbedDim), f32, Cpu> = device.zeros();
    let tape = map.recording();
    drop(map.forward(x.put_tape(tape.clone())).unwrap());
    let loss = sum_over(map.bias.clone().put_tape(tape), axis::<HiddenDim>()).unwrap();
    let updated = update(&mut map, loss.backward().unwrap(), &mut Adam::default(), 1e-2, 1.0);
    let Err(OpError::Unused { parameters, .. }) = updated else { panic!("{updated:?}") };
    assert_eq!(parameters, ["weight"]);
}

struct Small;
dims! { VocabSize = 13; MaxSeqLen = 16; Width = 24; NumHeads = 3; MlpDim = 48; NumLayers = 2; Texts = 8; SeqLen = 16; }
impl Gpt2Config for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = Width;
    type NumHeads = NumHeads;
    type HiddenDim = MlpDim;
    type NumLayers = NumLayers;
    const NORM_EPSILON: f64 = 1e-5;
}

/// The losses while a model learns to count up in steps of 1 to 8.
fn losses<P: Trainable>() -> Vec<f32> {
    let mut model = Gpt2::<Small, f32, AutoDevice, P>::build(&AutoDevice::seed_from_u64(3));
    let [ids, labels] = [0, 1].map(|next| {
        let id = |text: usize, place: usize| (text + (text + 1) * (place + next)) % VocabSize::SIZE;
        let ids: Vec<_> = (0..Texts::SIZE * SeqLen::SIZE).map(|i| id(i / SeqLen::SIZE, i % SeqLen::SIZE)).collect();
        TokenIds::<Texts, SeqLen, VocabSize>::from_ids(&ids, None, (Texts, SeqLen)).unwrap()
    });
    let labels: LabelIds<Texts, SeqLen, VocabSize> = labels.into();
    let mut adam = Adam::default();
    let mut step = || {
        let logits = model.forward(&ids, model.recording()).unwrap();
        let loss = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
        let value = loss.array();
        update(&mut model, loss.backward().unwrap(), &mut adam, 3e-3, 1.0).unwrap();
        value
    };
    (0..120).map(|_| step()).collect()
}

#[test]
fn a_model_learns_in_mixed_precision_as_in_f32() {
    let (full, mixed) = (losses::<FullPrecision>(), losses::<MixedBf16>());
    assert!(full[119] < 0.5 * full[0], "{full:?}");
    assert_ne!(full, mixed);
    for (step, (full, mixed)) in full.iter().zip(&mixed).enumerate() {
        assert!((full - mixed).abs() < 0.02 * full.max(1.0), "step {step}: {full} in f32, {mixed} in mixed precision");
    }
}
