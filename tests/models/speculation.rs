//! Speculative decoding: a greedy text is that of the target alone, a drawn one has the target's distribution, and a target
//! reads proposals at once.

use crate::hugging_face::{Read, ids, load};
use crate::numbers::device;
use crate::small_models::{
    VocabSize, small_gemma3, small_gpt2, small_llama, small_mixtral, small_olmo2, small_qwen3, small_t5,
};
use dfdx::tensor::AutoDevice;
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::cell::Cell;
use typed_transformer::generate::{Generation, Sampler, Speculation};
use typed_transformer::models::gemma3::Gemma3;
use typed_transformer::models::gpt2::Gpt2;
use typed_transformer::models::llama::Llama;
use typed_transformer::models::mixtral::Mixtral;
use typed_transformer::models::t5::T5;
use typed_transformer::nn::{Autoregressive, EditableCache};
use typed_transformer::prelude::*;
use typed_transformer::tokens::Indices;

type Gpt2Model = Gpt2<small_gpt2::Config, f32, AutoDevice>;
type Gemma3Model = Gemma3<small_gemma3::Config, f32, AutoDevice>;

/// A model of the tests: it writes texts of the small vocabulary, and reads several tokens at once.
trait Writer: Autoregressive<Const<1>, f32, AutoDevice, VocabSize = VocabSize, Cache: EditableCache<Const<1>>> {}
impl<Model> Writer for Model where
    Model: Autoregressive<Const<1>, f32, AutoDevice, VocabSize = VocabSize, Cache: EditableCache<Const<1>>>
{
}

fn prompt() -> TokenIds<Const<1>, Read, VocabSize> {
    ids(&[6, 71, 58, 31, 61], (Const, Read::new(5)))
}

fn greedy<Target: Writer>(target: &Target, ends: &[Fin<VocabSize>]) -> Vec<Fin<VocabSize>> {
    let mut sampler = Sampler::greedy().repetition_penalty(1.2).unwrap();
    let text = Generation::new(target, &prompt(), ends.iter().copied(), &mut sampler).unwrap();
    text.map(|tokens| tokens.unwrap()[0].unwrap()).collect()
}

/// Compares greedy texts, to their ends and to the last token that the target can write.
fn check<Target: Writer, Draft: Writer>(target: &Target, draft: &Draft) {
    let whole = greedy(target, &[]);
    for ends in [vec![], vec![whole[7]]] {
        let expected = greedy(target, &ends);
        for num_proposed in [0, 1, 3, 8] {
            let mut sampler = Sampler::greedy().repetition_penalty(1.2).unwrap();
            let text = Speculation::new(target, draft, &prompt(), ends.clone(), num_proposed, &mut sampler).unwrap();
            let text: Vec<_> = text.map(Result::unwrap).collect();
            assert_eq!(text, expected, "{num_proposed} proposed");
        }
    }
}

/// Reading several tokens at once gives the logits of reading them one by one.
fn check_all_logits<Model: Writer>(model: &Model) {
    let [mut at_once, mut one_by_one] = [(); 2].map(|()| model.cache(Const).unwrap());
    let tokens = prompt();
    model.next_logits(&tokens, &mut at_once).unwrap();
    model.next_logits(&tokens, &mut one_by_one).unwrap();
    let found = model.all_logits(&tokens, &mut at_once).unwrap().as_vec();
    for (&token, found) in tokens.as_slice().iter().zip(found.chunks(VocabSize::SIZE)) {
        let expected = model.next_logits(&ids(&[token], (Const, Read::new(1))), &mut one_by_one).unwrap().as_vec();
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-5));
    }
}

macro_rules! check_decoders {
    ($($name:ident: $target:ty, draft $draft:ty = $draft_name:literal;)*) => {$(
        #[test]
        fn $name() {
            let (target, draft): ($target, $draft) = (load(stringify!($name)), load($draft_name));
            check(&target, &draft);
            check_all_logits(&target);
        }
    )*};
}

