use super::draw::NUMBER_WIDTH;
use super::{HeatMap, HeatMapGrid};

/// The maximum width of a grid of several columns, in pixels.
const MAX_WIDTH: i32 = 1160;
/// The most rows and columns of a matrix whose cells show their values.
const MAX_NUMBERS: usize = 8;
/// The space between panels and around the grid, in pixels.
pub(super) const GAP: i32 = 14;
/// The heights of the title and of the colour scale, in pixels.
pub(super) const TITLE_HEIGHT: i32 = 40;
pub(super) const SCALE_HEIGHT: i32 = 44;

/// The sizes of a panel in pixels.
pub(super) struct PanelLayout {
    pub cell_width: i32,
    pub cell_height: i32,
    /// Whether the labels of the columns are horizontal; otherwise they are rotated.
    pub horizontal_labels: bool,
    /// The space for the labels of the rows.
    pub left: i32,
    /// The space for the panel's name and the labels of the columns.
    pub top: i32,
    /// The whole panel, with the gap beside it.
    pub width: i32,
    /// The whole panel, with the gap below it.
    pub height: i32,
}

impl HeatMapGrid {
    pub(super) fn panel_layout(&self) -> PanelLayout {
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
    pub(super) fn fitting_columns(&self) -> usize {
        let fitting = ((MAX_WIDTH - GAP) / self.panel_layout().width).max(1) as usize;
        let wanted = self.columns_per_row.clamp(1, self.panels.len().max(1));
        // A row that does not fit is divided into equal ones.
        wanted.div_ceil(wanted.div_ceil(fitting))
    }
}
