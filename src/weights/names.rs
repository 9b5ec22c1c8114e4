use super::{ExpectedTensor, LoadError, SafetensorsDtype, TensorFile, ensure_dtype, ensure_finite};
use std::{collections::BTreeMap, str::FromStr};

/// The names that a file of another system has for the parameters of a model, and how its tensors lie.
///
/// It is read from a text, one line for each parameter or for several of one pattern:
///
/// | line | says that |
/// | --- | --- |
/// | `logit.bias = lm_head.bias` | the model's `logit.bias` is `lm_head.bias` in the file |
/// | `layers.{n}.{role}_proj.weight = h{n}.{role}` | so it is for every `n` and `role`; each stands for one or more characters without a dot or a slash |
/// | `* = model.*` | so it is for whatever `*` stands for, dots included |
/// | `weight = kernel [in out -> out in]` | the file's tensor has two dimensions, and the model's has them the other way round: dense layers of Flax, `Conv1D` of GPT-2 |
/// | `weight = kernel [in head size -> (head size) in]` | the file's tensor has three, of which the model has two as a [`Product`](crate::dims::Product): attentions of Flax |
/// | `query_proj.weight = in_proj_weight part 1 of 3` | the parameter is the first third of the rows: `MultiheadAttention` of PyTorch, `c_attn` of nanoGPT |
/// | `query_proj.weight = c_attn [in out -> out in] part 1 of 3` | both, the parts being those of what the dimensions were rearranged to |
/// | `ignore *.attn.mask` | tensors of such names are not read |
/// | `# from epoch 3` | nothing |
///
/// The first line whose left side is a parameter's path counts. The names in brackets are free; each
/// stands once on either side, and the sizes that they have in the file are compared with the model's,
/// those in parentheses with the factors of the product.
///
/// Equinox writes linear maps as this crate does: its files need other names only. A square tensor
/// that lies the other way round has the right sizes nevertheless, so that only the names can say it.
///
/// ```
/// use typed_transformer::weights::NameMap;
/// let names = "
///     embedder.token_embedder.weight = wte.weight
///     decoder.layers.{n}.{block}.norm.weight = h.{n}.{block}.norm.scale
/// ";
/// assert!(names.parse::<NameMap>().is_ok());
/// assert_eq!(
///     "logit.weight : lm_head.weight".parse::<NameMap>().unwrap_err().to_string(),
///     "line 1: `logit.weight : lm_head.weight` is neither `PATH = NAME` nor `ignore NAME`",
/// );
/// ```
#[derive(Clone, Debug, Default)]
pub struct NameMap {
    lines: Vec<Line>,
    ignored: Vec<Pattern>,
}

/// Why a text is no [`NameMap`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct NameMapError {
    /// The line, the first being 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

/// One line that is not to be ignored.
#[derive(Clone, Debug)]
struct Line {
    path: Pattern,
    name: Pattern,
    /// What stands behind the name, as it is written.
    layout: String,
    axes: Option<Axes>,
    /// Which part, and of how many.
    part: (usize, usize),
}

impl FromStr for NameMap {
    type Err = NameMapError;

    fn from_str(text: &str) -> Result<Self, NameMapError> {
        let mut names = Self::default();
        for (line, text) in (1..).zip(text.lines().map(str::trim)) {
            let error = |message| NameMapError { line, message };
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let words: Vec<_> = text.split_whitespace().collect();
            match words[..] {
                [path, "=", name, ref layout @ ..] => {
                    let line = Line::parse(path, name, &layout.join(" "));
                    names.lines.push(line.map_err(error)?);
                }
                ["ignore", name] => names.ignored.push(Pattern::parse(name).map_err(error)?),
                _ => {
                    let message = format!("`{text}` is neither `PATH = NAME` nor `ignore NAME`");
                    return Err(error(message));
                }
            }
        }
        Ok(names)
    }
}

