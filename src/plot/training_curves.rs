use super::{Line, LinePlot, PlotError};
use crate::train::Metrics;
use serde_json::Value;
use std::{fs, path::Path};

/// Losses, learning rate and norm of the gradients over the steps of a training, from the file that its
/// [`Metrics`] wrote; where [`Metrics::RESUMED`] is noted there is an upright line.
///
/// Every number whose name ends in `loss` is drawn with the losses. What the file holds nothing of has no
/// picture.
///
/// # Errors
/// [`PlotError::Read`], naming the file and the line, if it cannot be read.
///
/// ```
/// use typed_transformer::{plot::training_curves, train::Metrics};
/// let path = std::env::temp_dir().join(format!("curves-{}.jsonl", std::process::id()));
/// let mut metrics = Metrics::open(&path, 0)?;
/// metrics.write(1, &[("loss", 3.3), ("learning_rate", 1e-3)])?;
/// metrics.log(Metrics::RESUMED, 1.0);
/// metrics.write(2, &[("loss", 3.1), ("learning_rate", 1e-3)])?;
/// let [loss, rate] = &training_curves(&path)?[..] else { panic!("there are two") };
/// assert_eq!(loss.curves[0].points, [(1.0, 3.3), (2.0, 3.1)]);
/// assert_eq!((&*loss.curves[1].name, &*rate.y), ("resumed", "learning rate"));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn training_curves(metrics: &Path) -> Result<Vec<LinePlot>, PlotError> {
    let unreadable = |message: String| PlotError::Read { path: metrics.into(), message };
    let text = fs::read_to_string(metrics).map_err(|error| unreadable(error.to_string()))?;
    let mut curves: Vec<Line> = Vec::new();
    let mut resumed = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = |message: &str| unreadable(format!("line {}: {message}", number + 1));
        let line: serde_json::Map<String, Value> =
            serde_json::from_str(line).map_err(|error| wrong(&error.to_string()))?;
        let step = line.get("step").and_then(Value::as_f64);
        let step = step.ok_or_else(|| wrong("there is no step"))?;
        for (name, value) in &line {
            let value = value.as_f64().unwrap_or(f64::NAN);
            match curves.iter_mut().find(|curve| curve.name == *name) {
                _ if name == Metrics::RESUMED => resumed.push(step),
                Some(curve) => curve.points.push((step, value)),
                None => curves.push(Line { name: name.clone(), points: vec![(step, value)] }),
            }
        }
    }
    let picture = |title: &str, y: &str, drawn: fn(&str) -> bool| {
        let drawn = curves.iter().filter(|curve| drawn(&curve.name));
        let mut curves: Vec<Line> = drawn.cloned().map(thinned).collect();
        let values = curves.iter().flat_map(|curve| &curve.points);
        let values = values.map(|(_, y)| *y).filter(|y| y.is_finite());
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
        if !resumed.is_empty() {
            let breaks = (f64::NAN, f64::NAN);
            let lines = resumed.iter().flat_map(|step| [(*step, low), (*step, high), breaks]);
            curves.push(Line { name: Metrics::RESUMED.into(), points: lines.collect() });
        }
        for curve in &mut curves {
            curve.name = curve.name.replace('_', " ");
        }
        (low <= high).then(|| LinePlot { title: title.into(), x: "step".into(), y: y.into(), curves })
    };
    let pictures = [
        picture("Loss", "loss", |name| name.ends_with("loss")),
        picture("Learning rate", "learning rate", |name| name == "learning_rate"),
        picture("Norm of the gradients", "norm", |name| name == "gradient_norm"),
    ];
    Ok(pictures.into_iter().flatten().collect())
}

/// A curve of no more points than there are pixels: means of as many points each.
fn thinned(curve: Line) -> Line {
    const MOST: usize = 800;
    let each = curve.points.len().div_ceil(MOST).max(1);
    let mean = |points: &[(f64, f64)]| {
        let sum = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
        (sum.0 / points.len() as f64, sum.1 / points.len() as f64)
    };
    Line { points: curve.points.chunks(each).map(mean).collect(), ..curve }
}
