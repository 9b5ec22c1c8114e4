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
    nn::Module,
    ops::Rotary,
    prelude::*,
    weights::SafetensorsDtype,
};

dims! {
    pub VocabSize = 97; pub NumLayers = 2; pub One = 1; pub Batch; pub Len; pub Read; pub Write;
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
fn compare_with_reference<Model, E>(
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

/// The cross-entropy of the logits of each position but the last with the id of the next position.
fn next_token_loss<E: Real>(
    logits: Tensor<(Batch, Len, VocabSize), E, Cpu, OwnedTape<E, Cpu>>,
    ids: &[usize],
) -> Tensor<(), E, Cpu, OwnedTape<E, Cpu>>
where
    Cpu: Backend<E>,
{
    let (batch, len, _) = *logits.shape();
    let labels = ids.chunks(len.size()).flat_map(|row| &row[1..]).copied().collect::<Vec<_>>();
    let shorter = Read::new(len.size() - 1);
    let logits: Tensor<(Batch, Read, VocabSize), E, Cpu, _> = narrow(logits, axis::<Len>(), 0, shorter);
    let labels = TokenIds::from_ids(&labels, None, (batch, shorter)).unwrap();
    cross_entropy(logits, &labels, Reduction::MeanAll)
}

/// The most likely id of the last position.
fn last_choice<S: Dim, E: Real>(logits: &Tensor<(One, S, VocabSize), E, Cpu>) -> usize
where
    Cpu: Backend<E>,
{
    let logits = logits.as_vec();
    let last = &logits[logits.len() - VocabSize::SIZE..];
    Sampler::<VocabSize>::greedy().choose(last).unwrap().value()
}

fn ids<B: Dim, S: Dim>(ids: &[usize], shape: (B, S)) -> TokenIds<B, S, VocabSize> {
    TokenIds::from_ids(ids, None, shape).unwrap()
}

/// Continues the first 5 tokens of the reference's text, one token at a time, and compares. `next` reads the tokens.
fn compare_greedy(reference: &Fixture, mut next: impl FnMut(&[usize]) -> usize) {
    let expected = reference.ids("output.greedy");
    let mut text = expected[..5].to_vec();
    let mut token = next(&text);
    text.push(token);
    while text.len() < expected.len() {
        token = next(&[token]);
        text.push(token);
    }
    assert_eq!(text, expected);
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
