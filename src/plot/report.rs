//! A page of plots and tables, and the plots of a training run.

use super::{Line, LinePlot, Plot, PlotError, min_max, to_svg};
use crate::escape::escape;
use crate::files::read_bounded;
use crate::nn::Summary;
use crate::train::Metrics;
use serde_json::{Map, Value};
use std::{collections::HashMap, fmt::Write, fs, io, path::Path};

/// A self-contained HTML page: it fetches nothing and has no script. It adapts to narrow screens and to dark mode.
///
/// ```
/// use typed_transformer::plot::HtmlReport;
/// let mut report = HtmlReport::new("rot13");
/// report.heading("Settings");
/// report.table(&["setting", "value"], [["steps", "2,000"], ["seed", "0 < 1"]]);
/// let html = report.html();
/// assert!(html.starts_with("<!DOCTYPE html>") && html.contains("<td>0 &lt; 1</td>"));
/// ```
#[derive(Clone, Debug)]
pub struct HtmlReport {
    title: String,
    body: String,
}

const STYLE: &str = "
:root { color-scheme: light dark; }
body { margin: 0 auto; padding: 1rem; max-width: 82rem; font: 1rem/1.5 system-ui, sans-serif;
  color: #1a1a1a; background: #fff; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem 1rem .25rem 0;
  border-bottom: 1px solid #ccc; }
pre { font-size: .85rem; line-height: 1.35; white-space: pre-wrap; }
figure { margin: 1rem 0; }
figcaption { font-size: .9rem; color: #555; margin-top: .25rem; }
svg { display: block; height: auto; max-width: 100%; }
@media (min-width: 75rem) {
  figure.half { display: inline-block; vertical-align: top; width: 40rem; margin-right: .5rem; }
}
@media (max-width: 40rem) {
  .many table, .many tbody, .many tr, .many td { display: block; border: 0; }
  .many tr { border-bottom: 1px solid #ccc; padding: .5rem 0; }
  .many tr:first-child, .many td:empty { display: none; }
  .many td { padding: 0; } .many td:first-child { font-weight: 600; }
  .many td:not(:first-child)::before { content: attr(data-head) ': '; color: #777; }
}
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #111; }
  th, td { border-color: #444; }
  figcaption { color: #aaa; }
  svg { filter: invert(.93) hue-rotate(180deg); }
}
";

/// The width in pixels up to which two pictures fit beside each other.
const MAX_HALF_WIDTH: f64 = 640.0;

impl HtmlReport {
    /// A page with a title and no content.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self { title: escape_html(title), body: String::new() }
    }

    /// Adds the heading of a section.
    pub fn heading(&mut self, text: &str) {
        self.add(format_args!("<h2>{}</h2>", escape_html(text)));
    }

    /// Adds a paragraph.
    pub fn text(&mut self, text: &str) {
        self.add(format_args!("<p>{}</p>", escape_html(text)));
    }

    /// Adds text that keeps its line breaks, in a monospaced font.
    pub fn preformatted(&mut self, text: &str) {
        self.add(format_args!("<pre>{}</pre>", escape_html(text)));
    }

    /// Adds a table: the headings of its columns and its rows.
    pub fn table<const N: usize>(&mut self, head: &[&str; N], rows: impl IntoIterator<Item = [impl AsRef<str>; N]>) {
        let head = head.map(escape_html);
        let headings: String = head.iter().map(|name| format!("<th>{name}</th>")).collect();
        let row = |cells: [_; N]| {
            let cell = |(name, cell): (&String, &_)| {
                let text = escape_html(AsRef::as_ref(cell));
                // A narrow screen shows the cells of a row below each other, with the headings beside them.
                let name = name.replace('"', "&quot;");
                if N > 2 { format!("<td data-head=\"{name}\">{text}</td>") } else { format!("<td>{text}</td>") }
            };
            format!("<tr>{}</tr>\n", head.iter().zip(&cells).map(cell).collect::<String>())
        };
        let rows: String = rows.into_iter().map(row).collect();
        let class = if N > 2 { "wide many" } else { "wide" };
        self.add(format_args!("<div class=\"{class}\"><table>\n<tr>{headings}</tr>\n{rows}</table></div>"));
    }

    /// Adds a table of the modules of a model and their parameters.
    pub fn summary(&mut self, summary: &Summary) {
        let rows = summary.rows.iter().map(|row| {
            let mut cells = row.cells();
            cells[2] = row.output.clone().unwrap_or_default();
            cells
        });
        let mut total = <[String; 5]>::default();
        (total[0], total[4]) = ("total".into(), summary.total.to_string());
        let head = ["path", "module", "output", "parameters", "count"];
        self.table(&head, rows.chain([total]));
    }

    /// Adds the [curves](training_curves()) of a training run.
    ///
    /// # Errors
    /// [`PlotError::Read`] if the file of metrics cannot be read.
    pub fn training_curves(&mut self, metrics: &Path) -> Result<(), PlotError> {
        for curves in training_curves(metrics)? {
            let svg = to_svg(&curves);
            let svg = svg.map_err(|error| PlotError::Write { path: metrics.into(), message: error.to_string() })?;
            self.picture(&svg, "");
        }
        Ok(())
    }

    /// Adds a picture with a caption, which may be empty. `svg` is the content of an `.svg` file. On a wide screen two
    /// pictures stand side by side if they fit. On a narrow one a picture shrinks to about half its width; below that
    /// it scrolls sideways.
    pub fn picture(&mut self, svg: &str, caption: &str) {
        let svg = svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
        let width: Option<f64> = (svg.split_once("width=\"").and_then(|(_, rest)| rest.split_once('"')))
            .and_then(|(width, _)| width.parse().ok());
        let min_width = width.map_or(0.0, |width| (width * 0.55).round());
        let class = if width.is_some_and(|width| width <= MAX_HALF_WIDTH) { " class=\"half\"" } else { "" };
        let svg = svg.replacen("<svg", &format!("<svg style=\"min-width:{min_width}px\""), 1);
        let caption = match caption {
            "" => String::new(),
            caption => format!("<figcaption>{}</figcaption>", escape_html(caption)),
        };
        let svg = svg.trim_end();
        self.add(format_args!("<figure{class}><div class=\"wide\">{svg}</div>{caption}</figure>"));
    }

    /// The page as HTML.
    #[must_use]
    pub fn html(&self) -> String {
        let Self { title, body } = self;
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
             {body}</body>\n</html>\n"
        )
    }

    /// Writes the page into a file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        fs::write(path, self.html())
    }

    fn add(&mut self, html: std::fmt::Arguments) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "{html}");
    }
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The longest file of metrics: those of some million steps.
const MAX_LEN_BYTES: u64 = 1_000_000_000;

/// Plots of a training run from the file of its [`Metrics`]: losses, learning rate and gradient norm over the
/// steps. A vertical line marks each step where the training was [resumed](Metrics::RESUMED).
///
/// Every metric whose name ends in `loss` is in the plot of the losses, which is logarithmic if they fall to a
/// hundredth. A plot without values is left out. So is a last line of the file that a full disk or a kill has cut off.
///
/// # Errors
/// [`PlotError::Read`] if the file cannot be read or a line is not valid. It names the file and the line.
///
/// ```
/// use typed_transformer::{plot::training_curves, train::Metrics};
/// let path = std::env::temp_dir().join(format!("curves-{}.jsonl", std::process::id()));
/// let mut metrics = Metrics::open(&path, 0)?;
/// metrics.write(1, &[("loss", 3.3), ("learning_rate", 1e-3)])?;
/// metrics.log(Metrics::RESUMED, 1.0);
/// metrics.write(2, &[("loss", 3.1), ("learning_rate", 1e-3)])?;
/// let [loss, rate] = &training_curves(&path)?[..] else { panic!("expected two plots") };
/// assert_eq!(loss.lines[0].points, [(1.0, 3.3), (2.0, 3.1)]);
/// assert_eq!((&*rate.y, &loss.marks), ("learning rate", &("resumed".to_string(), vec![2.0])));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn training_curves(metrics: &Path) -> Result<Vec<LinePlot>, PlotError> {
    let (lines, resumed) = read_metrics(metrics)?;
    let plot = |title: &str, y: &str, is_shown: fn(&str) -> bool| {
        let shown = lines.iter().filter(|line| is_shown(&line.name));
        let mut lines: Vec<Line> = shown.cloned().map(downsample).collect();
        let values = lines.iter().flat_map(|line| &line.points);
        let (min, max) = min_max(values.map(|(_, y)| *y).filter(|y| y.is_finite()));
        for line in &mut lines {
            line.name = line.name.replace('_', " ");
        }
        let is_log = y == "loss" && 0.0 < min && min * 100.0 < max;
        let marks = (Metrics::RESUMED.into(), resumed.clone());
        Some(LinePlot { title: title.into(), x: "step".into(), y: y.into(), is_log, lines, marks })
            .filter(Plot::has_values)
    };
    let plots = [
        plot("Loss", "loss", |name| name.ends_with("loss")),
        plot("Learning rate", "learning rate", |name| name == "learning_rate"),
        plot("Gradient norm", "gradient norm", |name| name == "gradient_norm"),
    ];
    Ok(plots.into_iter().flatten().collect())
}

