//! One rule of a name map, with the permutation of axes and the part that it may have; and dimensions as text.

use super::Pattern;
use crate::ranks::Element;
use crate::weights::{ExpectedTensor, FileTensor, LoadError, WeightFiles, ensure_dtype, ensure_finite};
use std::collections::{BTreeMap, BTreeSet};
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
        let axes = self.axes(tensor.shape.len());
        if !self.fits(&axes, &tensor.shape, expected) {
            return Err(LoadError::Shape {
                tensor: expected.path.into(),
                expected: format!("{:+?}", expected.dims),
                found: tensor.shape,
            });
        }
        let mut elements = file.elements(name, self.part)?;
        if self.part.1 > 1 || !axes.groups.iter().flatten().is_sorted() {
            let mut read = Vec::with_capacity(expected.sizes.iter().product());
            self.visit_runs(&axes, &tensor.shape, &mut |start, count, stride| {
                read.extend((0..count).map(|index| elements[start + index * stride]));
            });
            elements = read;
        }
        ensure_finite(expected, &elements)?;
        Ok(elements)
    }

    /// Writes the elements of a parameter to where [`read`](Self::read) reads them from, the tensor `name`. The error
    /// says what stands in the way.
    pub fn write<E: Element>(
        &self,
        name: &str,
        tensors: &mut BTreeMap<String, WrittenTensor<E>>,
        parameter: &ExpectedTensor,
        elements: &[E],
    ) -> Result<(), &'static str> {
        let axes = self.axes(parameter.sizes.len());
        let sizes = self.sizes_in_file(&axes, parameter).ok_or("which has other dimensions")?;
        let tensor = tensors.entry(name.into()).or_insert_with(|| WrittenTensor::new(&sizes, self.part.1));
        if !tensor.missing.remove(&self.part) {
            return Err("where another parameter is");
        }
        if tensor.sizes != sizes {
            return Err("whose other parts have other sizes");
        }
        let mut elements = elements.iter();
        self.visit_runs(&axes, &sizes, &mut |start, count, stride| {
            for (index, &element) in (0..count).zip(&mut elements) {
                tensor.elements[start + index * stride] = element;
            }
        });
        Ok(())
    }

    /// A name and the layout, as a line of the map has them.
    pub fn with_layout(&self, name: &str) -> String {
        format!("{name} {}", self.layout).trim_end().into()
    }

    fn axes(&self, rank: usize) -> Axes {
        self.axes.clone().unwrap_or_else(|| Axes::identity(rank))
    }

    /// The sizes of the tensor in which the parameter [fits](Self::fits). If a dimension is several axes, the last
    /// ones have its factors, and the others size 1.
    fn sizes_in_file(&self, axes: &Axes, parameter: &ExpectedTensor) -> Option<Vec<usize>> {
        let mut sizes = vec![1; axes.count];
        let dims = written_dims(parameter.dims);
        for ((group, &size), dim) in axes.groups.iter().zip(&parameter.sizes).zip(dims) {
            let factors = if group.len() == 1 { vec![size] } else { factors(&dim) };
            group.iter().rev().zip(factors.into_iter().rev()).for_each(|(&axis, factor)| sizes[axis] = factor);
        }
        if let Some(&axis) = axes.groups.first().and_then(|group| group.first()) {
            sizes[axis] = sizes[axis].saturating_mul(self.part.1);
        }
        self.fits(axes, &sizes, parameter).then_some(sizes)
    }

    /// Calls `visit(start, count, stride)` for each run of the parameter's elements in a tensor of these sizes, in the
    /// order of the model.
    fn visit_runs(&self, axes: &Axes, sizes: &[usize], visit: &mut impl FnMut(usize, usize, usize)) {
        let stride = |axis: usize| sizes[axis + 1..].iter().product();
        let order = axes.groups.iter().flatten();
        let mut axes: Vec<(usize, usize)> = order.map(|&axis| (sizes[axis], stride(axis))).collect();
        let (part, parts) = self.part;
        let mut start = 0;
        if let Some((size, stride)) = axes.first_mut() {
            *size /= parts;
            start = (part - 1) * *size * *stride;
        }
        visit_runs_along(&axes, start, visit);
    }

    /// Whether the file's axes fit the model's dimensions. A dimension is one axis, or several in parentheses: the
    /// factors of a `Product`, where axes of size 1 may be added. The first dimension may be `1 / parts` of its axis.
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

/// The dimensions as text, such as `NumHeads=7 * HeadDim=5`. The format `{:+#?}` writes the factors of products by its
/// `+`, and one dimension a line by its `#`.
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
}

/// Visits the runs from index `start` on along axes of these sizes and strides, the last axis fastest.
fn visit_runs_along(axes: &[(usize, usize)], start: usize, visit: &mut impl FnMut(usize, usize, usize)) {
    match axes {
        [] => visit(start, 1, 1),
        [(size, stride)] => visit(start, *size, *stride),
        [(size, stride), rest @ ..] => {
            (0..*size).for_each(|index| visit_runs_along(rest, start + index * stride, visit));
        }
    }
}

/// A tensor of a file that is written part by part.
pub(crate) struct WrittenTensor<E> {
    sizes: Vec<usize>,
    elements: Vec<E>,
    /// The parts that no parameter was written to: part 2 of 3 is `(2, 3)`.
    missing: BTreeSet<(usize, usize)>,
}

impl<E: Element> WrittenTensor<E> {
    fn new(sizes: &[usize], parts: usize) -> Self {
        let elements = vec![E::zero(); sizes.iter().product()];
        Self { sizes: sizes.to_vec(), elements, missing: (1..=parts).map(|part| (part, parts)).collect() }
    }

    /// The tensor, if all its parts were written.
    pub fn finish(self, name: String) -> Result<FileTensor, String> {
        match self.missing.first() {
            None => Ok(FileTensor::new(name, self.sizes, &self.elements)),
            Some((part, parts)) => Err(format!("no parameter is written as `{name} part {part} of {parts}`")),
        }
    }
}
