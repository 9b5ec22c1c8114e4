//! Qwen3, OLMo 2 and Gemma 3 compute what HuggingFace's `transformers` computes, as the models of `hugging_face.rs` do.

use crate::hugging_face::{Batch, compare_both, compare_writer, ids, load, reference};
use crate::recorded::OwnTape;
use crate::small_models::{VocabSize, small_gemma3, small_gpt2, small_llama, small_mixtral, small_olmo2, small_qwen3};
use dfdx::tensor::AutoDevice;
use typed_transformer::generate::{Generation, Sampler, Speculation};
use typed_transformer::models::gemma3::Gemma3;
use typed_transformer::models::gpt2::Gpt2;
use typed_transformer::models::llama::Llama;
use typed_transformer::models::mixtral::Mixtral;
use typed_transformer::nn::Autoregressive;
use typed_transformer::ops::{cross_entropy_by_position, embed, linear, scale, slice_last};
use typed_transformer::prelude::*;
use typed_transformer::ranks::Element;

compare_both!(qwen3_agrees, olmo2_agrees, gemma3_agrees);

fn qwen3_agrees<E: Element>()
where
    AutoDevice: Backend<E>,
{
    let reference = reference("qwen3");
    let model: Llama<small_qwen3::Config, E, AutoDevice> = load("qwen3");
    let inputs = reference.ids("input.ids");
    let read = ids(&inputs, (Batch::new(3), small_qwen3::SeqLen::new(13).unwrap()));
    compare_writer(&model, model.forward(&read, OwnTape::default()).unwrap(), &inputs, &reference);
}

fn olmo2_agrees<E: Element>()
where
    AutoDevice: Backend<E>,
{
    let reference = reference("olmo2");
    let model: Llama<small_olmo2::Config, E, AutoDevice> = load("olmo2");
    let inputs = reference.ids("input.ids");
    let read = ids(&inputs, (Batch::new(2), small_olmo2::SeqLen::new(9).unwrap()));
    compare_writer(&model, model.forward(&read, OwnTape::default()).unwrap(), &inputs, &reference);
}

fn gemma3_agrees<E: Element>()
where
    AutoDevice: Backend<E>,
{
    let reference = reference("gemma3");
    let model: Gemma3<small_gemma3::Config, E, AutoDevice> = load("gemma3");
    let inputs = reference.ids("input.ids");
    let read = ids(&inputs, (Batch::new(2), small_gemma3::SeqLen::new(11).unwrap()));
    compare_writer(&model, model.forward(&read, OwnTape::default()).unwrap(), &inputs, &reference);
}

