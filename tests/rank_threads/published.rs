//! The published families on ranks that divide a batch: gradients and texts are those of one process.

use crate::recorded::{OwnTape, of_model};
use crate::small_models::{
    VocabSize, small_bert, small_gemma3, small_gpt2, small_llama, small_mixtral, small_modern_bert, small_olmo2,
    small_qwen3, small_t5, small_vit, small_whisper,
};
use dfdx::nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorName, ViewTensorRef};
use dfdx::shapes::Shape;
use dfdx::tensor::{PutTape, Tensor};
use std::ops::Range;
use typed_transformer::generate::{Sampler, generate_from_prompt};
use typed_transformer::models::bert::Bert;
use typed_transformer::models::gemma3::Gemma3;
use typed_transformer::models::gpt2::Gpt2;
use typed_transformer::models::llama::Llama;
use typed_transformer::models::mixtral::Mixtral;
use typed_transformer::models::modern_bert::ModernBert;
use typed_transformer::models::t5::T5;
use typed_transformer::models::vit::{ClassAndPatches, Images, Vit};
use typed_transformer::models::whisper::{Features, Whisper};
use typed_transformer::ops::{add, partial_cross_entropy};
use typed_transformer::prelude::*;
use typed_transformer::ranks;
use typed_transformer::ranks::{Partial, Ranks, Shard};
use typed_transformer::train::GradientsOf;

ranks! { World; }
dims! { Batch; Prompt = 3; Text = 9; SrcLen = 6; TgtLen = 4; }

/// A number of rows that neither 2 nor 3 ranks divide.
const NUM_ROWS: usize = 5;

type Logits<B, F> = Tensor<(B, <F as Family>::Len, <F as Family>::Classes), f32, Cpu, OwnTape<f32, Cpu>>;

/// A model and what it computes from some rows of the batch. `B: DataDim` is all that it says about them.
trait Family {
    type Model: TensorCollection<f32, Cpu, To<f32, Cpu> = Self::Model>;
    type Len: Dim + Default;
    type Classes: ConstDim;

    fn build(device: &Cpu) -> Self::Model;
    fn logits<B: DataDim>(model: &Self::Model, batch: B, rows: Range<usize>) -> Logits<B, Self>
    where
        Self: Sized;
}

/// Ids of these rows, which differ from row to row.
fn ids<B: DataDim, S: Dim, V: ConstDim>(shape: (B, S), rows: Range<usize>) -> TokenIds<B, S, V> {
    let id = |row: usize, position: usize| (7 * row + 5 * position + row * position + 1) % V::SIZE;
    let ids: Vec<usize> = rows.flat_map(|row| (0..shape.1.size()).map(move |position| id(row, position))).collect();
    TokenIds::from_ids(&ids, None, shape).unwrap()
}

macro_rules! writer {
    ($family:ident, $model:ident, $config:ident) => {
        struct $family;
        impl Family for $family {
            type Model = $model<$config::Config, f32, Cpu>;
            type Len = Text;
            type Classes = VocabSize;

            fn build(device: &Cpu) -> Self::Model {
                $model::build(device)
            }
            fn logits<B: DataDim>(model: &Self::Model, batch: B, rows: Range<usize>) -> Logits<B, Self> {
                model.forward(&ids((batch, Text), rows), OwnTape::default()).unwrap()
            }
        }
    };
}
writer!(OfGpt2, Gpt2, small_gpt2);
writer!(OfLlama, Llama, small_llama);
writer!(OfQwen3, Llama, small_qwen3);
writer!(OfOlmo2, Llama, small_olmo2);
writer!(OfGemma3, Gemma3, small_gemma3);
writer!(OfMixtral, Mixtral, small_mixtral);

struct OfT5;
impl Family for OfT5 {
    type Model = T5<small_t5::Config, f32, Cpu>;
    type Len = TgtLen;
    type Classes = VocabSize;

    fn build(device: &Cpu) -> Self::Model {
        T5::build(device)
    }
    fn logits<B: DataDim>(model: &Self::Model, batch: B, rows: Range<usize>) -> Logits<B, Self> {
        let source = ids((batch, SrcLen), rows.clone());
        model.forward(&source, &ids((batch, TgtLen), rows), OwnTape::default()).unwrap()
    }
}

struct OfBert;
impl Family for OfBert {
    type Model = Bert<small_bert::Config, f32, Cpu>;
    type Len = Text;
    type Classes = small_bert::EmbedDim;

