//! Words as text.

use crate::{MaxSeqLen, VocabSize, Word, letter, rot13, stdin::escape, support::BoxError};
use typed_transformer::tokens::Fin;

/// The number of random words that are shown.
const NUM_SHOWN: usize = 5;

/// Parses a word of letters from a to z.
pub fn parse_word(word: &str) -> Result<Word, BoxError> {
    let shown = escape(word);
    if let Some(letter) = word.chars().find(|letter| !letter.is_ascii_lowercase()) {
        return Err(format!("`{}` in `{shown}` is not a letter from a to z", escape(&letter.to_string())).into());
    }
    let max = MaxSeqLen::SIZE;
    match word.len() {
        0 => Err("a word must have at least one letter".into()),
        1..=MaxSeqLen::SIZE => Ok(word.bytes().map(|byte| letter((byte - b'a').into())).collect()),
        len => Err(format!("`{shown}` has {len} letters, but the model takes at most {max}").into()),
    }
}

/// Formats a word; a token that is not a letter becomes `~`.
pub fn format_word(word: &[Fin<VocabSize>]) -> String {
    let letter = |token: &Fin<_>| ('a'..='z').nth(token.value()).unwrap_or('~');
    word.iter().map(letter).collect()
}

/// A table of plain words and their ciphers. A wrong cipher is followed by the right one.
fn table(title: &str, decoded: &[(Word, Word)]) -> String {
    let mut table = format!("{:16} {:16}\n", format!("{title} plain"), "cipher");
    for (plain, cipher) in decoded {
        table += &format!("{:16} {}", format_word(plain), format_word(cipher));
        if *cipher != rot13(plain) {
            table += &format!("   but it is {}", format_word(&rot13(plain)));
        }
        table += "\n";
    }
    table + "\n"
}

/// Tables of the given words and of the first random ones, and the share of all random ones whose cipher is right.
pub fn evaluate(given: &[(Word, Word)], random: &[(Word, Word)]) -> (String, f64) {
    let num_correct = random.iter().filter(|(plain, cipher)| rot13(plain) == *cipher).count();
    let accuracy = num_correct as f64 / random.len() as f64;
    let mut text = table("given", given) + &table("random", &random[..NUM_SHOWN]);
    text += &format!("{:.1} % of {} fresh random words decoded exactly\n", 100.0 * accuracy, random.len());
    (text, accuracy)
}
