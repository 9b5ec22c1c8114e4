//! The models of `models` compute what HuggingFace's `transformers` computes from the same files: outputs, loss, the
//! gradient of every parameter, and greedy decoding with a cache.

use crate::numbers::device;
use crate::parity::{Fixture, as_f64, assert_close, compare_gradients};
use crate::recorded::OwnTape;
use crate::small_models::{
    NumLayers, VocabSize, small_bert, small_gpt2, small_llama, small_mixtral, small_t5, small_vit,
};
use dfdx::nn::TensorCollection;
use dfdx::tensor::{AutoDevice, PutTape, Tensor};
use dfdx::tensor_ops::{Device, MeanTo, SumTo};
use typed_transformer::generate::Sampler;
use typed_transformer::models::bert::Bert;
use typed_transformer::models::gpt2::Gpt2;
use typed_transformer::models::llama::Llama;
use typed_transformer::models::mixtral::Mixtral;
use typed_transformer::models::t5::T5;
use typed_transformer::models::vit::{Images, Vit};
use typed_transformer::nn::Autoregressive;
use typed_transformer::ops;
use typed_transformer::prelude::*;
use typed_transformer::ranks::Element;
use typed_transformer::weights::{self, Loadable, Pretrained};

dims! { pub Batch; pub Read; }

/// What the reference read, and what it computed from that.
pub fn reference(model: &str) -> Fixture {
    Fixture::read(&format!("hugging_face/{model}/io"))
}

/// The model of a folder.
pub fn load<Model, E>(model: &str) -> Model
where
    Model: Pretrained + Loadable<E, AutoDevice>,
    E: Element,
    AutoDevice: Device<E>,
{
    Fixture::read(&format!("hugging_face/{model}/model")).load(&names::<Model>())
}

/// The names in the files: those of BERT and of the Vision Transformer have no prefix.
fn names<Model: Pretrained>() -> String {
    match Model::PREFIX {
        "bert." | "vit." => Model::NAMES.replace(Model::PREFIX, ""),
        _ => Model::NAMES.to_string(),
    }
}

/// The names of the gradients: those of `transformers` 5 in memory, which differ from those in files for the Vision
/// Transformer. (They also differ for the experts of Mixtral, see [`split_experts`].)
fn names_in_memory<Model: Pretrained>() -> String {
    if Model::PREFIX != "vit." {
        return names::<Model>();
    }
    let rule = "layers.{n}.attention.{role}.{p} = encoder.layer.{n}.attention.attention.{role}.{p}";
    let rules = ["query", "key", "value"]
        .map(|role| format!("layers.{{n}}.attention.{role}.{{p}} = layers.{{n}}.attention.{}_proj.{{p}}", &role[..1]));
    names::<Model>()
        .replace(rule, &rules.join("\n"))
        .replace(" = encoder.layer.{n}.attention.output.dense.", " = layers.{n}.attention.o_proj.")
        .replace(" = encoder.layer.{n}.intermediate.dense.", " = layers.{n}.mlp.fc1.")
        .replace(" = encoder.layer.{n}.output.dense.", " = layers.{n}.mlp.fc2.")
        .replace(" = encoder.layer.{n}.layernorm", " = layers.{n}.layernorm")
}

/// Compares the loss and the gradients with those of the reference.
pub fn compare_gradients_with_reference<Model, E>(
    model: &Model,
    loss: Tensor<(), E, AutoDevice, OwnTape<E>>,
    reference: &Fixture,
) where
    Model: Pretrained + TensorCollection<E, AutoDevice, To<E, AutoDevice> = Model> + Loadable<E, AutoDevice>,
    E: Element,
    AutoDevice: Backend<E>,
{
    assert_close("loss", &as_f64(&loss), reference.numbers("loss"), 1e-5);
    let of_gradients = names_in_memory::<Model>().replace(" = ", " = grads.")
        + "
ignore input.*
ignore output.*
ignore loss
ignore grads.*.mlp.gate.weight
ignore grads.*.mlp.experts.{name}";
    compare_gradients(model, loss, &reference.load::<Model, E>(&of_gradients));
}

