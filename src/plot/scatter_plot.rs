//! Scatter plots, also of the principal components of a matrix.

use super::{COLOURS, Drawn, FONT, Plot, PlotError, decimals_of, format_short, is_drawable, min_max, to_f64};
use crate::backend::{Backend, elements_of};
use crate::dims::Dim;
use crate::ops::Real;
use dfdx::{shapes::HasShape, tensor::Tensor};
use plotters::coord::Shift;
use plotters::prelude::{BLACK, ChartBuilder, Circle, Color, DrawingArea, DrawingBackend, EmptyElement, Text, WHITE};
use std::path::Path;

/// Labelled points. Both axes have the same scale, so distances are true.
///
/// ```
/// use typed_transformer::plot::ScatterPlot;
/// let plot = ScatterPlot {
///     title: "Letters".into(),
///     x: "x".into(),
///     y: "y".into(),
///     points: vec![("a".into(), (0.0, 1.0)), ("b".into(), (1.0, 0.0))],
/// };
/// let file = std::env::temp_dir().join(format!("scatter-{}.svg", std::process::id()));
/// plot.draw(&file)?;
/// assert!(std::fs::read_to_string(&file)?.contains("Letters"));
/// # std::fs::remove_file(&file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterPlot {
    /// The title above the plot.
    pub title: String,
    /// The label of the x axis.
    pub x: String,
    /// The label of the y axis.
    pub y: String,
    /// The label and the coordinates of each point. A point that is not finite or beyond 1e300 is left out.
    pub points: Vec<(String, (f64, f64))>,
}

impl ScatterPlot {
    /// The rows of a matrix `(Rows, Columns)` on their first two principal components: the projections with
    /// the greatest variance. Only the first `names.len()` rows are used; `names` are their labels.
    ///
    /// ```
    /// use typed_transformer::{plot::ScatterPlot, prelude::*};
    /// dims! { VocabSize = 3; EmbedDim = 4; }
    /// let table: Tensor<(VocabSize, EmbedDim), f32, Cpu> = Cpu::default()
    ///     .tensor(vec![0.0, 0.0, 1.0, 0.0, 0.0, 3.0, 1.0, 0.0, 0.0, 6.0, 1.0, 0.0]);
    /// let points = ScatterPlot::pca_of_rows("Letters", &table, &["a", "b", "c"].map(String::from)).points;
    /// let x: Vec<f64> = points.iter().map(|(_, (x, _))| x.round()).collect();
    /// assert_eq!(x, [-3.0, 0.0, 3.0]);
    /// ```
    pub fn pca_of_rows<Rows: Dim, Columns: Dim, E: Real, D: Backend<E>>(
        title: impl Into<String>,
        matrix: &Tensor<(Rows, Columns), E, D>,
        names: &[String],
    ) -> Self {
        let width = matrix.shape().1.size().max(1);
        let values: Vec<f64> = elements_of(matrix).iter().map(to_f64).collect();
        let rows: Vec<&[f64]> = values.chunks(width).take(names.len()).collect();
        let means: Vec<f64> =
            (0..width).map(|i| rows.iter().map(|row| row[i]).sum::<f64>() / rows.len().max(1) as f64).collect();
        let centred: Vec<Vec<f64>> =
            rows.iter().map(|row| row.iter().zip(&means).map(|(x, mean)| x - mean).collect()).collect();
        // Not divided by the number of rows, which would not change the components.
        let covariance =
            (0..width).map(|i| (0..width).map(|j| centred.iter().map(|row| row[i] * row[j]).sum()).collect()).collect();
        let components = symmetric_eigen(covariance);
        let total: f64 = components.iter().map(|(variance, _)| variance).sum();
        let label = |index: usize| {
            let variance = components.get(index).map_or(0.0, |(variance, _)| *variance);
            let percent = if total > 0.0 { 100.0 * variance / total } else { 0.0 };
            format!("principal component {} ({percent:.0} % of the variance)", index + 1)
        };
        let project = |row: &[f64], index: usize| {
            let component = components.get(index);
            component.map_or(0.0, |(_, vector)| row.iter().zip(vector).map(|(x, v)| x * v).sum())
        };
        let points = centred.iter().map(|row| (project(row, 0), project(row, 1)));
        Self { title: title.into(), x: label(0), y: label(1), points: names.iter().cloned().zip(points).collect() }
    }

    /// Draws into a file whose name ends in `.svg` or `.png`.
    ///
    /// # Errors
    /// A [`PlotError`] that names the file: no point can be drawn, or the file cannot be written.
    pub fn draw(&self, path: &Path) -> Result<(), PlotError> {
        self.write(path)
    }