// The GPT-2 reads fewer tokens than the others. The windows of the Gemma 3 are shorter than the longest proposals.
check_decoders! {
    gpt2: Gpt2Model, draft Gemma3Model = "gemma3";
    llama: Llama<small_llama::Config, f32, AutoDevice>, draft Gpt2Model = "gpt2";
    mixtral: Mixtral<small_mixtral::Config, f32, AutoDevice>, draft Gemma3Model = "gemma3";
    qwen3: Llama<small_qwen3::Config, f32, AutoDevice>, draft Gpt2Model = "gpt2";
    olmo2: Llama<small_olmo2::Config, f32, AutoDevice>, draft Gemma3Model = "gemma3";
    gemma3: Gemma3Model, draft Gemma3Model = "gemma3";
}

#[test]
fn encoder_decoders() {
    let model: T5<small_t5::Config, f32, AutoDevice> = load("t5");
    let draft: Gpt2Model = load("gpt2");
    let [encoded, other] = [[7, 4, 24], [1, 2, 3]].map(|source| model.encode(&ids(&source, (Const, Read::new(3)))));
    let (encoded, other) = (encoded.unwrap(), other.unwrap());
    check(&encoded, &other);
    check(&encoded, &draft);
    check_all_logits(&encoded);

    let model = LM::<crate::fixture::TypedModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(2));
    let source = TokenIds::from_ids(&[1, 2], None, (Const::<1>, crate::fixture::SrcLen::new(2).unwrap())).unwrap();
    let start = TokenIds::from_ids(&[0], None, (Const::<1>, Read::new(1))).unwrap();
    let (encoded, draft) =
        (model.encode(&source).unwrap(), DecoderOnly::<crate::fixture::TypedModel, f32, AutoDevice>::build(&device()));
    let (mut one, mut other) = (Sampler::greedy(), Sampler::greedy());
    let text = Speculation::new(&encoded, &draft, &start, None, 3, &mut one).unwrap();
    let alone = Generation::new(&encoded, &start, None, &mut other).unwrap();
    let alone: Vec<_> = alone.map(|tokens| tokens.unwrap()[0].unwrap()).collect();
    assert_eq!(text.map(Result::unwrap).collect::<Vec<_>>(), alone);
}

dims! { NumTokens = 5; MaxLen = 9; }

/// The logits of the next token depend on the last one.
struct Bigrams {
    logits: [[f64; 5]; 5],
    num_passes: Cell<usize>,
    fails_after: usize,
}

impl Bigrams {
    fn draw(seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let logits = [(); 5].map(|()| [(); 5].map(|()| rng.gen_range(-1.5..1.5)));
        Self { logits, num_passes: Cell::new(0), fails_after: usize::MAX }
    }
}

struct Length(usize);

impl EditableCache<Const<1>> for Length {
    fn truncate(&mut self, len: usize) -> Result<(), OpError> {
        self.0 = self.0.min(len);
        Ok(())
    }

    fn reorder(&mut self, _: &Indices<(Const<1>,), Const<1>>) -> Result<(), OpError> {
        Ok(())
    }
}

impl Autoregressive<Const<1>, f64, AutoDevice> for Bigrams {
    type VocabSize = NumTokens;
    type MaxSeqLen = MaxLen;
    type Cache = Length;

    fn cache(&self, _: Const<1>) -> Result<Length, OpError> {
        Ok(Length(0))
    }

    fn last_logits<S: Dim, Last: Dim>(
        &self,
        tokens: &TokenIds<Const<1>, S, NumTokens>,
        cache: &mut Length,
        last: Last,
    ) -> Result<Tensor<(Const<1>, Last, NumTokens), f64, AutoDevice>, OpError> {
        let len = tokens.shape().1.size();
        cache.0 += len;
        assert!(cache.0 <= MaxLen::SIZE);
        self.num_passes.set(self.num_passes.get() + 1);
        if self.num_passes.get() > self.fails_after {
            return Err(OpError::NotANumber { op: "bigrams" });
        }
        let logits = tokens.as_slice()[len - last.size()..].iter().flat_map(|&token| self.logits[token]);
        Ok(device().tensor((logits.collect::<Vec<f64>>(), (Const, last, NumTokens))))
    }
}

fn start() -> TokenIds<Const<1>, Const<1>, NumTokens> {
    TokenIds::from_ids(&[0], None, (Const, Const)).unwrap()
}

/// The number of drawn texts.
const SAMPLES: usize = 10_000;

/// The frequencies of the texts of three tokens.
fn frequencies(mut next_text: impl FnMut() -> Vec<Fin<NumTokens>>) -> Vec<f64> {
    let mut frequencies = vec![0.0; 125];
    for _ in 0..SAMPLES {
        let index = next_text().iter().fold(0, |index, token| 5 * index + token.value());
        frequencies[index] += 1.0 / SAMPLES as f64;
    }
    frequencies
}

