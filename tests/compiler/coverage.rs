//! Every type parameter of a public item has a program that is refused because it alone is wrong.
//!
//! A program of `ui-tests/fail` says what it covers (``//! Covers `S` of `nn::Linear::forward`.``), and what its
//! mutants cover (``//! Mutants cover `B` by `Batch` of `nn::Linear::forward`.``). The programs of
//! `tests/compiler/mutants` cover the parameters of a type or of a configuration that they name with a dimension or a
//! type parameter of their own. The sources say what has to be covered:
//!
//! - each parameter of a public function, method, struct or trait;
//! - each associated type of such a trait, if it has a bound;
//! - the `Self` of such a trait, if the trait has an error message of its own.
//!
//! `backend` repeats the signatures of `ops` and needs no programs of its own. `plot` accepts any dimensions.

use crate::mutants::PROGRAMS;
use crate::program::{self, Program};
use crate::public_items::public_items;
use crate::{source, variants};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

/// Element, device, tape and precision mean the same everywhere (see the table of letters in `ops`), so one program for
/// each of them covers a whole module.
const ONCE_PER_MODULE: [&str; 5] = ["E", "D", "T", "W", "P"];

/// Positions and orders of axes, which are inferred from shapes, and tapes of second operands, which are inferred from
/// these. No program writes them.
const INFERRED: [&str; 5] = ["Order", "WhichAxis", "WhichOtherAxis", "WhichOutAxis", "OtherTape"];

/// Parameters that no program can get wrong by themselves, and why.
const EXEMPT: [(&str, &str, &str); 23] = [
    ("dims::AxesAmong", "Others", "follows from shape and axes"),
    ("dims::EndsIn", "Before", "follows from shape and axis"),
    ("dims::EndsIn", "WithLast", "follows from shape and axis"),
    ("dims::HasAxis", "Position", "follows from shape and axis"),
    ("dims::HasAxis", "Replaced", "follows from shape and axis"),
    ("dims::HasAxis", "Remaining", "follows from shape and axis"),
    ("nn::Cache::new", "Dims", "any parameter of the model"),
    ("nn::Cache::advance", "Dims", "any parameter of the model"),
    ("nn::Layers::try_from_fn", "Error", "any error"),
    ("nn::LayersIter", "Items", "follows from the layers"),
    ("nn::ProjectionRule", "Arch", "follows from the field that holds the projection"),
    ("nn::Summary::of", "Model", "modules of all dimensions have one"),
    ("nn::init::uniform", "FanIn", "only its size is used"),
    ("ops::mean", "Dims", "every shape has a mean"),
    ("ops::TensorOrRef", "Tape", "follows from the operand"),
    ("tokens::TokenIds::from_rows", "Row", "any type that derefs to tokens"),
    ("tokens::TokenIds::padded", "Row", "any type that derefs to tokens"),
    ("train::Chained", "First", "any schedule"),
    ("train::Chained", "Next", "any schedule"),
    ("train::FnSchedule", "F", "any function of the step"),
    ("train::GroupRates", "F", "any function of the parameter"),
    ("train::GroupRates", "Inner", "any optimizer"),
    ("train::Schedule::then", "Next", "any schedule"),
];

/// The names in the compiler's messages of types that programs call `Product`, `Quotient`, `Sum` and `Windows`.
pub const NAMES_IN_MESSAGES: [&str; 4] = ["ProductDim", "QuotientDim", "SumDim", "WindowsDim"];

#[test]
fn every_dimension_is_covered() {
    let items = public_items();
    let parameters = items.iter().flat_map(|(of, names)| names.iter().map(|name| Parameter::new(of, name)));
    let (mut public, mut covered): (BTreeSet<_>, _) = (parameters.collect(), covered_parameters());
    public.retain(|parameter| !INFERRED.contains(&&*parameter.name));
    public.retain(|parameter| !parameter.item.starts_with("plot::"));
    public.retain(|parameter| {
        !parameter.item.strip_prefix("dims::").is_some_and(|name| NAMES_IN_MESSAGES.contains(&name))
    });
    for (item, name, _) in EXEMPT {
        let parameter = Parameter::new(item, name);
        assert!(public.remove(&parameter), "{parameter} does not exist");
    }
    let unknown: Vec<_> = covered.difference(&public).cloned().collect();
    covered.extend(covered_by_whole_programs(&items));
    for parameters in [&mut public, &mut covered] {
        *parameters = parameters.iter().map(Parameter::to_cover).collect();
    }
    let missing: Vec<_> = public.difference(&covered).cloned().collect();
    let list = |parameters: &[Parameter]| -> String {
        let lines = parameters.iter().map(|parameter| format!("\n  {parameter}"));
        lines.collect()
    };
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "{} parameters are not covered:{}\n{} covered parameters do not exist:{}",
        missing.len(),
        list(&missing),
        unknown.len(),
        list(&unknown),
    );
}

#[test]
fn the_path_of_a_program_is_the_parameter_that_it_covers() {
    for Program { name, covers, .. } in program::all() {
        let Some((parameter, item)) = covers.first() else { continue };
        let (module, item) = item.split_once("::").unwrap();
        let path = format!("{module}/{}/{}", snake_case(item), snake_case(parameter));
        assert_eq!(name, path, "`{parameter}` of `{module}::{item}`");
    }
}

