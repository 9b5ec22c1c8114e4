mod draw;

use super::{Plot, PlotError, to_f64};
use crate::{
    backend::{Backend, elements_of},
    dims::Dim,
    ops::Real,
};
use dfdx::{shapes::HasShape, tensor::Tensor};
use plotters::prelude::{RGBColor, WHITE};
use std::{ops::Range, path::Path};

/// A panel of a [`HeatMapGrid`]: one matrix.
///
/// ```
/// use typed_transformer::{plot::HeatMapGrid, prelude::*};
/// dims! { pub Batch = 1; pub NumHeads = 2; pub TgtLen = 1; pub SrcLen = 2; }
/// let weights: Tensor<(Batch, NumHeads, TgtLen, SrcLen), f32, Cpu> = Cpu::default().tensor(vec![0.5, 0.5, 0.25, 0.75]);
/// let grid = HeatMapGrid::of_attention("Attention", &[weights], &["x".into()], &["a".into(), "b".into()]);
/// assert_eq!(grid.panels[1].values, [0.25, 0.75]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// The title above the panel.
    pub name: String,
    /// The labels of the rows.
    pub rows: Vec<String>,
    /// The labels of the columns.
    pub columns: Vec<String>,
    /// The values in row-major order. One that is not finite stays blank.
    pub values: Vec<f64>,
}

/// Heat maps in a grid of panels, with one colour scale.
///
/// ```
/// use typed_transformer::plot::{HeatMap, HeatMapGrid};
/// let labels = |letters: &str| letters.chars().map(String::from).collect();
/// let grid = HeatMapGrid {
///     title: "Attention".into(),
///     scale: 0.0..1.0,
///     columns_per_row: 1,
///     panels: vec![HeatMap {
///         name: "head 0".into(),
///         rows: labels("ur"),
///         columns: labels("he"),
///         values: vec![0.9, 0.1, 0.2, 0.8],
///     }],
/// };
/// let file = std::env::temp_dir().join(format!("heat-{}.svg", std::process::id()));
/// grid.draw(&file)?;
/// assert!(std::fs::read_to_string(&file)?.contains("head 0"));
/// # std::fs::remove_file(&file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMapGrid {
    /// The title above the grid.
    pub title: String,
    /// The values of the first and the last colour; values outside have the nearer of the two. From a start
    /// of 0 or more, the scale runs from white over blue to dark blue. From a negative start it diverges:
    /// orange, white in the middle, blue.
    pub scale: Range<f64>,
    /// The maximum number of panels side by side. A grid that would be too wide has fewer.
    pub columns_per_row: usize,
    /// The panels, row by row. Cells have the size that fits the largest matrix. If this matrix has at most 8 rows and
    /// columns, all cells show their values.
    pub panels: Vec<HeatMap>,
}

impl HeatMapGrid {
    /// Attention weights: a row of panels per layer, a panel per head.
    ///
    /// `weights` holds `(B, H, Q, K)` for each layer, as [`LM::attention_weights`](crate::nn::LM::attention_weights)
    /// returns them. Only the first sequence of the batch is drawn, and of it one position per label in `queries` and
    /// `keys`, so that padding can be left out.
    pub fn of_attention<B: Dim, H: Dim, Q: Dim, K: Dim, E: Real, D: Backend<E>>(
        title: impl Into<String>,
        weights: &[Tensor<(B, H, Q, K), E, D>],
        queries: &[String],
        keys: &[String],
    ) -> Self {
        let mut panels = Vec::new();
        for (layer, weights) in weights.iter().enumerate() {
            let (batch, _, q, k) = *weights.shape();
            let values = elements_of(weights);
            let first_sequence = &values[..values.len() / batch.size().max(1)];
            let heads = first_sequence.chunks((q.size() * k.size()).max(1));
            for (head, values) in heads.enumerate() {
                let rows = values.chunks(k.size().max(1)).take(queries.len());
                let cells = rows.flat_map(|row| row.iter().take(keys.len()));
                panels.push(HeatMap {
                    name: format!("layer {layer}, head {head}"),
                    rows: queries.iter().take(q.size()).cloned().collect(),
                    columns: keys.iter().take(k.size()).cloned().collect(),
                    values: cells.map(to_f64).collect(),
                });
            }
        }
        let heads = weights.first().map_or(1, |weights| weights.shape().1.size());
        Self { title: title.into(), scale: 0.0..1.0, columns_per_row: heads, panels }
    }

