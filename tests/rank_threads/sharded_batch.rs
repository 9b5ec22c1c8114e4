//! Losses of a batch that ranks divide: values and gradients are those of one process.

use dfdx::shapes::{Dim as _, HasShape as _};
use typed_transformer::nn::Linear;
use typed_transformer::ops::{
    binary_cross_entropy, binary_cross_entropy_by_element, cross_entropy_by_position,
    cross_entropy_with_label_smoothing, gather_batch, mean_squared_error, partial_cross_entropy,
    partial_cross_entropy_with_label_smoothing, partial_mean, rename, sub,
};
use typed_transformer::prelude::*;
use typed_transformer::ranks;
use typed_transformer::ranks::{Partial, Ranks, Shard};
use typed_transformer::tensor_parallel;
use typed_transformer::train::{GradientsOf, Recording};

ranks! { World; }
dims! { VocabSize = 7; EmbedDim = 3; SeqLen = 2; Images; Batch; }

const PAD: Fin<VocabSize> = Fin::literal::<6>();
/// Five rows on three ranks, and fewer rows than ranks.
const BATCHES: [usize; 2] = [5, 2];

type Model = Linear<EmbedDim, VocabSize, f64, Cpu>;
type Rows = Shard<Batch, World>;
type Logits<B> = Tensor<(B, SeqLen, VocabSize), f64, Cpu, Recording<Model, f64, Cpu>>;
type Loss = Tensor<(), f64, Cpu, Recording<Model, f64, Cpu>>;

/// The batch as a rank has it.
trait Part: DataDim {
    /// Its rows of numbers, of which each row of the batch has `len`.
    fn of(self, numbers: impl Iterator<Item = f64>, len: usize) -> Vec<f64>;

    fn targets(self) -> Tensor<(Self, SeqLen, VocabSize), f64, Cpu> {
        let numbers = (0..).map(|i| f64::from(i % 11) / 10.0);
        let elements = self.of(numbers, SeqLen::SIZE * VocabSize::SIZE);
        Cpu::default().tensor_from_vec(elements, (self, SeqLen, VocabSize))
    }

    fn labels(self, pad: Option<Fin<VocabSize>>) -> LabelIds<Self, SeqLen, VocabSize> {
        let ids = self.of((0..).map(|i| f64::from(i * 5 % 7)), SeqLen::SIZE);
        let ids: Vec<usize> = ids.into_iter().map(|id| id as usize).collect();
        LabelIds::from_ids(&ids, pad, (self, SeqLen)).unwrap()
    }

    fn logits(self, model: &Model) -> Logits<Self> {
        let elements = self.of((0..).map(|i| f64::from(i).sin()), SeqLen::SIZE * EmbedDim::SIZE);
        let x = Cpu::default().tensor_from_vec(elements, (self, SeqLen, EmbedDim));
        model.forward(x.put_tape(model.recording())).unwrap()
    }
}

impl Part for Batch {
    fn of(self, numbers: impl Iterator<Item = f64>, len: usize) -> Vec<f64> {
        numbers.take(self.size() * len).collect()
    }
}

impl Part for Rows {
    fn of(self, numbers: impl Iterator<Item = f64>, len: usize) -> Vec<f64> {
        numbers.skip(self.range().unwrap().start * len).take(self.size() * len).collect()
    }
}

