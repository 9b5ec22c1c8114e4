//! Models whose weights are stored in fewer bits: they compute what the kernels' definitions compute, and almost what
//! `f32` computes.

use crate::hugging_face::{Batch, Read, ids, load, reference};
use crate::parity::{as_f64, assert_close};
use crate::small_models::{
    VocabSize, small_bert, small_clip, small_gemma3, small_gpt2, small_llama, small_mixtral, small_modern_bert,
    small_qwen3, small_t5, small_vit, small_whisper,
};
use dfdx::tensor::{AutoDevice, PutTape};
use typed_transformer::models::bert::Bert;
use typed_transformer::models::clip::Clip;
use typed_transformer::models::gemma3::Gemma3;
use typed_transformer::models::gpt2::{Gpt2, Gpt2Config};
use typed_transformer::models::llama::Llama;
use typed_transformer::models::mixtral::Mixtral;
use typed_transformer::models::modern_bert::ModernBert;
use typed_transformer::models::t5::T5;
use typed_transformer::models::vit::{Images, Vit};
use typed_transformer::models::whisper::{Features, Whisper};
use typed_transformer::nn::{
    Autoregressive, Bf16, F16, FullPrecision, Linear, Lora, Precision, Q8, Q8Rows, WithPrecision,
};
use typed_transformer::ops;
use typed_transformer::prelude::*;
use typed_transformer::rand::rngs::StdRng;
use typed_transformer::rand::{Rng, SeedableRng};
use typed_transformer::ranks::Element;
use typed_transformer::train::{AdamW, update};
use typed_transformer::weights::{LoadError, load_pretrained};

/// The logits of each decoder for the ids of its reference.
macro_rules! decoders {
    ($($family:ident: $Model:ident, $config:ident, $batch:literal x $len:literal;)*) => {
        $(
            fn $family<P: Precision, E: Element>() -> Vec<f64>
            where
                AutoDevice: Backend<E>,
            {
                let (name, shape) = (stringify!($family), (Batch::new($batch), $config::SeqLen::new($len).unwrap()));
                let model: $Model<$config::Config, E, AutoDevice, P> = load(name);
                let read = ids(&reference(name).ids("input.ids"), shape);
                as_f64(&model.forward(&read, NoneTape).unwrap())
            }
        )*
    };
}
decoders! {
    gpt2: Gpt2, small_gpt2, 3 x 11;
    llama: Llama, small_llama, 3 x 13;
    qwen3: Llama, small_qwen3, 3 x 13;
    gemma3: Gemma3, small_gemma3, 2 x 11;
    mixtral: Mixtral, small_mixtral, 2 x 7;
}

fn t5<P: Precision, E: Element>() -> Vec<f64>
where
    AutoDevice: Backend<E>,
{
    let (model, reference): (T5<small_t5::Config, E, AutoDevice, P>, _) = (load("t5"), reference("t5"));
    let source = ids(&reference.ids("input.ids"), (Batch::new(3), Read::new(15)));
    let target = ids(&reference.ids("input.decoder_ids"), (Batch::new(3), Read::new(7)));
    as_f64(&model.forward(&source, &target, NoneTape).unwrap())
}

fn bert<P: Precision, E: Element>() -> Vec<f64>
where
    AutoDevice: Backend<E>,
{
    let (model, reference): (Bert<small_bert::Config, E, AutoDevice, P>, _) = (load("bert"), reference("bert"));
    let shape = (Batch::new(3), small_bert::SeqLen::new(14).unwrap());
    let types = TokenIds::from_ids(&reference.ids("input.types"), None, shape).unwrap();
    let states = model.forward(&ids(&reference.ids("input.ids"), shape), &types, NoneTape).unwrap();
    let pooled = model.pooled(states.clone()).unwrap();
    [as_f64(&states), as_f64(&pooled)].concat()
}