    fn build(device: &Cpu) -> Self::Model {
        Bert::build(device)
    }
    fn logits<B: DataDim>(model: &Self::Model, batch: B, rows: Range<usize>) -> Logits<B, Self> {
        let (tokens, types) = (ids((batch, Text), rows.clone()), ids((batch, Text), rows));
        let states = model.forward(&tokens, &types, OwnTape::default()).unwrap();
        let pooled = model.pooled(states.clone()).unwrap();
        add(states, pooled).unwrap()
    }
}

struct OfModernBert;
impl Family for OfModernBert {
    type Model = ModernBert<small_modern_bert::Config, f32, Cpu>;
    type Len = Text;
    type Classes = VocabSize;

    fn build(device: &Cpu) -> Self::Model {
        ModernBert::build(device)
    }
    fn logits<B: DataDim>(model: &Self::Model, batch: B, rows: Range<usize>) -> Logits<B, Self> {
        model.logits(model.forward(&ids((batch, Text), rows), OwnTape::default()).unwrap()).unwrap()
    }
}

struct OfWhisper;
impl Family for OfWhisper {
    type Model = Whisper<small_whisper::Config, f32, Cpu>;
    type Len = TgtLen;
    type Classes = VocabSize;

    fn build(device: &Cpu) -> Self::Model {
        Whisper::build(device)
    }
    fn logits<B: DataDim>(model: &Self::Model, batch: B, rows: Range<usize>) -> Logits<B, Self> {
        let numbers_of_row = 2 * small_whisper::SrcLen::SIZE * small_whisper::NumMelBins::SIZE;
        let numbers = (rows.start * numbers_of_row..rows.end * numbers_of_row).map(|i| (i as f32).sin()).collect();
        let shape = (batch, small_whisper::NumMelBins, Product::default());
        let features: Features<B, small_whisper::Config> = Cpu::default().tensor_from_vec(numbers, shape);
        model.forward(features, &ids((batch, TgtLen), rows), OwnTape::default()).unwrap()
    }
}

struct OfVit;
impl Family for OfVit {
    type Model = Vit<small_vit::Config, f32, Cpu>;
    type Len = ClassAndPatches<small_vit::Config>;
    type Classes = small_vit::EmbedDim;

    fn build(device: &Cpu) -> Self::Model {
        Vit::build(device)
    }
    fn logits<B: DataDim>(model: &Self::Model, batch: B, rows: Range<usize>) -> Logits<B, Self> {
        let pixels_of_row = 3 * small_vit::Height::SIZE * small_vit::Width::SIZE;
        let pixels = (rows.start * pixels_of_row..rows.end * pixels_of_row).map(|i| (i as f32).sin()).collect();
        let shape = (batch, small_vit::Channels, small_vit::Height, small_vit::Width);
        let images: Images<B, small_vit::Config> = Cpu::default().tensor_from_vec(pixels, shape);
        let states = model.forward(images.put_tape(OwnTape::default())).unwrap();
        let pooled = model.pooled(states.clone()).unwrap();
        add(states, pooled).unwrap()
    }
}

/// The gradient of each parameter, in the order of the model.
fn gradients_of<Model: TensorCollection<f32, Cpu>>(
    model: &Model,
    mut gradients: GradientsOf<Model, f32, Cpu>,
) -> Vec<(String, Vec<f32>)> {
    struct Collect<'a, Model>(&'a mut GradientsOf<Model, f32, Cpu>, Vec<(String, Vec<f32>)>);
    impl<Model> TensorVisitor<f32, Cpu> for Collect<'_, Model> {
        type Viewer = (ViewTensorRef, ViewTensorName);
        type Err = ();
        type E2 = f32;
        type D2 = Cpu;

        fn visit<S: Shape>(
            &mut self,
            _: TensorOptions<S, f32, Cpu>,
            (parameter, path): (&Tensor<S, f32, Cpu>, String),
        ) -> Result<Option<Tensor<S, f32, Cpu>>, ()> {
            self.1.push((path, self.0.of(parameter).unwrap().as_vec()));
            Ok(None)
        }
    }
    let mut collect = Collect(&mut gradients, Vec::new());
    Model::iter_tensors(&mut RecursiveWalker { m: (model, String::new()), f: &mut collect }).unwrap();
    collect.1
}

