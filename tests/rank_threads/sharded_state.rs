//! An optimizer whose state is sharded over the ranks: the same bits, in a part of the memory.

use rand::{Rng, SeedableRng, rngs::StdRng};
use typed_transformer::nn::Linear;
use typed_transformer::ops::scale;
use typed_transformer::prelude::*;
use typed_transformer::ranks;
use typed_transformer::ranks::{Partial, Ranks, Replicated};
use typed_transformer::tensor_parallel::{Distributed, OnRanks, update_sharded, update_sharded_replicated};
use typed_transformer::train::{
    Adam, AdamW, GroupRates, MovingAverage, Optimizer, Parameter, Sgd, ShardedState, Trainer, update,
};

ranks! { World; Data; Tp = 2; }
dims! { VocabSize = 7; EmbedDim = 4; NumHeads = 2; HeadDim = 2; HiddenDim = 6; NumLayers = 1; MaxLen = 5; Batch; SeqLen <= MaxLen; }

struct Small;
impl Arch for Small {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}
impl SingleStack for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxLen;
    type EmbedDim = EmbedDim;
    type NumLayers = NumLayers;
}

/// What a decoder reads first.
const START: Fin<VocabSize> = Fin::literal::<1>();

type Model = Linear<EmbedDim, VocabSize, f32, Cpu>;

fn input(step: u64) -> (Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, TokenIds<Batch, SeqLen, VocabSize>) {
    let mut rng = StdRng::seed_from_u64(step);
    let shape = (Batch::new(3), SeqLen::new(4).unwrap());
    let x = (0..48).map(|_| rng.gen_range(-1.0..1.0)).collect();
    let ids: Vec<usize> = (0..12).map(|_| rng.gen_range(0..7)).collect();
    let x = Cpu::default().tensor_from_vec(x, (shape.0, shape.1, EmbedDim));
    (x, TokenIds::from_ids(&ids, None, shape).unwrap())
}

/// The parameters after some steps with an optimizer.
fn train<O: Optimizer<Model, f32>>(optimizer: &mut O, model: &mut Model) -> Vec<f32> {
    for step in 0..5 {
        let (x, ids) = input(step);
        let logits = model.forward(x.put_tape(model.recording())).unwrap();
        let labels = LabelIds::from(ids);
        let gradients = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap().backward().unwrap();
        update(model, gradients, optimizer, 0.05, 1.0).unwrap();
    }
    [model.weight.as_vec(), model.bias.as_vec()].concat()
}

/// A parameter in new memory at each step would fill the cache of the device.
#[test]
fn parameters_stay_in_their_memory() {
    Ranks::<World>::in_threads(2, |ranks| {
        let mut model = Model::build(&Cpu::seed_from_u64(1));
        let first = &raw const model.weight[[0, 0]];
        train(&mut ShardedState::new(Adam::default(), ranks), &mut model);
        assert!(std::ptr::eq(first, &raw const model.weight[[0, 0]]));
    });
}

#[test]
fn the_numbers_are_those_of_one_rank_to_the_bit() {
    let build = || Model::build(&Cpu::seed_from_u64(1));
    let expected = train(&mut AdamW::default(), &mut build());
    for ranks in 1..=4 {
        let found = Ranks::<World>::in_threads(ranks, |ranks| {
            let mut optimizer = ShardedState::new(AdamW::default(), ranks);
            train(&mut optimizer, &mut build())
        });
        assert!(found.iter().all(|found| *found == expected), "{ranks} ranks");
    }
}

#[test]
fn a_rank_has_its_part_of_the_state_and_gathers_the_whole() {
    Ranks::<World>::in_threads(3, |ranks| {
        let mut optimizer = ShardedState::new(Adam::default(), ranks);
        let mut model = Model::build(&Cpu::seed_from_u64(1));
        train(&mut optimizer, &mut model);
        // The weight has 28 elements and the bias 7.
        assert_eq!(
            Optimizer::<Model, f32>::state(&optimizer).num_elements(),
            2 * ranks.part_of(35, ranks.rank()).len()
        );
        Optimizer::<Model, f32>::gather_state(&mut optimizer).unwrap();
        let expected = if ranks.is_first() { 2 * 35 } else { 2 * ranks.part_of(35, ranks.rank()).len() };
        assert_eq!(Optimizer::<Model, f32>::state(&optimizer).num_elements(), expected);
        // The next step goes on with the parts.
        train(&mut optimizer, &mut model);
        assert_eq!(
            Optimizer::<Model, f32>::state(&optimizer).num_elements(),
            2 * ranks.part_of(35, ranks.rank()).len()
        );
    });
}