#[test]
fn drawn_texts_have_the_distribution_of_the_target() {
    let (target, draft) = (Bigrams::draw(1), Bigrams::draw(2));
    let settings: [fn(Sampler<NumTokens>) -> Sampler<NumTokens>; 4] = [
        |sampler| sampler,
        |sampler| sampler.top_k(3).unwrap(),
        |sampler| sampler.top_p(0.7).unwrap().repetition_penalty(1.7).unwrap(),
        |sampler| sampler.restrict_to([0, 2, 3].map(|token| Fin::new(token).unwrap())),
    ];
    for (setting, set) in settings.into_iter().enumerate() {
        let [mut one, mut other] = [1, 2].map(|seed| set(Sampler::with_temperature(0.8, seed).unwrap()));
        let mut acceptance = 0.0;
        let found = frequencies(|| {
            let mut text = Speculation::new(&target, &draft, &start(), None, 2, &mut one).unwrap();
            let tokens = text.by_ref().take(3).map(Result::unwrap).collect();
            acceptance += text.acceptance().unwrap() / SAMPLES as f64;
            tokens
        });
        let expected = frequencies(|| {
            let tokens = Generation::new(&target, &start(), None, &mut other).unwrap().take(3);
            tokens.map(|tokens| tokens.unwrap()[0].unwrap()).collect()
        });
        // Some proposals are accepted and some are not.
        assert!((0.05..0.95).contains(&acceptance), "{setting}: {acceptance}");
        for (text, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            // Five standard deviations of the difference of two frequencies.
            let deviation = (2.0 * expected.max(1e-3) / SAMPLES as f64).sqrt();
            assert!((found - expected).abs() < 5.0 * deviation, "{setting}: {found} and {expected} for text {text}");
        }
    }
}

#[test]
fn a_target_reads_the_accepted_tokens_at_once() {
    let (target, draft) = (Bigrams::draw(1), Bigrams::draw(1));
    let mut sampler = Sampler::greedy();
    let mut text = Speculation::new(&target, &draft, &start(), None, 3, &mut sampler).unwrap();
    let passes: Vec<usize> = (0..8).map(|_| text.next().unwrap().map(|_| target.num_passes.get()).unwrap()).collect();
    assert_eq!((passes, text.acceptance()), (vec![1, 1, 1, 1, 2, 2, 2, 2], Some(1.0)));
    assert_eq!(format!("{text:?}"), "Speculation (9 tokens, 6 of 6 proposals accepted)");
    // The target reads 9 tokens, so the text gets one more.
    assert_eq!((text.by_ref().count(), text.acceptance()), (1, Some(1.0)));
    assert_eq!(Speculation::new(&target, &target, &start(), None, 0, &mut sampler).unwrap().acceptance(), None);
}

#[test]
fn an_error_ends_the_text() {
    let (target, draft) = (Bigrams { fails_after: 1, ..Bigrams::draw(1) }, Bigrams::draw(1));
    let mut sampler = Sampler::greedy();
    let text = Speculation::new(&target, &draft, &start(), None, 2, &mut sampler).unwrap();
    assert_eq!(text.map(|token| token.is_ok()).collect::<Vec<_>>(), [true, true, true, false]);
    // Each token is followed by the next one, and the target has no logits after token 2.
    let [mut target, mut draft] = [(); 2].map(|()| Bigrams { logits: [[0.0; 5]; 5], ..Bigrams::draw(1) });
    for token in 0..4 {
        (target.logits[token][token + 1], draft.logits[token][token + 1]) = (1.0, 1.0);
    }
    target.logits[2] = [f64::NAN; 5];
    let text = Speculation::new(&target, &draft, &start(), None, 3, &mut sampler).unwrap();
    assert_eq!(text.map(|token| token.is_ok()).collect::<Vec<_>>(), [true, true, false]);
    let padded = TokenIds::from_ids(&[1, 0], Some(Fin::literal::<1>()), (Const::<1>, Const::<2>)).unwrap();
    assert!(matches!(
        Speculation::new(&target, &draft, &padded, None, 2, &mut sampler),
        Err(OpError::Padding { position: 0, .. })
    ));
}
