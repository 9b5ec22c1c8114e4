//! The text: as tokens, in two parts, cut into pieces.

use crate::model::{Batch, Block, SeqLen, VocabSize};
use crate::support::Failure;
use rand::Rng;
use std::{fs, path::Path};
use typed_transformer::{
    prelude::*,
    tokens::{CharTokenizer, Fin},
};

/// Six plays, for whoever gives no other text.
const SHAKESPEARE: &str = include_str!("shakespeare.txt");

/// What can be wrong with a text.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    #[error(
        "the text has {found} characters, but {needed} are needed: the last tenth is for validation, \
         and a piece and what comes next are {} characters", Block::SIZE + 1
    )]
    TooShort { found: usize, needed: usize },
}

/// A text, its first nine tenths for training and the rest for validation.
pub struct Text {
    pub characters: CharTokenizer<VocabSize>,
    pub training: Vec<usize>,
    pub validation: Vec<usize>,
    /// Another for every other text, as good as certainly.
    pub fingerprint: String,
}

/// Pieces of text, and for each of their characters the next one.
pub struct Pieces {
    pub inputs: TokenIds<Batch, SeqLen, VocabSize>,
    pub labels: TokenIds<Batch, SeqLen, VocabSize>,
}

impl Text {
    /// The text in a file, or Shakespeare's.
    pub fn read(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Self::new(SHAKESPEARE);
        };
        let in_file = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let bytes = fs::read(path);
        let bytes = bytes.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let error = error.utf8_error();
            in_file(&format!("not UTF-8 at byte {}", error.valid_up_to()))
        })?;
        Self::new(&text).map_err(|error| in_file(&error).into())
    }

    fn new(text: &str) -> Result<Self, Failure> {
        let characters = CharTokenizer::from_text(text)?;
        let tokens = characters.encode(text)?;
        let mut training: Vec<usize> = tokens.into_iter().map(Fin::value).collect();
        let found = training.len();
        let validation = training.split_off(found * 9 / 10);
        if validation.len() <= Block::SIZE {
            // The fewest of which a tenth, rounded up, is more than a piece.
            let needed = 10 * Block::SIZE + 1;
            return Err(TextError::TooShort { found, needed }.into());
        }
        // FNV-1a.
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        Ok(Self {
            characters,
            training,
            validation,
            fingerprint: format!("{found} characters with the hash {hash:016x}"),
        })
    }
}

impl Pieces {
    /// Pieces of a block from random places.
    pub fn random(tokens: &[usize], count: usize, rng: &mut impl Rng) -> Result<Self, Failure> {
        let starts = 0..tokens.len() - Block::SIZE;
        let starts: Vec<usize> = (0..count).map(|_| rng.gen_range(starts.clone())).collect();
        Self::at(tokens, &starts, Block::SIZE)
    }

    /// All of a text, in batches of at most `count` pieces, each piece where the one before it ends.
    pub fn all(tokens: &[usize], count: usize) -> impl Iterator<Item = Result<Self, Failure>> {
        let labels = tokens.len() - 1;
        let whole: Vec<usize> = (0..labels / Block::SIZE).map(|i| i * Block::SIZE).collect();
        let batches = whole.chunks(count).map(|starts| (starts.to_vec(), Block::SIZE));
        let mut batches: Vec<_> = batches.collect();
        let rest = labels % Block::SIZE;
        if rest > 0 {
            batches.push((vec![labels - rest], rest));
        }
        let batches = batches.into_iter();
        batches.map(|(starts, len)| Self::at(tokens, &starts, len))
    }

    fn at(tokens: &[usize], starts: &[usize], len: usize) -> Result<Self, Failure> {
        let shape = (Batch::new(starts.len()), SeqLen::new(len)?);
        let from = |offset: usize| -> Vec<usize> {
            let pieces = starts.iter().map(|start| &tokens[start + offset..][..len]);
            pieces.flatten().copied().collect()
        };
        Ok(Self {
            inputs: TokenIds::from_ids(&from(0), None, shape)?,
            labels: TokenIds::from_ids(&from(1), None, shape)?,
        })
    }
}