fn vit<P: Precision, E: Element>() -> Vec<f64>
where
    AutoDevice: Backend<E>,
{
    let (model, reference): (Vit<small_vit::Config, E, AutoDevice, P>, _) = (load("vit"), reference("vit"));
    let shape = (Batch::new(2), small_vit::Channels, small_vit::Height, small_vit::Width);
    let images: Images<Batch, small_vit::Config, E, AutoDevice> =
        AutoDevice::default().tensor((reference.elements("input.pixels"), shape));
    as_f64(&model.forward(images.put_tape(NoneTape)).unwrap())
}

fn clip<P: Precision, E: Element>() -> Vec<f64>
where
    AutoDevice: Backend<E>,
{
    use small_clip::{Channels, Config, Height, SeqLen, Width};
    let (model, reference): (Clip<Config, E, AutoDevice, P>, _) = (load("clip"), reference("clip"));
    let read = ids(&reference.ids("input.ids"), (Batch::new(4), SeqLen::new(9).unwrap()));
    let shape = (Batch::new(4), Channels, Height, Width);
    let images: Images<Batch, Config, E, AutoDevice> =
        AutoDevice::default().tensor((reference.elements("input.pixels"), shape));
    let (texts, images) = (model.texts(&read, NoneTape).unwrap(), model.images(images).unwrap());
    [as_f64(&texts), as_f64(&images)].concat()
}

fn modern_bert<P: Precision, E: Element>() -> Vec<f64>
where
    AutoDevice: Backend<E>,
{
    let model: ModernBert<small_modern_bert::Config, E, AutoDevice, P> = load("modern_bert");
    let shape = (Batch::new(3), small_modern_bert::SeqLen::new(11).unwrap());
    let states = model.forward(&ids(&reference("modern_bert").ids("input.ids"), shape), NoneTape).unwrap();
    as_f64(&model.logits(states).unwrap())
}

fn whisper<P: Precision, E: Element>() -> Vec<f64>
where
    AutoDevice: Backend<E>,
{
    let (model, reference): (Whisper<small_whisper::Config, E, AutoDevice, P>, _) =
        (load("whisper"), reference("whisper"));
    let shape = (Batch::new(3), small_whisper::NumMelBins, Product::default());
    let features: Features<Batch, small_whisper::Config, E, AutoDevice> =
        AutoDevice::default().tensor((reference.elements("input.features"), shape));
    let target = ids(&reference.ids("input.decoder_ids"), (Batch::new(3), Const::<7>));
    as_f64(&model.forward(features, &target, NoneTape).unwrap())
}

/// The norm of the difference, relative to the norm.
fn relative_error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let norm = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>().sqrt();
    norm(&mut found.iter().zip(expected).map(|(x, y)| x - y)) / norm(&mut expected.iter().copied())
}

/// Compares a precision with the definitions in `f64`, and with weights of `f32`.
macro_rules! agree {
    ($($family:ident: $precision:ident $error:literal;)*) => {
        $(
            let [kernels, definitions] = [$family::<$precision, f32>(), $family::<$precision, f64>()];
            assert_close(stringify!($family $precision), &kernels, &definitions, 2e-5);
            let error = relative_error(&kernels, &$family::<FullPrecision, f32>());
            println!("{} {}: {error:.1e}", stringify!($family), stringify!($precision));
            assert!(error < $error && error > $error / 20.0, "{error} in {}", stringify!($family $precision));
        )*
    };
}