/// Compares a model that writes: its logits, the loss of predicting the next token, gradients, and its greedy text.
pub fn compare_writer<Model, S: Dim, E>(
    model: &Model,
    logits: Tensor<(Batch, S, VocabSize), E, AutoDevice, OwnTape<E>>,
    inputs: &[usize],
    reference: &Fixture,
) where
    Model: Pretrained
        + TensorCollection<E, AutoDevice, To<E, AutoDevice> = Model>
        + Loadable<E, AutoDevice>
        + Autoregressive<Const<1>, E, AutoDevice, VocabSize = VocabSize>,
    E: Element,
    AutoDevice: Backend<E>,
{
    assert_close("logits", &as_f64(&logits), reference.numbers("output.logit"), 1e-5);
    let (batch, len, _) = *logits.shape();
    let read = Read::new(len.size() - 1);
    let logits: Tensor<(Batch, Read, VocabSize), E, AutoDevice, _> = ops::slice(logits, axis::<S>(), 0, read).unwrap();
    let labels: Vec<usize> = inputs.chunks(len.size()).flat_map(|row| &row[1..]).copied().collect();
    let loss = cross_entropy(logits, &LabelIds::from(ids(&labels, (batch, read))), Reduction::MeanAll).unwrap();
    compare_gradients_with_reference(model, loss, reference);
    compare_greedy(model, &reference.ids("output.greedy"), 5);
}

/// Continues the first `given` tokens of the expected text, one token at a time.
fn compare_greedy<E: Real>(
    model: &impl Autoregressive<Const<1>, E, AutoDevice, VocabSize = VocabSize>,
    expected: &[usize],
    given: usize,
) where
    AutoDevice: Backend<E>,
{
    let mut cache = model.cache(Const).unwrap();
    let mut text = expected[..given].to_vec();
    let mut unread = text.clone();
    while text.len() < expected.len() {
        let tokens = ids(&unread, (Const, Read::new(unread.len())));
        let logits = model.next_logits(&tokens, &mut cache).unwrap();
        let next = Sampler::greedy().choose_each(&logits).unwrap()[0];
        unread = vec![next.value()];
        text.push(next.value());
    }
    assert_eq!(text, expected);
}

pub fn ids<B: Dim, S: Dim>(ids: &[usize], shape: (B, S)) -> TokenIds<B, S, VocabSize> {
    TokenIds::from_ids(ids, None, shape).unwrap()
}

/// Both tests of a model: in `f32` the kernels run, in `f64` the definitions.
macro_rules! compare_both {
    ($($model:ident),*) => {
        $(mod $model {
            #[test]
            fn kernels_agree() {
                super::$model::<f32>();
            }

            #[test]
            fn definitions_agree() {
                super::$model::<f64>();
            }
        })*
    };
}
pub(crate) use compare_both;
compare_both!(gpt2_agrees, llama_agrees, mixtral_agrees, bert_agrees, t5_agrees, vit_agrees);

fn gpt2_agrees<E: Element>()
where
    AutoDevice: Backend<E>,
{
    let reference = reference("gpt2");
    let model: Gpt2<small_gpt2::Config, E, AutoDevice> = load("gpt2");
    let inputs = reference.ids("input.ids");
    let read = ids(&inputs, (Batch::new(3), small_gpt2::SeqLen::new(11).unwrap()));
    compare_writer(&model, model.forward(&read, OwnTape::default()).unwrap(), &inputs, &reference);
}

fn llama_agrees<E: Element>()
where
    AutoDevice: Backend<E>,
{
    let reference = reference("llama");
    let model: Llama<small_llama::Config, E, AutoDevice> = load("llama");
    let inputs = reference.ids("input.ids");
    let read = ids(&inputs, (Batch::new(3), small_llama::SeqLen::new(13).unwrap()));
    compare_writer(&model, model.forward(&read, OwnTape::default()).unwrap(), &inputs, &reference);
}

#[test]
fn rounded_weights_in_shards_agree() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/hugging_face/llama_bf16_sharded");
    let model: Llama<small_llama::Config, f32, AutoDevice> = weights::load_pretrained(folder, &device()).unwrap();
    let reference = reference("llama_bf16_sharded");
    let read = ids(&reference.ids("input.ids"), (Batch::new(2), small_llama::SeqLen::new(7).unwrap()));
    // The reference also rounded the frequencies of its rotary positions to bfloat16, which changes the logits by 1.7e-5.
    assert_close(
        "logits",
        &as_f64(&model.forward(&read, NoneTape).unwrap()),
        reference.numbers("output.logit"),
        2.5e-5,
    );
    compare_greedy(&model, &reference.ids("output.greedy"), 5);
}

