//! Models whose heads and hidden columns are divided among the ranks: outputs, losses, gradients and files are those of
//! one rank.

use crate::recorded::{OwnTape, of_model};
use dfdx::nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorRef};
use dfdx::shapes::Shape;
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::{fs, path::Path};
use typed_transformer::models::another_annotated::Annotated;
use typed_transformer::models::nano_gpt::NanoGpt;
use typed_transformer::models::transformer_from_scratch::FromScratch;
use typed_transformer::nn::{Conventions, NormPlacement, PositionsFor, PositionsInHeads, RotaryPositions};
use typed_transformer::ops::{DropoutSeed, GeluTanh, Rotary, RotaryPairs};
use typed_transformer::prelude::*;
use typed_transformer::ranks::{ConstRankAxis, Element, RankAxis, Ranks};
use typed_transformer::tensor_parallel::{
    Distributed, DistributedError, DividesLayersOf, OnRanks, Sharded, update_sharded,
};
use typed_transformer::train::{GradientsOf, Sgd, Trainer, update};
use typed_transformer::{ranks, weights};

ranks! { One = 1; Two = 2; Three = 3; Four = 4; }
dims! {
    VocabSize = 11; MaxSeqLen = 7; EmbedDim = 10; NumHeads = 12; QKDim = 2; VODim = 3; HiddenDim = 24; NumLayers = 2;
    Batch; SrcLen <= MaxSeqLen; TgtLen <= MaxSeqLen;
}

/// Conventions whose queries and keys are rotated by their positions.
struct Rotated;
impl Conventions for Rotated {
    type Activation = GeluTanh;
    type Positions = RotaryPositions;
    type PaddingRule = PadQueriesAndKeys;
    const NORM_PLACEMENT: NormPlacement = NormPlacement::Pre;
    const EMBEDDING_NORM: bool = false;
    const ROTARY: Option<Rotary> = Some(Rotary { base: 300.0, pairs: RotaryPairs::Halves, scaling: None });
}

/// A configuration of these conventions, with dropout at every place that has it.
struct Config<C, const DROPOUT: bool, const EXTRA_LAYERS: usize>(std::marker::PhantomData<C>);

impl<C: Conventions, const DROPOUT: bool, const EXTRA_LAYERS: usize> Arch for Config<C, DROPOUT, EXTRA_LAYERS>
where
    C::Positions: PositionsInHeads<QKDim>,
{
    type NumHeads = NumHeads;
    type QKDim = QKDim;
    type VODim = VODim;
    type HiddenDim = HiddenDim;
    type Conventions = C;
    const ATTENTION_DROPOUT: f64 = if DROPOUT { 0.2 } else { 0.0 };
    const DROPOUT: f64 = if DROPOUT { 0.1 } else { 0.0 };
    const FEED_FORWARD_DROPOUT: f64 = if DROPOUT { 0.3 } else { 0.0 };
    const FEED_FORWARD_EXTRA_LAYERS: usize = EXTRA_LAYERS;
}
impl<C: Conventions, const DROPOUT: bool, const EXTRA_LAYERS: usize> SingleStack for Config<C, DROPOUT, EXTRA_LAYERS>
where
    C::Positions: PositionsFor<EmbedDim> + PositionsInHeads<QKDim>,
{
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumLayers = NumLayers;
}
impl<C: Conventions, const DROPOUT: bool, const EXTRA_LAYERS: usize> Seq2Seq for Config<C, DROPOUT, EXTRA_LAYERS>
where
    C::Positions: PositionsFor<EmbedDim> + PositionsInHeads<QKDim>,
{
    type SrcVocab = VocabSize;
    type TgtVocab = VocabSize;
    type MaxSrcLen = MaxSeqLen;
    type MaxTgtLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumEncoderLayers = NumLayers;
    type NumDecoderLayers = NumLayers;
}

/// What a decoder reads first.
const START: Fin<VocabSize> = Fin::literal::<1>();

