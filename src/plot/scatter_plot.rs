use super::{COLOURS, FONT, Plot, PlotError, number, short, write};
use crate::{backend::Backend, ops::Real};
use dfdx::{
    shapes::{Dim, HasShape},
    tensor::Tensor,
};
use plotters::{
    coord::Shift,
    prelude::{BLACK, ChartBuilder, Circle, Color, DrawingArea, DrawingBackend, EmptyElement, Text, WHITE},
};
use std::{error::Error, ops::Range, path::Path};

/// ScatterPlot with names, on axes of one scale, so that distances are those of the numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterPlot {
    /// Written above.
    pub title: String,
    /// What runs from left to right.
    pub x: String,
    /// What runs upwards.
    pub y: String,
    /// Name and place of each.
    pub points: Vec<(String, (f64, f64))>,
}

impl ScatterPlot {
    /// The first rows of a matrix `(Rows, Columns)`, one for each name, projected on the two directions in
    /// which they vary most (their principal axes).
    ///
    /// ```
    /// use typed_transformer::{plot::ScatterPlot, prelude::*};
    /// dims! { VocabSize = 3; EmbedDim = 4; }
    /// let table: Tensor<(VocabSize, EmbedDim), f32, Cpu> = Cpu::default()
    ///     .tensor(vec![0.0, 0.0, 1.0, 0.0, 0.0, 3.0, 1.0, 0.0, 0.0, 6.0, 1.0, 0.0]);
    /// let points = ScatterPlot::pca_of_rows("Letters", &table, &["a", "b", "c"].map(String::from)).points;
    /// let along: Vec<f64> = points.iter().map(|(_, (x, _))| x.round()).collect();
    /// assert_eq!(along, [-3.0, 0.0, 3.0]);
    /// ```
    pub fn pca_of_rows<Rows: Dim, Columns: Dim, E: Real, D: Backend<E>>(
        title: impl Into<String>,
        matrix: &Tensor<(Rows, Columns), E, D>,
        names: &[String],
    ) -> Self {
        let width = matrix.shape().1.size().max(1);
        let values: Vec<f64> = matrix.as_vec().iter().map(number).collect();
        let rows: Vec<&[f64]> = values.chunks(width).take(names.len()).collect();
        let means: Vec<f64> = (0..width)
            .map(|i| rows.iter().map(|row| row[i]).sum::<f64>() / rows.len().max(1) as f64)
            .collect();
        let centred: Vec<Vec<f64>> =
            rows.iter().map(|row| row.iter().zip(&means).map(|(x, mean)| x - mean).collect()).collect();
        let scatter = (0..width)
            .map(|i| (0..width).map(|j| centred.iter().map(|row| row[i] * row[j]).sum()).collect())
            .collect();
        let axes = eigen(scatter);
        let total: f64 = axes.iter().map(|(value, _)| value).sum();
        let share = |axis: usize| {
            let value = axes.get(axis).map_or(0.0, |(value, _)| *value);
            let percent = if total > 0.0 { 100.0 * value / total } else { 0.0 };
            format!("principal axis {} ({percent:.0} % of the variance)", axis + 1)
        };
        let along = |row: &[f64], axis: usize| {
            axes.get(axis).map_or(0.0, |(_, vector)| row.iter().zip(vector).map(|(x, v)| x * v).sum())
        };
        let places = centred.iter().map(|row| (along(row, 0), along(row, 1)));
        Self {
            title: title.into(),
            x: share(0),
            y: share(1),
            points: names.iter().cloned().zip(places).collect(),
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

    fn finite(&self) -> impl Iterator<Item = (&String, (f64, f64))> {
        let points = self.points.iter().map(|(name, place)| (name, *place));
        points.filter(|(_, (x, y))| x.is_finite() && y.is_finite())
    }
}

impl Plot for ScatterPlot {
    fn size(&self) -> (u32, u32) {
        (640, 640)
    }

    fn draw_on<Backend: DrawingBackend>(
        &self,
        area: &DrawingArea<Backend, Shift>,
    ) -> Result<(), Box<dyn Error>>
    where
        Backend::ErrorType: 'static,
    {
        area.fill(&WHITE)?;
        let middle = |of: fn((f64, f64)) -> f64| {
            let (low, high) = self
                .finite()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), (_, p)| (l.min(of(p)), h.max(of(p))));
            ((low + high) / 2.0, (high - low) / 2.0)
        };
        let ((x, half_width), (y, half_height)) = (middle(|(x, _)| x), middle(|(_, y)| y));
        let most = half_width.max(half_height);
        let half = if most > 0.0 { most * 1.1 } else { 1.0 };
        let around = |middle: f64| -> Range<f64> { middle - half..middle + half };
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, (FONT, 20))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(around(x), around(y))?;
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
        chart.draw_series(self.finite().map(|(name, place)| {
            EmptyElement::at(place)
                + Circle::new((0, 0), 3, COLOURS[0].filled())
                + Text::new(name.clone(), (6, -9), (FONT, 17))
        }))?;
        Ok(())
    }
}

/// The eigenvalues and eigenvectors of a symmetric matrix, the greatest first (Jacobi's method: each
/// rotation makes one element off the diagonal zero).
fn eigen(mut matrix: Vec<Vec<f64>>) -> Vec<(f64, Vec<f64>)> {
    /// After a handful of sweeps nothing is left off the diagonal.
    const MOST_SWEEPS: usize = 30;
    let size = matrix.len();
    let unit = |i: usize| (0..size).map(|j| f64::from(u8::from(i == j))).collect();
    // Row `i` is the vector of eigenvalue `i`.
    let mut vectors: Vec<Vec<f64>> = (0..size).map(unit).collect();
    for _ in 0..MOST_SWEEPS {
        let mut rotated = false;
        for p in 0..size {
            for q in p + 1..size {
                let apart = matrix[q][q] - matrix[p][p];
                let off = matrix[p][q];
                if off.abs() <= 1e-12 * (matrix[p][p].abs() + matrix[q][q].abs()) {
                    continue;
                }
                rotated = true;
                let angle = 0.5 * (2.0 * off / apart).atan();
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
    // A vector and its opposite are as good: the one whose greatest element is positive.
    let upright = |vector: Vec<f64>| {
        let greatest = vector.iter().fold(0.0, |most: f64, x| if x.abs() > most.abs() { *x } else { most });
        vector.iter().map(|x| x * if greatest < 0.0 { -1.0 } else { 1.0 }).collect()
    };
    let values = (0..size).map(|i| matrix[i][i]);
    let mut pairs: Vec<_> = values.zip(vectors.into_iter().map(upright)).collect();
    pairs.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    pairs
}

#[cfg(test)]
mod tests {
    use super::eigen;

    #[test]
    fn a_matrix_times_an_eigenvector_is_the_vector_times_its_eigenvalue() {
        let matrix = vec![vec![4.0, 1.0, -2.0], vec![1.0, 2.0, 0.0], vec![-2.0, 0.0, 3.0]];
        let pairs = eigen(matrix.clone());
        for (value, vector) in &pairs {
            let length: f64 = vector.iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-12);
            for (row, x) in matrix.iter().zip(vector) {
                let product: f64 = row.iter().zip(vector).map(|(a, b)| a * b).sum();
                assert!((product - value * x).abs() < 1e-12);
            }
        }
        assert!(pairs[0].0 > pairs[1].0 && pairs[1].0 > pairs[2].0);
    }
}
