use super::{FONT, Plot, PlotError, number, short, write};
use crate::{backend::Backend, ops::Real};
use dfdx::{
    shapes::{Dim, HasShape},
    tensor::Tensor,
};
use plotters::{
    coord::Shift,
    prelude::{
        BLACK, Color, DrawingArea, DrawingBackend, IntoFont, PathElement, RGBColor, Rectangle, Text,
        TextStyle, WHITE,
    },
    style::{
        FontTransform,
        text_anchor::{HPos, Pos, VPos},
    },
};
use std::{error::Error, ops::Range, path::Path};

/// A matrix in [`HeatMapGrid`].
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// Written above it.
    pub name: String,
    /// The names of its rows.
    pub rows: Vec<String>,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its numbers, row after row; one that is not finite stays blank.
    pub values: Vec<f64>,
}

/// Matrices whose numbers are colours: panels side by side, on one scale.
///
/// ```
/// use typed_transformer::plot::{HeatMap, HeatMapGrid};
/// let names = |letters: &str| letters.chars().map(String::from).collect();
/// let maps = HeatMapGrid {
///     title: "Attention".into(),
///     scale: 0.0..1.0,
///     across: 1,
///     panels: vec![HeatMap {
///         name: "head 0".into(),
///         rows: names("ur"),
///         columns: names("he"),
///         values: vec![0.9, 0.1, 0.2, 0.8],
///     }],
/// };
/// let file = std::env::temp_dir().join(format!("heat-{}.svg", std::process::id()));
/// maps.draw(&file)?;
/// assert!(std::fs::read_to_string(&file)?.contains("head 0"));
/// # std::fs::remove_file(&file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMapGrid {
    /// Written above all.
    pub title: String,
    /// What has the first colour, white, and what the last one; below 0 there is a second colour, and
    /// white is halfway.
    pub scale: Range<f64>,
    /// How many panels stand side by side at most.
    pub across: usize,
    /// The matrices, all with as many rows and columns.
    pub panels: Vec<HeatMap>,
}

impl HeatMapGrid {
    /// How much each query attends to each key: a row of panels for each layer, a panel for each head.
    ///
    /// `weights` are of each layer `(B, H, Q, K)`, as
    /// [`LM::try_attention_weights`](crate::nn::LM::try_attention_weights) gives them; the first sequence of
    /// the batch is drawn, and of it the positions that `queries` and `keys` name, so that padding can be
    /// left out.
    pub fn of_attention<B: Dim, H: Dim, Q: Dim, K: Dim, E: Real, D: Backend<E>>(
        title: impl Into<String>,
        weights: &[Tensor<(B, H, Q, K), E, D>],
        queries: &[String],
        keys: &[String],
    ) -> Self {
        let mut panels = Vec::new();
        for (layer, weights) in weights.iter().enumerate() {
            let (batch, _, q, k) = *weights.shape();
            let values = weights.as_vec();
            let of_first = values.len() / batch.size().max(1);
            let heads = values[..of_first].chunks((q.size() * k.size()).max(1));
            for (head, values) in heads.enumerate() {
                let rows = values.chunks(k.size().max(1)).take(queries.len());
                let cells = rows.flat_map(|row| row.iter().take(keys.len()));
                panels.push(HeatMap {
                    name: format!("layer {layer}, head {head}"),
                    rows: queries.iter().take(q.size()).cloned().collect(),
                    columns: keys.iter().take(k.size()).cloned().collect(),
                    values: cells.map(number).collect(),
                });
            }
        }
        let heads = weights.first().map_or(1, |weights| weights.shape().1.size());
        Self { title: title.into(), scale: 0.0..1.0, across: heads, panels }
    }

    /// A matrix `(Rows, Columns)` whose rows and columns are named by their numbers, 0 being halfway.
    pub fn of_matrix<Rows: Dim, Columns: Dim, E: Real, D: Backend<E>>(
        title: impl Into<String>,
        matrix: &Tensor<(Rows, Columns), E, D>,
    ) -> Self {
        let (rows, columns) = *matrix.shape();
        let values: Vec<f64> = matrix.as_vec().iter().map(number).collect();
        let most = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let numbers = |count: usize| (0..count).map(|i| i.to_string()).collect();
        Self {
            title: title.into(),
            scale: if most > 0.0 { -most..most } else { -1.0..1.0 },
            across: 1,
            panels: vec![HeatMap {
                name: String::new(),
                rows: numbers(rows.size()),
                columns: numbers(columns.size()),
                values,
            }],
        }
    }

