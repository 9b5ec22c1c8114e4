//! The models of `models` compute what HuggingFace's `transformers` computes from the same files: outputs, loss, the
//! gradient of every parameter, and greedy decoding with a cache.

use crate::parity::{Fixture, as_f64, assert_close, compare_gradients};
use dfdx::{
    nn::TensorCollection,
    tensor::{OwnedTape, Tensor},
    tensor_ops::{Backward, Device},
};
use typed_transformer::{
    generate::Sampler,
    models::llama::{self, Llama, LlamaConfig},
    nn::{Autoregressive, Module},
    ops::{self, Rotary},
    prelude::*,
    weights::SafetensorsDtype,
};

dims! {
    pub VocabSize = 97; pub NumLayers = 2; pub Batch; pub Read;
}

/// What the reference read, and what it computed from that.
fn reference(model: &str) -> Fixture {
    Fixture::read(&format!("hugging_face/{model}/io"))
}

/// The model of a folder.
fn load<Model, E>(model: &str, names: &str) -> Model
where
    Model: Module + TensorCollection<E, Cpu, To<E, Cpu> = Model>,
    E: SafetensorsDtype,
    Cpu: Device<E>,
{
    Fixture::read(&format!("hugging_face/{model}/model")).load(names)
}

/// Compares the gradients with those of the reference.
fn compare_gradients_with_reference<Model, E>(
    model: &Model,
    names: &str,
    loss: Tensor<(), E, Cpu, OwnedTape<E, Cpu>>,
    reference: &Fixture,
) where
    Model: Module + TensorCollection<E, Cpu, To<E, Cpu> = Model>,
    E: SafetensorsDtype,
    Cpu: Backend<E>,
{
    assert_close("loss", &as_f64(&loss), reference.numbers("loss"), 1e-5);
    let of_gradients = names.replace(" = ", " = grads.") + "\nignore input.*\nignore output.*\nignore loss";
    compare_gradients(model, &loss.backward(), &reference.load::<Model, E>(&of_gradients));
}

/// Compares a model that writes: its logits, the loss of predicting the next token, gradients, and its greedy text.
fn compare_writer<Model, S: Dim, E>(
    model: &Model,
    names: &str,
    logits: Tensor<(Batch, S, VocabSize), E, Cpu, OwnedTape<E, Cpu>>,
    inputs: &[usize],
    reference: &Fixture,
) where
    Model:
        Module + TensorCollection<E, Cpu, To<E, Cpu> = Model> + Autoregressive<Const<1>, E, Cpu, VocabSize = VocabSize>,
    E: SafetensorsDtype,
    Cpu: Backend<E>,
{
    assert_close("logits", &as_f64(&logits), reference.numbers("output.logit"), 1e-5);
    let (batch, len, _) = *logits.shape();
    let read = Read::new(len.size() - 1);
    let logits: Tensor<(Batch, Read, VocabSize), E, Cpu, _> = ops::slice(logits, axis::<S>(), 0, read);
    let labels: Vec<usize> = inputs.chunks(len.size()).flat_map(|row| &row[1..]).copied().collect();
    let loss = cross_entropy(logits, &ids(&labels, (batch, read)), Reduction::MeanAll);
    compare_gradients_with_reference(model, names, loss, reference);

    let expected = reference.ids("output.greedy");
    let mut cache = model.try_cache(Const).unwrap();
    let mut text = expected[..5].to_vec();
    let mut unread = text.clone();
    while text.len() < expected.len() {
        let tokens = ids(&unread, (Const, Read::new(unread.len())));
        let logits = model.try_next_logits(&tokens, &mut cache).unwrap();
        let next = Sampler::<VocabSize>::greedy().choose(&logits.as_vec()).unwrap();
        unread = vec![next.value()];
        text.push(next.value());
    }
    assert_eq!(text, expected);
}

fn ids<B: Dim, S: Dim>(ids: &[usize], shape: (B, S)) -> TokenIds<B, S, VocabSize> {
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
compare_both!(llama_agrees);

fn llama_agrees<E: SafetensorsDtype>()
where
    Cpu: Backend<E>,
{
    use small_llama::{Config, SeqLen};
    let reference = reference("llama");
    let model: Llama<Config, E, Cpu> = load("llama", llama::NAMES);
    let inputs = reference.ids("input.ids");
    let read = ids(&inputs, (Batch::new(3), SeqLen::new(13).unwrap()));
    let logits = model.forward(&read, OwnedTape::default());
    compare_writer(&model, llama::NAMES, logits, &inputs, &reference);
}

mod small_llama {
    use super::*;

    dims! {
        pub EmbedDim = 48; pub NumHeads = 6; pub KeyValueHeads = 2; pub HeadDim = 8; pub HiddenDim = 52;
        pub MaxLen = 40; pub SeqLen <= MaxLen;
    }

    pub struct Config;
    impl LlamaConfig for Config {
        type VocabSize = VocabSize;
        type MaxSeqLen = MaxLen;
        type EmbedDim = EmbedDim;
        type HiddenDim = HiddenDim;
        type NumLayers = NumLayers;
        type NumHeads = NumHeads;
        type KeyValueHeads = KeyValueHeads;
        type HeadDim = HeadDim;
        const NORM_EPSILON: f64 = 1e-6;
        const ROTARY: Rotary = Rotary::halves(10_000.0);
        const TIED_LOGITS: bool = false;
    }
}