#[test]
fn every_family_computes_in_every_precision() {
    agree! {
        gpt2: Bf16 1e-2; gpt2: F16 1e-3; gpt2: Q8 2e-2; gpt2: Q8Rows 4e-2;
        llama: Bf16 1e-2; llama: F16 1e-3; llama: Q8 2e-2; llama: Q8Rows 4e-2;
        qwen3: Bf16 1e-2; qwen3: F16 1e-3; qwen3: Q8 2e-2; qwen3: Q8Rows 4e-2;
        gemma3: Bf16 1e-2; gemma3: F16 1e-3; gemma3: Q8 4e-2; gemma3: Q8Rows 6e-2;
        mixtral: Bf16 1e-2; mixtral: F16 1e-3; mixtral: Q8 2e-2; mixtral: Q8Rows 4e-2;
        t5: Bf16 1e-2; t5: F16 1e-3; t5: Q8 2e-2; t5: Q8Rows 4e-2;
        bert: Bf16 1e-2; bert: F16 1e-3; bert: Q8 2e-2; bert: Q8Rows 4e-2;
        vit: Bf16 1e-2; vit: F16 1e-3; vit: Q8 2e-2; vit: Q8Rows 4e-2;
        clip: Bf16 1e-2; clip: F16 1e-3; clip: Q8 2e-2; clip: Q8Rows 4e-2;
        modern_bert: Bf16 1e-2; modern_bert: F16 1e-3; modern_bert: Q8 2e-2; modern_bert: Q8Rows 4e-2;
        whisper: Bf16 1e-2; whisper: F16 1e-3; whisper: Q8 2e-2; whisper: Q8Rows 4e-2;
    }
}

/// The logits of the last of `read` tokens, which are read one at a time.
fn by_steps<Model: Autoregressive<Const<1>, f32, AutoDevice, VocabSize = VocabSize>>(
    model: &Model,
    read: &[usize],
) -> Vec<f64> {
    let mut cache = model.cache(Const).unwrap();
    let steps = read.iter().map(|&id| model.next_logits(&ids(&[id], (Const, Read::new(1))), &mut cache).unwrap());
    as_f64(&steps.last().unwrap())
}

#[test]
fn steps_agree_with_the_forward_pass() {
    macro_rules! check {
        ($($family:ident: $Model:ident, $config:ident, $P:ident $tolerance:literal;)*) => {
            $(
                let read = [7, 4, 11, 0, 96, 5, 3];
                let model: $Model<$config::Config, f32, AutoDevice, $P> = load(stringify!($family));
                let whole = ids(&read, (Const::<1>, $config::SeqLen::new(7).unwrap()));
                let last = as_f64(&model.forward(&whole, NoneTape).unwrap()).split_off(6 * VocabSize::SIZE);
                assert_close(stringify!($family $P), &by_steps(&model, &read), &last, $tolerance);
            )*
        };
    }
    // In 8 bits a step rounds the inputs of its products to 16 bits.
    check! {
        gpt2: Gpt2, small_gpt2, Bf16 1e-5;
        gpt2: Gpt2, small_gpt2, F16 1e-5;
        gpt2: Gpt2, small_gpt2, Q8 1e-4;
        gpt2: Gpt2, small_gpt2, Q8Rows 1e-4;
        llama: Llama, small_llama, Bf16 1e-5;
        llama: Llama, small_llama, F16 1e-5;
        llama: Llama, small_llama, Q8 1e-4;
        llama: Llama, small_llama, Q8Rows 1e-4;
        qwen3: Llama, small_qwen3, Bf16 1e-5;
        qwen3: Llama, small_qwen3, F16 1e-5;
        qwen3: Llama, small_qwen3, Q8 1e-4;
        qwen3: Llama, small_qwen3, Q8Rows 1e-4;
        gemma3: Gemma3, small_gemma3, Bf16 1e-5;
        gemma3: Gemma3, small_gemma3, F16 1e-5;
        gemma3: Gemma3, small_gemma3, Q8 3e-4;
        gemma3: Gemma3, small_gemma3, Q8Rows 3e-4;
    }
}

#[test]
fn weights_of_bfloat16_are_stored_exactly() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/hugging_face/llama_bf16_sharded");
    let model: Llama<small_llama::Config, f32, AutoDevice> = load_pretrained(folder, &AutoDevice::default()).unwrap();
    let stored: Llama<small_llama::Config, f32, AutoDevice, Bf16> =
        load_pretrained(folder, &AutoDevice::default()).unwrap();
    let read = [7, 4, 11, 0, 96, 5, 3];
    assert_close("logits", &by_steps(&stored, &read), &by_steps(&model, &read), 1e-6);
    let converted = model.with_precision::<Bf16>().unwrap();
    assert_eq!(by_steps(&stored, &read), by_steps(&converted, &read));
}