/// The vectors that a head of one's own takes are those that the logits are made of, and those of the tokens'
/// embeddings, behind which a cache and a text go on.
#[test]
fn logits_are_the_vectors_times_their_weight() {
    macro_rules! check {
        ($($family:ident: $Model:ident, $config:ident, $model:ident, $scale:expr => $weight:expr;)*) => {
            $(
                let $model: $Model<$config::Config, f32, AutoDevice> = load(stringify!($family));
                let shape = (Const::<1>, $config::SeqLen::new(7).unwrap());
                let read = ids(&[7, 4, 11, 0, 96, 5, 3], shape);
                let vectors = $model.vectors(&read, NoneTape).unwrap();
                let logits = linear(vectors.clone(), $weight, None).unwrap();
                assert_eq!(logits.as_vec(), $model.forward(&read, NoneTape).unwrap().as_vec(), stringify!($family));

                let embeddings = scale(embed(&$model.token_embedder, &read, NoneTape).unwrap(), $scale).unwrap();
                let of = |padding: &PaddingMask<_, _>| $model.vectors_of(embeddings.clone(), padding).unwrap().as_vec();
                assert_eq!(of(&read.padding_mask()), vectors.as_vec(), stringify!($family));
                assert_ne!(of(&PaddingMask::from_fn(shape, |_, i| i > 0)), vectors.as_vec(), stringify!($family));

                let mut cache = $model.cache(Const::<1>).unwrap();
                let prompt = ids(&[7, 4, 11, 0], (Const::<1>, Const::<4>));
                let first = $model.last_vectors(&prompt, &mut cache, Const::<1>).unwrap().as_vec();
                let rest = ids(&[96, 5, 3], (Const::<1>, Const::<3>));
                let next = $model.last_vectors(&rest, &mut cache, Const::<3>).unwrap().as_vec();
                let (found, all) = ([first, next].concat(), vectors.as_vec());
                assert_eq!(7 * found.len(), 4 * all.len());
                let mut pairs = found.iter().zip(&all[all.len() - found.len()..]);
                assert!(pairs.all(|(found, expected)| (found - expected).abs() < 1e-4), stringify!($family));

                let mut cache = $model.cache(Const::<1>).unwrap();
                let embeddings = scale(embed(&$model.token_embedder, &prompt, NoneTape).unwrap(), $scale).unwrap();
                let first = $model.last_vectors_of(embeddings, &mut cache, Const::<1>).unwrap().as_vec();
                let prefixed = Prefixed { model: &$model, cache: cache.clone() };
                let next = $model.last_vectors(&rest, &mut cache, Const::<3>).unwrap().as_vec();
                assert_eq!([first, next].concat(), found, stringify!($family));

                let alone = text(&$model, &ids(&[7, 4, 11, 0, 96], (Const, Const::<5>)));
                let start = ids(&[96], (Const, Const::<1>));
                assert_eq!(text(&prefixed, &start), alone, stringify!($family));
                // The draft does not know the prefix, so the target refuses proposals.
                let sampler = Sampler::greedy();
                let speculation = Speculation::with_own_sampler(&prefixed, &$model, &start, None, 3, sampler).unwrap();
                let speculated: Vec<_> = speculation.take(8).map(|token| token.unwrap().value()).collect();
                assert_eq!(speculated, alone, stringify!($family));
            )*
        };
    }
    check! {
        gpt2: Gpt2, small_gpt2, model, 1.0 => &model.token_embedder;
        gemma3: Gemma3, small_gemma3, model, (small_gemma3::EmbedDim::SIZE as f64).sqrt() => &model.token_embedder;
        llama: Llama, small_llama, model, 1.0 => model.logit.as_ref().unwrap_or(&model.token_embedder);
        qwen3: Llama, small_qwen3, model, 1.0 => model.logit.as_ref().unwrap_or(&model.token_embedder);
        mixtral: Mixtral, small_mixtral, model, 1.0 => model.logit.as_ref().unwrap_or(&model.token_embedder);
    }
}

/// Several answers may follow a prompt that is read once. The last token of the prompt gives the logits of the first
/// one of the answer.
#[test]
fn the_log_probability_of_an_answer_is_that_of_the_whole_text() {
    let model: Llama<small_llama::Config, f32, AutoDevice> = load("llama");
    let prompt = [7, 4, 11, 0];
    let mut prefix = model.cache(Const::<1>).unwrap();
    model.next_logits(&ids(&prompt[..3], (Const::<1>, Const::<3>)), &mut prefix).unwrap();
    for answer in [[96, 5, 3], [2, 2, 8]] {
        let labels = LabelIds::from(ids(&answer, (Const::<1>, Const::<3>)));
        let mut cache = prefix.clone();
        let read = ids(&[prompt[3], answer[0], answer[1]], (Const::<1>, Const::<3>));
        let logits = model.last_logits(&read, &mut cache, Const::<3>).unwrap();
        let found = cross_entropy_by_position(logits, &labels).unwrap().as_vec();

        let text = [&prompt[..], &answer[..2]].concat();
        let shape = (Const::<1>, small_llama::SeqLen::new(6).unwrap());
        let logits = model.forward(&ids(&text, shape), NoneTape).unwrap();
        let logits = slice_last(logits, axis::<small_llama::SeqLen>(), Const::<3>).unwrap();
        let expected = cross_entropy_by_position(logits, &labels).unwrap().as_vec();
        let difference = found.iter().sum::<f32>() - expected.iter().sum::<f32>();
        assert!(difference.abs() < 1e-4, "{found:?}, not {expected:?}");
    }
}

