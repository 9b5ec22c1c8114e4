//! The data: a text as tokens, in two parts, cut into windows.

use crate::{
    Batch, BlockSize, SeqLen,
    support::{BoxError, log},
};
use rand::Rng;
use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read},
    path::Path,
};
use typed_transformer::prelude::*;

/// Six plays.
const SHAKESPEARE: &str = include_str!("shakespeare.txt");

/// The longest text. Its tokens take eight times as much memory.
const MAX_LEN_BYTES: u64 = 64_000_000;
/// A text longer than this takes seconds to prepare.
const LONG_LEN_BYTES: u64 = 2_000_000;

/// A text as tokens: its first nine tenths for training, the rest for validation.
pub struct Text {
    pub training: Vec<usize>,
    pub validation: Vec<usize>,
    /// Differs between texts, except for hash collisions.
    pub fingerprint: String,
}

impl Text {
    /// The text of a file, or Shakespeare's, and what `encode` makes of it. `unit` says what a token is.
    pub fn read<Tokenizer, V>(
        path: Option<&Path>,
        unit: &str,
        encode: impl FnOnce(&str) -> Result<(Tokenizer, Vec<Fin<V>>), BoxError>,
    ) -> Result<(Tokenizer, Self), BoxError> {
        let Some(path) = path else {
            return Self::new(SHAKESPEARE, unit, encode);
        };
        let name = path.display();
        let bytes = read(path).map_err(|error| format!("cannot read {name}: {error}"))?;
        if bytes.len() as u64 > MAX_LEN_BYTES {
            return Err(format!("{name} has more than {MAX_LEN_BYTES} bytes").into());
        }
        if bytes.len() as u64 > LONG_LEN_BYTES {
            log(&format!("dividing {name}, {} million bytes, into {unit}", bytes.len() / 1_000_000));
        }
        let text = String::from_utf8(bytes)
            .map_err(|error| format!("{}: not UTF-8 at byte {}", path.display(), error.utf8_error().valid_up_to()))?;
        Self::new(&text, unit, encode).map_err(|error| format!("{}: {error}", path.display()).into())
    }

    fn new<Tokenizer, V>(
        text: &str,
        unit: &str,
        encode: impl FnOnce(&str) -> Result<(Tokenizer, Vec<Fin<V>>), BoxError>,
    ) -> Result<(Tokenizer, Self), BoxError> {
        let (tokenizer, tokens) = encode(text)?;
        let mut training: Vec<usize> = tokens.into_iter().map(Fin::value).collect();
        let found = training.len();
        let validation = training.split_off(found * 9 / 10);
        if validation.len() <= BlockSize::SIZE {
            // The smallest length whose tenth, rounded up, exceeds a window.
            let needed = 10 * BlockSize::SIZE + 1;
            return Err(format!(
                "the text has {found} {unit}, but {needed} are needed: the last tenth is for validation, \
                 and a window and the {} after it are {} {unit}",
                unit.trim_end_matches('s'),
                BlockSize::SIZE + 1
            )
            .into());
        }
        // FNV-1a.
        let hash = text
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        let fingerprint = format!("{found} {unit} with the hash {hash:016x}");
        Ok((tokenizer, Self { training, validation, fingerprint }))
    }
}

/// Reads a file up to the maximum, and a byte more if there is one.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Checked before opening, because opening a pipe waits for a writer.
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_LEN_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Windows of a text, a batch or a rank's part of one, and the token after each of their tokens.
pub struct Windows<B, V> {
    pub inputs: TokenIds<B, SeqLen, V>,
    pub labels: LabelIds<B, SeqLen, V>,
}

/// Random positions of `count` windows of `BlockSize` tokens.
pub fn random_starts(tokens: &[usize], count: usize, rng: &mut impl Rng) -> Vec<usize> {
    let starts = 0..tokens.len() - BlockSize::SIZE;
    (0..count).map(|_| rng.gen_range(starts.clone())).collect()
}

impl<V: ConstDim> Windows<Batch, V> {
    /// `count` windows of `BlockSize` tokens, at random positions.
    pub fn random(tokens: &[usize], count: usize, rng: &mut impl Rng) -> Result<Self, BoxError> {
        Self::at(tokens, &random_starts(tokens, count, rng), Batch::new(count), BlockSize::SIZE)
    }

    /// The whole text in consecutive windows, in batches of at most `count`. The last window may be shorter.
    pub fn all(tokens: &[usize], count: usize) -> impl Iterator<Item = Result<Self, BoxError>> {
        let num_labels = tokens.len() - 1;
        let starts: Vec<usize> = (0..num_labels / BlockSize::SIZE).map(|i| i * BlockSize::SIZE).collect();
        let mut batches: Vec<_> = starts.chunks(count).map(|starts| (starts.to_vec(), BlockSize::SIZE)).collect();
        let rest = num_labels % BlockSize::SIZE;
        if rest > 0 {
            batches.push((vec![num_labels - rest], rest));
        }
        batches.into_iter().map(|(starts, len)| Self::at(tokens, &starts, Batch::new(starts.len()), len))
    }
}

impl<B: DataDim, V: ConstDim> Windows<B, V> {
    /// Windows of `len` tokens at given positions.
    pub fn at(tokens: &[usize], starts: &[usize], batch: B, len: usize) -> Result<Self, BoxError> {
        let shape = (batch, SeqLen::new(len)?);
        let windows = |offset: usize| -> Vec<usize> {
            let windows = starts.iter().map(|start| &tokens[start + offset..][..len]);
            windows.flatten().copied().collect()
        };
        Ok(Self {
            inputs: TokenIds::from_ids(&windows(0), None, shape)?,
            labels: LabelIds::from_ids(&windows(1), None, shape)?,
        })
    }
}
