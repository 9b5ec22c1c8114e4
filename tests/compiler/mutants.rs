//! The compiler refuses a model in which a single dimension is wrong, wherever that is.
//!
//! `tests/compiler/mutants/` holds right programs. A *place* is where a program names a dimension or an axis of
//! ranks that it has declared elsewhere, by `dims!`, by `ranks!` or as a generic parameter. A *mutant* is the
//! program with another one of the same scope in one place. Types tie every dimension of these programs to
//! others, so every mutant is ill-typed and must be refused. The only exceptions are marked in the programs, and exactly
//! these mutants must be accepted: a length with a declared maximum may have a smaller maximum, and an operation that
//! keeps all axes may run over another one of them. A *renaming* gives dimensions other names throughout the program,
//! and must be accepted.
//!
//! All of this also holds if all sizes are equal: names decide, and sizes only where they are compared.
//!
//! A plain `cargo test` tries a sample. To try every mutant of every program, and see the counts:
//!
//! ```text
//! cargo test --test compiler every_mutant -- --ignored --nocapture
//! PROGRAM=decode_loop cargo test --test compiler every_mutant -- --ignored --nocapture
//! ```

mod contractions;
mod data_parallel;
mod decode_loop;
mod experts;
mod model;
mod tensor_parallel;
mod training_step;

use crate::{rustc::COMPILER, source};
use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    time::Instant,
};

const PROGRAMS: [(&str, &str); 7] = [
    ("model", include_str!("mutants/model.rs")),
    ("training_step", include_str!("mutants/training_step.rs")),
    ("decode_loop", include_str!("mutants/decode_loop.rs")),
    ("experts", include_str!("mutants/experts.rs")),
    ("contractions", include_str!("mutants/contractions.rs")),
    ("data_parallel", include_str!("mutants/data_parallel.rs")),
    ("tensor_parallel", include_str!("mutants/tensor_parallel.rs")),
];

/// Marks a line whose place accepts every compile-time dimension that is not larger.
const MAXIMUM_MARK: &str = "// or a smaller maximum";
/// Marks a line whose `axis::<…>()` accepts the axes that follow the mark.
const AXIS_MARK: &str = "// or over ";

/// The bounds of generic parameters that are dimensions.
const BOUNDS: [&str; 7] = ["Dim", "ConstDim", "AtMost", "LessThan", "HasIndex", "Divides", "Even"];

#[test]
fn the_programs_run() {
    model::main();
    training_step::main();
    decode_loop::main();
    experts::main();
    contractions::main();
    data_parallel::main();
    tensor_parallel::main();
}

#[test]
fn a_sample_of_mutants_is_refused() {
    let mut rng = StdRng::seed_from_u64(0);
    try_all(|variants, max| {
        variants.shuffle(&mut rng);
        variants.truncate(max);
    });
}

#[test]
#[ignore = "takes many minutes"]
fn every_mutant_is_refused() {
    try_all(|_, _| ());
}

