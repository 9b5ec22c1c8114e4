//! One rule of a name map, with the permutation of axes and the part that it may have; and dimensions as text.

use super::Pattern;
use crate::ranks::Element;
use crate::weights::{ExpectedTensor, LoadError, WeightFiles, ensure_dtype, ensure_finite};
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
        let path = Pattern::parse_left(path)?;
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

/// A permutation of the axes of a tensor, some of which are merged: `[in head size -> (head size) in]`.
#[derive(Clone, Debug)]
struct Axes {
    /// The number of axes in the file.
    pub count: usize,
    /// For each dimension of the model, the axes of the file that it consists of.
    pub groups: Vec<Vec<usize>>,
}

impl Axes {
    pub fn identity(count: usize) -> Self {
        let groups = (0..count).map(|axis| vec![axis]).collect();
        Self { count, groups }
    }

    /// Parses the text between the brackets.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (file, model) = text.split_once("->").ok_or_else(|| format!("`[{text}]` has no `->`"))?;
        let file: Vec<_> = file.split_whitespace().collect();
        let mut groups = Vec::new();
        let mut in_group = false;
        let model = model.replace('(', " ( ").replace(')', " ) ");
        for word in model.split_whitespace() {
            match (word, in_group) {
                ("(", false) => groups.push(Vec::new()),
                ("(", true) | (")", false) => return Err(format!("`[{text}]` has nested or unmatched parentheses")),
                (")", true) => {}
                (axis, _) => {
                    let Some(axis) = file.iter().position(|&other| other == axis) else {
                        return Err(format!("`{axis}` is not on the left side of the `->`"));
                    };
                    match groups.last_mut() {
                        Some(group) if in_group => group.push(axis),
                        _ => groups.push(vec![axis]),
                    }
                }
            }
            in_group = word == "(" || in_group && word != ")";
        }
        let mut all: Vec<_> = groups.iter().flatten().copied().collect();
        all.sort_unstable();
        if in_group || all != (0..file.len()).collect::<Vec<_>>() || groups.contains(&Vec::new()) {
            return Err(format!("`[{text}]` does not have each axis exactly once on each side"));
        }
        let count = file.len();
        Ok(Self { count, groups })
    }

    /// Reorders the elements of a tensor of these sizes from the order of the file to that of the model.
    pub fn permute<E: Copy>(&self, sizes: &[usize], elements: Vec<E>) -> Vec<E> {
        let order = self.groups.iter().flatten();
        if order.clone().is_sorted() {
            return elements;
        }
        let stride = |axis: usize| sizes[axis + 1..].iter().product();
        let axes: Vec<(usize, usize)> = order.map(|&axis| (sizes[axis], stride(axis))).collect();
        let mut permuted = Vec::with_capacity(elements.len());
        collect_along(&elements, &axes, 0, &mut permuted);
        permuted
    }
}

/// Appends the elements from index `start` on along axes of these sizes and strides, the last axis fastest.
fn collect_along<E: Copy>(elements: &[E], axes: &[(usize, usize)], start: usize, collected: &mut Vec<E>) {
    match axes {
        [] => collected.push(elements[start]),
        [(size, stride)] => collected.extend((0..*size).map(|index| elements[start + index * stride])),
        [(size, stride), rest @ ..] => {
            (0..*size).for_each(|index| collect_along(elements, rest, start + index * stride, collected));
        }
    }
}
