//! Names with wildcards, which rules match and write.

use std::collections::BTreeMap;

/// A name with wildcards: `{n}` matches characters other than dots and slashes, `*` any characters.
#[derive(Clone, Debug)]
pub(super) struct Pattern(Vec<Segment>);

#[derive(Clone, Debug)]
enum Segment {
    Literal(String),
    /// `{n}` or `*`, with its braces.
    Wildcard(String),
    /// `{2n+1}`: `times` the number that the wildcard `{n}` matches, and `plus`.
    Number {
        of: String,
        times: usize,
        plus: usize,
    },
}

/// The text that each wildcard matches.
pub(super) type Captures<'a> = BTreeMap<&'a str, &'a str>;

impl Pattern {
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut segments = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = match rest.find(['{', '}', '*']).unwrap_or(rest.len()) {
                0 if rest.starts_with('*') => 1,
                0 => match rest.find('}') {
                    Some(end) if end > 1 => end + 1,
                    _ => return Err(format!("`{text}` has empty or unmatched braces")),
                },
                end => end,
            };
            let (segment, others) = rest.split_at(end);
            segments.push(match number(segment) {
                Some(number) => number,
                None if segment.starts_with(['{', '*']) => Segment::Wildcard(segment.into()),
                None => Segment::Literal(segment.into()),
            });
            rest = others;
        }
        let pattern = Self(segments);
        let mut wildcards: Vec<_> = pattern.wildcards().collect();
        wildcards.sort_unstable();
        match wildcards.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("`{}` appears twice in `{text}`", pair[0])),
            None => Ok(pattern),
        }
    }

    /// A pattern that names are matched with.
    pub fn parse_left(text: &str) -> Result<Self, String> {
        let pattern = Self::parse(text)?;
        let computes = pattern.0.iter().any(|segment| matches!(segment, Segment::Number { .. }));
        let error = || format!("`{text}` computes a number, which only a name on the right side does");
        (!computes).then_some(pattern).ok_or_else(error)
    }

    /// The pattern without `prefix`, if it begins with it.
    pub fn without_prefix(&self, prefix: &str) -> Self {
        let mut segments = self.0.clone();
        if let Some(Segment::Literal(first)) = segments.first_mut()
            && let Some(rest) = first.strip_prefix(prefix)
        {
            *first = rest.into();
        }
        Self(segments)
    }

    /// The wildcards, with their braces.
    pub fn wildcards(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|segment| match segment {
            Segment::Wildcard(name) | Segment::Number { of: name, .. } => Some(name.as_str()),
            Segment::Literal(_) => None,
        })
    }

    /// Checks that all wildcards are those of the left side of a rule.
    pub fn ensure_known_to(&self, left: &Self) -> Result<(), String> {
        match self.wildcards().find(|wildcard| left.wildcards().all(|known| known != *wildcard)) {
            None => Ok(()),
            Some(unknown) => Err(format!("`{unknown}` is on the right side but not on the left")),
        }
    }

    /// Matches the whole of `text`. Each wildcard matches at least one character and as few as possible, the
    /// leftmost first.
    pub fn captures<'a>(&'a self, text: &'a str) -> Option<Captures<'a>> {
        fn matches<'a>(segments: &'a [Segment], text: &'a str, captures: &mut Captures<'a>) -> bool {
            match segments {
                [] => text.is_empty(),
                [Segment::Literal(literal), rest @ ..] => {
                    text.strip_prefix(literal.as_str()).is_some_and(|text| matches(rest, text, captures))
                }
                // No `Number` comes here: `parse_left` refuses it.
                [Segment::Wildcard(name) | Segment::Number { of: name, .. }, rest @ ..] => {
                    let longest = match name.as_str() {
                        "*" => text.len(),
                        _ => text.find(['.', '/']).unwrap_or(text.len()),
                    };
                    let mut ends = (1..=longest).filter(|&end| text.is_char_boundary(end));
                    ends.any(|end| {
                        captures.insert(name, &text[..end]);
                        matches(rest, &text[end..], captures)
                    })
                }
            }
        }
        let mut captures = Captures::new();
        matches(&self.0, text, &mut captures).then_some(captures)
    }

    /// Replaces each wildcard by its captured text.
    pub fn expand(&self, captures: &Captures) -> String {
        let captured = |name: &String| captures.get(name.as_str()).copied().unwrap_or_default();
        let segments = self.0.iter().map(|segment| match segment {
            Segment::Literal(text) => text.clone(),
            Segment::Wildcard(name) => captured(name).into(),
            Segment::Number { of, times, plus } => match captured(of).parse::<usize>() {
                Ok(number) => number.saturating_mul(*times).saturating_add(*plus).to_string(),
                Err(_) => captured(of).into(),
            },
        });
        segments.collect()
    }
}

/// `{n+1}`, `{2n}` or `{2n+1}`; `{2}` is a wildcard.
fn number(segment: &str) -> Option<Segment> {
    let inner = segment.strip_prefix('{')?.strip_suffix('}')?;
    let (product, plus) = inner.split_once('+').unwrap_or((inner, "0"));
    let name = product.trim_start_matches(|c: char| c.is_ascii_digit());
    let times = product.strip_suffix(name).filter(|times| !times.is_empty()).unwrap_or("1");
    let (times, plus) = (times.parse().ok()?, plus.parse().ok()?);
    let is_wildcard = plus == 0 && (times == 1 || name.is_empty());
    (!is_wildcard).then(|| Segment::Number { of: format!("{{{name}}}"), times, plus })
}
