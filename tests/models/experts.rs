//! A token is computed by the experts that it chose, and by no others.

use crate::small_models::{VocabSize, small_mixtral};
use crate::support::temp_dir;
use dfdx::tensor::AutoDevice;
use std::marker::PhantomData;
use typed_transformer::models::llama::LlamaConfig;
use typed_transformer::models::mixtral::{Mixtral, MixtralConfig};
use typed_transformer::nn::Autoregressive;
use typed_transformer::ops::{Rotary, embed, mean};
use typed_transformer::prelude::*;
use typed_transformer::train::{Adam, update};
use typed_transformer::weights;

dims! { Batch = 2; SeqLen = 9; NumLayers = 1; }

/// The small Mixtral with one layer, after which no token sees another one.
struct Config<ExpertsPerToken>(PhantomData<fn() -> ExpertsPerToken>);

impl<ExpertsPerToken: ConstDim> LlamaConfig for Config<ExpertsPerToken> {
    type VocabSize = VocabSize;
    type MaxSeqLen = small_mixtral::MaxSeqLen;
    type EmbedDim = small_mixtral::EmbedDim;
    type HiddenDim = small_mixtral::HiddenDim;
    type NumLayers = NumLayers;
    type NumHeads = small_mixtral::NumHeads;
    type NumKeyValueHeads = small_mixtral::NumKeyValueHeads;
    type HeadDim = small_mixtral::HeadDim;
    const NORM_EPSILON: f64 = 1e-5;
    const ROTARY: Rotary = Rotary::halves(10_000.0);
    const TIED_LOGITS: bool = true;
}
impl<ExpertsPerToken: ConstDim + AtMost<small_mixtral::NumExperts>> MixtralConfig for Config<ExpertsPerToken> {
    type NumExperts = small_mixtral::NumExperts;
    type ExpertsPerToken = ExpertsPerToken;
}

fn tokens() -> TokenIds<Batch, SeqLen, VocabSize> {
    let ids: Vec<usize> = (0..18).map(|i| i * 31 % VocabSize::SIZE).collect();
    TokenIds::from_ids(&ids, None, (Batch, SeqLen)).unwrap()
}

/// The number of experts that each token has chosen: those that make its logits NaN if their weights are.
fn chosen_experts<ExpertsPerToken: ConstDim + AtMost<small_mixtral::NumExperts>>() -> Vec<usize> {
    let mut counts = vec![0; 18];
    for broken in 0..small_mixtral::NumExperts::SIZE {
        let mut model = Mixtral::<Config<ExpertsPerToken>, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(3));
        let output = &mut model.layers[0].mixture.experts[broken].output;
        output.copy_from(&vec![f32::NAN; output.as_vec().len()]);
        let logits = model.forward(&tokens(), NoneTape).unwrap().as_vec();
        for (count, logits) in counts.iter_mut().zip(logits.chunks(VocabSize::SIZE)) {
            assert!(logits.iter().all(|logit| logit.is_nan() == logits[0].is_nan()));
            *count += usize::from(logits[0].is_nan());
        }
    }
    counts
}

#[test]
fn each_token_is_computed_by_as_many_experts_as_it_chooses() {
    assert_eq!(chosen_experts::<Const<1>>(), [1; 18]);
    assert_eq!(chosen_experts::<Const<2>>(), [2; 18]);
    assert_eq!(chosen_experts::<small_mixtral::NumExperts>(), [5; 18]);
}

#[test]
fn a_file_of_another_number_of_chosen_experts_is_refused() {
    type Saved = Mixtral<Config<Const<2>>, f32, AutoDevice>;
    type Other = Mixtral<Config<Const<1>>, f32, AutoDevice>;
    let (device, folder) = (AutoDevice::seed_from_u64(6), temp_dir());
    let path = folder.path().join("weights");
    weights::save(&Saved::build(&device), &path).unwrap();
    weights::load::<Saved, _, _>(&path, &device).unwrap();
    let error = weights::load::<Other, _, _>(&path, &device).unwrap_err();
    assert_eq!(error.to_string(), "the model's experts per token is 1, but the file was saved with 2");
}