fn mixtral_agrees<E: Element>()
where
    AutoDevice: Backend<E>,
{
    let mut reference = reference("mixtral");
    split_experts(&mut reference);
    let model: Mixtral<small_mixtral::Config, E, AutoDevice> = load("mixtral");
    let inputs = reference.ids("input.ids");
    let read = ids(&inputs, (Batch::new(2), small_mixtral::SeqLen::new(7).unwrap()));
    compare_writer(&model, model.forward(&read, OwnTape::default()).unwrap(), &inputs, &reference);
}

/// Gives the gradients of each expert the name that it has in files of weights. The reference holds those of all experts in
/// one tensor, with the rows of the gate before those of the hidden vector.
fn split_experts(reference: &mut Fixture) {
    use small_mixtral::{EmbedDim, HiddenDim, NumExperts};
    for layer in 0..NumLayers::SIZE {
        let of_layer = format!("grads.model.layers.{layer}");
        let router = reference.numbers(&format!("{of_layer}.mlp.gate.weight")).to_vec();
        reference.insert(
            format!("{of_layer}.block_sparse_moe.gate.weight"),
            &[NumExperts::SIZE, EmbedDim::SIZE],
            router,
        );
        let gate_and_hidden = reference.numbers(&format!("{of_layer}.mlp.experts.gate_up_proj")).to_vec();
        let output = reference.numbers(&format!("{of_layer}.mlp.experts.down_proj")).to_vec();
        let size = EmbedDim::SIZE * HiddenDim::SIZE;
        for expert in 0..NumExperts::SIZE {
            let name = |weight| format!("{of_layer}.block_sparse_moe.experts.{expert}.{weight}.weight");
            let (gate, hidden) = gate_and_hidden[2 * expert * size..][..2 * size].split_at(size);
            reference.insert(name("w1"), &[HiddenDim::SIZE, EmbedDim::SIZE], gate.to_vec());
            reference.insert(name("w3"), &[HiddenDim::SIZE, EmbedDim::SIZE], hidden.to_vec());
            let output = output[expert * size..][..size].to_vec();
            reference.insert(name("w2"), &[EmbedDim::SIZE, HiddenDim::SIZE], output);
        }
    }
}

fn t5_agrees<E: Element>()
where
    AutoDevice: Backend<E>,
{
    dims! { Src; Tgt; }
    let reference = reference("t5");
    let model: T5<small_t5::Config, E, AutoDevice> = load("t5");
    let batch = Batch::new(3);
    let source = ids(&reference.ids("input.ids"), (batch, Src::new(15)));
    let target = reference.ids("input.decoder_ids");
    let encoded = model.encoder(&source, NoneTape).unwrap();
    assert_close("encoder", &as_f64(&encoded), reference.numbers("output.encoder"), 1e-5);
    let logits = model.forward(&source, &ids(&target, (batch, Tgt::new(7))), OwnTape::default()).unwrap();
    assert_close("logits", &as_f64(&logits), reference.numbers("output.logit"), 1e-5);
    // The label of the last position is the first token.
    let labels: Vec<usize> = target.chunks(7).flat_map(|row| row[1..].iter().chain(&row[..1])).copied().collect();
    let labels = LabelIds::from(ids(&labels, (batch, Tgt::new(7))));
    let loss = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
    compare_gradients_with_reference(&model, loss, &reference);

    let encoded = model.encode(&source).unwrap();
    compare_targets(&encoded, batch, &reference.ids("output.greedy"), true);
    compare_targets(&encoded, batch, &reference.ids("output.greedy_without_repeats"), false);
}

