use super::{Line, LinePlot, Plot, PlotError, min_max};
use crate::{escape::escape, files::read_bounded, train::Metrics};
use serde_json::{Map, Value};
use std::{collections::HashMap, path::Path};

/// The longest file of metrics: those of some million steps.
const MAX_LEN_BYTES: u64 = 1_000_000_000;

/// Plots of a training run from the file of its [`Metrics`]: losses, learning rate and gradient norm over the
/// steps. A vertical line marks each step where the training was [resumed](Metrics::RESUMED).
///
/// Every metric whose name ends in `loss` is in the plot of the losses, which is logarithmic if they fall to a
/// hundredth. A plot without values is left out, and so is a last line that a full disk or a kill has cut off.
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