#[test]
fn ranks_that_share_their_state_again_keep_it() {
    let run = |count: usize, again: bool| {
        Ranks::<World>::in_threads(count, |ranks| {
            let mut trainer = Trainer::new(ShardedState::new(Adam::default(), ranks), 0.05, 6, 7);
            let mut model = ranks.replicate(Model::build(&Cpu::seed_from_u64(1))).unwrap();
            while let Some(step) = trainer.next_step() {
                if again && step.number == 3 {
                    trainer.replicate::<Model, f32, Cpu, World>(ranks, &Cpu::default()).unwrap();
                }
                let (x, ids) = input(step.number as u64);
                let logits = model.forward(x.put_tape(model.recording())).unwrap();
                let loss = cross_entropy(logits, &LabelIds::from(ids), Reduction::MeanAll).unwrap();
                let value = Partial::term(f64::from(loss.array()) / count as f64);
                let loss = Partial::term(scale(loss, 1.0 / count as f64).unwrap());
                let gradients = loss.backward().unwrap().all_reduce(ranks, &model).unwrap();
                trainer.update_replicated(ranks, &mut model, gradients, value, 12).unwrap();
            }
            model.weight.as_vec()
        })
    };
    let expected = run(2, false);
    assert_eq!(expected[0], expected[1]);
    assert_eq!(run(2, true), expected);
}

/// The part of a model that one of two ranks has.
type Part = DecoderOnly<OnRanks<Small, Tp>, f32, Cpu>;

#[test]
fn the_norm_without_frozen_parameters_is_that_of_one_rank() {
    // The first frozen parameter stands before parameters that are sharded and others that are not.
    let rate_factor = |parameter: &Parameter| match &*parameter.path {
        "embedder.token_embedder.weight" | "decoder.layers.0.feed_forward.hidden.weight" => 0.0,
        _ => 1.0,
    };
    let (inputs, labels) = input(0).1.teacher_forcing(START);
    let mut whole = DecoderOnly::<Small, f32, Cpu>::build(&Cpu::seed_from_u64(2));
    let start = whole.clone();
    let loss = cross_entropy(whole.forward(&inputs, whole.recording()).unwrap(), &labels, Reduction::MeanAll).unwrap();
    let mut optimizer = GroupRates::new(Sgd::default(), rate_factor);
    let norm = update(&mut whole, loss.backward().unwrap(), &mut optimizer, 0.1, 0.1).unwrap();
    let norms = Ranks::<Tp>::in_threads(2, |ranks| {
        let mut model = Distributed::<Part, Tp>::from_whole(&start, &Cpu::default(), ranks).unwrap();
        let logits = model.forward(&inputs, model.recording()).unwrap();
        let gradients = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap().backward().unwrap();
        let mut optimizer = GroupRates::new(Sgd::default(), rate_factor);
        update_sharded(&mut model, gradients, &mut optimizer, 0.1, 0.1, ranks).unwrap()
    });
    assert_eq!(norms[0], norms[1]);
    assert!((norms[0] - norm).abs() < 1e-5 * norm, "{} and not {norm}", norms[0]);
}

#[test]
fn a_part_is_not_replicated_over_ranks_that_have_other_parts() {
    let errors = Ranks::<World>::in_threads(4, |world| {
        let (data, tp) = world.split::<Data, Tp>().unwrap();
        let build = || Distributed::<Part, Tp>::build(&Cpu::seed_from_u64(2), &tp).unwrap();
        assert!(build().replicate(&data).is_ok());
        [build().replicate(world).unwrap_err().to_string(), build().replicate(&tp).unwrap_err().to_string()]
    });
    let expected = ["ranks 1 and 3 of `World`", "rank 1 of `Tp`"];
    let expected = expected.map(|ranks| format!("the part of the model differs between rank 0 and {ranks}"));
    assert_eq!(errors, vec![expected; 4]);
}