    /// Draws into a file that ends in `.svg` or `.png`.
    ///
    /// # Errors
    /// [`PlotError`], naming the file.
    pub fn draw(&self, path: &Path) -> Result<(), PlotError> {
        let mut values = self.panels.iter().flat_map(|panel| &panel.values);
        if !values.any(|value| value.is_finite()) {
            return Err(PlotError::Nothing { path: path.into() });
        }
        for panel in &self.panels {
            let (expected, found) = (panel.rows.len() * panel.columns.len(), panel.values.len());
            if expected != found {
                return Err(PlotError::Values {
                    path: path.into(),
                    panel: panel.name.clone(),
                    expected,
                    found,
                });
            }
        }
        write(self, path)
    }

    /// The colour of a number, in a few steps, so that equal neighbours are one rectangle.
    fn colour(&self, value: f64) -> RGBColor {
        const STEPS: f64 = 40.0;
        let Range { start, end } = self.scale;
        let mix = |from: RGBColor, to: RGBColor, share: f64| {
            let part =
                |from: u8, to: u8| (f64::from(from) * (1.0 - share) + f64::from(to) * share).round() as u8;
            RGBColor(part(from.0, to.0), part(from.1, to.1), part(from.2, to.2))
        };
        let share = ((value - start) / (end - start).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        let share = (share * STEPS).round() / STEPS;
        if start < 0.0 {
            let colour = if share < 0.5 { OTHER } else { MIDDLE };
            mix(WHITE, colour, (share - 0.5).abs() * 2.0)
        } else if share < 0.5 {
            mix(WHITE, MIDDLE, share * 2.0)
        } else {
            mix(MIDDLE, LAST, share * 2.0 - 1.0)
        }
    }

    fn layout(&self) -> Layout {
        let most = |count: fn(&HeatMap) -> usize| self.panels.iter().map(count).max().unwrap_or(0);
        let (rows, columns) = (most(|panel| panel.rows.len()), most(|panel| panel.columns.len()));
        let longest = |names: fn(&HeatMap) -> &Vec<String>| {
            let names = self.panels.iter().flat_map(names);
            names.map(|name| name.chars().count()).max().unwrap_or(0) as i32
        };
        let side = |count: usize| {
            // Below this, not every name has room.
            let least = if count <= 32 { 14 } else { 5 };
            (256 / count.max(1) as i32).clamp(least, 22)
        };
        let (wide, high) = (side(columns), side(rows));
        // Names that are narrower than their columns stand upright above them.
        let upright = 8 * longest(|panel| &panel.columns) + 4 <= wide;
        let left = 8 + 8 * longest(|panel| &panel.rows);
        let top = 26 + if upright { 16 } else { 6 + 8 * longest(|panel| &panel.columns) };
        Layout {
            wide,
            high,
            upright,
            left,
            top,
            width: left + wide * columns as i32 + GAP,
            height: top + high * rows as i32 + GAP,
        }
    }

    /// How many panels stand side by side, if there is room for them.
    fn across(&self) -> usize {
        let room = ((MOST_WIDTH - GAP) / self.layout().width).max(1) as usize;
        let wanted = self.across.clamp(1, self.panels.len().max(1));
        // As many in each line, where they do not fit into one.
        wanted.div_ceil(wanted.div_ceil(room))
    }
}

const MIDDLE: RGBColor = RGBColor(0, 114, 178);
const LAST: RGBColor = RGBColor(0, 25, 60);
const OTHER: RGBColor = RGBColor(213, 94, 0);

/// No wider than this, if there is more than one panel.
const MOST_WIDTH: i32 = 1160;
/// Between two panels, and around all.
const GAP: i32 = 14;
/// The height of the title, and of the scale.
const TITLE: i32 = 40;
const SCALE: i32 = 44;
/// The least distance of two names.
const NAME: i32 = 13;

/// Sizes in pixels.
struct Layout {
    /// Of a cell.
    wide: i32,
    high: i32,
    upright: bool,
    left: i32,
    top: i32,
    width: i32,
    height: i32,
}

fn style(size: u32, h: HPos, v: VPos, transform: FontTransform) -> TextStyle<'static> {
    let font = (FONT, size).into_font().transform(transform);
    TextStyle::from(font).pos(Pos::new(h, v))
}

impl Plot for HeatMapGrid {
    fn size(&self) -> (u32, u32) {
        let (layout, across) = (self.layout(), self.across());
        let down = self.panels.len().div_ceil(across);
        let width = (GAP + layout.width * across as i32).max(8 * self.title.chars().count() as i32 + 60);
        let height = TITLE + layout.height * down as i32 + SCALE;
        (width.max(280) as u32, height as u32)
    }

