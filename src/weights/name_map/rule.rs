use super::super::{ExpectedTensor, LoadError, WeightFiles, ensure_dtype, ensure_finite};
use super::axes::Axes;
use super::pattern::Pattern;
use crate::ranks::Element;
use std::fmt::Debug;

/// One rule of a [`NameMap`](super::NameMap): `PATH = NAME or NAME [AXES] part I of N`.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    path: Pattern,
    /// The names in the file, of which the first that the file has is read.
    names: Vec<Pattern>,
    /// The text after the name.
    pub layout: String,
    axes: Option<Axes>,
    /// The part, from 1, and the number of parts.
    part: (usize, usize),
}

impl Rule {
    pub fn parse(path: &str, names: &[&str], layout: &str) -> Result<Self, String> {
        if path.contains("+1}") {
            return Err(format!("`{path}` has the number after a wildcard, which only a name on the right side has"));
        }
        let path = Pattern::parse(path)?;
        let names = names.iter().map(|name| Pattern::parse(name)).collect::<Result<Vec<_>, _>>()?;
        names.iter().try_for_each(|name| name.ensure_known_to(&path))?;
        let (axes, part) = match layout.strip_prefix('[') {
            None => (None, layout),
            Some(rest) => match rest.split_once(']') {
                None => return Err("a `]` is missing".into()),
                Some((axes, part)) => (Some(Axes::parse(axes)?), part),
            },
        };
        Ok(Self { path, names, layout: layout.into(), axes, part: parse_part(part.trim())? })
    }

    /// The rule for files whose names lack `prefix`.
    pub fn without_prefix(&self, prefix: &str) -> Self {
        Self { names: self.names.iter().map(|name| name.without_prefix(prefix)).collect(), ..self.clone() }
    }

    /// The names that the parameter at `path` may have in the file, if the rule matches.
    pub fn names_in_file(&self, path: &str) -> Option<Vec<String>> {
        let captures = self.path.captures(path)?;
        Some(self.names.iter().map(|name| name.expand(&captures)).collect())
    }

    /// Reads the elements of a parameter from the tensor `name`, in the layout of the model.
    pub fn read<E: Element>(
        &self,
        name: &str,
        files: &mut WeightFiles,
        expected: &ExpectedTensor,
    ) -> Result<Vec<E>, LoadError> {
        let file = files.file_of(name).ok_or_else(|| expected.missing())?;
        let tensor = file.tensor(name).ok_or_else(|| expected.missing())?;
        ensure_dtype::<E>(expected, &tensor)?;
        let axes = self.axes.clone().unwrap_or_else(|| Axes::identity(tensor.shape.len()));
        if !self.fits(&axes, &tensor.shape, expected) {
            return Err(LoadError::Shape {
                tensor: expected.path.into(),
                expected: format!("{:+?}", expected.dims),
                found: tensor.shape,
            });
        }
        let mut elements = axes.permute(&tensor.shape, file.elements(name, self.part)?);
        let (part, parts) = self.part;
        if parts > 1 {
            let count = elements.len() / parts;
            elements = elements[count * (part - 1)..][..count].to_vec();
        }
        ensure_finite(expected, &elements)?;
        Ok(elements)
    }

    /// Whether the file's axes fit the model's dimensions. A dimension is one axis, or several in parentheses: its
    /// factors, as of a `Product`, with or without axes of size 1 among them. The first dimension may be `1 / parts` of
    /// its axis.
    fn fits(&self, axes: &Axes, sizes: &[usize], expected: &ExpectedTensor) -> bool {
        let parts = self.part.1;
        if axes.count != sizes.len() || axes.groups.len() != expected.sizes.len() || sizes.is_empty() && parts > 1 {
            return false;
        }
        let mut dims = written_dims(expected.dims).into_iter();
        let mut groups = axes.groups.iter().zip(&expected.sizes).enumerate();
        groups.all(|(position, (group, &size))| {
            let parts = if position == 0 { parts } else { 1 };
            let dim = dims.next().unwrap_or_default();
            let found: Vec<_> = group.iter().map(|&axis| sizes[axis]).collect();
            match found[..] {
                [found] => size.checked_mul(parts) == Some(found),
                _ => {
                    let factors = factors(&dim);
                    parts == 1 && (factors == found || found.into_iter().filter(|&size| size != 1).eq(factors))
                }
            }
        })
    }
}

/// The dimensions as text, such as `NumHeads=7 * HeadDim=5`: `+` writes the factors of a product, `#` one dimension a
/// line.
pub(crate) fn written_dims(dims: &dyn Debug) -> Vec<String> {
    dims_in(&format!("{dims:+#?}")).map(String::from).collect()
}

/// The dimensions in `shape`, which was written by `{:#?}`.
pub(crate) fn dims_in(shape: &str) -> impl Iterator<Item = &str> {
    // The alternate form writes a tuple in lines: one indented line per dimension.
    shape.lines().filter_map(|line| line.strip_prefix("    ")).map(|dim| dim.trim_end_matches(','))
}

/// The sizes in `NumHeads=7 * HeadDim=5`.
pub(crate) fn factors(dim: &str) -> Vec<usize> {
    dim.split(" * ").filter_map(|factor| factor.rsplit_once('=')?.1.parse().ok()).collect()
}

/// Parses `part 1 of 3`. The empty text is the whole: part 1 of 1.
fn parse_part(text: &str) -> Result<(usize, usize), String> {
    let words: Vec<_> = text.split_whitespace().collect();
    let numbers = match words[..] {
        [] => Some((1, 1)),
        ["part", part, "of", parts] => part.parse().ok().zip(parts.parse().ok()),
        _ => None,
    };
    match numbers {
        Some((part, parts)) if 1 <= part && part <= parts => Ok((part, parts)),
        _ => Err(format!("`{text}` is not `part I of N`")),
    }
}