/// A model that writes behind what its cache holds, such as a learned prompt.
struct Prefixed<'a, Model, Cache> {
    model: &'a Model,
    cache: Cache,
}

impl<Model: Autoregressive<Const<1>, f32, AutoDevice, Cache: Clone>> Autoregressive<Const<1>, f32, AutoDevice>
    for Prefixed<'_, Model, Model::Cache>
{
    type VocabSize = Model::VocabSize;
    type MaxSeqLen = Model::MaxSeqLen;
    type Cache = Model::Cache;

    fn cache(&self, _: Const<1>) -> Result<Self::Cache, OpError> {
        Ok(self.cache.clone())
    }

    fn last_logits<S: Dim, Last: Dim>(
        &self,
        tokens: &TokenIds<Const<1>, S, Self::VocabSize>,
        cache: &mut Self::Cache,
        last: Last,
    ) -> Result<Tensor<(Const<1>, Last, Self::VocabSize), f32, AutoDevice>, OpError> {
        self.model.last_logits(tokens, cache, last)
    }
}

/// The greedy text of 8 tokens behind a prompt.
fn text<S: Dim, V: ConstDim>(
    model: &impl Autoregressive<Const<1>, f32, AutoDevice, VocabSize = V>,
    prompt: &TokenIds<Const<1>, S, V>,
) -> Vec<usize> {
    let tokens = Generation::with_own_sampler(model, prompt, None, Sampler::greedy()).unwrap().take(8);
    tokens.map(|tokens| tokens.unwrap()[0].unwrap().value()).collect()
}

/// Local layers keep fewer than two windows of positions, so a long text takes little more memory than a short one.
#[test]
fn local_layers_of_gemma3_keep_their_window() {
    use small_gemma3::WindowLen;
    let model: Gemma3<small_gemma3::Config, f32, AutoDevice> = load("gemma3");
    let mut cache = model.cache(Batch::new(1)).unwrap();
    for id in 0..30 {
        model.next_logits(&ids(&[id], (Batch::new(1), Const::<1>)), &mut cache).unwrap();
    }
    let held: Vec<usize> = cache.layers.iter().map(|layer| layer.keys().shape().1.size()).collect();
    assert!(held[0] <= 2 * WindowLen::SIZE, "{held:?}");
    assert!(held[2] >= 30, "{held:?}");
    assert_eq!((cache.len(), cache.layers[0].len()), (30, 30));
}

/// Positive and negative logits of tokens that a text has, of its prompt too, are penalized as in `transformers`.
#[test]
fn texts_with_a_repetition_penalty_agree() {
    fn compare<Model>(name: &str, model: &Model)
    where
        Model: Autoregressive<Const<1>, f32, AutoDevice, VocabSize = VocabSize>,
    {
        let reference = reference(name);
        let expected = reference.ids("output.greedy_with_penalty");
        assert_ne!(expected, reference.ids("output.greedy"));
        let mut sampler = Sampler::greedy().repetition_penalty(1.5).unwrap();
        let prompt = ids(&expected[..5], (Const, Const::<5>));
        let tokens = Generation::new(model, &prompt, None, &mut sampler).unwrap().take(12);
        let text: Vec<usize> = tokens.map(|tokens| tokens.unwrap()[0].unwrap().value()).collect();
        assert_eq!(text, expected[5..]);
    }
    compare::<Llama<small_qwen3::Config, f32, AutoDevice>>("qwen3", &load("qwen3"));
    compare::<Llama<small_olmo2::Config, f32, AutoDevice>>("olmo2", &load("olmo2"));
    compare::<Gemma3<small_gemma3::Config, f32, AutoDevice>>("gemma3", &load("gemma3"));
}
