//! `--report`: the plots of a training, and a page that holds them.

use super::{BoxError, log};
use std::{
    fmt::Display,
    fs,
    ops::Range,
    path::{Path, PathBuf},
};
use typed_transformer::{
    backend::Backend,
    dims::Dim,
    nn::Module,
    plot::{HeatMapGrid, HtmlReport, LinePlot, PlotError, training_curves},
    prelude::Tensor,
};

/// The embedding dimensions whose positions are drawn as curves.
const CURVES: Range<usize> = 0..4;

/// A directory with a page and its plots as SVG and PNG.
pub struct Report {
    folder: PathBuf,
    pub page: HtmlReport,
}

impl Report {
    /// An empty report; creates its directory.
    pub fn new(folder: &Path, title: &str) -> Result<Self, BoxError> {
        fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Ok(Self { folder: folder.into(), page: HtmlReport::new(title) })
    }

    /// Adds a plot; `draw` writes it to a file.
    pub fn plot(
        &mut self,
        name: &str,
        caption: &str,
        draw: impl Fn(&Path) -> Result<(), PlotError>,
    ) -> Result<(), BoxError> {
        let file = self.folder.join(name);
        let (svg, png) = (file.with_extension("svg"), file.with_extension("png"));
        draw(&svg)?;
        draw(&png)?;
        self.page.picture(&fs::read_to_string(&svg)?, caption);
        Ok(())
    }

    /// Loss, learning rate and gradient norm at each step.
    pub fn training_curves(&mut self, metrics: &Path) -> Result<(), BoxError> {
        self.page.heading("Training");
        for curves in training_curves(metrics)? {
            let name = curves.y.replace(' ', "_");
            let caption = format!("{} at each step.", curves.title);
            self.plot(&name, &caption, |path| curves.draw(path))?;
        }
        Ok(())
    }

    /// Attention weights, `(B, H, Q, K)` per layer: how much each query (row) attends to each key (column).
    pub fn attention<B: Dim, H: Dim, Q: Dim, K: Dim, D: Backend<f32>>(
        &mut self,
        name: &str,
        (title, caption): (&str, &str),
        weights: &[Tensor<(B, H, Q, K), f32, D>],
        (queries, keys): (&[String], &[String]),
    ) -> Result<(), BoxError> {
        let maps = HeatMapGrid::of_attention(title, weights, queries, keys);
        self.plot(name, caption, |path| maps.draw(path))
    }

    /// Position embeddings, `(S, M)`.
    pub fn positions<S: Dim, M: Dim, D: Backend<f32>>(
        &mut self,
        positions: &Tensor<(S, M), f32, D>,
    ) -> Result<(), BoxError> {
        self.page.heading("Positions");
        let curves = LinePlot::of_columns("Positions", "position", "embedding", positions, CURVES);
        let caption = "Position embeddings: their first dimensions.";
        self.plot("position_curves", caption, |path| curves.draw(path))?;
        let matrix = HeatMapGrid::of_matrix("Positions", positions);
        let caption = "Position embeddings: one row per position, one column per dimension.";
        self.plot("position_matrix", caption, |path| matrix.draw(path))
    }

    /// Adds settings and model, writes the page and logs its path.
    pub fn finish(mut self, settings: &[(&str, &dyn Display)], model: &impl Module) -> Result<(), BoxError> {
        self.page.heading("Settings");
        let rows = settings.iter().map(|(name, value)| [name.to_string(), value.to_string()]);
        self.page.table(&["setting", "value"], rows);
        self.page.heading("Model");
        self.page.summary(&model.summary());
        let path = self.folder.join("index.html");
        self.page.write(&path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        log(&format!("wrote {}", path.display()));
        Ok(())
    }
}