/// A batch of random tokens, in which some rows end in padding.
fn batch<Len: Dim>(len: Len, seed: u64) -> TokenIds<Batch, Len, VocabSize> {
    let (mut rng, rows) = (StdRng::seed_from_u64(seed), Batch::new(3));
    let mut ids: Vec<usize> = (0..3 * len.size()).map(|_| rng.gen_range(1..11)).collect();
    ids[len.size() - 1] = 0;
    TokenIds::from_ids(&ids, Some(Fin::literal::<0>()), (rows, len)).unwrap()
}

/// The results of a model for a batch: its loss, and the gradient of each parameter.
type Computed<E> = (E, Vec<Vec<E>>);

/// All parameters, or their gradients, in the order of the model.
struct Elements<'a, E: Element>(Option<&'a mut GradientsOf<(), E, Cpu>>, Vec<Vec<E>>);

impl<E: Element> TensorVisitor<E, Cpu> for Elements<'_, E>
where
    Cpu: Backend<E>,
{
    type Viewer = ViewTensorRef;
    type Err = CpuError;
    type E2 = E;
    type D2 = Cpu;

    fn visit<S: Shape>(
        &mut self,
        _: TensorOptions<S, E, Cpu>,
        parameter: &Tensor<S, E, Cpu>,
    ) -> Result<Option<Tensor<S, E, Cpu>>, CpuError> {
        self.1.push(match &mut self.0 {
            Some(gradients) => gradients.of(parameter).unwrap().as_vec(),
            None => parameter.as_vec(),
        });
        Ok(None)
    }
}

/// The elements of the parameters, or of their gradients if there are some.
fn elements_or_gradients<Model: TensorCollection<E, Cpu>, E: Element>(
    model: &Model,
    gradients: Option<&mut GradientsOf<(), E, Cpu>>,
) -> Vec<Vec<E>>
where
    Cpu: Backend<E>,
{
    let mut visitor = Elements(gradients, Vec::new());
    Model::iter_tensors(&mut RecursiveWalker { m: model, f: &mut visitor }).unwrap();
    visitor.1
}

fn gradients_of<Model: TensorCollection<E, Cpu>, E: Element>(model: &Model, loss: Loss<E>) -> Vec<Vec<E>>
where
    Cpu: Backend<E>,
{
    elements_or_gradients(model, Some(&mut loss.backward().unwrap()))
}

fn elements_of<Model: TensorCollection<E, Cpu>, E: Element>(model: &Model) -> Vec<Vec<E>>
where
    Cpu: Backend<E>,
{
    elements_or_gradients(model, None)
}

/// Compares numbers, relative to the largest.
#[track_caller]
pub fn assert_close<E: Element>(found: &[E], expected: &[E], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let [found, expected] =
        [found, expected].map(|all| -> Vec<f64> { all.iter().map(|x| x.to_f64().unwrap()).collect() });
    let largest = expected.iter().fold(1.0_f64, |largest, x| largest.max(x.abs()));
    for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert!((found - expected).abs() <= tolerance * largest, "{what}[{i}]: {found} and not {expected}");
    }
}

/// A loss on a tape that is no model's.
pub type Loss<E> = Tensor<(), E, Cpu, OwnTape<E, Cpu>>;

/// A rank's part of a model, with its loss and that of the whole model.
pub trait Compared<Tp: ConstRankAxis, E: Element>: Sharded<Tp, E, Cpu>
where
    Cpu: Backend<E>,
{
    fn loss(&self, ranks: &Ranks<Tp>) -> Loss<E>;
    fn loss_of_whole(whole: &Self::Whole) -> Loss<E>;
}

