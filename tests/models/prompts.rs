//! Prompts of different lengths in one batch: each family writes for a row what it writes for the row alone.

use crate::fixture;
use crate::hugging_face::{Batch, Read, load};
use crate::small_models::{
    VocabSize, small_gemma3, small_gpt2, small_llama, small_mixtral, small_olmo2, small_qwen3, small_t5,
};
use dfdx::tensor::AutoDevice;
use rand::{Rng, SeedableRng, rngs::StdRng};
use typed_transformer::generate::{Generation, Sampler, generate_from_prompt};
use typed_transformer::models::gemma3::Gemma3;
use typed_transformer::models::gpt2::Gpt2;
use typed_transformer::models::llama::Llama;
use typed_transformer::models::mixtral::Mixtral;
use typed_transformer::models::t5::T5;
use typed_transformer::nn::Autoregressive;
use typed_transformer::prelude::*;

/// The lengths of the prompts.
const LENGTHS: [usize; 5] = [3, 9, 1, 6, 3];
/// The most tokens that a text gets.
const MAX_NEW_TOKENS: usize = 11;

/// Prompts without the last token of the vocabulary, which is the padding.
fn prompts<V: ConstDim>(seed: u64) -> Vec<Vec<Fin<V>>> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut token = || Fin::new(rng.gen_range(0..V::SIZE - 1)).unwrap();
    LENGTHS.map(|len| (0..len).map(|_| token()).collect()).into()
}

/// The text of each prompt, without the prompt.
fn write<M: Autoregressive<Batch, f32, AutoDevice>>(
    model: &M,
    prompts: &[Vec<Fin<M::VocabSize>>],
    end: Option<Fin<M::VocabSize>>,
) -> Vec<Vec<Fin<M::VocabSize>>> {
    let pad = Fin::new(M::VocabSize::SIZE - 1).unwrap();
    let shape = (Batch::new(prompts.len()), Read::new(prompts.iter().map(Vec::len).max().unwrap()));
    let padded = TokenIds::padded(prompts, pad, shape).unwrap();
    let mut sampler = Sampler::greedy();
    let mut texts = vec![Vec::new(); prompts.len()];
    for tokens in Generation::new(model, &padded, end, &mut sampler).unwrap().max_new_tokens(MAX_NEW_TOKENS) {
        texts.iter_mut().zip(tokens.unwrap()).for_each(|(text, token)| text.extend(token));
    }
    texts
}

/// Compares the texts of a batch with those of its rows. `of_row` is the model for row `i` alone.
fn check<M, Alone>(name: &str, model: &M, of_row: impl Fn(usize) -> Alone)
where
    M: Autoregressive<Batch, f32, AutoDevice>,
    Alone: Autoregressive<Batch, f32, AutoDevice, VocabSize = M::VocabSize>,
{
    let prompts = prompts::<M::VocabSize>(name.len() as u64);
    // The token that text 1 gets as its fourth one ends it, and perhaps others.
    let end = write(model, &prompts, None)[1][3];
    for end in [None, Some(end)] {
        let together = write(model, &prompts, end);
        let alone: Vec<_> = (0..prompts.len()).flat_map(|row| write(&of_row(row), &prompts[row..=row], end)).collect();
        assert_eq!(together, alone, "{name}");
        let has_ended = together.iter().any(|text| text.len() < MAX_NEW_TOKENS && text.last() == end.as_ref());
        assert_eq!(has_ended, end.is_some(), "{name}");
    }
}

/// A model that needs no sources is the same for each row.
macro_rules! check_decoders {
    ($($test:ident: $model:ty = $load:expr;)*) => {$(
        #[test]
        fn $test() {
            let model: $model = $load;
            let load_again = |_| -> $model { $load };
            check(stringify!($test), &model, load_again);
        }
    )*};
}

check_decoders! {
    gpt2: Gpt2<small_gpt2::Config, f32, AutoDevice> = load("gpt2");
    llama: Llama<small_llama::Config, f32, AutoDevice> = load("llama");
    mixtral: Mixtral<small_mixtral::Config, f32, AutoDevice> = load("mixtral");
    qwen3: Llama<small_qwen3::Config, f32, AutoDevice> = load("qwen3");
    olmo2: Llama<small_olmo2::Config, f32, AutoDevice> = load("olmo2");
    gemma3: Gemma3<small_gemma3::Config, f32, AutoDevice> = load("gemma3");
}

#[test]
fn t5_with_sources_of_different_lengths() {
    let model: T5<small_t5::Config, f32, AutoDevice> = load("t5");
    let sources = prompts::<VocabSize>(40);
    let pad = Fin::new(VocabSize::SIZE - 1).unwrap();
    let encode = |sources: &[Vec<Fin<VocabSize>>]| {
        let shape = (Batch::new(sources.len()), Read::new(sources.iter().map(Vec::len).max().unwrap()));
        model.encode(&TokenIds::padded(sources, pad, shape).unwrap()).unwrap()
    };
    check("t5", &encode(&sources), |row| encode(&sources[row..=row]));
}

#[test]
fn a_decoder_of_the_post() {
    let model = DecoderOnly::<fixture::LearningModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(8));
    // The model reads 12 tokens, fewer than the longest text would have.
    check("decoder", &model, |_| model.clone());
}

#[test]
fn texts_of_one_length_begin_with_their_prompts() {
    let model = DecoderOnly::<fixture::TypedModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(9));
    let prompts = prompts::<fixture::VocabSize>(3);
    let (pad, end) = (Fin::literal::<12>(), Fin::literal::<0>());
    let len = fixture::SeqLen::new(9).unwrap();
    let padded = TokenIds::padded(&prompts, pad, (Batch::new(5), len)).unwrap();
    let write = |end| generate_from_prompt(&model, &padded, end, len, &mut Sampler::greedy()).unwrap();
    let texts: TokenIds<Batch, fixture::SeqLen, fixture::VocabSize> = write(None);
    for (row, prompt) in prompts.iter().enumerate() {
        let text = texts.row(row).unwrap();
        assert!(text.starts_with(prompt));
        let alone = TokenIds::from_rows(&[prompt], (Batch::new(1), fixture::SeqLen::new(prompt.len()).unwrap()));
        let alone = generate_from_prompt(&model, &alone.unwrap(), None, len, &mut Sampler::greedy()).unwrap();
        assert_eq!(alone.row(0).unwrap(), text);
    }
    assert_eq!((texts.pad_token_id(), write(Some(end)).pad_token_id()), (None, Some(end)));
}
