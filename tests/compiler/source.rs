//! The words of a program, as far as its dimensions go.

use std::ops::Range;

/// Identifiers and numbers whole, every other character by itself; no comments, no strings.
pub fn tokens(source: &str) -> Vec<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let until = |end: Option<usize>| end.unwrap_or(rest.len());
        let len = match first {
            '/' if rest.starts_with("//") => until(rest.find('\n')),
            '"' => until(rest[1..].find('"').map(|end| end + 2)),
            _ if is_word(first) => until(rest.find(|c| !is_word(c))),
            _ => first.len_utf8(),
        };
        if is_word(first) || first.is_ascii_punctuation() && len == 1 {
            tokens.push(at..at + len);
        }
        at += len;
    }
    tokens
}

/// The declarations of every `dims!`, and the end of the last `dims!`. A declaration is a name and, for a
/// size at compile time, the text after `=`.
pub fn declarations(source: &str) -> (Vec<(Range<usize>, Option<Range<usize>>)>, usize) {
    declarations_in(source, &["dims"])
}

/// [`declarations`] of every macro of these names.
pub fn declarations_in(source: &str, macros: &[&str]) -> (Vec<(Range<usize>, Option<Range<usize>>)>, usize) {
    let tokens = tokens(source);
    let text = |token: &Range<usize>| &source[token.clone()];
    let (mut found, mut end) = (Vec::new(), 0);
    for (i, window) in tokens.windows(3).enumerate() {
        if !macros.contains(&text(&window[0])) || window[1..].iter().map(text).ne(["!", "{"]) {
            continue;
        }
        let block = &tokens[i + 3..];
        let close = block.iter().position(|token| text(token) == "}").unwrap();
        end = block[close].end;
        for item in block[..close].split(|token| text(token) == ";") {
            let sign = item.iter().position(|token| ["=", "<", ":"].contains(&text(token)));
            let (name, rest) = item.split_at(sign.unwrap_or(item.len()));
            // Behind the last `;` there is nothing.
            let Some(name) = name.last() else { continue };
            let size = match rest {
                [equals, first, .., last] if text(equals) == "=" => Some(first.start..last.end),
                [equals, only] if text(equals) == "=" => Some(only.clone()),
                _ => None,
            };
            found.push((name.clone(), size));
        }
    }
    (found, end)
}

/// The program with other text in some places, which are in order.
pub fn replaced<'a>(source: &str, places: impl IntoIterator<Item = (Range<usize>, &'a str)>) -> String {
    let (mut new, mut rest) = (String::new(), 0);
    for (place, text) in places {
        new += &source[rest..place.start];
        new += text;
        rest = place.end;
    }
    new + &source[rest..]
}

/// Whether `dims!` gives two different sizes at compile time.
pub fn has_different_sizes(source: &str) -> bool {
    let mut sizes = declarations(source).0.into_iter().filter_map(|(_, size)| size);
    let first = sizes.next();
    first.is_some_and(|first| sizes.any(|size| source[size] != source[first.clone()]))
}

/// The program with every size that `dims!` gives at compile time the same: an even number, and one
/// that no index in the programs reaches.
pub fn with_equal_sizes(source: &str) -> String {
    let sizes = declarations(source).0.into_iter().filter_map(|(_, size)| size);
    replaced(source, sizes.map(|size| (size, "64")))
}