    fn drawn_points(&self) -> impl Iterator<Item = (&String, (f64, f64))> {
        let points = self.points.iter().map(|(name, point)| (name, *point));
        points.filter(|(_, (x, y))| is_drawable(*x) && is_drawable(*y))
    }
}

impl Plot for ScatterPlot {
    fn has_values(&self) -> bool {
        self.drawn_points().next().is_some()
    }

    fn size(&self) -> (u32, u32) {
        (640, 640)
    }

    fn draw_on<Backend: DrawingBackend<ErrorType: 'static>>(&self, area: &DrawingArea<Backend, Shift>) -> Drawn {
        area.fill(&WHITE)?;
        let middle_and_half = |coordinate: fn((f64, f64)) -> f64| {
            let (min, max) = min_max(self.drawn_points().map(|(_, point)| coordinate(point)));
            ((min + max) / 2.0, (max - min) / 2.0)
        };
        let ((x, half_width), (y, half_height)) = (middle_and_half(|(x, _)| x), middle_and_half(|(_, y)| y));
        let max_half = half_width.max(half_height);
        let half = if max_half > 0.0 { max_half * 1.1 } else { 1.0 };
        let [x_range, y_range] = [x, y].map(|middle| middle - half..middle + half);
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, (FONT, 20))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(x_range.clone(), y_range.clone())?;
        let [x_decimals, y_decimals] = [&x_range, &y_range].map(decimals_of);
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(BLACK.mix(0.12))
            .x_desc(&self.x)
            .y_desc(&self.y)
            .x_label_formatter(&|x| format_short(*x, x_decimals))
            .y_label_formatter(&|y| format_short(*y, y_decimals))
            .label_style((FONT, 15))
            .draw()?;
        chart.draw_series(self.drawn_points().map(|(name, point)| {
            EmptyElement::at(point)
                + Circle::new((0, 0), 3, COLOURS[0].filled())
                + Text::new(name.clone(), (6, -9), (FONT, 17))
        }))?;
        Ok(())
    }
}

/// The eigenvalues and unit eigenvectors of a symmetric matrix, sorted by descending eigenvalue. Jacobi's
/// method: each rotation zeroes one pair of off-diagonal elements.
fn symmetric_eigen(mut matrix: Vec<Vec<f64>>) -> Vec<(f64, Vec<f64>)> {
    /// The method converges in fewer than ten sweeps.
    const MAX_SWEEPS: usize = 30;
    let size = matrix.len();
    let unit = |i: usize| (0..size).map(|j| f64::from(u8::from(i == j))).collect();
    // Row `i` becomes the eigenvector of eigenvalue `i`.
    let mut vectors: Vec<Vec<f64>> = (0..size).map(unit).collect();
    for _ in 0..MAX_SWEEPS {
        let mut rotated = false;
        for p in 0..size {
            for q in p + 1..size {
                let diagonal_gap = matrix[q][q] - matrix[p][p];
                let off_diagonal = matrix[p][q];
                if off_diagonal.abs() <= 1e-12 * (matrix[p][p].abs() + matrix[q][q].abs()) {
                    continue;
                }
                rotated = true;
                let angle = 0.5 * (2.0 * off_diagonal / diagonal_gap).atan();
                let (sin, cos) = angle.sin_cos();
                let rotate = |a: &mut f64, b: &mut f64| {
                    (*a, *b) = (cos * *a - sin * *b, sin * *a + cos * *b);
                };
                for row in &mut matrix {
                    let (left, right) = row.split_at_mut(q);
                    rotate(&mut left[p], &mut right[0]);
                }
                for rows in [&mut matrix, &mut vectors] {
                    let (above, below) = rows.split_at_mut(q);
                    for (a, b) in above[p].iter_mut().zip(&mut below[0]) {
                        rotate(a, b);
                    }
                }
            }
        }
        if !rotated {
            break;
        }
    }
    // An eigenvector has no sign. It gets the one that makes its largest element positive, so that plots of
    // the same matrix agree.
    let with_positive_peak = |vector: Vec<f64>| {
        let peak = vector.iter().fold(0.0, |peak: f64, x| if x.abs() > peak.abs() { *x } else { peak });
        vector.iter().map(|x| x * if peak < 0.0 { -1.0 } else { 1.0 }).collect()
    };
    let values = (0..size).map(|i| matrix[i][i]);
    let mut pairs: Vec<_> = values.zip(vectors.into_iter().map(with_positive_peak)).collect();
    pairs.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    pairs
}