/// Reads one line over the steps per metric, and the steps at which the training was resumed.
fn read_metrics(metrics: &Path) -> Result<(Vec<Line>, Vec<f64>), PlotError> {
    let unreadable = |message: String| PlotError::Read { path: metrics.into(), message };
    let mut text = read_bounded(metrics, MAX_LEN_BYTES).map_err(|error| unreadable(error.to_string()))?;
    let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |index| index + 1);
    // Not `IgnoredAny`, for which a number that ends after its point is invalid.
    if serde_json::from_slice::<Value>(&text[whole..]).is_err_and(|error| error.is_eof()) {
        text.truncate(whole);
    }
    let text = String::from_utf8(text).map_err(|_| unreadable("it is not UTF-8".into()))?;
    let (mut lines, mut resumed) = (Vec::<Line>::new(), Vec::new());
    // The line of each name; a search for it would take quadratic time.
    let mut indices: HashMap<String, usize> = HashMap::new();
    for (number, text) in (1..).zip(text.lines()) {
        let invalid = |message: &str| unreadable(format!("line {number}: {message}"));
        let metrics: Map<String, Value> = serde_json::from_str(text).map_err(|error| invalid(&error.to_string()))?;
        let step = metrics.get("step").and_then(Value::as_f64);
        let step = step.ok_or_else(|| invalid("`step` is missing"))?;
        for (name, value) in &metrics {
            let value = value.as_f64().unwrap_or(f64::NAN);
            if name == Metrics::RESUMED {
                resumed.push(step);
                continue;
            }
            let index = *indices.entry(name.clone()).or_insert_with(|| {
                lines.push(Line { name: escape(name), points: Vec::new() });
                lines.len() - 1
            });
            lines[index].points.push((step, value));
        }
    }
    Ok((lines, resumed))
}

/// Reduces a line to about as many points as a plot has pixels: the means of equally many points each.
fn downsample(line: Line) -> Line {
    const MAX_POINTS: usize = 800;
    let group_len = line.points.len().div_ceil(MAX_POINTS).max(1);
    let mean = |points: &[(f64, f64)]| {
        let sum = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
        (sum.0 / points.len() as f64, sum.1 / points.len() as f64)
    };
    Line { points: line.points.chunks(group_len).map(mean).collect(), ..line }
}