macro_rules! compared {
    ($element:ty) => {
        impl<C: SingleStack<NumHeads: ConstDim, HiddenDim: ConstDim>, Tp: DividesLayersOf<C>> Compared<Tp, $element>
            for DecoderOnly<OnRanks<C, Tp>, $element, Cpu>
        where
            C: SingleStack<VocabSize = VocabSize, MaxSeqLen = MaxSeqLen>,
        {
            fn loss(&self, _: &Ranks<Tp>) -> Loss<$element> {
                let _seed = DropoutSeed::new(5);
                let (inputs, labels) = batch(TgtLen::new(6).unwrap(), 1).teacher_forcing(START);
                let logits = self.forward(&inputs, OwnTape::default()).unwrap();
                cross_entropy(logits, &labels, Reduction::MeanAll).unwrap()
            }
            fn loss_of_whole(whole: &Self::Whole) -> Loss<$element> {
                let _seed = DropoutSeed::new(5);
                let (inputs, labels) = batch(TgtLen::new(6).unwrap(), 1).teacher_forcing(START);
                let logits = whole.forward(&inputs, OwnTape::default()).unwrap();
                cross_entropy(logits, &labels, Reduction::MeanAll).unwrap()
            }
        }
        impl<C: Seq2Seq<NumHeads: ConstDim, HiddenDim: ConstDim>, Tp: DividesLayersOf<C>> Compared<Tp, $element>
            for LM<OnRanks<C, Tp>, $element, Cpu>
        where
            C: Seq2Seq<SrcVocab = VocabSize, TgtVocab = VocabSize, MaxSrcLen = MaxSeqLen, MaxTgtLen = MaxSeqLen>,
        {
            fn loss(&self, _: &Ranks<Tp>) -> Loss<$element> {
                let _seed = DropoutSeed::new(5);
                let source = batch(SrcLen::new(5).unwrap(), 1);
                let (inputs, labels) = batch(TgtLen::new(6).unwrap(), 2).teacher_forcing(START);
                let logits = self.forward(&source, &inputs, OwnTape::default()).unwrap().logit_output;
                cross_entropy(logits, &labels, Reduction::MeanAll).unwrap()
            }
            fn loss_of_whole(whole: &Self::Whole) -> Loss<$element> {
                let _seed = DropoutSeed::new(5);
                let source = batch(SrcLen::new(5).unwrap(), 1);
                let (inputs, labels) = batch(TgtLen::new(6).unwrap(), 2).teacher_forcing(START);
                let logits = whole.forward(&source, &inputs, OwnTape::default()).unwrap().logit_output;
                cross_entropy(logits, &labels, Reduction::MeanAll).unwrap()
            }
        }
    };
}
compared!(f32);
compared!(f64);

/// Compares loss, gradients and two updates of the ranks with those of one rank.
pub fn check<Part, Tp, E>(tolerance: f64)
where
    Part: Compared<Tp, E>,
    Part::Whole: Clone + Sync,
    Tp: ConstRankAxis,
    E: Element + std::fmt::Display,
    Cpu: Backend<E>,
{
    const CLIP_NORM: f64 = 0.5;
    let mut whole = build_whole::<Part, Tp, E>();
    let before = whole.clone();
    let mut sgd = Sgd::default();
    let mut computed: Vec<Computed<E>> = Vec::new();
    let mut norms = Vec::new();
    for _ in 0..2 {
        let loss = Part::loss_of_whole(&whole);
        computed.push((loss.array(), gradients_of(&whole, Part::loss_of_whole(&whole))));
        let gradients = of_model(loss, &whole).backward().unwrap();
        norms.push(update(&mut whole, gradients, &mut sgd, 1e-1, CLIP_NORM).unwrap());
    }
    assert!(norms.iter().any(|norm| *norm > CLIP_NORM));
    let after = elements_of(&whole);

    Ranks::<Tp>::in_threads(Tp::EXPECTED_SIZE.unwrap(), |ranks| {
        let device = Cpu::default();
        let mut model = Distributed::<Part, Tp>::from_whole(&before, &device, ranks).unwrap();
        let (mut sgd, parameters) = (Sgd::default(), elements_of::<Part, E>(&model));
        for (step, (expected, gradients)) in computed.iter().enumerate() {
            let loss = model.loss(ranks);
            assert_close(&[loss.array()], &[*expected], tolerance, "the loss");
            // A rank's gradients are its part of those of the whole model.
            let found = gradients_of::<Part, E>(&model, model.loss(ranks));
            let found = join(&found, &parameters, &elements_of(&before), ranks);
            for (index, (found, expected)) in found.iter().zip(gradients).enumerate() {
                assert_close(found, expected, tolerance, &format!("step {step}, gradient {index}"));
            }
            let part = of_model::<Part, _, _, _>(loss, &model).backward().unwrap();
            let norm = update_sharded(&mut model, part, &mut sgd, 1e-1, CLIP_NORM, ranks).unwrap();
            assert!((norm - norms[step]).abs() <= tolerance * norm, "{norm} and not {}", norms[step]);
        }
        let gathered = elements_of(&model.gather(&device, ranks).unwrap());
        for (index, (found, expected)) in gathered.iter().zip(&after).enumerate() {
            assert_close(found, expected, tolerance, &format!("parameter {index} after the updates"));
        }
    });
}

