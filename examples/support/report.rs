//! `--report`: the plots of a training run, and a page that holds them.

use super::outputs::is_picture;
use super::{BoxError, Outcome, log};
use std::{
    fmt::Display,
    fs::{self, File},
    io::{self, Read},
    ops::Range,
    path::{Path, PathBuf},
};
use typed_transformer::{
    backend::Backend,
    dims::Dim,
    nn::Module,
    plot::{HeatMapGrid, HtmlReport, LinePlot, PlotError, training_curves},
    prelude::Tensor,
    weights::{self, SaveError},
};

/// The embedding dimensions whose positions are drawn as curves.
const CURVES: Range<usize> = 0..4;

/// The number of first bytes of a page in which its title is looked for.
const MAX_HEAD_LEN_BYTES: u64 = 1 << 16;

/// A directory with a page and its plots as SVG and PNG.
pub struct Report {
    folder: PathBuf,
    pub page: HtmlReport,
    /// The plots that could not be drawn.
    failures: Vec<PlotError>,
}

impl Report {
    /// An empty report; creates its directory. A directory with other files than those of a report is refused unless
    /// `overwrite` is true.
    pub fn new(folder: &Path, title: &str, overwrite: bool) -> Result<Self, BoxError> {
        let name = folder.display();
        fs::create_dir_all(folder).map_err(|error| format!("cannot make {name}: {error}"))?;
        if !overwrite && !is_of_report(folder, title).map_err(|error| format!("cannot read {name}: {error}"))? {
            return Err(format!("{name} has files that are not of a report; --overwrite replaces them").into());
        }
        let page = folder.join("index.html");
        match weights::ensure_writable(&page) {
            // A page of an earlier run is replaced.
            Err(SaveError::Exists { .. }) if page.is_file() => {}
            writable => writable?,
        }
        Ok(Self { folder: folder.into(), page: HtmlReport::new(title), failures: Vec::new() })
    }

    /// Adds a plot; `draw` writes it to a file. If it fails, the other plots remain.
    pub fn plot(&mut self, name: &str, caption: &str, draw: impl Fn(&Path) -> Result<(), PlotError>) {
        let file = self.folder.join(name);
        let (svg, png) = (file.with_extension("svg"), file.with_extension("png"));
        let drawn = draw(&svg).and_then(|()| draw(&png)).and_then(|()| {
            fs::read_to_string(&svg).map_err(|error| PlotError::Write { path: svg, message: error.to_string() })
        });
        match drawn {
            Ok(picture) => self.page.picture(&picture, caption),
            Err(error) => self.failures.push(error),
        }
        // Written after each plot, so that a later run knows an interrupted report as one. `finish` reports errors.
        let _ = self.page.write(&self.folder.join("index.html"));
    }

    /// Loss, learning rate and gradient norm at each step.
    pub fn training_curves(&mut self, metrics: &Path) {
        self.page.heading("Training");
        match training_curves(metrics) {
            Ok(plots) => plots.iter().for_each(|curves| {
                self.plot(&curves.y.replace(' ', "_"), "", |path| curves.draw(path));
            }),
            Err(error) => self.failures.push(error),
        }
    }

    /// Attention weights, `(B, H, Q, K)` per layer: how much each query (row) attends to each key (column).
    pub fn attention<B: Dim, H: Dim, Q: Dim, K: Dim, D: Backend<f32>>(
        &mut self,
        name: &str,
        (title, caption): (&str, &str),
        weights: &[Tensor<(B, H, Q, K), f32, D>],
        (queries, keys): (&[String], &[String]),
    ) {
        let maps = HeatMapGrid::of_attention(title, weights, queries, keys);
        self.plot(name, caption, |path| maps.draw(path));
    }

    /// Position embeddings, `(S, M)`.
    pub fn positions<S: Dim, M: Dim, D: Backend<f32>>(&mut self, positions: &Tensor<(S, M), f32, D>) {
        self.page.heading("Positions");
        let curves = LinePlot::of_columns("Positions", "position", "embedding", positions, CURVES);
        let caption = "Position embeddings: their first dimensions.";
        self.plot("position_curves", caption, |path| curves.draw(path));
        let matrix = HeatMapGrid::of_matrix("Positions", positions);
        let caption = "Position embeddings: one row per position, one column per dimension.";
        self.plot("position_matrix", caption, |path| matrix.draw(path));
    }

    /// Adds settings and model, writes the page and logs its path. Returns the first failure.
    pub fn finish(mut self, settings: &[(&str, &dyn Display)], model: &impl Module) -> Outcome {
        self.page.heading("Settings");
        let rows = settings.iter().map(|(name, value)| [name.to_string(), value.to_string()]);
        self.page.table(&["setting", "value"], rows);
        self.page.heading("Model");
        self.page.summary(&model.summary());
        let path = self.folder.join("index.html");
        self.page.write(&path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        log(&format!("wrote {}", path.display()));
        self.failures.into_iter().next().map_or(Ok(()), |error| Err(error.into()))
    }
}

/// Whether a folder has nothing, or what earlier runs wrote: a page with this title, or metrics without a page.
fn is_of_report(folder: &Path, title: &str) -> io::Result<bool> {
    let page = folder.join("index.html");
    match fs::metadata(&page) {
        // A pipe or a device may have no end.
        Ok(found) if !found.is_file() => Ok(false),
        Ok(_) => {
            let mut head = Vec::new();
            File::open(page)?.take(MAX_HEAD_LEN_BYTES).read_to_end(&mut head)?;
            Ok(String::from_utf8_lossy(&head).contains(&format!("<title>{title}</title>")))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A training that was stopped has left its metrics, and perhaps its checkpoints, but no picture.
            let entries: Vec<_> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
            let has_pictures = entries.iter().any(|entry| is_picture(&entry.path()));
            Ok(entries.is_empty() || folder.join("metrics.jsonl").exists() && !has_pictures)
        }
        Err(error) => Err(error),
    }
}