/// Compares the loss and the gradients on three ranks with those of one process.
fn compare(
    batch: usize,
    alone: impl Fn(Logits<Batch>, Batch) -> Loss,
    on_ranks: impl Fn(Logits<Rows>, Rows) -> Partial<Loss, World> + Sync,
) {
    let sums = Ranks::<World>::in_threads(3, |ranks| {
        let model = ranks.replicate(Model::build(&Cpu::seed_from_u64(0))).unwrap();
        let rows = ranks.shard(Batch::new(batch));
        let loss = on_ranks(rows.logits(&model), rows);
        let value = loss.value().all_reduce(ranks).unwrap().into_inner();
        let mut gradients = loss.backward().unwrap().all_reduce(ranks, &model).unwrap().into_inner();
        [vec![value], gradients.of(&model.weight).unwrap().as_vec(), gradients.of(&model.bias).unwrap().as_vec()]
            .concat()
    });
    let (model, batch) = (Model::build(&Cpu::seed_from_u64(0)), Batch::new(batch));
    let loss = alone(batch.logits(&model), batch);
    let value = loss.as_vec();
    let mut gradients = loss.backward().unwrap();
    let expected =
        [value, gradients.of(&model.weight).unwrap().as_vec(), gradients.of(&model.bias).unwrap().as_vec()].concat();
    for found in sums {
        assert!(found.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-12), "{batch:?}: {found:?} {expected:?}");
    }
}

#[test]
fn the_terms_of_a_mean_of_squares_add_up_to_it() {
    for batch in BATCHES {
        compare(
            batch,
            |logits, batch| mean_squared_error(logits, &batch.targets()).unwrap(),
            |logits, rows| {
                if rows.is_empty() {
                    return partial_mean(logits, rows).unwrap();
                }
                let difference = sub(logits, &rows.targets()).unwrap();
                partial_mean(mul(difference.clone(), difference).unwrap(), rows).unwrap()
            },
        );
    }
}

#[test]
fn the_terms_of_a_binary_cross_entropy_add_up_to_it() {
    compare(
        5,
        |logits, batch| binary_cross_entropy(logits, &batch.targets()).unwrap(),
        |logits, rows| partial_mean(binary_cross_entropy_by_element(logits, &rows.targets()).unwrap(), rows).unwrap(),
    );
}

#[test]
fn the_mean_of_the_losses_by_position_is_the_partial_cross_entropy() {
    let alone =
        |logits: Logits<Batch>, batch: Batch| cross_entropy(logits, &batch.labels(None), Reduction::MeanAll).unwrap();
    compare(5, alone, |logits, rows| {
        let losses = cross_entropy_by_position(logits, &rows.labels(None)).unwrap();
        partial_mean(losses, rows).unwrap()
    });
    compare(5, alone, |logits, rows| partial_cross_entropy(logits, &rows.labels(None), Reduction::MeanAll).unwrap());
}

#[test]
fn the_terms_of_smoothed_labels_add_up_to_their_loss() {
    for reduction in [Reduction::MeanAll, Reduction::MeanPerSequence, Reduction::Sum] {
        compare(
            5,
            |logits, batch| {
                cross_entropy_with_label_smoothing(logits, &batch.labels(Some(PAD)), reduction, 0.1).unwrap()
            },
            |logits, rows| {
                let labels = rows.labels(Some(PAD));
                partial_cross_entropy_with_label_smoothing(logits, &labels, reduction, 0.1).unwrap()
            },
        );
    }
}

#[test]
fn a_mean_needs_the_rows_of_the_batch() {
    let errors = Ranks::<World>::in_threads(2, |ranks| {
        let (rows, others) = (ranks.shard(Batch::new(4)), ranks.shard(Batch::new(2)));
        let (unknown, none) = (Rows::from_size(2).unwrap(), ranks.shard(Batch::new(0)));
        let mean = |input: Rows, rows| {
            let losses: Tensor<_, f64, Cpu> = Cpu::default().tensor_from_vec(vec![1.0; input.size()], (input,));
            partial_mean(losses, rows).unwrap_err().to_string()
        };
        [mean(rows, others), mean(rows, unknown), mean(none, none)]
    });
    let expected = [
        "partial mean: `Shard<Batch, World>` is 2 in the input and 1 in `rows`",
        "partial mean: the whole size of Shard<Batch, World>=2 is not known; `Ranks::shard` makes a shard that knows it",
        "partial mean: (Batch=0,) has no elements",
    ];
    assert_eq!(errors, [expected; 2]);
}