    fn draw_on<Backend: DrawingBackend>(
        &self,
        area: &DrawingArea<Backend, Shift>,
    ) -> Result<(), Box<dyn Error>>
    where
        Backend::ErrorType: 'static,
    {
        area.fill(&WHITE)?;
        let (layout, across) = (self.layout(), self.across());
        let centred = style(20, HPos::Center, VPos::Center, FontTransform::None);
        let (width, height) = self.size();
        area.draw_text(&self.title, &centred, (width as i32 / 2, TITLE / 2))?;
        for (i, panel) in self.panels.iter().enumerate() {
            let (column, row) = ((i % across) as i32, (i / across) as i32);
            let corner =
                (GAP + column * layout.width + layout.left, TITLE + row * layout.height + layout.top);
            self.draw_panel(area, panel, &layout, corner)?;
        }
        self.draw_scale(area, (GAP + layout.left, height as i32 - SCALE + 8))
    }
}

impl HeatMapGrid {
    fn draw_panel<Backend: DrawingBackend>(
        &self,
        area: &DrawingArea<Backend, Shift>,
        panel: &HeatMap,
        layout: &Layout,
        (x0, y0): (i32, i32),
    ) -> Result<(), Box<dyn Error>>
    where
        Backend::ErrorType: 'static,
    {
        let (wide, high) = (layout.wide, layout.high);
        let (right, bottom) = (x0 + wide * panel.columns.len() as i32, y0 + high * panel.rows.len() as i32);
        let name = style(15, HPos::Center, VPos::Top, FontTransform::None);
        area.draw_text(&panel.name, &name, ((x0 + right) / 2, y0 - layout.top + 4))?;

        let every = |side: i32| (NAME as usize).div_ceil(side as usize);
        let row_style = style(14, HPos::Right, VPos::Center, FontTransform::None);
        for (i, name) in panel.rows.iter().enumerate().step_by(every(high)) {
            area.draw_text(name, &row_style, (x0 - 5, y0 + high * i as i32 + high / 2))?;
        }
        let column_style = match layout.upright {
            true => style(14, HPos::Center, VPos::Bottom, FontTransform::None),
            false => style(14, HPos::Left, VPos::Center, FontTransform::Rotate270),
        };
        for (i, name) in panel.columns.iter().enumerate().step_by(every(wide)) {
            area.draw_text(name, &column_style, (x0 + wide * i as i32 + wide / 2, y0 - 4))?;
        }

        for (i, row) in panel.values.chunks(panel.columns.len().max(1)).enumerate() {
            let colours: Vec<RGBColor> =
                row.iter().map(|value| if value.is_finite() { self.colour(*value) } else { WHITE }).collect();
            let (mut x, y) = (x0, y0 + high * i as i32);
            for run in colours.chunk_by(|one, next| one == next) {
                let end = x + wide * run.len() as i32;
                if run[0] != WHITE {
                    area.draw(&Rectangle::new([(x, y), (end, y + high)], run[0].filled()))?;
                }
                x = end;
            }
        }
        let frame = Rectangle::new([(x0, y0), (right, bottom)], BLACK.mix(0.4));
        Ok(area.draw(&frame)?)
    }

    fn draw_scale<Backend: DrawingBackend>(
        &self,
        area: &DrawingArea<Backend, Shift>,
        (x, y): (i32, i32),
    ) -> Result<(), Box<dyn Error>>
    where
        Backend::ErrorType: 'static,
    {
        const WIDTH: i32 = 120;
        let Range { start, end } = self.scale;
        for i in 0..WIDTH {
            let value = start + (end - start) * f64::from(i) / f64::from(WIDTH - 1);
            let colour = self.colour(value).filled();
            area.draw(&Rectangle::new([(x + i, y), (x + i + 1, y + 10)], colour))?;
        }
        let frame = vec![(x, y), (x + WIDTH, y), (x + WIDTH, y + 10), (x, y + 10), (x, y)];
        area.draw(&PathElement::new(frame, BLACK.mix(0.4)))?;
        for (place, value) in [(0, start), (WIDTH / 2, (start + end) / 2.0), (WIDTH, end)] {
            let below = style(13, HPos::Center, VPos::Top, FontTransform::None);
            let text = Text::new(short(&value), (x + place, y + 14), below);
            area.draw(&text)?;
        }
        Ok(())
    }
}
