use super::{
    super::{ExpectedTensor, LoadError, SafetensorsDtype, Shards, ensure_dtype, ensure_finite},
    axes::Axes,
    pattern::Pattern,
};

/// One rule of a [`NameMap`](super::NameMap): `PATH = NAME [AXES] part I of N`.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    path: Pattern,
    name: Pattern,
    /// The text after the name.
    layout: String,
    axes: Option<Axes>,
    /// The part, from 1, and the number of parts.
    part: (usize, usize),
}

impl Rule {
    pub fn parse(path: &str, name: &str, layout: &str) -> Result<Self, String> {
        let (path, name) = (Pattern::parse(path)?, Pattern::parse(name)?);
        if let Some(unknown) = name.wildcards().find(|&wildcard| path.wildcards().all(|w| w != wildcard)) {
            return Err(format!("`{unknown}` is on the right side but not on the left"));
        }
        let (axes, part) = match layout.strip_prefix('[') {
            None => (None, layout),
            Some(rest) => match rest.split_once(']') {
                None => return Err("a `]` is missing".into()),
                Some((axes, part)) => (Some(Axes::parse(axes)?), part),
            },
        };
        Ok(Self { path, name, layout: layout.into(), axes, part: parse_part(part.trim())? })
    }

    /// The rule for files whose names lack `prefix`.
    pub fn without_prefix(&self, prefix: &str) -> Self {
        Self { name: self.name.without_prefix(prefix), ..self.clone() }
    }

    pub fn layout(&self) -> &str {
        &self.layout
    }

    /// The name in the file of the parameter at `path`, if the rule matches.
    pub fn name_in_file(&self, path: &str) -> Option<String> {
        Some(self.name.expand(&self.path.captures(path)?))
    }

    /// Reads the elements of a parameter from the tensor `name`, in the layout of the model.
    pub fn read<E: SafetensorsDtype>(
        &self,
        name: &str,
        files: &mut Shards,
        expected: &ExpectedTensor,
    ) -> Result<Vec<E>, LoadError> {
        let tensor = files.tensor(name).ok_or_else(|| expected.missing())?;
        ensure_dtype::<E>(expected, &tensor)?;
        let axes = match &self.axes {
            Some(axes) => axes.clone(),
            None => Axes::identity(tensor.shape.len()),
        };
        if !self.fits(&axes, &tensor.shape, expected) {
            return Err(LoadError::Shape {
                tensor: expected.path.into(),
                expected: format!("{:+?}", expected.dims),
                found: tensor.shape,
            });
        }
        let mut elements = axes.permute(&tensor.shape, files.elements(name, self.part)?);
        let (part, parts) = self.part;
        if parts > 1 {
            let count = elements.len() / parts;
            elements = elements[count * (part - 1)..][..count].to_vec();
        }
        ensure_finite(expected, &elements)?;
        Ok(elements)
    }

    /// Whether each dimension of the model is one axis of the file, and perhaps axes of 1 element, or the product of
    /// several axes; the first may be a part of an axis.
    fn fits(&self, axes: &Axes, sizes: &[usize], expected: &ExpectedTensor) -> bool {
        let parts = self.part.1;
        if axes.count != sizes.len() || axes.groups.len() != expected.sizes.len() || sizes.is_empty() && parts > 1 {
            return false;
        }
        // The alternate form writes a tuple in lines: one indented line per dimension.
        let dims = format!("{:+#?}", expected.dims);
        let mut dims = dims.lines().filter_map(|line| line.strip_prefix("    "));
        let mut groups = axes.groups.iter().zip(&expected.sizes).enumerate();
        groups.all(|(position, (group, &size))| {
            let parts = if position == 0 { parts } else { 1 };
            let dim = dims.next().unwrap_or_default();
            let found: Vec<_> = group.iter().map(|&axis| sizes[axis]).collect();
            if let [found] = found[..] {
                return size.checked_mul(parts) == Some(found);
            }
            let (all, outer) = factors(dim);
            match all[..] {
                [_] => parts == 1 && found.iter().filter(|&&found| found != 1).eq([&size]),
                _ => parts == 1 && (found == all || found == outer),
            }
        })
    }
}

/// All sizes in `Channels=3 * (Rows=4 * Columns=5),`, and those of the outer factors, 3 and 20.
fn factors(dim: &str) -> (Vec<usize>, Vec<usize>) {
    let (mut all, mut outer) = (Vec::new(), Vec::new());
    let mut depth = 0;
    for factor in dim.trim_end_matches(',').split(" * ") {
        let name_and_size = factor.trim_start_matches('(');
        let (opened, factor) = (factor.len() - name_and_size.len(), name_and_size.trim_end_matches(')'));
        let closed = name_and_size.len() - factor.len();
        let size: usize = factor.rsplit_once('=').and_then(|(_, size)| size.parse().ok()).unwrap_or(0);
        all.push(size);
        match outer.last_mut() {
            Some(last) if depth > 0 => *last *= size,
            _ => outer.push(size),
        }
        depth = (depth + opened).saturating_sub(closed);
    }
    (all, outer)
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