    /// One matrix `(Rows, Columns)`, labelled by indices from 0. Its scale is symmetric: 0 is white.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, plot::HeatMapGrid, prelude::*};
    /// let encoding: Tensor<(SeqLen, EmbedDim), f64, Cpu> =
    ///     sinusoidal_positions(&Cpu::default(), SeqLen, EmbedDim)?;
    /// let grid = HeatMapGrid::of_matrix("Position encoding", &encoding);
    /// assert_eq!(grid.scale, -1.0..1.0);
    /// assert_eq!(grid.panels[0].rows, ["0", "1", "2", "3"]);
    /// # Ok::<(), OpError>(())
    /// ```
    pub fn of_matrix<Rows: Dim, Columns: Dim, E: Real, D: Backend<E>>(
        title: impl Into<String>,
        matrix: &Tensor<(Rows, Columns), E, D>,
    ) -> Self {
        let (rows, columns) = *matrix.shape();
        let values: Vec<f64> = elements_of(matrix).iter().map(to_f64).collect();
        let finite = values.iter().filter(|value| value.is_finite());
        let max_abs = finite.fold(0.0, |max: f64, value| max.max(value.abs()));
        let indices = |count: usize| (0..count).map(|i| i.to_string()).collect();
        Self {
            title: title.into(),
            scale: if max_abs > 0.0 { -max_abs..max_abs } else { -1.0..1.0 },
            columns_per_row: 1,
            panels: vec![HeatMap {
                name: String::new(),
                rows: indices(rows.size()),
                columns: indices(columns.size()),
                values,
            }],
        }
    }

    /// Draws into a file whose name ends in `.svg` or `.png`.
    ///
    /// # Errors
    /// A [`PlotError`] that names the file: no value is finite, the number of values of a panel is not that of its
    /// cells, or the file cannot be written.
    pub fn draw(&self, path: &Path) -> Result<(), PlotError> {
        for panel in &self.panels {
            let (expected, found) = (panel.rows.len() * panel.columns.len(), panel.values.len());
            if expected != found {
                return Err(PlotError::Values { path: path.into(), panel: panel.name.clone(), expected, found });
            }
        }
        self.write(path)
    }

    /// The colour of a value. The scale has few steps, so that equal neighbours become one rectangle.
    fn colour(&self, value: f64) -> RGBColor {
        const STEPS: f64 = 40.0;
        let Range { start, end } = self.scale;
        let mix = |from: RGBColor, to: RGBColor, weight: f64| {
            let channel = |from: u8, to: u8| (f64::from(from) * (1.0 - weight) + f64::from(to) * weight).round() as u8;
            RGBColor(channel(from.0, to.0), channel(from.1, to.1), channel(from.2, to.2))
        };
        let position = ((value - start) / (end - start).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        let position = (position * STEPS).round() / STEPS;
        if start < 0.0 {
            let colour = if position < 0.5 { NEGATIVE_COLOUR } else { MID_COLOUR };
            mix(WHITE, colour, (position - 0.5).abs() * 2.0)
        } else if position < 0.5 {
            mix(WHITE, MID_COLOUR, position * 2.0)
        } else {
            mix(MID_COLOUR, MAX_COLOUR, position * 2.0 - 1.0)
        }
    }
}

const MID_COLOUR: RGBColor = RGBColor(0, 114, 178);
const MAX_COLOUR: RGBColor = RGBColor(0, 25, 60);
const NEGATIVE_COLOUR: RGBColor = RGBColor(213, 94, 0);
