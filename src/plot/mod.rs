//! Pictures of what a model is and learns, as SVG and PNG files; no display is needed.
//!
//! [`training`] draws what a training has written of itself, [`HeatMapGrid`] the attention weights of a model,
//! [`ScatterPlot`] its embeddings, [`LinePlot`] and [`HeatMapGrid`] its positions; [`HtmlReport`] holds them together.
//!
//! Behind the feature `pictures`, which is on by default.

mod heatmap;
mod html_report;
mod line_plot;
mod scatter_plot;
mod training_curves;

pub use heatmap::{HeatMap, HeatMapGrid};
pub use html_report::HtmlReport;
pub use line_plot::{Line, LinePlot};
pub use scatter_plot::ScatterPlot;
pub use training_curves::training_curves;

use crate::ops::Real;
use plotters::{
    coord::Shift,
    prelude::{BitMapBackend, DrawingArea, DrawingBackend, IntoDrawingArea, SVGBackend},
    style::{FontStyle, RGBColor, register_font},
};
use std::{
    error::Error,
    fs::File,
    io::BufWriter,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// What can go wrong with a picture.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The name of the file does not end in a format that can be drawn.
    #[error("{path}: a picture is written as .svg or .png")]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// There is not one finite number to draw.
    #[error("{path}: there is nothing to draw")]
    Nothing {
        /// The file.
        path: PathBuf,
    },
    /// A matrix has not a number for each row and column.
    #[error("{path}: `{panel}` needs {expected} numbers but has {found}")]
    Values {
        /// The file.
        path: PathBuf,
        /// The name of the matrix.
        panel: String,
        /// Rows times columns.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A file of metrics is none.
    #[error("{path}: {message}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The file could not be written.
    #[error("{path}: {message}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        message: String,
    },
}

/// Colours that are told apart by those who do not see all of them
/// ([Okabe and Ito, 2002](https://jfly.uni-koeln.de/color/)), without black and yellow.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(213, 94, 0),
    RGBColor(86, 180, 233),
];

/// A number without the digits that rounding leaves behind; adding 0 makes -0 a 0.
fn short(value: &f64) -> String {
    format!("{}", (value * 1e6).round() / 1e6 + 0.0)
}

fn number<E: Real>(value: &E) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
}

const FONT: &str = "sans-serif";

/// How something is drawn on any kind of picture.
trait Plot {
    /// Width and height in pixels.
    fn size(&self) -> (u32, u32);

    fn draw_on<Backend: DrawingBackend>(
        &self,
        area: &DrawingArea<Backend, Shift>,
    ) -> Result<(), Box<dyn Error>>
    where
        Backend::ErrorType: 'static;
}

/// Draws into a file, whose extension says in which format.
fn write(picture: &impl Plot, path: &Path) -> Result<(), PlotError> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let result = match extension {
        Some("svg") => on(picture, SVGBackend::new(path, picture.size())),
        Some("png") => write_png(picture, path),
        _ => return Err(PlotError::Format { path: path.into() }),
    };
    result.map_err(|error| PlotError::Write { path: path.into(), message: error.to_string() })
}

fn write_png(picture: &impl Plot, path: &Path) -> Result<(), Box<dyn Error>> {
    const BYTES_OF_A_PIXEL: usize = 3;
    let (width, height) = picture.size();
    let mut pixels = vec![0; width as usize * height as usize * BYTES_OF_A_PIXEL];
    on(picture, BitMapBackend::with_buffer(&mut pixels, picture.size()))?;
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(())
}

fn on<Backend: DrawingBackend>(picture: &impl Plot, backend: Backend) -> Result<(), Box<dyn Error>>
where
    Backend::ErrorType: 'static,
{
    // Text in a PNG is drawn here and not by its viewer, so the font is brought along.
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    REGISTERED
        .get_or_init(|| register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT).is_ok());
    let area = backend.into_drawing_area();
    picture.draw_on(&area)?;
    area.present()?;
    Ok(())
}