/// Writes a target for each row, one token at a time from the first one on, and compares them with the expected ones.
pub fn compare_targets<E: Real>(
    model: &impl Autoregressive<Batch, E, AutoDevice, VocabSize = VocabSize>,
    batch: Batch,
    expected: &[usize],
    may_repeat: bool,
) where
    AutoDevice: Backend<E>,
{
    let mut cache = model.cache(batch).unwrap();
    let len = expected.len() / batch.size();
    let mut texts: Vec<Vec<usize>> = expected.chunks(len).map(|text| text[..1].to_vec()).collect();
    for _ in 1..len {
        let unread: Vec<usize> = texts.iter().flat_map(|text| text.last().copied()).collect();
        let logits = model.next_logits(&ids(&unread, (batch, Read::new(1))), &mut cache).unwrap();
        for (row, text) in texts.iter_mut().enumerate() {
            let is_new = |token: &Fin<VocabSize>| may_repeat || !text.contains(&token.value());
            let mut sampler = Sampler::greedy().restrict_to(Fin::all().filter(is_new));
            text.push(sampler.choose(&ops::select(logits.clone(), axis::<Batch>(), row).unwrap()).unwrap().value());
        }
    }
    assert_eq!(texts.concat(), expected);
}

fn bert_agrees<E: Element>()
where
    AutoDevice: Backend<E>,
{
    use small_bert::{Config, EmbedDim, SeqLen, TokenTypes};
    let reference = reference("bert");
    let model: Bert<Config, E, AutoDevice> = load("bert");
    let shape = (Batch::new(3), SeqLen::new(14).unwrap());
    // The reference hides by a mask what is padding here. The token that stands for padding may be any other one.
    let is_token: Vec<bool> = reference.ids("input.mask").iter().map(|&bit| bit == 1).collect();
    let inputs = reference.ids("input.ids");
    let pad = Fin::all().find(|pad: &Fin<VocabSize>| !inputs.contains(&pad.value())).unwrap();
    let tokens: Vec<usize> =
        inputs.iter().zip(&is_token).map(|(&id, &is_token)| if is_token { id } else { pad.value() }).collect();
    let tokens = TokenIds::from_ids(&tokens, Some(pad), shape).unwrap();
    let types: TokenIds<Batch, SeqLen, TokenTypes> =
        TokenIds::from_ids(&reference.ids("input.types"), None, shape).unwrap();

    let states = model.forward(&tokens, &types, OwnTape::default()).unwrap();
    let pooled = model.pooled(states.clone()).unwrap();
    // The states of padding depend on the token that stands for it.
    let of_tokens = |states: &[f64]| -> Vec<f64> {
        let rows = states.chunks(EmbedDim::SIZE).zip(&is_token).filter(|(_, is_token)| **is_token);
        rows.flat_map(|(row, _)| row).copied().collect()
    };
    assert_close("states", &of_tokens(&as_f64(&states)), &of_tokens(reference.numbers("output.last")), 1e-5);
    assert_close("pooled", &as_f64(&pooled), reference.numbers("output.pooler"), 1e-5);
    let squares = ops::masked_mean(states.square(), &tokens.padding_mask()).unwrap();
    let tokens_of_row = is_token.chunks(14).map(|row| row.iter().filter(|is_token| **is_token).count() as f64);
    let tokens_of_row: Vec<f64> = tokens_of_row.collect();
    let count: f64 = tokens_of_row.iter().sum();
    let shares: Vec<E> = tokens_of_row.iter().map(|tokens| E::from_f64(tokens / count).unwrap()).collect();
    let shares: Tensor<(Batch,), E, AutoDevice> = device().tensor((shares, (shape.0,)));
    let last: Tensor<(EmbedDim,), E, AutoDevice, _> =
        einsum!(squares: (Batch, EmbedDim), &shares: (Batch) -> (EmbedDim)).unwrap();
    let loss = last.sum::<(), _>() + pooled.square().sum::<(), _>();
    compare_gradients_with_reference(&model, loss, &reference);
}

fn vit_agrees<E: Element>()
where
    AutoDevice: Backend<E>,
{
    let reference = reference("vit");
    let model: Vit<small_vit::Config, E, AutoDevice> = load("vit");
    let shape = (Batch::new(2), small_vit::Channels, small_vit::Height, small_vit::Width);
    let images: Images<Batch, small_vit::Config, E, AutoDevice> =
        device().tensor((reference.elements("input.pixels"), shape));
    let states = model.forward(images.put_tape(OwnTape::default())).unwrap();
    let pooled = model.pooled(states.clone()).unwrap();
    assert_close("states", &as_f64(&states), reference.numbers("output.last"), 1e-5);
    assert_close("pooled", &as_f64(&pooled), reference.numbers("output.pooler"), 1e-5);
    let loss = states.square().mean::<(), _>() + pooled.square().sum::<(), _>();
    compare_gradients_with_reference(&model, loss, &reference);
}
