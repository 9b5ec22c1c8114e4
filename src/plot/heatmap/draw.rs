//! The drawing of heat maps, and the sizes of its parts.

use super::{HeatMap, HeatMapGrid};
use crate::plot::{Drawn, FONT, Plot, decimals_of, format_short};
use plotters::coord::Shift;
use plotters::prelude::{
    BLACK, Color, DrawingArea, DrawingBackend, IntoFont, PathElement, RGBColor, Rectangle, Text, TextStyle, WHITE,
};
use plotters::style::FontTransform;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;

/// The minimum distance between two labels, in pixels.
const MIN_LABEL_SPACING: i32 = 13;

/// The width in pixels of a cell that shows its value.
const NUMBER_WIDTH: i32 = 32;

fn style(size: u32, h: HPos, v: VPos, transform: FontTransform) -> TextStyle<'static> {
    let font = (FONT, size).into_font().transform(transform);
    TextStyle::from(font).pos(Pos::new(h, v))
}

impl Plot for HeatMapGrid {
    fn has_values(&self) -> bool {
        self.panels.iter().flat_map(|panel| &panel.values).any(|value| value.is_finite())
    }

    fn size(&self) -> (u32, u32) {
        let (layout, columns) = (self.panel_layout(), self.fitting_columns());
        let rows = self.panels.len().div_ceil(columns);
        let width = (GAP + layout.width * columns as i32).max(8 * self.title.chars().count() as i32 + 60);
        let height = TITLE_HEIGHT + layout.height * rows as i32 + SCALE_HEIGHT;
        (width.max(280) as u32, height as u32)
    }

    fn draw_on<Backend: DrawingBackend<ErrorType: 'static>>(&self, area: &DrawingArea<Backend, Shift>) -> Drawn {
        area.fill(&WHITE)?;
        let (layout, columns) = (self.panel_layout(), self.fitting_columns());
        let centred = style(20, HPos::Center, VPos::Center, FontTransform::None);
        let (width, height) = self.size();
        area.draw_text(&self.title, &centred, (width as i32 / 2, TITLE_HEIGHT / 2))?;
        for (i, panel) in self.panels.iter().enumerate() {
            let (column, row) = ((i % columns) as i32, (i / columns) as i32);
            let x = GAP + column * layout.width + layout.left;
            let y = TITLE_HEIGHT + row * layout.height + layout.top;
            self.draw_panel(area, panel, &layout, (x, y))?;
        }
        self.draw_scale(area, (GAP + layout.left, height as i32 - SCALE_HEIGHT + 8))
    }
}

impl HeatMapGrid {
    /// Draws a panel whose first cell has its upper left corner at `(x0, y0)`.
    fn draw_panel<Backend: DrawingBackend<ErrorType: 'static>>(
        &self,
        area: &DrawingArea<Backend, Shift>,
        panel: &HeatMap,
        layout: &PanelLayout,
        (x0, y0): (i32, i32),
    ) -> Drawn {
        let (cell_width, cell_height) = (layout.cell_width, layout.cell_height);
        let right = x0 + cell_width * panel.columns.len() as i32;
        let bottom = y0 + cell_height * panel.rows.len() as i32;
        let name = style(15, HPos::Center, VPos::Top, FontTransform::None);
        area.draw_text(&panel.name, &name, ((x0 + right) / 2, y0 - layout.top + 4))?;

        // With small cells, only every n-th has a label.
        let label_step = |side: i32| (MIN_LABEL_SPACING as usize).div_ceil(side as usize);
        let row_style = style(14, HPos::Right, VPos::Center, FontTransform::None);
        for (i, label) in panel.rows.iter().enumerate().step_by(label_step(cell_height)) {
            let y = y0 + cell_height * i as i32 + cell_height / 2;
            area.draw_text(label, &row_style, (x0 - 5, y))?;
        }
        let column_style = match layout.horizontal_labels {
            true => style(14, HPos::Center, VPos::Bottom, FontTransform::None),
            false => style(14, HPos::Left, VPos::Center, FontTransform::Rotate270),
        };
        for (i, label) in panel.columns.iter().enumerate().step_by(label_step(cell_width)) {
            let x = x0 + cell_width * i as i32 + cell_width / 2;
            area.draw_text(label, &column_style, (x, y0 - 4))?;
        }

        for (i, row) in panel.values.chunks(panel.columns.len().max(1)).enumerate() {
            let colours: Vec<RGBColor> =
                row.iter().map(|value| if value.is_finite() { self.colour(*value) } else { WHITE }).collect();
            let (mut x, y) = (x0, y0 + cell_height * i as i32);
            for run in colours.chunk_by(|one, next| one == next) {
                let end = x + cell_width * run.len() as i32;
                if run[0] != WHITE {
                    area.draw(&Rectangle::new([(x, y), (end, y + cell_height)], run[0].filled()))?;
                }
                x = end;
            }
            if cell_width < NUMBER_WIDTH {
                continue;
            }
            for (column, (value, colour)) in row.iter().zip(&colours).enumerate().filter(|(_, (x, _))| x.is_finite()) {
                let x = x0 + cell_width * column as i32 + cell_width / 2;
                let is_dark = u16::from(colour.0) + u16::from(colour.1) < 255;
                let number = style(11, HPos::Center, VPos::Center, FontTransform::None);
                let number = number.color(if is_dark { &WHITE } else { &BLACK });
                area.draw_text(&format!("{value:.2}"), &number, (x, y + cell_height / 2))?;
            }
        }
        let frame = Rectangle::new([(x0, y0), (right, bottom)], BLACK.mix(0.4));
        Ok(area.draw(&frame)?)
    }

    /// Draws the colour scale with its upper left corner at `(x, y)`.
    fn draw_scale<Backend: DrawingBackend<ErrorType: 'static>>(
        &self,
        area: &DrawingArea<Backend, Shift>,
        (x, y): (i32, i32),
    ) -> Drawn {
        const WIDTH: i32 = 120;
        let Range { start, end } = self.scale;
        for i in 0..WIDTH {
            let value = start + (end - start) * f64::from(i) / f64::from(WIDTH - 1);
            let colour = self.colour(value).filled();
            area.draw(&Rectangle::new([(x + i, y), (x + i + 1, y + 10)], colour))?;
        }
        let frame = vec![(x, y), (x + WIDTH, y), (x + WIDTH, y + 10), (x, y + 10), (x, y)];
        area.draw(&PathElement::new(frame, BLACK.mix(0.4)))?;
        for (offset, value) in [(0, start), (WIDTH / 2, (start + end) / 2.0), (WIDTH, end)] {
            let below = style(13, HPos::Center, VPos::Top, FontTransform::None);
            let text = Text::new(format_short(value, decimals_of(&self.scale)), (x + offset, y + 14), below);
            area.draw(&text)?;
        }
        Ok(())
    }
}

