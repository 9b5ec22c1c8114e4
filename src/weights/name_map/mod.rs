//! The names and layouts of the tensors in files of other systems.

mod pattern;
mod rule;

pub(crate) use rule::{dims_in, factors, written_dims};

use super::{ExpectedTensor, LoadError, WeightFiles};
use crate::ranks::Element;
use pattern::Pattern;
use rule::{Rule, WrittenTensor};
use std::{collections::BTreeMap, str::FromStr};

/// Maps the parameters of a model to the tensors of a file from another system: their names and their layout.
///
/// It is parsed from text. A line is a rule for one parameter or, with wildcards, for several:
///
/// | line | meaning |
/// | --- | --- |
/// | `logit.bias = lm_head.bias` | the model's `logit.bias` is `lm_head.bias` in the file |
/// | `layers.{n}.{role}_proj.weight = h{n}.{role}` | `{n}` and `{role}` match one or more characters other than dots and slashes, and stand for the same on the right side |
/// | `norms.{n} = layers.{n+1}.norm` | `{n+1}` on the right side is the number after `{n}` |
/// | `odd.{n}.* = layers.{2n+1}.*` | the second of every two layers in the file; the first of them is `{2n}` |
/// | `* = model.*` | `*` matches one or more characters, dots included |
/// | `weight = kernel [in out -> out in]` | the file's tensor is the transposed parameter: dense layers of Flax, `Conv1D` of GPT-2 |
/// | `weight = kernel [in head size -> (head size) in]` | the file's tensor has three dimensions, two of which are one [`Product`](crate::dims::Product) in the model: attentions of Flax |
/// | `query_proj.weight = in_proj_weight part 1 of 3` | the parameter is the first third of the rows: `MultiheadAttention` of PyTorch, `c_attn` of nanoGPT |
/// | `query_proj.weight = c_attn [in out -> out in] part 1 of 3` | both: the transposed tensor is divided into parts |
/// | `norm.bias = norm.bias or norm.beta` | the file has one of these names: older and newer files of the same model |
/// | `ignore *.attn.mask` | tensors of these names are not read |
/// | `copy lm_head.weight of wte.weight` | the file may have a tied weight twice: if no parameter reads `lm_head.weight`, its bytes must be those of `wte.weight` |
/// | `# from epoch 3` | a comment |
///
/// The first rule whose left side matches the path of a parameter applies, so `* = *` stands last. The names of axes in
/// brackets are free, and each appears once on each side. The sizes in the file are compared with those of the model;
/// those of axes in parentheses with the factors of the product. Parts have the same size; a tensor of parts of
/// different sizes is a parameter over a [`Sum`](crate::dims::Sum), which [`split`](crate::ops::split) divides.
///
/// Equinox has the same layout of linear maps as this crate, so its files need only names. The sizes of a square matrix
/// do not show whether it is transposed: only the map says so.
///
/// ```
/// use typed_transformer::weights::NameMap;
/// let names = "
///     embedder.token_embedder.weight = wte.weight
///     decoder.layers.{n}.{block}.norm.weight = h.{n}.{block}.norm.scale
/// ";
/// assert!(names.parse::<NameMap>().is_ok());
/// ```
#[derive(Clone, Debug, Default)]
pub struct NameMap {
    rules: Vec<Rule>,
    ignored: Vec<Pattern>,
    /// The names of copies and of what they are copies of.
    copies: Vec<(Pattern, Pattern)>,
}

/// The error of parsing a [`NameMap`].
///
/// ```
/// use typed_transformer::weights::{NameMap, NameMapError};
/// let error: NameMapError = "norm = ln_f\nlogit.bias".parse::<NameMap>().unwrap_err();
/// assert_eq!(error.to_string(), "line 2: `logit.bias` is neither `PATH = NAME`, `ignore NAME` nor `copy NAME of NAME`");
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct NameMapError {
    /// The line, the first being 1.
    pub line: usize,
    /// A description of the fault.
    pub message: String,
}
crate::error::debug_by_sentence!(NameMapError);

impl FromStr for NameMap {
    type Err = NameMapError;