type Encoder = Linear<EmbedDim, VocabSize, f32, Cpu>;
type Encoded<B> = Tensor<(B, VocabSize), f32, Cpu, Recording<Encoder, f32, Cpu>>;
type EncoderLoss = Tensor<(), f32, Cpu, Recording<Encoder, f32, Cpu>>;

/// Texts and images: two passes, which become one where they meet.
fn encoded<B: Part>(model: &Encoder, batch: B) -> [Encoded<B>; 2] {
    let tape = model.recording();
    [0.0, 0.5].map(|phase| {
        let elements = batch.of((0..).map(|i| (f64::from(i) + phase).sin()), EmbedDim::SIZE);
        let elements = elements.into_iter().map(|x| x as f32).collect();
        let x = Cpu::default().tensor_from_vec(elements, (batch, EmbedDim));
        model.forward(x.put_tape(tape.clone())).unwrap()
    })
}

fn elements(mut gradients: GradientsOf<Encoder, f32, Cpu>, model: &Encoder) -> Vec<f32> {
    [gradients.of(&model.weight).unwrap().as_vec(), gradients.of(&model.bias).unwrap().as_vec()].concat()
}

/// This rank's term of the loss of finding the partner of each of its rows among those of all ranks.
fn term(own: Encoded<Rows>, all: Encoded<Batch>, rows: Rows) -> Partial<EncoderLoss, World> {
    if rows.is_empty() {
        let (_, tape) = all.split_tape();
        return Partial::of_no_rows(&Cpu::default(), tape).unwrap();
    }
    let (batch, _) = *all.shape();
    let scores = einsum!(own: (Rows, VocabSize), all: (Batch, VocabSize) -> (Rows, Batch)).unwrap();
    let right: Vec<usize> = rows.range().unwrap().collect();
    let labels = Indices::new(&right, (rows,), batch).unwrap();
    partial_cross_entropy(scores, &labels, Reduction::MeanAll).unwrap()
}

/// The loss in one process.
fn whole(own: Encoded<Batch>, all: Encoded<Batch>) -> EncoderLoss {
    let (batch, _) = *own.shape();
    let all = rename(all, axis::<Batch>(), Images::new(batch.size())).unwrap();
    let scores = einsum!(own: (Batch, VocabSize), all: (Images, VocabSize) -> (Batch, Images)).unwrap();
    let right: Vec<usize> = (0..batch.size()).collect();
    let labels = Indices::new(&right, (batch,), Images::new(batch.size())).unwrap();
    cross_entropy(scores, &labels, Reduction::MeanAll).unwrap()
}

/// Finding images, and as CLIP also texts.
#[test]
fn negatives_of_the_whole_batch_have_the_gradients_of_one_process() {
    for (batch, is_symmetric) in BATCHES.into_iter().flat_map(|batch| [(batch, false), (batch, true)]) {
        let gradients = Ranks::<World>::in_threads(3, |ranks| {
            let model = ranks.replicate(Encoder::build(&Cpu::seed_from_u64(0))).unwrap();
            let rows = ranks.shard(Batch::new(batch));
            let [texts, images] = encoded(&model, rows);
            let all_images: Encoded<Batch> = gather_batch(images.clone(), rows, ranks).unwrap();
            let mut loss = term(texts.clone(), all_images, rows);
            if is_symmetric {
                let all_texts: Encoded<Batch> = gather_batch(texts, rows, ranks).unwrap();
                loss = tensor_parallel::add(loss, term(images, all_texts, rows)).unwrap();
            }
            let gradients = loss.backward().unwrap().all_reduce(ranks, &model).unwrap();
            elements(gradients.into_inner(), &model)
        });
        let model = Encoder::build(&Cpu::seed_from_u64(0));
        let [texts, images] = encoded(&model, Batch::new(batch));
        let mut loss = whole(texts.clone(), images.clone());
        if is_symmetric {
            loss = add(loss, whole(images, texts)).unwrap();
        }
        let expected = elements(loss.backward().unwrap(), &model);
        for found in gradients {
            assert!(found.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-5), "{found:?} {expected:?}");
        }
    }
}