/// Tries the mutants and the renamings of each program that `sample` keeps. `sample` gets all of them and the
/// size of a sample.
fn try_all(mut sample: impl FnMut(&mut Vec<Variant>, usize)) {
    let mut failures = Vec::new();
    println!("program        sizes  places  mutants  refused  marked  survive  renamed  seconds");
    let chosen = std::env::var("PROGRAM").ok();
    let is_chosen = |name: &str| chosen.as_deref().is_none_or(|chosen| chosen == name);
    for (name, source) in PROGRAMS.into_iter().filter(|(name, _)| is_chosen(name)) {
        let equal = source::with_equal_sizes(source);
        for (sizes, source, enough) in [("own", source, 40), ("equal", &equal, 20)] {
            let begun = Instant::now();
            let program = Program::new(source);
            let (mut mutants, mut renamings) = (program.mutants(), program.renamings());
            sample(&mut mutants, enough);
            sample(&mut renamings, enough / 20);
            let tried = mutants.len();
            let variants = [program.unchanged(), mutants, renamings].concat();

            let mut counts = BTreeMap::<(Kind, bool), usize>::new();
            for (variant, error) in program.first_errors(variants) {
                let is_accepted = error.is_none();
                *counts.entry((variant.kind, is_accepted)).or_default() += 1;
                if is_accepted == (variant.kind == Kind::IllTyped) {
                    let verdict = error.as_deref().unwrap_or("accepted");
                    failures.push(format!("{name}, {sizes} sizes, {}: {verdict}", variant.what));
                }
            }
            let count = |kind, is_accepted| counts.get(&(kind, is_accepted)).unwrap_or(&0);
            println!(
                "{name:14} {sizes:5} {:7} {tried:8} {:8} {:7} {:8} {:8} {:8}",
                program.places.len(),
                count(Kind::IllTyped, false),
                count(Kind::Marked, true),
                count(Kind::IllTyped, true),
                count(Kind::Renaming, true),
                begun.elapsed().as_secs(),
            );
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// A program and the dimensions in it.
struct Program<'a> {
    source: &'a str,
    dims: Vec<Dimension>,
    places: Vec<Place>,
    /// The end of the declarations, which mutants of the rest can share.
    end_of_declarations: usize,
}

/// A dimension that a program declares.
struct Dimension {
    name: Range<usize>,
    /// The part of the program that can name it.
    scope: Range<usize>,
    /// Its size, if it is known at compile time.
    size: Option<usize>,
}

/// A use of a dimension.
struct Place {
    at: Range<usize>,
    dim: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Another dimension in one place.
    IllTyped,
    /// Another dimension in one place, where the mark in the line allows it.
    Marked,
    /// Other names in the whole program.
    Renaming,
}

/// A program made from another one.
#[derive(Clone)]
struct Variant {
    /// The change.
    what: String,
    kind: Kind,
    /// Whether the declarations are unchanged, so that the text holds only the rest.
    shares_declarations: bool,
    text: String,
}

impl<'a> Program<'a> {
    fn new(source: &'a str) -> Self {
        let (declared, end_of_declarations) = source::declarations_in(source, &["dims", "ranks"]);
        let mut dims: Vec<Dimension> = declared
            .into_iter()
            .map(|(name, size)| Dimension {
                name,
                scope: 0..source.len(),
                size: size.map(|size| source[size].parse().unwrap()),
            })
            .collect();
        let tokens = source::tokens(source);
        let text = |i: usize| tokens.get(i).map_or("", |token| &source[token.clone()]);
        let bounded = (0..tokens.len()).filter(|i| text(i + 1) == ":" && BOUNDS.contains(&text(i + 2)));
        dims.extend(bounded.map(|i| Dimension {
            name: tokens[i].clone(),
            scope: item(source, &tokens, i),
            size: None,
        }));

        let mut places = Vec::new();
        for (i, at) in tokens.iter().enumerate() {
            // `type EmbedDim = EmbedDim;` names a dimension on its right only, `M::EmbedDim` none.
            let is_associated = text(i + 1) == "=" || i > 1 && text(i - 1) == ":" && text(i - 2) == ":";
            if is_associated || dims.iter().any(|dim| dim.name == *at) {
                continue;
            }
            let mut named = dims
                .iter()
                .enumerate()
                .filter(|(_, dim)| dim.scope.contains(&at.start) && source[dim.name.clone()] == *text(i));
            if let Some((dim, _)) = named.next() {
                assert!(named.next().is_none(), "two `{}` in one scope", text(i));
                places.push(Place { at: at.clone(), dim });
            }
        }
        Self { source, dims, places, end_of_declarations }
    }

    fn name(&self, dim: &Dimension) -> &'a str {
        &self.source[dim.name.clone()]
    }

    /// Every other dimension of the scope in every place.
    fn mutants(&self) -> Vec<Variant> {
        let mut mutants = Vec::new();
        for Place { at, dim } in &self.places {
            let right = &self.dims[*dim];
            let line = 1 + self.source[..at.start].matches('\n').count();
            let text = self.source.lines().nth(line - 1).unwrap();
            let is_axis = self.source[..at.start].ends_with("axis::<");
            let other_axes: Vec<&str> = match text.split_once(AXIS_MARK) {
                Some((_, axes)) if is_axis => axes.split(", ").collect(),
                _ => Vec::new(),
            };
            let in_scope = self.dims.iter().filter(|dim| dim.scope.contains(&at.start));
            for wrong in in_scope.filter(|dim| dim.name != right.name) {
                let is_smaller = wrong.size.is_some_and(|size| Some(size) <= right.size);
                let is_marked = text.contains(MAXIMUM_MARK) && is_smaller || other_axes.contains(&self.name(wrong));
                mutants.push(self.variant(
                    format!("line {line}: `{}` for `{}`", self.name(wrong), self.name(right)),
                    if is_marked { Kind::Marked } else { Kind::IllTyped },
                    [(at.clone(), self.name(wrong))],
                ));
            }
        }
        mutants
    }

    /// One with new names for all dimensions, and one for each pair of exchanged names.
    fn renamings(&self) -> Vec<Variant> {
        let names: BTreeSet<&str> = self.dims.iter().map(|dim| self.name(dim)).collect();
        let new: Vec<String> = (0..names.len()).map(|i| format!("Dimension{i}")).collect();
        let new = names.iter().zip(&new).map(|(&name, new)| (name, &**new)).collect();
        let mut renamings = vec![self.renamed("all names new".into(), &new)];
        for (i, one) in names.iter().enumerate() {
            for other in names.iter().skip(i + 1) {
                let exchange = BTreeMap::from([(*one, *other), (*other, *one)]);
                renamings.push(self.renamed(format!("`{one}` and `{other}` exchanged"), &exchange));
            }
        }
        renamings
    }

    /// The unchanged program: as a whole, and with shared declarations like the mutants.
    fn unchanged(&self) -> Vec<Variant> {
        let last = self.places.last().unwrap();
        let itself = [(last.at.clone(), self.name(&self.dims[last.dim]))];
        vec![self.renamed("unchanged".into(), &BTreeMap::new()), self.variant("itself".into(), Kind::Renaming, itself)]
    }

    fn renamed(&self, what: String, names: &BTreeMap<&str, &str>) -> Variant {
        let declared = self.dims.iter().map(|dim| &dim.name);
        let named = self.places.iter().map(|place| &place.at);
        let mut words: Vec<Range<usize>> = declared.chain(named).cloned().collect();
        words.sort_by_key(|word| word.start);
        let edits = words.into_iter().filter_map(|word| {
            let new = names.get(&self.source[word.clone()])?;
            Some((word, *new))
        });
        self.variant(what, Kind::Renaming, edits)
    }

    fn variant<'b>(
        &self,
        what: String,
        kind: Kind,
        edits: impl IntoIterator<Item = (Range<usize>, &'b str)>,
    ) -> Variant {
        let edits: Vec<_> = edits.into_iter().collect();
        let shares_declarations = edits.first().is_some_and(|(at, _)| at.start > self.end_of_declarations);
        let text = source::replaced(self.source, edits);
        let text = match shares_declarations {
            true => format!("use super::*;{}", &text[self.end_of_declarations..]),
            false => text,
        };
        Variant { what, kind, shares_declarations, text }
    }

    /// The first error of each variant.
    fn first_errors(&self, variants: Vec<Variant>) -> Vec<(Variant, Option<String>)> {
        let (sharing, whole): (Vec<_>, Vec<_>) = variants.into_iter().partition(|variant| variant.shares_declarations);
        let declarations = &self.source[..self.end_of_declarations];
        [(declarations, sharing), ("", whole)]
            .into_iter()
            .flat_map(|(shared, variants)| {
                let texts: Vec<String> = variants.iter().map(|variant| variant.text.clone()).collect();
                let errors = COMPILER.first_errors(shared, &texts);
                variants.into_iter().zip(errors)
            })
            .collect()
    }
}

/// The extent of the item that a token of its generic parameters belongs to.
fn item(source: &str, tokens: &[Range<usize>], parameter: usize) -> Range<usize> {
    let text = |i: &usize| &source[tokens[*i].clone()];
    let begins = |i: &usize| ["fn", "impl", "struct"].contains(&text(i));
    let start = (0..parameter).rev().find(begins).unwrap();
    let mut depth = 0;
    let ends = |i: &usize| {
        match text(i) {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => return false,
        }
        depth == 0
    };
    let end = (parameter..tokens.len()).find(ends).unwrap();
    tokens[start].start..tokens[end].end
}
