//! The example `fill_mask` names the tokens that HuggingFace's transformers finds most likely, from a folder.

#[path = "../../examples/fill_mask/fill.rs"]
mod fill;

use crate::hugging_face::reference;
use crate::numbers::device;
use crate::parity::assert_close;
use crate::small_models::{VocabSize, small_modern_bert};
use crate::support::temp_dir;
use dfdx::tensor::AutoDevice;
use fill::{Choice, Choices, fill, find_masks};
use serde_json::{Map, Value, json};
use small_modern_bert::{Config, MaxSeqLen, SeqLen};
use std::fs;
use tempfile::TempDir;
use typed_transformer::models::modern_bert::ModernBert;
use typed_transformer::tokens::Tokenizer;
use typed_transformer::weights::load_pretrained;

/// A folder of the reference's model, whose tokens are words, and `mask` the word `[MASK]`.
fn folder(mask: usize) -> TempDir {
    let folder = temp_dir();
    let reference = format!("{}/fixtures/hugging_face/modern_bert", env!("CARGO_MANIFEST_DIR"));
    for file in ["config.json", "model.safetensors"] {
        fs::copy(format!("{reference}/{file}"), folder.path().join(file)).unwrap();
    }
    let words: Map<String, Value> = (0..VocabSize::SIZE).map(|id| (word(id, mask), id.into())).collect();
    let tokenizer = json!({
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"},
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "added_tokens": [{
            "id": mask, "content": "[MASK]", "special": true,
            "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
        }],
    });
    fs::write(folder.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();
    folder
}

fn word(id: usize, mask: usize) -> String {
    if id == mask { "[MASK]".into() } else { format!("word{id}") }
}

/// What the example finds for a text of these tokens.
fn found(ids: &[usize], mask: usize) -> Result<Vec<Vec<Choice>>, String> {
    let folder = folder(mask);
    let model: ModernBert<Config, f32, AutoDevice> = load_pretrained(folder.path(), &device()).unwrap();
    let tokenizer = Tokenizer::from_file(folder.path().join("tokenizer.json")).unwrap();
    let words: Vec<String> = ids.iter().map(|&id| word(id, mask)).collect();
    let text = find_masks::<SeqLen, MaxSeqLen, _>(&tokenizer, &words.join(" ")).map_err(|error| error.to_string())?;
    fill(&model, &tokenizer, &text).map_err(|error| error.to_string())
}

/// The tokens of the highest logits, and their probabilities.
fn most_likely(logits: &[f64]) -> Vec<(usize, f64)> {
    let sum: f64 = logits.iter().map(|logit| logit.exp()).sum();
    let mut tokens: Vec<(usize, f64)> = logits.iter().map(|logit| logit.exp() / sum).enumerate().collect();
    tokens.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    tokens.truncate(Choices::SIZE);
    tokens
}

#[test]
fn the_tokens_are_those_of_transformers() {
    let reference = reference("modern_bert");
    let (ids, logits) = (reference.ids("input.ids"), reference.numbers("output.logit"));
    let (rows, logits) = (ids.chunks(11), logits.chunks(11 * VocabSize::SIZE));
    // One token of each row is its mask. The second row has it twice, and three tokens of padding.
    for (((row, logits), mask), places) in rows.zip(logits).zip([83, 9, 72]).zip([&[6][..], &[2, 7], &[1]]) {
        let row: Vec<usize> = row.iter().copied().filter(|&id| id != 0).collect();
        let found = found(&row, mask).unwrap();
        assert_eq!(found.len(), places.len());
        let logits: Vec<&[f64]> = logits.chunks(VocabSize::SIZE).collect();
        for (choices, &place) in found.iter().zip(places) {
            let (tokens, expected): (Vec<usize>, Vec<f64>) = most_likely(logits[place]).into_iter().unzip();
            // A special token has no text.
            let text = |id| if id == mask { String::new() } else { word(id, mask) };
            let texts: Vec<&str> = choices.iter().map(|choice| &*choice.text).collect();
            assert_eq!(texts, tokens.into_iter().map(text).collect::<Vec<_>>());
            let probabilities: Vec<f64> = choices.iter().map(|choice| choice.probability.into()).collect();
            assert_close("probabilities", &probabilities, &expected, 1e-5);
        }
    }
}

#[test]
fn a_text_without_a_mask_and_one_too_long_are_errors() {
    let error = |ids: &[usize]| found(ids, 9).err().unwrap();
    assert_eq!(error(&[5, 6]), "\"word5 word6\" has no [MASK]");
    assert_eq!(error(&[9; 41]), "the text has 41 tokens, but the model reads at most 40");
    assert_eq!(found(&[9; 40], 9).unwrap().len(), 40);
}
