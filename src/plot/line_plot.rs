use super::{COLOURS, FONT, Plot, PlotError, number, short, write};
use crate::{backend::Backend, ops::Real};
use dfdx::{
    shapes::{Dim, HasShape},
    tensor::Tensor,
};
use plotters::{
    coord::Shift,
    prelude::{ChartBuilder, Color, DrawingArea, DrawingBackend, LineSeries, PathElement, TextStyle, WHITE},
    style::{
        BLACK, ShapeStyle,
        text_anchor::{HPos, Pos, VPos},
    },
};
use std::{error::Error, ops::Range, path::Path};

/// A line in [`LinePlot`].
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right; it breaks at one that is not finite.
    pub points: Vec<(f64, f64)>,
}

/// Lines over a common axis.
///
/// ```
/// use typed_transformer::plot::{Line, LinePlot};
/// let curves = LinePlot {
///     title: "Training".into(),
///     x: "step".into(),
///     y: "loss".into(),
///     curves: vec![Line { name: "train".into(), points: vec![(0.0, 3.3), (1.0, 2.9)] }],
/// };
/// let file = std::env::temp_dir().join(format!("curves-{}.svg", std::process::id()));
/// curves.draw(&file)?;
/// assert!(std::fs::read_to_string(&file)?.contains("Training"));
/// # std::fs::remove_file(&file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LinePlot {
    /// Written above.
    pub title: String,
    /// What runs from left to right.
    pub x: String,
    /// What runs upwards.
    pub y: String,
    /// The lines.
    pub curves: Vec<Line>,
}

impl LinePlot {
    /// Some columns of a matrix `(Rows, Columns)`, such as a few dimensions of a position encoding, over its
    /// rows.
    ///
    /// ```
    /// use typed_transformer::{plot::LinePlot, prelude::*};
    /// dims! { SeqLen = 3; EmbedDim = 2; }
    /// let encoding: Tensor<(SeqLen, EmbedDim), f64, Cpu> =
    ///     sinusoidal_positions(&Cpu::default(), SeqLen, EmbedDim);
    /// let curves = LinePlot::of_columns("Positions", "position", "embedding", &encoding, 1..2);
    /// assert_eq!(curves.curves[0].name, "dimension 1");
    /// assert_eq!(curves.curves[0].points[2], (2.0, 2f64.cos()));
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
        let curve = |column: usize| Line {
            name: format!("dimension {column}"),
            points: values
                .chunks(width.size().max(1))
                .enumerate()
                .map(|(row, values)| (row as f64, number(&values[column])))
                .collect(),
        };
        let last = columns.end.min(width.size());
        Self {
            title: title.into(),
            x: x.into(),
            y: y.into(),
            curves: (columns.start..last).map(curve).collect(),
        }
    }

    /// Draws into a file that ends in `.svg` or `.png`.
    ///
    /// # Errors
    /// [`PlotError`], naming the file.
    pub fn draw(&self, path: &Path) -> Result<(), PlotError> {
        if self.finite().next().is_none() {
            return Err(PlotError::Nothing { path: path.into() });
        }
        write(self, path)
    }

    /// No title is wider.
    fn width(&self) -> i32 {
        WIDTH.max(10 * self.title.chars().count() as i32 + 40)
    }

    /// Where the line of each curve begins in the legend, and where the plot begins below it: inside the
    /// plot the legend would hide curves.
    fn legend(&self) -> (Vec<(i32, i32)>, i32) {
        let (mut x, mut y) = (LEFT, TITLE + ROW / 2);
        let mut places = Vec::new();
        for curve in &self.curves {
            let width = LINE + 22 + curve.name.chars().map(width_of).sum::<i32>();
            if x > LEFT && x + width > self.width() {
                (x, y) = (LEFT, y + ROW);
            }
            places.push((x, y));
            x += width;
        }
        (places, y + ROW / 2)
    }

    fn finite(&self) -> impl Iterator<Item = (f64, f64)> {
        let points = self.curves.iter().flat_map(|curve| &curve.points);
        points.copied().filter(|(x, y)| x.is_finite() && y.is_finite())
    }
}

/// The least and the greatest, apart even if they are equal.
fn range(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (low, high) = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let margin = if low < high {
        (high - low) * 0.02
    } else if low == 0.0 {
        0.5
    } else {
        low.abs() * 0.5
    };
    low - margin..high + margin
}

impl Plot for LinePlot {
    fn size(&self) -> (u32, u32) {
        let (_, top) = self.legend();
        (self.width() as u32, (top + 330) as u32)
    }

    fn draw_on<Backend: DrawingBackend>(
        &self,
        area: &DrawingArea<Backend, Shift>,
    ) -> Result<(), Box<dyn Error>>
    where
        Backend::ErrorType: 'static,
    {
        area.fill(&WHITE)?;
        let title = TextStyle::from((FONT, 20)).pos(Pos::new(HPos::Center, VPos::Center));
        area.draw_text(&self.title, &title, (self.width() / 2, TITLE / 2))?;
        let (legend, top) = self.legend();
        let (_, plot) = area.split_vertically(top);
        let mut chart = ChartBuilder::on(&plot)
            .margin(12)
            .margin_top(6)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(range(self.finite().map(|(x, _)| x)), range(self.finite().map(|(_, y)| y)))?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(BLACK.mix(0.12))
            .x_desc(&self.x)
            .y_desc(&self.y)
            .x_label_formatter(&short)
            .y_label_formatter(&short)
            .label_style((FONT, 15))
            .draw()?;
        let name = TextStyle::from((FONT, 15)).pos(Pos::new(HPos::Left, VPos::Center));
        let colours = COLOURS.iter().cycle();
        for ((curve, (x, y)), colour) in self.curves.iter().zip(legend).zip(colours) {
            // In a PNG the corners of a wider line overshoot.
            let style: ShapeStyle = colour.stroke_width(1);
            let pieces = curve.points.split(|(x, y)| !(x.is_finite() && y.is_finite()));
            for piece in pieces {
                chart.draw_series(LineSeries::new(piece.iter().copied(), style))?;
            }
            area.draw(&PathElement::new(vec![(x, y), (x + LINE, y)], colour.stroke_width(2)))?;
            area.draw_text(&curve.name, &name, (x + LINE + 6, y))?;
        }
        Ok(())
    }
}

/// What a letter of the legend takes at most in most fonts, which an SVG leaves to its viewer.
fn width_of(letter: char) -> i32 {
    match letter {
        'm' | 'w' => 13,
        ' '..='@' | 'a'..='z' => 8,
        _ => 15,
    }
}

/// The least width.
const WIDTH: i32 = 640;
/// The height of the title, and of a row of the legend.
const TITLE: i32 = 36;
const ROW: i32 = 22;
/// Where the legend begins.
const LEFT: i32 = 78;
/// The length of a line in the legend.
const LINE: i32 = 18;
