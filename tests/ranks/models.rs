//! Models whose heads and hidden columns are divided among the ranks, alone and together with data parallelism: what
//! they compute is what one rank computes.

use crate::launch::on_ranks;
use dfdx::nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorRef};
use dfdx::shapes::Shape;
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::{fs, ops::Range, path::Path};
use typed_transformer::models::nano_gpt::NanoGpt;
use typed_transformer::nn::Module;
use typed_transformer::ops::partial_cross_entropy;
use typed_transformer::prelude::*;
use typed_transformer::ranks::{ConstRankAxis, Ranks, Replicated, Shard};
use typed_transformer::tensor_parallel::{Distributed, DividesLayersOf, OnRanks, Sharded, update_sharded_replicated};
use typed_transformer::train::{Adam, Optimizer, Recording, Sgd, ShardedState, Step, Trainer, update};
use typed_transformer::{ranks, weights};

ranks! { World; Data; Two = 2; Three = 3; Four = 4; }
dims! {
    VocabSize = 13; MaxSeqLen = 9; EmbedDim = 20; NumHeads = 12; HeadDim = 3; HiddenDim = 36; NumLayers = 2;
    Batch; SrcLen <= MaxSeqLen; TgtLen <= MaxSeqLen;
}

struct Small;
impl Arch for Small {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = NanoGpt;
    const DROPOUT: f64 = 0.1;
    const ATTENTION_DROPOUT: f64 = 0.2;
}
impl SingleStack for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumLayers = NumLayers;
}

struct SmallPair;
impl Arch for SmallPair {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}
impl Seq2Seq for SmallPair {
    type SrcVocab = VocabSize;
    type TgtVocab = VocabSize;
    type MaxSrcLen = MaxSeqLen;
    type MaxTgtLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumEncoderLayers = NumLayers;
    type NumDecoderLayers = NumLayers;
}

/// The rows of the whole batch. No number of ranks but one divides them.
const ROWS: usize = 5;

/// Some rows of a random batch of sequences of this length.
fn ids<B: DataDim, Len: Dim>(rows: Range<usize>, dim: B, len: Len) -> TokenIds<B, Len, VocabSize> {
    let mut rng = StdRng::seed_from_u64(len.size() as u64);
    let ids: Vec<usize> = (0..ROWS * len.size()).map(|_| rng.gen_range(0..VocabSize::SIZE)).collect();
    TokenIds::from_ids(&ids[rows.start * len.size()..rows.end * len.size()], None, (dim, len)).unwrap()
}

type Logits<B, Model> = Tensor<(B, TgtLen, VocabSize), f32, Cpu, Recording<Model, f32, Cpu>>;

/// A sharded model, and how it and its whole form make logits of rows of the batch.
trait Compared<Tp: ConstRankAxis>: Sharded<Tp, f32, Cpu> {
    fn logits(&self, rows: Shard<Batch, Data>) -> Logits<Shard<Batch, Data>, Self>;
    fn logits_of(whole: &Self::Whole) -> Logits<Batch, Self::Whole>;
}

fn target_len() -> TgtLen {
    TgtLen::new(6).unwrap()
}

impl<Tp: DividesLayersOf<Small>> Compared<Tp> for DecoderOnly<OnRanks<Small, Tp>, f32, Cpu> {
    fn logits(&self, rows: Shard<Batch, Data>) -> Logits<Shard<Batch, Data>, Self> {
        self.forward(&ids(rows.range().unwrap(), rows, target_len()), self.recording()).unwrap()
    }
    fn logits_of(whole: &Self::Whole) -> Logits<Batch, Self::Whole> {
        whole.forward(&ids(0..ROWS, Batch::new(ROWS), target_len()), whole.recording()).unwrap()
    }
}

impl<Tp: DividesLayersOf<SmallPair>> Compared<Tp> for LM<OnRanks<SmallPair, Tp>, f32, Cpu> {
    fn logits(&self, rows: Shard<Batch, Data>) -> Logits<Shard<Batch, Data>, Self> {
        let source = ids(rows.range().unwrap(), rows, SrcLen::new(7).unwrap());
        self.forward(&source, &ids(rows.range().unwrap(), rows, target_len()), self.recording()).unwrap().logit_output
    }
    fn logits_of(whole: &Self::Whole) -> Logits<Batch, Self::Whole> {
        let source = ids(0..ROWS, Batch::new(ROWS), SrcLen::new(7).unwrap());
        let target = ids(0..ROWS, Batch::new(ROWS), target_len());
        whole.forward(&source, &target, whole.recording()).unwrap().logit_output
    }
}

/// The elements of all parameters.
#[derive(Default)]
struct Elements(Vec<f32>);

impl TensorVisitor<f32, Cpu> for Elements {
    type Viewer = ViewTensorRef;
    type Err = CpuError;
    type E2 = f32;
    type D2 = Cpu;

    fn visit<S: Shape>(
        &mut self,
        _: TensorOptions<S, f32, Cpu>,
        parameter: &Tensor<S, f32, Cpu>,
    ) -> Result<Option<Tensor<S, f32, Cpu>>, CpuError> {
        self.0.extend(parameter.as_vec());
        Ok(None)
    }
}

fn elements_of<Model: TensorCollection<f32, Cpu>>(model: &Model) -> Vec<f32> {
    let mut elements = Elements::default();
    Model::iter_tensors(&mut RecursiveWalker { m: model, f: &mut elements }).unwrap();
    elements.0
}