/// The maximum width of a grid of several columns, in pixels.
const MAX_WIDTH: i32 = 1160;
/// The most rows and columns of a matrix whose cells show their values.
const MAX_NUMBERS: usize = 8;
/// The space between panels and around the grid, in pixels.
const GAP: i32 = 14;
/// The heights of the title and of the colour scale, in pixels.
const TITLE_HEIGHT: i32 = 40;
const SCALE_HEIGHT: i32 = 44;

/// The sizes of a panel in pixels.
struct PanelLayout {
    cell_width: i32,
    cell_height: i32,
    /// Whether the labels of the columns are horizontal; otherwise they are rotated.
    horizontal_labels: bool,
    /// The space for the labels of the rows.
    left: i32,
    /// The space for the panel's name and the labels of the columns.
    top: i32,
    /// The whole panel, with the gap beside it.
    width: i32,
    /// The whole panel, with the gap below it.
    height: i32,
}

impl HeatMapGrid {
    fn panel_layout(&self) -> PanelLayout {
        let max = |count: fn(&HeatMap) -> usize| self.panels.iter().map(count).max().unwrap_or(0);
        let (rows, columns) = (max(|panel| panel.rows.len()), max(|panel| panel.columns.len()));
        let max_label_len = |labels: fn(&HeatMap) -> &Vec<String>| {
            let labels = self.panels.iter().flat_map(labels);
            labels.map(|label| label.chars().count()).max().unwrap_or(0) as i32
        };
        let cell_side = |count: usize| {
            // Smaller cells leave no room for a label at each of them.
            let min = if count <= 32 { 14 } else { 5 };
            (256 / count.max(1) as i32).clamp(min, 22)
        };
        let (mut cell_width, cell_height) = (cell_side(columns), cell_side(rows));
        if rows.max(columns) <= MAX_NUMBERS {
            cell_width = NUMBER_WIDTH;
        }
        let horizontal_labels = 8 * max_label_len(|panel| &panel.columns) + 4 <= cell_width;
        // In most fonts a letter of a label takes 7 pixels.
        let left = 8 + 7 * max_label_len(|panel| &panel.rows);
        let top = 26 + if horizontal_labels { 16 } else { 6 + 8 * max_label_len(|panel| &panel.columns) };
        PanelLayout {
            cell_width,
            cell_height,
            horizontal_labels,
            left,
            top,
            width: left + cell_width * columns as i32 + GAP,
            height: top + cell_height * rows as i32 + GAP,
        }
    }

    /// The number of panels side by side: at most `columns_per_row`, and as many as fit.
    fn fitting_columns(&self) -> usize {
        let fitting = ((MAX_WIDTH - GAP) / self.panel_layout().width).max(1) as usize;
        let wanted = self.columns_per_row.clamp(1, self.panels.len().max(1));
        // A row that does not fit is divided into equal ones.
        wanted.div_ceil(wanted.div_ceil(fitting))
    }
}
