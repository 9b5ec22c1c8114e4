use super::{
    COLOURS, Drawn, FONT, MARK_COLOUR, Plot, PlotError, decimals_of, format_short, is_drawable, min_max, to_f64,
};
use crate::{
    backend::{Backend, elements_of},
    dims::Dim,
    ops::Real,
};
use dfdx::{shapes::HasShape, tensor::Tensor};
use plotters::coord::Shift;
use plotters::prelude::{ChartBuilder, Color, DrawingArea, DrawingBackend, LineSeries, PathElement, TextStyle, WHITE};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{BLACK, RGBColor, ShapeStyle};
use std::{ops::Range, path::Path};

/// A line of a [`LinePlot`].
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right. The line has a gap at a point that is not finite or beyond 1e300.
    pub points: Vec<(f64, f64)>,
}

/// Lines over a common x axis. Two lines and more have a legend above them.
///
/// ```
/// use typed_transformer::plot::{Line, LinePlot};
/// let plot = LinePlot {
///     title: "Training".into(),
///     x: "step".into(),
///     y: "loss".into(),
///     lines: vec![Line { name: "train".into(), points: vec![(0.0, 3.3), (1.0, 2.9)] }],
///     ..LinePlot::default()
/// };
/// let file = std::env::temp_dir().join(format!("curves-{}.svg", std::process::id()));
/// plot.draw(&file)?;
/// assert!(std::fs::read_to_string(&file)?.contains("Training"));
/// # std::fs::remove_file(&file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinePlot {
    /// The title above the plot.
    pub title: String,
    /// The label of the x axis.
    pub x: String,
    /// The label of the y axis. One that says the same as the title is left out.
    pub y: String,
    /// Whether the y axis is logarithmic. A line then has a gap at a value that is not positive.
    pub is_log: bool,
    /// The lines.
    pub lines: Vec<Line>,
    /// What grey vertical lines mark, and their places on the x axis.
    pub marks: (String, Vec<f64>),
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
        let values = elements_of(matrix);
        let line = |column: usize| Line {
            name: format!("dimension {column}"),
            points: values
                .chunks(width.size().max(1))
                .enumerate()
                .map(|(row, values)| (row as f64, to_f64(&values[column])))
                .collect(),
        };
        let end = columns.end.min(width.size());
        let lines = (columns.start..end).map(line).collect();
        Self { title: title.into(), x: x.into(), y: y.into(), lines, ..Self::default() }
    }

    /// Draws into a file whose name ends in `.svg` or `.png`.
    ///
    /// # Errors
    /// A [`PlotError`] that names the file: no point can be drawn, or the file cannot be written.
    pub fn draw(&self, path: &Path) -> Result<(), PlotError> {
        self.write(path)
    }

    /// The width in pixels, at which the title fits.
    fn width(&self) -> i32 {
        MIN_WIDTH.max(10 * self.title.chars().count() as i32 + 40)
    }

    /// The names and colours of the legend, which one line alone does not need.
    fn names(&self) -> Vec<(&str, RGBColor)> {
        let lines = self.lines.iter().map(|line| &*line.name).zip(COLOURS.into_iter().cycle());
        let (name, places) = &self.marks;
        let mark = (!places.is_empty()).then_some((&**name, MARK_COLOUR));
        let names: Vec<_> = lines.chain(mark).collect();
        if names.len() > 1 { names } else { Vec::new() }
    }

    /// The position of each entry of the legend, and the y coordinate below it. The legend is above the plot,
    /// because inside it would hide lines.
    fn legend(&self) -> (Vec<(i32, i32)>, i32) {
        let (mut x, mut y) = (LEFT, TITLE_HEIGHT + ROW_HEIGHT / 2);
        let mut positions = Vec::new();
        for (name, _) in self.names() {
            let width = SAMPLE_WIDTH + 22 + name.chars().map(max_width).sum::<i32>();
            if x > LEFT && x + width > self.width() {
                (x, y) = (LEFT, y + ROW_HEIGHT);
            }
            positions.push((x, y));
            x += width;
        }
        let height = if positions.is_empty() { 0 } else { y + ROW_HEIGHT / 2 - TITLE_HEIGHT };
        (positions, TITLE_HEIGHT + height)
    }

    /// The y coordinate of a value in the units of the axis.
    fn on_axis(&self, y: f64) -> f64 {
        if self.is_log { y.log10() } else { y }
    }

    /// The label of a y coordinate, with at most so many decimals on an axis that is not logarithmic.
    fn label(&self, y: f64, decimals: usize) -> String {
        if !self.is_log {
            return format_short(y, decimals);
        }
        let value = 10f64.powf(y);
        let decimals = if value < 1.0 { (1.0 - y.floor()) as usize } else { 1 };
        let text = format!("{value:.decimals$}");
        text.trim_end_matches('0').trim_end_matches('.').into()
    }

    fn drawn_points(&self) -> impl Iterator<Item = (f64, f64)> {
        let points = self.lines.iter().flat_map(|line| &line.points);
        points.map(|(x, y)| (*x, self.on_axis(*y))).filter(|(x, y)| is_drawable(*x) && is_drawable(*y))
    }
}