fn gradients_of_one_process<F: Family>() -> Vec<(String, Vec<f32>)> {
    let model = F::build(&Cpu::seed_from_u64(3));
    let (batch, rows) = (Batch::new(NUM_ROWS), 0..NUM_ROWS);
    let labels = LabelIds::<Batch, F::Len, F::Classes>::from(ids((batch, F::Len::default()), 1..NUM_ROWS + 1));
    let loss = cross_entropy(F::logits(&model, batch, rows), &labels, Reduction::MeanAll).unwrap();
    gradients_of(&model, of_model(loss, &model).backward().unwrap())
}

fn gradients_of_ranks<F: Family>(count: usize) -> Vec<Vec<(String, Vec<f32>)>> {
    Ranks::<World>::in_threads(count, |ranks| {
        let model = ranks.replicate(F::build(&Cpu::seed_from_u64(3))).unwrap();
        let batch = ranks.shard(Batch::new(NUM_ROWS));
        let rows = batch.range().unwrap();
        let labels = ids((batch, F::Len::default()), rows.start + 1..rows.end + 1);
        let labels = LabelIds::<Shard<Batch, World>, F::Len, F::Classes>::from(labels);
        let logits = of_model::<F::Model, _, _, _>(F::logits(&model, batch, rows), &model);
        let loss: Partial<_, World> = partial_cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
        let gradients = loss.backward_all_reduce(ranks, &model).unwrap();
        gradients_of(&*model, gradients.into_inner())
    })
}

fn compare<F: Family>() {
    let expected = gradients_of_one_process::<F>();
    assert!(expected.iter().any(|(_, gradient)| gradient.iter().any(|g| g.abs() > 1e-3)));
    for count in [2, 3] {
        let all = gradients_of_ranks::<F>(count);
        assert!(all.iter().all(|rank| *rank == all[0]), "the ranks have other bits");
        for ((path, found), (_, expected)) in all[0].iter().zip(&expected) {
            let largest = expected.iter().fold(0f32, |largest, g| largest.max(g.abs()));
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() <= (2e-5 * largest).max(1e-7), "{path}: {found} {expected}");
            }
        }
    }
}

macro_rules! have_the_gradients_of_one_process {
    ($($family:ident: $Family:ident),*) => {
        mod gradients_of_one_process {
            $(
                #[test]
                fn $family() {
                    super::compare::<super::$Family>();
                }
            )*
        }
    };
}
// On some ranks no token chooses some expert of Mixtral, which then has no gradient there.
have_the_gradients_of_one_process!(
    gpt2: OfGpt2, llama: OfLlama, qwen3: OfQwen3, olmo2: OfOlmo2, gemma3: OfGemma3, mixtral: OfMixtral, t5: OfT5,
    bert: OfBert, modern_bert: OfModernBert, whisper: OfWhisper, vit: OfVit
);

/// The texts that continue these rows' prompts, and the targets of these rows' sources.
fn texts<B: DataDim>(batch: B, rows: Range<usize>) -> Vec<Vec<usize>> {
    let writer = Gpt2::<small_gpt2::Config, f32, Cpu>::build(&Cpu::seed_from_u64(3));
    let translator = T5::<small_t5::Config, f32, Cpu>::build(&Cpu::seed_from_u64(3));
    let prompts: TokenIds<B, Prompt, VocabSize> = ids((batch, Prompt), rows.clone());
    let sources: TokenIds<B, SrcLen, VocabSize> = ids((batch, SrcLen), rows.clone());
    let encoded = translator.encode(&sources).unwrap();
    let first: TokenIds<B, Const<1>, VocabSize> = ids((batch, Const), rows);
    let texts = generate_from_prompt(&writer, &prompts, None, Text, &mut Sampler::greedy()).unwrap();
    let targets = generate_from_prompt(&encoded, &first, None, Text, &mut Sampler::greedy()).unwrap();
    let rows = (0..batch.size()).map(|row| [texts.row(row).unwrap(), targets.row(row).unwrap()].concat());
    rows.map(|row| row.into_iter().map(Fin::value).collect()).collect()
}

#[test]
fn each_rank_continues_its_own_prompts() {
    let expected = texts(Batch::new(NUM_ROWS), 0..NUM_ROWS);
    for count in [2, 3] {
        let of_ranks = Ranks::<World>::in_threads(count, |ranks| {
            let batch = ranks.shard(Batch::new(NUM_ROWS));
            texts(batch, batch.range().unwrap())
        });
        assert_eq!(of_ranks.concat(), expected);
    }
}