/// Joins the ranks' parts of each gradient. An element is where the parameter that is its own is in the whole model: all
/// elements of a parameter differ.
fn join<E: Element>(
    gradients: &[Vec<E>],
    parameters: &[Vec<E>],
    whole: &[Vec<E>],
    ranks: &Ranks<impl RankAxis>,
) -> Vec<Vec<E>> {
    let parameters = gradients.iter().zip(parameters).zip(whole);
    let joined = parameters.map(|((gradient, parameter), whole)| {
        if parameter.len() == whole.len() {
            return gradient.clone();
        }
        let all = |part: &[E]| ranks.all_gather(part, &vec![part.len(); ranks.size()]).unwrap();
        let (gradients, parameters) = (all(gradient), all(parameter));
        let place = |element: &E| parameters.iter().position(|parameter| parameter == element).unwrap();
        whole.iter().map(|element| gradients[place(element)]).collect()
    });
    joined.collect()
}

/// Random elements within `width` of `base`.
fn draw<E: Element>(rng: &mut StdRng, count: usize, base: f64, width: f64) -> Vec<E> {
    (0..count).map(|_| E::from_f64(base + width * rng.gen_range(-1.0..1.0)).unwrap()).collect()
}

/// A whole model whose parameters all differ.
pub fn build_whole<Part, Tp, E>() -> Part::Whole
where
    Part: Compared<Tp, E>,
    Part::Whole: Clone,
    Tp: ConstRankAxis,
    E: Element,
    Cpu: Backend<E>,
{
    struct Differ<E>(StdRng, std::marker::PhantomData<E>);
    impl<E: Element> TensorVisitor<E, Cpu> for Differ<E>
    where
        Cpu: Backend<E>,
    {
        type Viewer = dfdx::nn::ViewTensorName;
        type Err = CpuError;
        type E2 = E;
        type D2 = Cpu;
        fn visit<S: Shape>(
            &mut self,
            options: TensorOptions<S, E, Cpu>,
            path: String,
        ) -> Result<Option<Tensor<S, E, Cpu>>, CpuError> {
            let (base, width) = match path.contains("norm") && !path.ends_with("bias") {
                true => (1.0, 0.3),
                false => (0.0, 0.4),
            };
            let elements = draw(&mut self.0, options.shape.num_elements(), base, width);
            Cpu::default().try_tensor_from_vec(elements, options.shape).map(Some)
        }
    }
    let mut differ = Differ(StdRng::seed_from_u64(3), std::marker::PhantomData);
    Part::Whole::iter_tensors(&mut RecursiveWalker { m: String::new(), f: &mut differ }).unwrap().unwrap()
}

type Plain<C> = Config<C, false, 0>;
type Deep<C> = Config<C, false, 2>;
type Dropped<C> = Config<C, true, 1>;

/// Compares a model on some numbers of ranks with one rank.
macro_rules! on_ranks {
    ($part:ident, $config:ty, $element:ty, $tolerance:expr, $($ranks:ty)*) => {
        $(check::<$part<OnRanks<$config, $ranks>, $element, Cpu>, $ranks, $element>($tolerance);)*
    };
}