    fn from_str(text: &str) -> Result<Self, NameMapError> {
        let mut map = Self::default();
        for (line, text) in (1..).zip(text.lines().map(str::trim)) {
            let error = |message| NameMapError { line, message };
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let words: Vec<_> = text.split_whitespace().collect();
            match words[..] {
                [path, "=", ref names @ ..] if !names.is_empty() => {
                    let (names, layout) = split_names(names);
                    let rule = Rule::parse(path, &names, &layout.join(" "));
                    map.rules.push(rule.map_err(error)?);
                }
                ["ignore", name] => map.ignored.push(Pattern::parse_left(name).map_err(error)?),
                ["copy", copy, "of", original] => {
                    let copy = Pattern::parse_left(copy).map_err(error)?;
                    let original = Pattern::parse(original).map_err(error)?;
                    original.ensure_known_to(&copy).map_err(error)?;
                    map.copies.push((copy, original));
                }
                _ => {
                    let message = format!("`{text}` is neither `PATH = NAME`, `ignore NAME` nor `copy NAME of NAME`");
                    return Err(error(message));
                }
            }
        }
        Ok(map)
    }
}

/// The names of `NAME or NAME LAYOUT`, and the words of the layout.
fn split_names<'a, 'b>(words: &'b [&'a str]) -> (Vec<&'a str>, &'b [&'a str]) {
    let mut names = vec![words[0]];
    let mut rest = &words[1..];
    while let ["or", name, after @ ..] = rest {
        names.push(name);
        rest = after;
    }
    (names, rest)
}

impl NameMap {
    /// The map for files whose names lack `prefix`.
    pub(crate) fn without_prefix(&self, prefix: &str) -> Self {
        Self {
            rules: self.rules.iter().map(|rule| rule.without_prefix(prefix)).collect(),
            ignored: self.ignored.iter().map(|name| name.without_prefix(prefix)).collect(),
            copies: self.copies.iter().map(|(a, b)| (a.without_prefix(prefix), b.without_prefix(prefix))).collect(),
        }
    }

    /// Compares each unread copy with its original.
    pub(crate) fn compare_copies(&self, files: &mut WeightFiles) -> Result<(), LoadError> {
        for tensor in files.unread() {
            let original = |(copy, original): &(Pattern, Pattern)| Some(original.expand(&copy.captures(&tensor)?));
            let Some(original) = self.copies.iter().find_map(original) else { continue };
            files.file_of(&tensor).into_iter().for_each(|file| file.set_read(&tensor, (1, 1)));
            let mut checksum = |name: &str| files.file_of(name).map(|file| file.checksum(name)).transpose();
            if checksum(&tensor)? != checksum(&original)? {
                return Err(LoadError::OtherCopy { tensor, original });
            }
        }
        Ok(())
    }

    /// Whether a tensor of the file is not to be read.
    pub(crate) fn ignores(&self, tensor: &str) -> bool {
        self.ignored.iter().any(|pattern| pattern.captures(tensor).is_some())
    }

    /// Reads the elements of a parameter by the first rule that matches its path. It is an error if there is
    /// no rule, or if the tensor is missing, does not fit, or is not finite.
    pub(crate) fn read<E: Element>(
        &self,
        files: &mut WeightFiles,
        expected: &ExpectedTensor,
    ) -> Result<Vec<E>, LoadError> {
        let (rule, names) = self.rule(expected)?;
        let found = names.iter().find(|name| files.tensor(name).is_some());
        let read_as = found.cloned().unwrap_or_else(|| names.join(" or "));
        rule.read(&read_as, files, expected)
            .map_err(|source| LoadError::Mapped { source: Box::new(source), read_as: rule.with_layout(&read_as) })
    }

    /// Writes the elements of a parameter to the tensor that [`read`](Self::read) reads them from; of several names, to
    /// that of the first. It is an error if there is no rule, or if the parameter does not fit.
    pub(crate) fn write<E: Element>(
        &self,
        tensors: &mut BTreeMap<String, WrittenTensor<E>>,
        parameter: &ExpectedTensor,
        elements: &[E],
    ) -> Result<(), String> {
        let (rule, names) = self.rule(parameter).map_err(|error| error.to_string())?;
        let written = rule.write(&names[0], tensors, parameter, elements);
        written.map_err(|why| {
            let written_as = rule.with_layout(&names[0]);
            format!("`{}` {:+?} is written as `{written_as}`, {why}", parameter.path, parameter.dims)
        })
    }

    /// The first rule that matches the path of a parameter, and the names that it gives.
    fn rule(&self, parameter: &ExpectedTensor) -> Result<(&Rule, Vec<String>), LoadError> {
        let found = self.rules.iter().find_map(|rule| Some((rule, rule.names_in_file(parameter.path)?)));
        found.ok_or_else(|| {
            let expected = format!("{:?}", parameter.dims);
            LoadError::Unmapped { tensor: parameter.path.into(), expected }
        })
    }
}