#[test]
fn a_state_is_not_sharded_over_ranks_that_divide_the_model() {
    let (inputs, labels) = input(0).1.teacher_forcing(START);
    let errors = Ranks::<Tp>::in_threads(2, |ranks| {
        let mut model = Distributed::<Part, Tp>::build(&Cpu::seed_from_u64(2), ranks).unwrap();
        let mut optimizer = ShardedState::new(Adam::default(), ranks);
        // At each step, not only at the first.
        [(); 2].map(|()| {
            let logits = model.forward(&inputs, model.recording()).unwrap();
            let gradients = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap().backward().unwrap();
            update_sharded(&mut model, gradients, &mut optimizer, 0.1, 0.1, ranks).unwrap_err().to_string()
        })
    });
    assert_eq!(errors, [["update: the model differs between rank 0 and rank 1 of `Tp`"; 2]; 2]);
}

#[test]
fn tensor_and_data_parallel_together_are_one_rank() {
    let (_, ids) = input(0);
    let new = DecoderOnly::<Small, f32, Cpu>::build(&Cpu::seed_from_u64(2));
    let mut whole = new.clone();
    let mut adam = Adam::default();
    let mut losses = Vec::new();
    for _ in 0..3 {
        let (inputs, labels) = ids.clone().teacher_forcing(START);
        let logits = whole.forward(&inputs, whole.recording()).unwrap();
        let loss = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
        losses.push(loss.array());
        update(&mut whole, loss.backward().unwrap(), &mut adam, 0.01, 0.5).unwrap();
    }
    Ranks::<World>::in_threads(4, |world| {
        let (data, tp) = world.split::<Data, Tp>().unwrap();
        let device = Cpu::seed_from_u64(2);
        let model = Distributed::<Part, Tp>::build(&device, &tp).unwrap();
        let mut model = model.replicate(&data).unwrap();
        // The new elements are in the tensor that was there, which knows more than its size.
        let hidden = model.decoder.layers[0].feed_forward.hidden.weight.shape().0;
        assert_eq!(hidden.whole_size(), Some(HiddenDim::SIZE));
        let gathered = |model: &Distributed<Replicated<Part, Data>, Tp>| -> Vec<f32> {
            let whole: DecoderOnly<Small, f32, Cpu> = model.gather_replicated(&device, &tp).unwrap();
            whole.decoder.layers[0].feed_forward.hidden.weight.as_vec()
        };
        let mut averages = gathered(&model);
        assert_eq!(averages, new.decoder.layers[0].feed_forward.hidden.weight.as_vec());
        let mut average = MovingAverage::new(&model, 0.5);
        let mut adam = ShardedState::new(Adam::default(), &data);
        // Two rows on one half of the ranks, one on the other.
        let rows = data.shard(Batch::new(3));
        let own = &ids.as_slice()[4 * rows.range().unwrap().start..][..4 * rows.size()];
        let own = TokenIds::from_ids(own, None, (rows, ids.shape().1)).unwrap();
        let (inputs, labels) = own.teacher_forcing(START);
        for expected in &losses {
            let logits = model.forward(&inputs, model.recording()).unwrap();
            let loss = typed_transformer::ops::partial_cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
            let value = loss.value().all_reduce(&data).unwrap();
            assert!((*value - f64::from(*expected)).abs() < 1e-5, "{} and not {expected}", *value);
            let gradients = loss.backward().unwrap().all_reduce(&data, &model).unwrap();
            update_sharded_replicated(&mut model, gradients, &mut adam, 0.01, 0.5, &tp).unwrap();
            average.add_sharded_replicated(&model).unwrap();
            averages.iter_mut().zip(gathered(&model)).for_each(|(average, new)| *average = (*average + new) / 2.0);
        }
        let found = gathered(average.model());
        assert!(found.iter().zip(&averages).all(|(found, expected)| (found - expected).abs() < 1e-6));
        assert_ne!(found, gathered(&model));
    });
}
