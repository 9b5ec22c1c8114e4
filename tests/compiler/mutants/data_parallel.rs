//! A training step of several ranks: each has some rows of the batch, and all make the same update.

use typed_transformer::nn::{Linear, init};
use typed_transformer::ops::{Activation, GeluTanh, embed, partial_cross_entropy};
use typed_transformer::prelude::*;
use typed_transformer::ranks::{Partial, Ranks, RanksError, Replicated, Shard};
use typed_transformer::train::{Adam, GradientsOf, Recording, update_replicated};
use typed_transformer::{module, ranks};

dims! {
    /// What is read.
    Letters = 28;
    /// What is written.
    Sounds = 12;
    /// Width of the vector of a letter.
    EmbedDim = 8;
    /// Width of the hidden layer.
    HiddenDim = 16;
    /// Length of a word.
    SeqLen = 5;
    /// Words.
    Batch;
}

ranks! {
    /// All ranks.
    World;
    /// Those that share the batch.
    Data;
    /// Those that have the same rows.
    Tp = 2;
}

/// From letters to sounds, each on its own.
#[module]
struct Speller<E, D> {
    #[param(|table| init::normal(table, 0.1))]
    table: Tensor<(Letters, EmbedDim), E, D>,
    hidden: Linear<EmbedDim, HiddenDim, E, D>,
    output: Linear<HiddenDim, Sounds, E, D>,
}

type Model = Speller<f32, Cpu>;
type Taped<Dims> = Tensor<Dims, f32, Cpu, Recording<Model, f32, Cpu>>;

/// The logits of this rank's rows.
fn logits(
    model: &Replicated<Model, Data>,
    letters: &TokenIds<Shard<Batch, Data>, SeqLen, Letters>,
) -> Result<Taped<(Shard<Batch, Data>, SeqLen, Sounds)>, OpError> {
    let x: Taped<(Shard<Batch, Data>, SeqLen, EmbedDim)> = embed(&model.table, letters, model.recording())?;
    let hidden: Taped<(Shard<Batch, Data>, SeqLen, HiddenDim)> = GeluTanh::apply(model.hidden.forward(x)?)?;
    model.output.forward(hidden)
}

/// One step; how wrong the model was before it.
fn train_step(
    data: &Ranks<Data>,
    model: &mut Replicated<Model, Data>,
    adam: &mut Adam<Model, f32>,
    letters: &TokenIds<Shard<Batch, Data>, SeqLen, Letters>,
    sounds: &LabelIds<Shard<Batch, Data>, SeqLen, Sounds>,
) -> Result<Replicated<f64, Data>, RanksError> {
    let logits: Taped<(Shard<Batch, Data>, SeqLen, Sounds)> = logits(model, letters).unwrap();
    let loss: Partial<Taped<()>, Data> = partial_cross_entropy(logits, sounds, Reduction::MeanAll).unwrap();
    let wrong: Partial<f64, Data> = loss.value();
    let terms: Partial<GradientsOf<Model, f32, Cpu>, Data> = loss.backward().unwrap();
    let gradients: Replicated<GradientsOf<Model, f32, Cpu>, Data> = terms.all_reduce(data, model)?;
    update_replicated(model, gradients, adam, 0.05, 1.0).unwrap();
    wrong.all_reduce(data)
}

pub fn main() {
    Ranks::<World>::in_threads(4, |world: &Ranks<World>| {
        let (data, _tp): (Ranks<Data>, Ranks<Tp>) = world.split().unwrap();
        let rows: Shard<Batch, Data> = data.shard(Batch::new(3));
        let words = [[2, 0, 19, 18, 27], [3, 14, 6, 27, 27], [1, 8, 17, 3, 18]];
        let ids = words[rows.range().unwrap()].concat();
        let letters: TokenIds<Shard<Batch, Data>, SeqLen, Letters> =
            TokenIds::from_ids(&ids, None, (rows, SeqLen)).unwrap();
        let ids: Vec<usize> = ids.iter().map(|id| id % 12).collect();
        let sounds: LabelIds<Shard<Batch, Data>, SeqLen, Sounds> =
            LabelIds::from_ids(&ids, None, (rows, SeqLen)).unwrap();
        let mut model: Replicated<Model, Data> = data.replicate(Model::build(&Cpu::seed_from_u64(0))).unwrap();
        let mut adam = Adam::default();
        let mut step = || *train_step(&data, &mut model, &mut adam, &letters, &sounds).unwrap();
        let losses: Vec<f64> = (0..10).map(|_| step()).collect();
        assert!(losses[9] < losses[0], "{losses:?}");
    });
}