#[test]
fn a_weight_that_is_too_large_is_named() {
    dims! { InDim = 2; OutDim = 3; }
    let device = AutoDevice::default();
    let mut map = Linear::<InDim, OutDim, f32, AutoDevice>::build(&device);
    map.weight = device.tensor(vec![1.0, 2.0, 65_505.0, -1e6, 0.0, 1.0]);
    let error = map.with_precision::<F16>().unwrap_err();
    assert!(matches!(error, LoadError::Precision { .. }));
    assert_eq!(error.to_string(), "`weight` has an element that is too large for `F16`");
    assert!(map.with_precision::<Bf16>().is_ok() && map.with_precision::<Q8>().is_ok());
    assert!(map.with_precision::<Q8Rows>().is_ok());
}

#[test]
fn an_adapter_learns_through_a_stored_map() {
    dims! { InDim = 40; OutDim = 33; Rank = 2; }
    let device = AutoDevice::seed_from_u64(0);
    let map = Linear::<InDim, OutDim, f32, AutoDevice>::build(&device);
    let stored = map.with_precision::<Bf16>().unwrap();
    let adapter = Lora::<InDim, InDim, Rank, f32, AutoDevice>::build(&device);
    let mut adapter = adapter;
    adapter.b = device.tensor((0..80).map(|i| i as f32 / 80.0 - 0.5).collect::<Vec<_>>());
    let identity: Tensor<(InDim, InDim), f32, AutoDevice> =
        device.tensor((0..1600).map(|i| f32::from(i % 41 == 0)).collect::<Vec<_>>());
    let x: Tensor<(Const<2>, Const<3>, InDim), f32, AutoDevice> = device.sample_normal();
    let gradient = |stored_map: bool| {
        let adapted = adapter.forward(x.clone().put_tape(adapter.recording()), &identity, None, 2.0).unwrap();
        let y = if stored_map { stored.forward(adapted) } else { map.forward(adapted) }.unwrap();
        let loss = ops::mean(ops::mul(y.clone(), y).unwrap()).unwrap();
        as_f64(&loss.backward().unwrap().of(&adapter.a).unwrap())
    };
    let error = relative_error(&gradient(true), &gradient(false));
    assert!(error > 0.0 && error < 1e-2, "{error}");
}

#[test]
fn an_adapter_learns_beside_a_stored_map() {
    dims! { InDim = 40; OutDim = 33; Rank = 2; }
    let device = AutoDevice::seed_from_u64(0);
    let map = Linear::<InDim, OutDim, f32, AutoDevice>::build(&device);
    let stored = map.with_precision::<Q8>().unwrap();
    let mut adapter = Lora::<InDim, OutDim, Rank, f32, AutoDevice>::build(&device);
    adapter.b = device.sample_normal();
    let x: Tensor<(Const<2>, Const<3>, InDim), f32, AutoDevice> = device.sample_normal();
    let gradients = |stored_map: bool| {
        let x = x.clone().put_tape(adapter.recording());
        let y = match stored_map {
            true => ops::residual(stored.forward(x.clone()).unwrap(), adapter.change(x, 2.0).unwrap()),
            false => adapter.forward(x, &map.weight, Some(&map.bias), 2.0),
        };
        let y = y.unwrap();
        let loss = ops::mean(ops::mul(y.clone(), y).unwrap()).unwrap();
        let mut gradients = loss.backward().unwrap();
        [as_f64(&gradients.of(&adapter.a).unwrap()), as_f64(&gradients.of(&adapter.b).unwrap())]
    };
    for (stored, whole) in gradients(true).iter().zip(&gradients(false)) {
        let error = relative_error(stored, whole);
        assert!(error > 0.0 && error < 1e-2, "{error}");
    }
}

