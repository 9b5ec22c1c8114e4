//! The functions, filters and methods that a chat template can use, as `transformers` gives them.

use super::chat_template::{MAX_DEPTH, MAX_STEPS};
use jiff::{ZonedDateTime, fmt::strtime};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State, Value};
use minijinja_contrib::pycompat::unknown_method_callback;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{Formatter, PrettyFormatter};
use std::io;

/// The most spaces of an indentation of JSON.
const MAX_INDENT: usize = 16;

/// The message of `raise_exception`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refusal(pub String);

pub(super) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    if let Ok(syntax) = syntax.build() {
        environment.set_syntax(syntax);
    }
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(MAX_STEPS));
    environment.set_recursion_limit(MAX_DEPTH);
    environment.set_unknown_method_callback(call_method);
    // As in Python, texts and maps are sequences, too.
    environment.add_test("sequence", |value: &Value| {
        matches!(value.kind(), ValueKind::Undefined | ValueKind::String | ValueKind::Seq | ValueKind::Map)
    });
    environment.add_filter("tojson", to_json);
    environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, "raise_exception").with_source(Refusal(message)))
    });
    environment.add_function("strftime_now", |format: &str| {
        strtime::format(format, &ZonedDateTime::now())
            .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
    });
    environment
}

/// The methods of Python's values: those of [`unknown_method_callback`], and further ones of strings.
fn call_method(state: &mut State, value: &Value, name: &str, arguments: &[Value]) -> Result<Value, Error> {
    if name == "rsplit" && value.as_str().is_some() {
        // The mirror image of `split`.
        let mirrored = |value: &Value| {
            value.as_str().map_or_else(|| value.clone(), |text| text.chars().rev().collect::<String>().into())
        };
        let arguments: Vec<Value> = arguments.iter().map(mirrored).collect();
        let parts = unknown_method_callback(state, &mirrored(value), "split", &arguments)?;
        let parts: Vec<Value> = parts.try_iter()?.map(|part| mirrored(&part)).collect();
        return Ok(parts.into_iter().rev().collect());
    }
    Ok(match (name, value.as_str(), arguments.first().and_then(Value::as_str)) {
        ("removeprefix", Some(text), Some(part)) => text.strip_prefix(part).unwrap_or(text).into(),
        ("removesuffix", Some(text), Some(part)) => text.strip_suffix(part).unwrap_or(text).into(),
        ("partition", Some(text), Some(part)) => {
            text.split_once(part).map_or([text, "", ""], |(before, after)| [before, part, after]).into_iter().collect()
        }
        ("rpartition", Some(text), Some(part)) => {
            text.rsplit_once(part).map_or(["", "", text], |(before, after)| [before, part, after]).into_iter().collect()
        }
        _ => return unknown_method_callback(state, value, name, arguments),
    })
}

/// Python's `json.dumps(value, ensure_ascii=False, indent=indent)`.
fn to_json(value: &Value, options: Kwargs) -> Result<String, Error> {
    let failed = |error: serde_json::Error| Error::new(ErrorKind::BadSerialization, error.to_string());
    let indent: Option<usize> = options.get("indent")?;
    let is_ascii: Option<bool> = options.get("ensure_ascii")?;
    options.assert_all_used()?;
    if is_ascii == Some(true) || indent > Some(MAX_INDENT) {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("tojson takes `ensure_ascii=false` and an `indent` of at most {MAX_INDENT}"),
        ));
    }
    let mut json = Vec::new();
    match indent {
        Some(indent) => {
            let spaces = " ".repeat(indent);
            let formatter = PrettyFormatter::with_indent(spaces.as_bytes());
            value.serialize(&mut Serializer::with_formatter(&mut json, formatter)).map_err(failed)?;
        }
        None => value.serialize(&mut Serializer::with_formatter(&mut json, Spaced)).map_err(failed)?,
    }
    String::from_utf8(json).map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))
}

/// JSON in one line, with a space behind each comma and colon.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

/// The template with `if true` and `endif` in place of the tags `generation` and `endgeneration`, which mark what an
/// assistant wrote and change no text.
pub(super) fn without_generation_tags(template: &str) -> String {
    let mut result = String::new();
    let mut rest = template;
    while let Some((before, inside)) = rest.split_once("{%") {
        result += before;
        result += "{%";
        let (tag, after) = inside.split_once("%}").unwrap_or((inside, ""));
        match tag.trim_matches(|c: char| c.is_whitespace() || c == '-' || c == '+') {
            "generation" => result += &tag.replace("generation", "if true"),
            "endgeneration" => result += &tag.replace("endgeneration", "endif"),
            _ => result += tag,
        }
        if inside.len() > tag.len() {
            result += "%}";
        }
        rest = after;
    }
    result + rest
}
