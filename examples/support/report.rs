//! `--report`: the pictures of a training, and a page that holds them.

use std::{
    error::Error,
    fs,
    ops::Range,
    path::{Path, PathBuf},
};
use typed_transformer::{
    backend::Backend,
    dims::Dim,
    plot::{HeatMapGrid, HtmlReport, LinePlot, PlotError, training_curves},
    prelude::Tensor,
};

/// Dimensions of the positions that are drawn as curves.
const CURVES: Range<usize> = 0..4;

/// A folder with a page, and with the pictures on it as SVG and PNG.
pub struct Report {
    folder: PathBuf,
    pub page: HtmlReport,
}

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

impl Report {
    /// A report that says nothing yet; its folder is made.
    pub fn new(folder: &Path, title: &str) -> Result<Self> {
        let cannot = |error| format!("cannot make {}: {error}", folder.display());
        fs::create_dir_all(folder).map_err(cannot)?;
        Ok(Self { folder: folder.into(), page: HtmlReport::new(title) })
    }

    /// A picture, by what draws it into a file.
    pub fn picture(
        &mut self,
        name: &str,
        caption: &str,
        draw: impl Fn(&Path) -> std::result::Result<(), PlotError>,
    ) -> Result {
        let file = self.folder.join(name);
        let (svg, png) = (file.with_extension("svg"), file.with_extension("png"));
        draw(&svg)?;
        draw(&png)?;
        self.page.picture(&fs::read_to_string(&svg)?, caption);
        Ok(())
    }

    /// Losses, learning rate and gradients over the steps of a training.
    pub fn training_curves(&mut self, metrics: &Path) -> Result {
        self.page.heading("Training");
        for curves in training_curves(metrics)? {
            let name = curves.y.replace(' ', "_");
            let caption = format!("{} at each step.", curves.title);
            self.picture(&name, &caption, |path| curves.draw(path))?;
        }
        Ok(())
    }

    /// What each position adds to its token, `(S, M)`.
    pub fn positions<S: Dim, M: Dim, D: Backend<f32>>(
        &mut self,
        positions: &Tensor<(S, M), f32, D>,
    ) -> Result {
        self.page.heading("Positions");
        let curves = LinePlot::of_columns("Positions", "position", "added", positions, CURVES);
        let caption = "A few dimensions of what each position adds to the embedding of its token.";
        self.picture("position_curves", caption, |path| curves.draw(path))?;
        let matrix = HeatMapGrid::of_matrix("Positions", positions);
        let caption = "All of it: a row for each position, a column for each dimension.";
        self.picture("position_matrix", caption, |path| matrix.draw(path))
    }

    /// Writes the page.
    pub fn write(self) -> Result<PathBuf> {
        let path = self.folder.join("index.html");
        let cannot = |error| format!("cannot write {}: {error}", path.display());
        self.page.write(&path).map_err(cannot)?;
        Ok(path)
    }
}
