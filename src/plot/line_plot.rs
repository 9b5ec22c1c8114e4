use super::{COLOURS, FONT, Plot, PlotError, format_short, min_max, to_f64};
use crate::{backend::Backend, dims::Dim, ops::Real};
use dfdx::{shapes::HasShape, tensor::Tensor};
use plotters::coord::Shift;
use plotters::prelude::{ChartBuilder, Color, DrawingArea, DrawingBackend, LineSeries, PathElement, TextStyle, WHITE};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{BLACK, ShapeStyle};
use std::{error::Error, ops::Range, path::Path};

/// A line of a [`LinePlot`].
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right. The line has a gap at a point that is not finite.
    pub points: Vec<(f64, f64)>,
}

/// Lines over a common x axis, with a legend above them.
///
/// ```
/// use typed_transformer::plot::{Line, LinePlot};
/// let plot = LinePlot {
///     title: "Training".into(),
///     x: "step".into(),
///     y: "loss".into(),
///     lines: vec![Line { name: "train".into(), points: vec![(0.0, 3.3), (1.0, 2.9)] }],
/// };
/// let file = std::env::temp_dir().join(format!("curves-{}.svg", std::process::id()));
/// plot.draw(&file)?;
/// assert!(std::fs::read_to_string(&file)?.contains("Training"));
/// # std::fs::remove_file(&file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LinePlot {
    /// The title above the plot.
    pub title: String,
    /// The label of the x axis.
    pub x: String,
    /// The label of the y axis.
    pub y: String,
    /// The lines.
    pub lines: Vec<Line>,
}

impl LinePlot {
    /// Columns of a matrix `(Rows, Columns)` as lines over the index of the row, such as some dimensions of a
    /// position encoding. Columns beyond the matrix are left out.
    ///
    /// ```
    /// use typed_transformer::{plot::LinePlot, prelude::*};
    /// dims! { SeqLen = 3; EmbedDim = 2; }
    /// let encoding: Tensor<(SeqLen, EmbedDim), f64, Cpu> =
    ///     sinusoidal_positions(&Cpu::default(), SeqLen, EmbedDim)?;
    /// let plot = LinePlot::of_columns("Positions", "position", "embedding", &encoding, 1..2);
    /// assert_eq!(plot.lines[0].name, "dimension 1");
    /// assert_eq!(plot.lines[0].points[2], (2.0, 2f64.cos()));
    /// # Ok::<(), OpError>(())
    /// ```
    pub fn of_columns<Rows: Dim, Columns: Dim, E: Real, D: Backend<E>>(
        title: impl Into<String>,
        x: impl Into<String>,
        y: impl Into<String>,
        matrix: &Tensor<(Rows, Columns), E, D>,
        columns: Range<usize>,
    ) -> Self {
        let (_, width) = *matrix.shape();
        let values = matrix.as_vec();
        let line = |column: usize| Line {
            name: format!("dimension {column}"),
            points: values
                .chunks(width.size().max(1))
                .enumerate()
                .map(|(row, values)| (row as f64, to_f64(&values[column])))
                .collect(),
        };
        let end = columns.end.min(width.size());
        Self { title: title.into(), x: x.into(), y: y.into(), lines: (columns.start..end).map(line).collect() }
    }

    /// Draws into a file whose name ends in `.svg` or `.png`.
    ///
    /// # Errors
    /// A [`PlotError`] that names the file: no point is finite, or the file cannot be written.
    pub fn draw(&self, path: &Path) -> Result<(), PlotError> {
        if self.finite_points().next().is_none() {
            return Err(PlotError::Nothing { path: path.into() });
        }
        self.write(path)
    }

    /// The width in pixels, at which the title fits.
    fn width(&self) -> i32 {
        MIN_WIDTH.max(10 * self.title.chars().count() as i32 + 40)
    }