impl NameMap {
    /// Whether a tensor of the file is not to be read.
    pub(crate) fn ignores(&self, tensor: &str) -> bool {
        let mut ignored = self.ignored.iter();
        ignored.any(|pattern| pattern.find(tensor).is_some())
    }

    /// The elements of a parameter, if they are in the file, of its dimensions and finite.
    pub(crate) fn read<E: SafetensorsDtype>(
        &self,
        file: &mut TensorFile,
        wanted: &ExpectedTensor,
    ) -> Result<Vec<E>, LoadError> {
        let mut lines = self.lines.iter();
        let found = lines.find_map(|line| Some((line, line.path.find(wanted.path)?)));
        let Some((line, found)) = found else {
            return Err(LoadError::Unmapped {
                tensor: wanted.path.into(),
                expected: format!("{:?}", wanted.dims),
            });
        };
        let name = line.name.filled(&found);
        line.read(&name, file, wanted).map_err(|source| LoadError::Mapped {
            source: Box::new(source),
            read_as: format!("{name} {}", line.layout).trim_end().into(),
        })
    }
}

impl Line {
    fn parse(path: &str, name: &str, layout: &str) -> Result<Self, String> {
        let (path, name) = (Pattern::parse(path)?, Pattern::parse(name)?);
        if let Some(unknown) = name.holes().find(|&hole| path.holes().all(|h| h != hole)) {
            return Err(format!("the left side does not say what `{unknown}` is"));
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

    fn read<E: SafetensorsDtype>(
        &self,
        name: &str,
        file: &mut TensorFile,
        wanted: &ExpectedTensor,
    ) -> Result<Vec<E>, LoadError> {
        let tensor = file.tensor(name).ok_or_else(|| wanted.missing())?;
        ensure_dtype::<E>(wanted, &tensor)?;
        let axes = match &self.axes {
            Some(axes) => axes.clone(),
            None => Axes::unchanged(tensor.shape.len()),
        };
        if !self.fits(&axes, &tensor.shape, wanted) {
            return Err(LoadError::Shape {
                tensor: wanted.path.into(),
                expected: format!("{:+?}", wanted.dims),
                found: tensor.shape,
            });
        }
        let elements = axes.rearranged(&tensor.shape, file.elements(name, self.part)?);
        let (part, parts) = self.part;
        let count = elements.len() / parts;
        let elements = elements[count * (part - 1)..][..count].to_vec();
        ensure_finite(wanted, &elements)?;
        Ok(elements)
    }

    /// Whether every dimension of the model is one of the file, or the product of several, or, if it is
    /// the first, a part of one.
    fn fits(&self, axes: &Axes, sizes: &[usize], wanted: &ExpectedTensor) -> bool {
        let parts = self.part.1;
        if axes.count != sizes.len()
            || axes.groups.len() != wanted.sizes.len()
            || sizes.is_empty() && parts > 1
        {
            return false;
        }
        // One to a line, between parentheses.
        let dims = format!("{:+#?}", wanted.dims);
        let mut dims = dims.lines().filter_map(|line| line.strip_prefix("    "));
        let mut groups = axes.groups.iter().zip(&wanted.sizes).enumerate();
        groups.all(|(position, (group, &size))| {
            let parts = if position == 0 { parts } else { 1 };
            let dim = dims.next().unwrap_or_default();
            let found: Vec<_> = group.iter().map(|&axis| sizes[axis]).collect();
            match found[..] {
                [found] => size.checked_mul(parts) == Some(found),
                _ => parts == 1 && factors(dim) == found,
            }
        })
    }
}

/// The sizes in `NumHeads=7 * HeadDim=5,`.
fn factors(dim: &str) -> Vec<usize> {
    let factors = dim.trim_end_matches(',').split(" * ");
    let sizes = factors.filter_map(|factor| factor.rsplit_once('=')?.1.parse().ok());
    sizes.collect()
}

/// `part 1 of 3`
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

/// `[in head size -> (head size) in]`
#[derive(Clone, Debug)]
struct Axes {
    /// How many dimensions there are in the file.
    count: usize,
    /// Of which of them each of the model's is made.
    groups: Vec<Vec<usize>>,
}

impl Axes {
    fn unchanged(count: usize) -> Self {
        let groups = (0..count).map(|axis| vec![axis]).collect();
        Self { count, groups }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let Some((file, model)) = text.split_once("->") else {
            return Err(format!("`[{text}]` has no `->`"));
        };
        let file: Vec<_> = file.split_whitespace().collect();
        let mut groups = Vec::new();
        let mut in_group = false;
        let model = model.replace('(', " ( ").replace(')', " ) ");
        for word in model.split_whitespace() {
            match (word, in_group) {
                ("(", false) => groups.push(Vec::new()),
                ("(", true) | (")", false) => {
                    return Err(format!("`[{text}]` has a parenthesis too many"));
                }
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
            return Err(format!("`[{text}]` does not have each dimension once on either side"));
        }
        let count = file.len();
        Ok(Self { count, groups })
    }

    /// The elements of a tensor of these sizes, in the order that they have in the model.
    fn rearranged<E: Copy>(&self, sizes: &[usize], elements: Vec<E>) -> Vec<E> {
        let order = self.groups.iter().flatten();
        if order.clone().is_sorted() {
            return elements;
        }
        let mut positions = vec![0];
        for &axis in order {
            let stride: usize = sizes[axis + 1..].iter().product();
            let along = |from: usize| (0..sizes[axis]).map(move |index| from + index * stride);
            positions = positions.into_iter().flat_map(along).collect();
        }
        positions.into_iter().map(|position| elements[position]).collect()
    }
}

/// A name with holes in it.
#[derive(Clone, Debug)]
struct Pattern(Vec<Piece>);

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    /// `{n}` or `*`, as it is written.
    Hole(String),
}

/// What fills each hole.
type Found<'a> = BTreeMap<&'a str, &'a str>;

impl Pattern {
    fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = match rest.find(['{', '}', '*']).unwrap_or(rest.len()) {
                0 if rest.starts_with('*') => 1,
                0 => match rest.find('}') {
                    Some(end) if end > 1 => end + 1,
                    _ => return Err(format!("`{text}` has a brace too many")),
                },
                end => end,
            };
            let (piece, others) = rest.split_at(end);
            pieces.push(match piece.starts_with(['{', '*']) {
                true => Piece::Hole(piece.into()),
                false => Piece::Text(piece.into()),
            });
            rest = others;
        }
        let pattern = Self(pieces);
        let mut holes: Vec<_> = pattern.holes().collect();
        holes.sort_unstable();
        match holes.windows(2).find(|two| two[0] == two[1]) {
            Some(twice) => Err(format!("`{}` is in `{text}` twice", twice[0])),
            None => Ok(pattern),
        }
    }

    fn holes(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Hole(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// What must fill the holes for this to be `text`, as little as possible from the left.
    fn find<'a>(&'a self, text: &'a str) -> Option<Found<'a>> {
        fn fill<'a>(pieces: &'a [Piece], text: &'a str, found: &mut Found<'a>) -> bool {
            match pieces {
                [] => text.is_empty(),
                [Piece::Text(piece), rest @ ..] => match text.strip_prefix(piece.as_str()) {
                    Some(text) => fill(rest, text, found),
                    None => false,
                },
                [Piece::Hole(name), rest @ ..] => {
                    let end = match name.as_str() {
                        "*" => text.len(),
                        _ => text.find(['.', '/']).unwrap_or(text.len()),
                    };
                    let mut ends = (1..=end).filter(|&end| text.is_char_boundary(end));
                    ends.any(|end| {
                        found.insert(name, &text[..end]);
                        fill(rest, &text[end..], found)
                    })
                }
            }
        }
        let mut found = Found::new();
        fill(&self.0, text, &mut found).then_some(found)
    }

    fn filled(&self, found: &Found) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Hole(name) => found.get(name.as_str()).copied().unwrap_or_default(),
        });
        pieces.collect()
    }
}
