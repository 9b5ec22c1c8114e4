//! Plots of what a model is and learns, as SVG and PNG files. No display is needed.
//!
//! [`training_curves`] draws the metrics of a training run, [`HeatMapGrid`] attention weights and matrices,
//! [`ScatterPlot`] embeddings, [`LinePlot`] any lines. [`HtmlReport`] is a page that contains them.
//!
//! Needs the feature `plot`, which is on by default.

mod heatmap;
mod line_plot;
mod report;
mod scatter_plot;

pub use heatmap::{HeatMap, HeatMapGrid};
pub use line_plot::{Line, LinePlot};
pub use report::{HtmlReport, training_curves};
pub use scatter_plot::ScatterPlot;

use crate::ops::Real;
use plotters::coord::Shift;
use plotters::prelude::{BitMapBackend, DrawingArea, DrawingBackend, IntoDrawingArea, SVGBackend};
use plotters::style::{FontStyle, RGBColor, register_font};
use std::error::Error;
use std::fs::{self, File};
use std::io::BufWriter;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The error of drawing a plot.
///
/// ```
/// use typed_transformer::plot::LinePlot;
/// let error = LinePlot::default().draw("loss.svg".as_ref()).unwrap_err();
/// assert_eq!(error.to_string(), "loss.svg: there is no finite value to draw");
/// ```
#[derive(thiserror::Error)]
#[allow(missing_docs, reason = "the fields of a variant are the words of its sentence")]
pub enum PlotError {
    /// The extension of the file is not that of a supported format.
    #[error("{path}: the name of a plot must end in .svg or .png")]
    Format { path: PathBuf },
    /// No value is finite, or all points are beyond 1e300.
    #[error("{path}: there is no finite value to draw")]
    Nothing { path: PathBuf },
    /// A heat map has a number of values other than its rows times its columns.
    #[error("{path}: `{panel}` should have {expected} values but has {found}")]
    Values { path: PathBuf, panel: String, expected: usize, found: usize },
    /// A file is not one of metrics.
    #[error("{path}: {message}")]
    Read { path: PathBuf, message: String },
    /// The file could not be written.
    #[error("{path}: {message}")]
    Write { path: PathBuf, message: String },
}
crate::error::debug_by_sentence!(PlotError);

/// Colours that the colour-blind can tell apart
/// ([Okabe and Ito, 2002](https://jfly.uni-koeln.de/color/)), without black and yellow.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(213, 94, 0),
    RGBColor(86, 180, 233),
];

/// The colour of the marks in a plot, which no line has.
const MARK_COLOUR: RGBColor = RGBColor(150, 150, 150);

/// Makes an SVG dark where its viewer is in dark mode.
const DARK_STYLE: &str =
    "<style>@media (prefers-color-scheme: dark) { svg { filter: invert(.93) hue-rotate(180deg); } }</style>\n";

const FONT: &str = "sans-serif";

/// The number of decimals that tell the labels of an axis apart, between 6 and 12.
fn decimals_of(axis: &Range<f64>) -> usize {
    (3.0 - (axis.end - axis.start).abs().log10()).ceil().clamp(6.0, 12.0) as usize
}

/// Formats a number with at most so many decimals, without trailing zeros.
fn format_short(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".into(),
        text => text.into(),
    }
}

fn to_f64<E: Real>(value: &E) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
}

/// The minimum and the maximum: infinity and -infinity if there is no value.
fn min_max(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), value| (min.min(value), max.max(value)))
}

/// Coordinates beyond it, and those that are not finite, are not drawn. The length of an axis must be finite.
const MAX_COORDINATE: f64 = 1e300;

fn is_drawable(coordinate: f64) -> bool {
    coordinate.abs() <= MAX_COORDINATE
}

type Drawn = Result<(), Box<dyn Error>>;

/// Something that can be drawn in every format.
trait Plot: Sized {
    fn has_values(&self) -> bool;

    /// Width and height in pixels.
    fn size(&self) -> (u32, u32);

    fn draw_on<Backend: DrawingBackend<ErrorType: 'static>>(&self, area: &DrawingArea<Backend, Shift>) -> Drawn;

    /// Draws into a file. Its extension decides the format.
    fn write(&self, path: &Path) -> Result<(), PlotError> {
        if !self.has_values() {
            return Err(PlotError::Nothing { path: path.into() });
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        let result = match extension {
            Some("svg") => write_svg(self, path),
            Some("png") => write_png(self, path),
            _ => return Err(PlotError::Format { path: path.into() }),
        };
        result.map_err(|error| PlotError::Write { path: path.into(), message: error.to_string() })
    }
}

fn write_svg(plot: &impl Plot, path: &Path) -> Drawn {
    let mut svg = to_svg(plot)?;
    let head_end = svg.find(">\n").map_or(0, |end| end + 2);
    svg.insert_str(head_end, DARK_STYLE);
    Ok(fs::write(path, svg)?)
}

fn to_svg(plot: &impl Plot) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    render(plot, SVGBackend::with_string(&mut svg, plot.size()))?;
    // XML has none of these characters.
    let is_foreign = |c: char| c.is_control() && !"\n\r\t".contains(c) || matches!(c, '\u{fffe}' | '\u{ffff}');
    Ok(svg.replace(is_foreign, "\u{fffd}"))
}

fn write_png(plot: &impl Plot, path: &Path) -> Drawn {
    const BYTES_PER_PIXEL: usize = 3;
    let (width, height) = plot.size();
    let mut pixels = vec![0; width as usize * height as usize * BYTES_PER_PIXEL];
    render(plot, BitMapBackend::with_buffer(&mut pixels, plot.size()))?;
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(())
}

fn render<Backend: DrawingBackend<ErrorType: 'static>>(plot: &impl Plot, backend: Backend) -> Drawn {
    // A PNG needs a font to draw its text with; an SVG leaves that to its viewer.
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    REGISTERED.get_or_init(|| register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT).is_ok());
    let area = backend.into_drawing_area();
    plot.draw_on(&area)?;
    area.present()?;
    Ok(())
}