/// `mh_attention_forward` for `MHAttention::forward`.
fn snake_case(path: &str) -> String {
    let chars: Vec<char> = path.replace("::", "_").chars().collect();
    let mut snake = String::new();
    for (i, c) in chars.iter().enumerate() {
        let starts_word = |before: char| {
            let is_before_lowercase = chars.get(i + 1).is_some_and(|next| next.is_lowercase());
            before.is_lowercase() || before.is_uppercase() && is_before_lowercase
        };
        if c.is_uppercase() && i > 0 && starts_word(chars[i - 1]) {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

/// A type parameter of a public item.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Parameter {
    /// The path of the item from the root of the crate.
    item: String,
    name: String,
}

impl Parameter {
    fn new(item: &str, name: &str) -> Self {
        Self { item: item.to_string(), name: name.to_string() }
    }

    /// For `E`, `D`, `T`, `W` and `P`, one entry per module; otherwise the parameter itself.
    fn to_cover(&self) -> Self {
        match self.item.split_once("::") {
            Some((module, _)) if ONCE_PER_MODULE.contains(&&*self.name) => Self::new(module, &self.name),
            _ => self.clone(),
        }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of `{}`", self.name, self.item)
    }
}

/// The parameters that the programs of `ui-tests` and their mutants cover. Each program, or its expected output,
/// names the item.
fn covered_parameters() -> BTreeSet<Parameter> {
    let mut covered = BTreeSet::new();
    for program in program::all() {
        let code: Vec<_> = program.source.lines().filter(|line| !line.starts_with("//!")).collect();
        let text = code.join("\n") + &program.stderr();
        let by_mutants = program.mutants_cover.iter().map(|cover| (&cover.parameter, &cover.item));
        for (parameter, item) in program.covers.iter().map(|(parameter, item)| (parameter, item)).chain(by_mutants) {
            let is_named = item.split("::").skip(1).all(|part| text.contains(part));
            assert!(is_named, "{} does not name {item}", program.path);
            covered.insert(Parameter::new(item, parameter));
        }
    }
    covered
}

/// The parameters of types, and the associated types of configurations, for which the programs of
/// `tests/compiler/mutants` have a name of their own.
fn covered_by_whole_programs(items: &BTreeMap<String, Vec<String>>) -> BTreeSet<Parameter> {
    let mut covered = BTreeSet::new();
    for (_, program) in PROGRAMS {
        let tokens = source::tokens(program);
        for place in variants::Program::new(program).places() {
            let at = tokens.iter().position(|token| token == place).unwrap();
            let found = argument(program, &tokens, at).or_else(|| associated_type(program, &tokens, at, items));
            let Some((path, which)) = found else { continue };
            let suffix = format!("::{path}");
            let mut named = items.iter().filter(|(item, _)| format!("::{item}").ends_with(&suffix));
            if let (Some((item, parameters)), None) = (named.next(), named.next()) {
                covered.extend(parameters.get(which).map(|parameter| Parameter::new(item, parameter)));
            }
        }
    }
    covered
}

/// The path of the type that a token is an argument of, and which one it is: 1 for `HiddenDim` in
/// `Linear<EmbedDim, HiddenDim, f32, Cpu>`.
fn argument(program: &str, tokens: &[Range<usize>], at: usize) -> Option<(String, usize)> {
    let text = |i: usize| &program[tokens[i].clone()];
    if ![",", ">"].contains(&text(at + 1)) {
        return None;
    }
    let (mut depth, mut which) = (0, 0);
    let open = (0..at).rev().find(|&i| {
        match text(i) {
            ">" | ")" => depth += 1,
            "<" | "(" if depth > 0 => depth -= 1,
            "," if depth == 0 => which += 1,
            // The comma after a lifetime.
            "'" if depth == 0 => which -= 1,
            "<" | "(" | "{" | ";" => return true,
            _ => {}
        }
        false
    })?;
    let is_name = |i: usize| text(i).starts_with(|c: char| c.is_alphabetic());
    if text(open) != "<" || !is_name(open - 1) {
        return None;
    }
    let has_module = text(open - 2) == ":" && is_name(open - 4);
    let path = if has_module { format!("{}::{}", text(open - 4), text(open - 1)) } else { text(open - 1).to_string() };
    Some((path, which))
}

/// The trait whose associated type a token is, and which of its parameters that is: `LlamaConfig` for
/// `type HeadDim = HeadDim;`.
fn associated_type(
    program: &str,
    tokens: &[Range<usize>],
    at: usize,
    items: &BTreeMap<String, Vec<String>>,
) -> Option<(String, usize)> {
    let text = |i: usize| &program[tokens[i].clone()];
    if text(at - 1) != "=" || text(at - 3) != "type" {
        return None;
    }
    let of = (0..at).rev().find(|&i| text(i) == "impl")? + 1;
    let (_, parameters) = items.iter().find(|(item, _)| item.ends_with(&format!("::{}", text(of))))?;
    let which = parameters.iter().position(|parameter| parameter == text(at - 2))?;
    Some((text(of).to_string(), which))
}