/// The range of an axis: the values and a margin, never empty.
fn axis_range(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (min, max) = min_max(values);
    // Numbers closer than this are equal but for rounding.
    let margin = if max - min > 1e-9 * min.abs().max(max.abs()) {
        (max - min) * 0.02
    } else if min == 0.0 {
        0.5
    } else {
        min.abs() * 0.5
    };
    min - margin..max + margin
}

impl Plot for LinePlot {
    fn has_values(&self) -> bool {
        self.drawn_points().next().is_some()
    }

    fn size(&self) -> (u32, u32) {
        let (_, top) = self.legend();
        (self.width() as u32, (top + 330) as u32)
    }

    fn draw_on<Backend: DrawingBackend<ErrorType: 'static>>(&self, area: &DrawingArea<Backend, Shift>) -> Drawn {
        area.fill(&WHITE)?;
        let title = TextStyle::from((FONT, 20)).pos(Pos::new(HPos::Center, VPos::Center));
        area.draw_text(&self.title, &title, (self.width() / 2, TITLE_HEIGHT / 2))?;
        let (legend, top) = self.legend();
        let (_, plot) = area.split_vertically(top);
        let places = self.marks.1.iter().copied().filter(|x| is_drawable(*x));
        let x_range = axis_range(self.drawn_points().map(|(x, _)| x).chain(places.clone()));
        let y_range = axis_range(self.drawn_points().map(|(_, y)| y));
        // A logarithmic axis has about one label in each decade.
        let num_labels = if self.is_log { (y_range.end - y_range.start).ceil().max(2.0) as usize } else { 10 };
        let mut chart = ChartBuilder::on(&plot)
            .margin(12)
            .margin_top(6)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(x_range.clone(), y_range.clone())?;
        let [x_decimals, y_decimals] = [&x_range, &y_range].map(decimals_of);
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(BLACK.mix(0.12))
            .x_desc(&self.x)
            .y_desc(if self.y.eq_ignore_ascii_case(&self.title) { "" } else { &self.y })
            .x_label_formatter(&|x| format_short(*x, x_decimals))
            .y_label_formatter(&|y| self.label(*y, y_decimals))
            .y_labels(num_labels)
            .label_style((FONT, 15))
            .draw()?;
        for x in places {
            let ends = [(x, y_range.start), (x, y_range.end)];
            chart.draw_series(LineSeries::new(ends, MARK_COLOUR.stroke_width(1)))?;
        }
        for (line, colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
            // The PNG backend draws spikes at the corners of wider lines.
            let style: ShapeStyle = colour.stroke_width(1);
            let points: Vec<_> = line.points.iter().map(|(x, y)| (*x, self.on_axis(*y))).collect();
            for segment in points.split(|(x, y)| !(is_drawable(*x) && is_drawable(*y))) {
                chart.draw_series(LineSeries::new(segment.iter().copied(), style))?;
            }
        }
        let style = TextStyle::from((FONT, 15)).pos(Pos::new(HPos::Left, VPos::Center));
        for ((name, colour), (x, y)) in self.names().into_iter().zip(legend) {
            let sample = vec![(x, y), (x + SAMPLE_WIDTH, y)];
            area.draw(&PathElement::new(sample, colour.stroke_width(2)))?;
            area.draw_text(name, &style, (x + SAMPLE_WIDTH + 6, y))?;
        }
        Ok(())
    }
}

/// The maximum width of a letter of the legend in most fonts, in pixels; the viewer of an SVG chooses the font.
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