/// The losses of the end of a text in nats, of a model of its characters that has read the beginning: in `f32`, and
/// with weights in bfloat16, float16 and 8 bits by blocks and by rows.
#[test]
#[ignore = "trains for a minute; reads the text in the file TEXT, such as Shakespeare's plays"]
fn perplexity_grows_by_less_than_a_thousandth() {
    dims! {
        Bytes = 128; Width = 128; Heads = 4; Hidden = 512; Layers = 4; Window = 64; Windows = 12;
    }
    struct Config;
    impl Gpt2Config for Config {
        type VocabSize = Bytes;
        type MaxSeqLen = Window;
        type EmbedDim = Width;
        type NumHeads = Heads;
        type HiddenDim = Hidden;
        type NumLayers = Layers;
        const NORM_EPSILON: f64 = 1e-5;
    }
    type Ids = TokenIds<Windows, Window, Bytes>;
    type Labels = LabelIds<Windows, Window, Bytes>;
    let text = std::fs::read(std::env::var_os("TEXT").expect("TEXT is a file of text")).unwrap();
    let text: Vec<usize> = text.into_iter().filter(u8::is_ascii).map(usize::from).collect();
    let (read, unread) = text.split_at(text.len() / 10 * 9);
    let ids = |text: &[usize], starts: &[usize], next: usize| -> Ids {
        let windows = starts.iter().flat_map(|start| &text[start + next..][..Window::SIZE]).copied();
        TokenIds::from_ids(&windows.collect::<Vec<_>>(), None, (Windows, Window)).unwrap()
    };
    let mut model = Gpt2::<Config, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(0));
    let (mut adam, mut rng) = (AdamW::default(), StdRng::seed_from_u64(0));
    for step in 0..1_500 {
        let starts: Vec<usize> = (0..Windows::SIZE).map(|_| rng.gen_range(0..read.len() - Window::SIZE)).collect();
        let logits = model.forward(&ids(read, &starts, 0), model.recording()).unwrap();
        let loss = cross_entropy(logits, &LabelIds::from(ids(read, &starts, 1)), Reduction::MeanAll).unwrap();
        let rate = 2e-3 * (1.0 - f64::from(step) / 1_500.0);
        update(&mut model, loss.backward().unwrap(), &mut adam, rate, 1.0).unwrap();
    }
    fn loss<P: Precision>(model: &Gpt2<Config, f32, AutoDevice, P>, batches: &[(Ids, Labels)]) -> f64 {
        let loss = |(inputs, labels): &(Ids, Labels)| {
            let logits = model.forward(inputs, NoneTape).unwrap();
            f64::from(cross_entropy(logits, labels, Reduction::MeanAll).unwrap().array())
        };
        batches.iter().map(loss).sum::<f64>() / batches.len() as f64
    }
    let starts: Vec<usize> = (0..unread.len() - Window::SIZE).step_by(Window::SIZE).collect();
    let batch = |starts| (ids(unread, starts, 0), LabelIds::from(ids(unread, starts, 1)));
    let batches: Vec<_> = starts.chunks_exact(Windows::SIZE).map(batch).collect();
    let whole = loss(&model, &batches);
    let losses = [
        loss(&model.with_precision::<Bf16>().unwrap(), &batches),
        loss(&model.with_precision::<F16>().unwrap(), &batches),
        loss(&model.with_precision::<Q8>().unwrap(), &batches),
        loss(&model.with_precision::<Q8Rows>().unwrap(), &batches),
    ];
    println!(
        "perplexity {:.4}; with bfloat16, float16, 8 bits by blocks, by rows: {:.4?}",
        whole.exp(),
        losses.map(f64::exp)
    );
    assert!(whole < 2.3 && losses.iter().all(|loss| (loss - whole).abs() < 1e-3), "{whole} {losses:?}");
}