#[track_caller]
fn assert_close(found: &[f32], expected: &[f32], tolerance: f32, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance, "{what}[{i}]: {found} and not {expected}");
    }
}

/// A step of a training run. Dropout draws the same in each.
fn step() -> Step {
    Trainer::new(Sgd::<(), f32>::default(), 1.0, 1, 7).next_step().unwrap()
}

const SEED: u64 = 3;
const ONE: &str = "one.safetensors";

/// Compares outputs, loss, gradients, updates and files with those of one rank, whose new model is the file [`ONE`].
fn check<Part: Compared<Tp>, Tp: ConstRankAxis>(folder: &Path) {
    let world = Ranks::<World>::start().unwrap();
    let (data, tp) = world.split::<Data, Tp>().unwrap();
    let (device, one) = (Cpu::default(), folder.join(ONE));
    let mut whole: Part::Whole = weights::load(&one, &device).unwrap();

    // Each rank would draw other parameters. The first rank's count.
    let own_device = Cpu::seed_from_u64(SEED + world.rank() as u64);
    let model = Distributed::<Part, Tp>::build(&own_device, &tp).unwrap();
    let mut model = model.replicate(&data).unwrap();
    let saved = |model: &Distributed<Replicated<Part, Data>, Tp>, name: &str| -> Vec<u8> {
        model.save_replicated(folder.join(name), &data, &tp).unwrap();
        world.barrier().unwrap();
        fs::read(folder.join(name)).unwrap()
    };
    assert!(saved(&model, "new.safetensors") == fs::read(&one).unwrap(), "the files differ");

    let labels = LabelIds::from(ids(0..ROWS, Batch::new(ROWS), target_len()));
    let (mut adam, mut whole_adam) = (ShardedState::new(Adam::default(), &data), Adam::default());
    for number in 0..4 {
        let (expected, expected_loss) = {
            let _step = step();
            let logits = Part::logits_of(&whole);
            (logits.retaped::<NoneTape>().as_vec(), cross_entropy(logits, &labels, Reduction::MeanAll).unwrap())
        };
        let (rows, loss) = {
            let step = step();
            let rows = step.assign_rows(&data, Batch::new(ROWS));
            let logits = model.logits(rows);
            let row_len = target_len().size() * VocabSize::SIZE;
            let expected = &expected[rows.range().unwrap().start * row_len..rows.range().unwrap().end * row_len];
            assert_close(&logits.retaped::<NoneTape>().as_vec(), expected, 1e-5, "logits");
            let labels = LabelIds::from(ids(rows.range().unwrap(), rows, target_len()));
            (rows, partial_cross_entropy(logits, &labels, Reduction::MeanAll).unwrap())
        };
        assert!(!rows.is_empty());
        let value = *loss.value().all_reduce(&data).unwrap();
        assert!((value - f64::from(expected_loss.array())).abs() < 1e-5, "{value}, not {}", expected_loss.array());
        let gradients = loss.backward_all_reduce(&data, &model).unwrap();
        if number == 0 {
            // The gradient is the difference of the parameters.
            update_sharded_replicated(&mut model, gradients, &mut Sgd::default(), 1.0, f64::INFINITY, &tp).unwrap();
            update(&mut whole, expected_loss.backward().unwrap(), &mut Sgd::default(), 1.0, f64::INFINITY).unwrap();
            saved(&model, "updated.safetensors");
            let updated: Part::Whole = weights::load(folder.join("updated.safetensors"), &device).unwrap();
            assert_close(&elements_of(&updated), &elements_of(&whole), 1e-6, "parameters");
        } else {
            update_sharded_replicated(&mut model, gradients, &mut adam, 1e-3, 0.5, &tp).unwrap();
            update(&mut whole, expected_loss.backward().unwrap(), &mut whole_adam, 1e-3, 0.5).unwrap();
        }
    }
    // Each rank along `Data` has a part of the moments of its part of the model.
    let len = elements_of::<Part>(&model).len();
    assert_eq!(Optimizer::<Part, f32>::state(&adam).num_elements(), 2 * data.part_of(len, data.rank()).len());
    world.end_together();
}

/// Saves the model that one rank builds.
fn save_one<Model: Module + TensorCollection<f32, Cpu>>(model: Model, folder: &Path) {
    weights::save(&model, folder.join(ONE)).unwrap();
}

macro_rules! compared_on_ranks {
    ($($name:ident: $model:ident<$config:ty>, $tp:ty, $ranks:literal;)*) => {
        $(
            #[test]
            fn $name() {
                let save = |folder: &Path| save_one($model::<$config, f32, Cpu>::build(&Cpu::seed_from_u64(SEED)), folder);
                on_ranks(concat!("models::", stringify!($name)), &[$ranks], save, |folder| {
                    check::<$model<OnRanks<$config, $tp>, f32, Cpu>, $tp>(folder);
                });
            }
        )*
    };
}

compared_on_ranks! {
    a_decoder_on_two_ranks: DecoderOnly<Small>, Two, 2;
    a_decoder_on_three_ranks: DecoderOnly<Small>, Three, 3;
    a_decoder_on_four_ranks: DecoderOnly<Small>, Four, 4;
    a_decoder_on_two_by_two_ranks: DecoderOnly<Small>, Two, 4;
    an_encoder_decoder_on_two_ranks: LM<SmallPair>, Two, 2;
    an_encoder_decoder_on_two_by_two_ranks: LM<SmallPair>, Two, 4;
}