#[test]
fn an_expert_reads_each_token_alone() {
    let model = Mixtral::<Config<Const<2>>, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(4));
    let together = model.forward(&tokens(), NoneTape).unwrap().as_vec();
    for (row, ids) in tokens().as_slice().chunks(SeqLen::SIZE).enumerate() {
        let mut cache = model.cache(Const::<1>).unwrap();
        for (position, &id) in ids.iter().enumerate() {
            let token = TokenIds::from_ids(&[id], None, (Const::<1>, Const::<1>)).unwrap();
            let alone = model.next_logits(&token, &mut cache).unwrap().as_vec();
            let together = &together[(row * SeqLen::SIZE + position) * VocabSize::SIZE..];
            for (alone, together) in alone.iter().zip(together) {
                assert!((alone - together).abs() < 1e-10, "{alone}, {together}");
            }
        }
    }
}

#[test]
fn an_expert_that_no_token_chose_may_be_unused() {
    type Model = Mixtral<Config<Const<2>>, f32, AutoDevice>;
    let mut model = Model::build(&AutoDevice::seed_from_u64(5));
    let gradients = |model: &Model| {
        let ids = TokenIds::from_ids(&[3], None, (Const::<1>, Const::<1>)).unwrap();
        let labels = LabelIds::from_ids(&[4], None, (Const::<1>, Const::<1>)).unwrap();
        let logits = model.forward(&ids, model.recording()).unwrap();
        cross_entropy(logits, &labels, Reduction::MeanAll).unwrap().backward().unwrap()
    };
    let (mut adam, mut recorded) = (Adam::default(), gradients(&model));
    let Err(OpError::Unused { parameters }) = update(&mut model, recorded, &mut adam, 1e-3, 1.0) else {
        panic!("an expert without a token has a gradient")
    };
    // Gate, hidden and output of three of five experts.
    assert_eq!(parameters.len(), 9);
    assert!(parameters.iter().all(|path| path.starts_with("layers.0.mixture.experts.")), "{parameters:?}");
    recorded = gradients(&model);
    for layer in &model.layers {
        recorded = recorded.allow_unused(&layer.mixture.experts);
    }
    update(&mut model, recorded, &mut adam, 1e-3, 1.0).unwrap();
}

#[test]
fn a_token_chooses_by_the_routers_logits() {
    let build = || Mixtral::<Config<Const<2>>, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(7));
    let (model, padding) = (build(), tokens().padding_mask());
    let embeddings = embed(&model.token_embedder, &tokens(), model.recording()).unwrap();
    let expected = model.vectors_of(embeddings.clone(), &padding).unwrap().as_vec();
    let (vectors, router_logits) = model.vectors_and_router_logits_of(embeddings, &padding).unwrap();
    assert_eq!((vectors.as_vec(), router_logits.len()), (expected, NumLayers::SIZE));
    let numbers = router_logits[0].as_vec();
    for expert in 0..small_mixtral::NumExperts::SIZE {
        let mut broken = build();
        let output = &mut broken.layers[0].mixture.experts[expert].output;
        output.copy_from(&vec![f32::NAN; output.as_vec().len()]);
        let vectors = broken.vectors(&tokens(), NoneTape).unwrap().as_vec();
        for (logits, vector) in numbers.chunks(5).zip(vectors.chunks(small_mixtral::EmbedDim::SIZE)) {
            let is_chosen = logits.iter().filter(|logit| **logit > logits[expert]).count() < 2;
            assert_eq!(vector[0].is_nan(), is_chosen, "{expert} of {logits:?}");
        }
    }
    let loss = mean(mul(router_logits[0].clone(), router_logits[0].clone()).unwrap()).unwrap();
    let gradient = loss.backward().unwrap().of(&model.layers[0].mixture.router).unwrap().as_vec();
    assert!(gradient.iter().any(|gradient| *gradient != 0.0));
}