#[test]
fn a_decoder_only_model_is_that_of_one_rank() {
    on_ranks!(DecoderOnly, Plain<TypedTransformer>, f32, 1e-5, One Two Three Four);
    on_ranks!(DecoderOnly, Deep<NanoGpt>, f64, 1e-10, Three);
    on_ranks!(DecoderOnly, Plain<Annotated>, f64, 1e-10, Four);
}

#[test]
fn rotary_positions_are_those_of_one_rank() {
    on_ranks!(DecoderOnly, Plain<Rotated>, f64, 1e-10, Two Three);
}

#[test]
fn an_encoder_decoder_is_that_of_one_rank() {
    on_ranks!(LM, Plain<TypedTransformer>, f32, 1e-5, Two);
    on_ranks!(LM, Deep<Annotated>, f64, 1e-10, Four);
    on_ranks!(LM, Plain<FromScratch>, f64, 1e-10, Three);
}

#[test]
fn dropout_draws_what_it_draws_on_one_rank() {
    on_ranks!(DecoderOnly, Dropped<NanoGpt>, f64, 1e-10, Two Three);
    on_ranks!(LM, Dropped<TypedTransformer>, f64, 1e-10, Four);
}

#[test]
fn without_a_seed_dropout_drops_the_same_on_all_ranks() {
    let outputs = Ranks::<Two>::in_threads(2, |ranks| {
        // Each device would draw other numbers.
        let device = Cpu::seed_from_u64(ranks.rank() as u64);
        let model = Distributed::<DecoderOnly<OnRanks<Dropped<NanoGpt>, Two>, f32, Cpu>, Two>::build(&device, ranks);
        let (model, ids) = (model.unwrap(), batch(TgtLen::new(6).unwrap(), 1));
        [(); 2].map(|()| model.forward(&ids, model.recording()).unwrap().as_vec())
    });
    assert_eq!(outputs[0], outputs[1]);
    assert_ne!(outputs[0][0], outputs[0][1]);
}

type Part<Tp> = DecoderOnly<OnRanks<Plain<NanoGpt>, Tp>, f32, Cpu>;

#[test]
fn a_new_model_has_the_parameters_of_one_rank() {
    let whole = DecoderOnly::<Plain<NanoGpt>, f32, Cpu>::build(&Cpu::seed_from_u64(7));
    fn check<Tp: DividesLayersOf<Plain<NanoGpt>>>(whole: &DecoderOnly<Plain<NanoGpt>, f32, Cpu>) {
        Ranks::<Tp>::in_threads(Tp::EXPECTED_SIZE.unwrap(), |ranks| {
            // Only the seed of rank 0 counts.
            let device = Cpu::seed_from_u64(7 + ranks.rank() as u64);
            let model = Distributed::<Part<Tp>, Tp>::build(&device, ranks).unwrap();
            assert_eq!(elements_of(&model.gather(&device, ranks).unwrap()), elements_of(whole));
        });
    }
    check::<One>(&whole);
    check::<Two>(&whole);
    check::<Four>(&whole);
}

#[test]
fn a_rank_does_not_change_its_part_alone() {
    Ranks::<Two>::in_threads(2, |ranks| {
        let model = Distributed::<Part<Two>, Two>::build(&Cpu::seed_from_u64(7), ranks).unwrap();
        let mut model: Part<Two> = (*model).clone();
        let before = elements_of::<_, f32>(&model);
        let (inputs, labels) = batch(TgtLen::new(6).unwrap(), 1).teacher_forcing(START);
        let logits = model.forward(&inputs, model.recording()).unwrap();
        let loss = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
        let error = update(&mut model, loss.backward().unwrap(), &mut Sgd::default(), 1e-1, 1.0).unwrap_err();
        let expected = OpError::Sharded {
            parameter: "decoder.layers.0.self_attention.attention.query_proj.weight".into(),
            dims: "(Product<Shard<NumHeads, Two>, QKDim>, EmbedDim)".into(),
        };
        assert_eq!(error, expected);
        assert!(elements_of::<_, f32>(&model) == before);
    });
}

