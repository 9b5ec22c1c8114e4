use super::Module;
use std::fmt;

/// One module in a [`Summary`].
///
/// ```
/// use typed_transformer::{doctest::*, nn::{FeedForward, Summary}, prelude::*};
/// let rows = Summary::of::<FeedForward<EmbedDim, Model, f32, Cpu>>().rows;
/// assert_eq!(rows[1].path, "hidden");
/// assert_eq!(rows[1].output.as_deref(), Some("HiddenDim=5"));
/// assert_eq!(rows[1].parameters[1], ("bias", "(HiddenDim=5,)".to_string()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryRow {
    /// Field path from the root of the model.
    pub path: String,
    /// Name of the module's type.
    pub module: &'static str,
    /// Last dimension of the output, with its size, if the module declares it.
    pub output: Option<String>,
    /// Field name and dimensions of each parameter that is a field of this module.
    pub parameters: Vec<(&'static str, String)>,
    /// Number of scalars in these parameters.
    pub count: usize,
}

/// A model as a table: path, module, output dimension, parameters, count, total (*Another annotated
/// transformer*, "Multi-head attention").
///
/// ```
/// use typed_transformer::{doctest::*, nn::{FeedForward, Summary}, prelude::*};
/// let summary = Summary::of::<FeedForward<EmbedDim, Model, f32, Cpu>>();
/// assert_eq!(summary.to_string(), "\
/// path    module       output             parameters                                             count
///         FeedForward  (.., EmbedDim=8)
/// hidden  Projection   (.., HiddenDim=5)  weight (HiddenDim=5, EmbedDim=8), bias (HiddenDim=5,)     45
/// output  Projection   (.., EmbedDim=8)   weight (EmbedDim=8, HiddenDim=5), bias (EmbedDim=8,)      48
/// norm    Norm         (.., EmbedDim=8)   weight (EmbedDim=8,), bias (EmbedDim=8,)                  16
/// total                                                                                            109");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// One row for each module, parents before children.
    pub rows: Vec<SummaryRow>,
    /// Number of scalars in the whole model.
    pub total: usize,
}

impl Summary {
    /// The summary of a module's type.
    #[must_use]
    pub fn of<Model: Module>() -> Self {
        let mut rows = Vec::new();
        Model::describe("", &mut rows);
        Self { rows, total: Model::NUM_PARAMS }
    }
}

impl SummaryRow {
    fn cells(&self) -> [String; 5] {
        let parameters: Vec<String> = self.parameters.iter().map(|(name, dims)| format!("{name} {dims}")).collect();
        [
            self.path.clone(),
            self.module.to_string(),
            self.output.as_ref().map_or_else(String::new, |width| format!("(.., {width})")),
            parameters.join(", "),
            if self.count > 0 { self.count.to_string() } else { String::new() },
        ]
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = vec![["path", "module", "output", "parameters", "count"].map(String::from)];
        table.extend(self.rows.iter().map(SummaryRow::cells));
        let total = self.total.to_string();
        table.push(["total", "", "", "", &total].map(String::from));
        let width = |column: usize| table.iter().map(|row| row[column].len()).max().unwrap_or(0);
        let [path, module, output, parameters, count] = [0, 1, 2, 3, 4].map(width);
        let line = |[a, b, c, d, e]: &[String; 5]| {
            let line = format!("{a:path$}  {b:module$}  {c:output$}  {d:parameters$}  {e:>count$}");
            line.trim_end().to_string()
        };
        let lines: Vec<_> = table.iter().map(line).collect();
        f.write_str(&lines.join("\n"))
    }
}