    /// The position of each entry of the legend, and the y coordinate below it. The legend is above the plot,
    /// because inside it would hide lines.
    fn legend(&self) -> (Vec<(i32, i32)>, i32) {
        let (mut x, mut y) = (LEFT, TITLE_HEIGHT + ROW_HEIGHT / 2);
        let mut positions = Vec::new();
        for line in &self.lines {
            let width = SAMPLE_WIDTH + 22 + line.name.chars().map(max_width).sum::<i32>();
            if x > LEFT && x + width > self.width() {
                (x, y) = (LEFT, y + ROW_HEIGHT);
            }
            positions.push((x, y));
            x += width;
        }
        (positions, y + ROW_HEIGHT / 2)
    }

    fn finite_points(&self) -> impl Iterator<Item = (f64, f64)> {
        let points = self.lines.iter().flat_map(|line| &line.points);
        points.copied().filter(|(x, y)| x.is_finite() && y.is_finite())
    }
}

/// The range of an axis: the values and a margin, never empty.
fn axis_range(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (min, max) = min_max(values);
    let margin = if min < max {
        (max - min) * 0.02
    } else if min == 0.0 {
        0.5
    } else {
        min.abs() * 0.5
    };
    min - margin..max + margin
}

impl Plot for LinePlot {
    fn size(&self) -> (u32, u32) {
        let (_, top) = self.legend();
        (self.width() as u32, (top + 330) as u32)
    }

    fn draw_on<Backend: DrawingBackend>(&self, area: &DrawingArea<Backend, Shift>) -> Result<(), Box<dyn Error>>
    where
        Backend::ErrorType: 'static,
    {
        area.fill(&WHITE)?;
        let title = TextStyle::from((FONT, 20)).pos(Pos::new(HPos::Center, VPos::Center));
        area.draw_text(&self.title, &title, (self.width() / 2, TITLE_HEIGHT / 2))?;
        let (legend, top) = self.legend();
        let (_, plot) = area.split_vertically(top);
        let mut chart = ChartBuilder::on(&plot)
            .margin(12)
            .margin_top(6)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(
                axis_range(self.finite_points().map(|(x, _)| x)),
                axis_range(self.finite_points().map(|(_, y)| y)),
            )?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(BLACK.mix(0.12))
            .x_desc(&self.x)
            .y_desc(&self.y)
            .x_label_formatter(&format_short)
            .y_label_formatter(&format_short)
            .label_style((FONT, 15))
            .draw()?;
        let name = TextStyle::from((FONT, 15)).pos(Pos::new(HPos::Left, VPos::Center));
        let colours = COLOURS.iter().cycle();
        for ((line, (x, y)), colour) in self.lines.iter().zip(legend).zip(colours) {
            // The PNG backend draws spikes at the corners of wider lines.
            let style: ShapeStyle = colour.stroke_width(1);
            let segments = line.points.split(|(x, y)| !(x.is_finite() && y.is_finite()));
            for segment in segments {
                chart.draw_series(LineSeries::new(segment.iter().copied(), style))?;
            }
            let sample = vec![(x, y), (x + SAMPLE_WIDTH, y)];
            area.draw(&PathElement::new(sample, colour.stroke_width(2)))?;
            area.draw_text(&line.name, &name, (x + SAMPLE_WIDTH + 6, y))?;
        }
        Ok(())
    }
}

/// The maximum width of a letter of the legend in most fonts, in pixels; the viewer of an SVG chooses the
/// font.
fn max_width(letter: char) -> i32 {
    match letter {
        'm' | 'w' => 13,
        ' '..='@' | 'a'..='z' => 8,
        _ => 15,
    }
}

// Sizes in pixels.
const MIN_WIDTH: i32 = 640;
const TITLE_HEIGHT: i32 = 36;
/// The height of a row of the legend.
const ROW_HEIGHT: i32 = 22;
/// The x coordinate of the legend.
const LEFT: i32 = 78;
/// The width of the sample of a line in the legend.
const SAMPLE_WIDTH: i32 = 18;