#[test]
fn a_file_of_weights_does_not_depend_on_the_ranks() {
    let whole = DecoderOnly::<Plain<NanoGpt>, f32, Cpu>::build(&Cpu::seed_from_u64(7));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.safetensors");
    weights::save(&whole, &path).unwrap();
    let expected = fs::read(&path).unwrap();
    fn save<Tp: DividesLayersOf<Plain<NanoGpt>>>(from: &Path, to: &Path) -> Vec<u8> {
        Ranks::<Tp>::in_threads(Tp::EXPECTED_SIZE.unwrap(), |ranks| {
            let model = Distributed::<Part<Tp>, Tp>::load(from, &Cpu::default(), ranks).unwrap();
            model.save(to, ranks).unwrap();
        });
        fs::read(to).unwrap()
    }
    let [two, four] = ["two", "four"].map(|name| folder.path().join(format!("{name}.safetensors")));
    assert_eq!(save::<Two>(&path, &two), expected);
    assert_eq!(save::<Four>(&two, &four), expected);
    assert_eq!(save::<Three>(&four, &two), expected);
}

#[test]
fn a_file_that_cannot_be_loaded_ends_all_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.safetensors");
    let other = DecoderOnly::<Plain<TypedTransformer>, f32, Cpu>::build(&Cpu::default());
    weights::save(&other, &path).unwrap();
    let errors = Ranks::<Two>::in_threads(2, |ranks| {
        // Rank 1 finds no file.
        let path = if ranks.rank() == 0 { path.clone() } else { folder.path().join("none") };
        Distributed::<Part<Two>, Two>::load(&path, &Cpu::default(), ranks).map(|_| ()).unwrap_err()
    });
    assert!(errors.iter().all(|error| matches!(error, DistributedError::Load(_))), "{errors:?}");
    let one = Ranks::<Two>::in_threads(2, |ranks| {
        let model = Distributed::<Part<Two>, Two>::build(&Cpu::default(), ranks).unwrap();
        let folder = folder.path().join(if ranks.rank() == 0 { "no/folder" } else { "" });
        model.save(folder.join("weights.safetensors"), ranks).unwrap_err().to_string()
    });
    assert!(one[0].contains("no/folder"), "{}", one[0]);
    assert_eq!(one[1], "rank 0 of `Two` failed");
}

/// The file would have the part of the rank that wrote last.
#[test]
fn a_rank_does_not_save_its_part() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.safetensors");
    let errors = Ranks::<Two>::in_threads(2, |ranks| {
        let model = Distributed::<Part<Two>, Two>::build(&Cpu::default(), ranks).unwrap();
        let trainer = Trainer::new(Sgd::<Part<Two>, f32>::default(), 0.1, 1, 0);
        // Ranks that save one checkpoint would find it locked.
        let checkpoint = folder.path().join(ranks.rank().to_string());
        [weights::save(&*model, &path), trainer.save(&*model, checkpoint)].map(|saved| saved.unwrap_err().to_string())
    });
    let expected = "is a rank's part; `Distributed::save` writes the whole model";
    assert!(errors.as_flattened().iter().all(|error| error.ends_with(expected)), "{errors:?}");
    assert!(!path.exists());
}

/// The part of one rank has diverged.
#[test]
fn a_model_with_an_element_that_is_not_finite_is_not_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.safetensors");
    let mut whole = DecoderOnly::<Plain<NanoGpt>, f32, Cpu>::build(&Cpu::seed_from_u64(7));
    let weight = &mut whole.decoder.layers[0].feed_forward.hidden.weight;
    let mut elements = weight.as_vec();
    *elements.last_mut().unwrap() = f32::NAN;
    weight.copy_from(&elements);
    let errors = Ranks::<Two>::in_threads(2, |ranks| {
        let model = Distributed::<Part<Two>, Two>::from_whole(&whole, &Cpu::default(), ranks).unwrap();
        model.save(&path, ranks).unwrap_err().to_string()
    });
    let position = elements.len() - 1;
    assert!(errors[0].ends_with(&format!("hidden.weight` holds NaN at position {position}")), "{}", errors[0]);
    assert_eq!(errors[1], "rank 0 of `Two` failed");
    assert!(!path.exists());
}
