//! How a tensor prints: by a method, because `Tensor` is dfdx's type, whose `Debug` shows the storage.

use super::Real;
use crate::{
    backend::{Backend, elements_of},
    dims::name,
};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{NoneTape, Tensor};
use std::fmt::{self, Debug, Display, Formatter};

/// A longer tensor is abridged, as NumPy does it.
const MAX_ELEMENTS: usize = 1_000;
/// The elements at each end of an axis of an abridged tensor.
const EDGE_ELEMENTS: usize = 3;
/// Elements after this column go to the next line.
const MAX_COLUMNS: usize = 100;
/// Digits after the point, unless the format says how many.
const DIGITS: usize = 4;

/// The elements of a tensor as text, with its dimensions.
///
/// `{}` prints the dimensions by name, and the elements in rows of equal columns. Of a tensor of more than 1,000
/// elements it prints the first and the last 3 along each axis. `{:?}` prints one line. Both round to 4 digits after
/// the point; `{:.2}` rounds to 2.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub Batch = 2; pub EmbedDim = 3; pub HiddenDim = 1000; }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, EmbedDim), f32, Cpu> = tensor(&device, [1.0, -0.5, 12.0, 0.25, 3.0, 0.0], (Batch, EmbedDim))?;
/// assert_eq!(x.display().to_string(), "\
/// (Batch=2, EmbedDim=3)
/// [[ 1.00, -0.50, 12.00],
///  [ 0.25,  3.00,  0.00]]");
/// assert_eq!(format!("{:?}", x.display()), "(Batch=2, EmbedDim=3) of f32 [[1, -0.5, 12], [0.25, 3, 0]]");
///
/// let long: Tensor<(Batch, HiddenDim), f32, Cpu> = device.zeros();
/// assert_eq!(long.display().to_string(), "\
/// (Batch=2, HiddenDim=1000)
/// [[0, 0, 0, ..., 0, 0, 0],
///  [0, 0, 0, ..., 0, 0, 0]]");
/// # Ok::<(), OpError>(())
/// ```
pub trait DisplayTensor {
    /// The tensor as a value that prints its dimensions and elements.
    fn display(&self) -> impl Display + Debug;
}

impl<Dims: Shape, E: Real, D: Backend<E>, T> DisplayTensor for Tensor<Dims, E, D, T> {
    fn display(&self) -> impl Display + Debug {
        let elements = elements_of(&self.retaped::<NoneTape>()).into_iter();
        let elements = elements.map(|element| element.to_f64().unwrap_or(f64::NAN)).collect();
        let (dims, sizes) = (format!("{:?}", self.shape()), self.shape().concrete().into());
        Elements { dims, dtype: name::<E>(), sizes, elements }
    }
}

struct Elements {
    dims: String,
    dtype: String,
    sizes: Vec<usize>,
    elements: Vec<f64>,
}

impl Elements {
    /// The indices that are shown along an axis; `None` stands for those that are not.
    fn shown(&self, len: usize) -> Vec<Option<usize>> {
        if self.elements.len() <= MAX_ELEMENTS || len <= 2 * EDGE_ELEMENTS {
            return (0..len).map(Some).collect();
        }
        let (first, last) = (0..EDGE_ELEMENTS, len - EDGE_ELEMENTS..len);
        first.map(Some).chain([None]).chain(last.map(Some)).collect()
    }

    /// The elements that are shown of the part that begins at `start` and has the axes from `axis` on.
    fn shown_elements(&self, axis: usize, start: usize) -> Vec<f64> {
        let Some(&len) = self.sizes.get(axis) else {
            return vec![self.elements[start]];
        };
        let step: usize = self.sizes[axis + 1..].iter().product();
        let indices = self.shown(len).into_iter().flatten();
        indices.flat_map(|index| self.shown_elements(axis + 1, start + index * step)).collect()
    }

    /// Writes the part that begins at `start` and has the axes from `axis` on. `separator` makes the text between two
    /// rows from the number of axes of a row.
    fn write(
        &self,
        f: &mut Formatter<'_>,
        (axis, start): (usize, usize),
        number: &impl Fn(f64) -> String,
        separator: &impl Fn(usize) -> String,
    ) -> fmt::Result {
        let Some(&len) = self.sizes.get(axis) else {
            return f.write_str(&number(self.elements[start]));
        };
        let step: usize = self.sizes[axis + 1..].iter().product();
        let is_of_numbers = axis + 1 == self.sizes.len();
        let mut column = axis + 1;
        f.write_str("[")?;
        for (position, index) in self.shown(len).into_iter().enumerate() {
            let text = match index {
                Some(index) if is_of_numbers => number(self.elements[start + index * step]),
                _ => "...".into(),
            };
            if position > 0 && is_of_numbers {
                column += text.len() + 2;
                let is_full = column > MAX_COLUMNS && separator(0).starts_with('\n');
                f.write_str(if is_full { "," } else { ", " })?;
                if is_full {
                    column = axis + 1 + text.len();
                    write!(f, "\n{:1$}", "", axis + 1)?;
                }
            } else if position > 0 {
                write!(f, ",{}", separator(self.sizes.len() - axis - 1))?;
            } else {
                column += text.len();
            }
            match index {
                Some(index) if !is_of_numbers => self.write(f, (axis + 1, start + index * step), number, separator)?,
                _ => f.write_str(&text)?,
            }
        }
        f.write_str("]")
    }
}

/// The notation of all numbers of a tensor.
struct Notation {
    digits: usize,
    is_scientific: bool,
}

impl Notation {
    /// As few digits as show the numbers rounded; powers of ten where numbers are very large or very small.
    fn of(numbers: &[f64], digits: Option<usize>) -> Self {
        let sizes = numbers.iter().map(|number| number.abs()).filter(|size| size.is_finite() && *size > 0.0);
        let (min, max) = sizes.fold((f64::INFINITY, 0f64), |(min, max), size| (min.min(size), max.max(size)));
        let is_scientific = max >= 1e8 || (min < 1e-4 && max < 1e-2) || (max > 0.0 && max / min > 1e8);
        let needed = |number: &f64| {
            let text = format!("{:.DIGITS$}", number.abs());
            let digits = text.trim_end_matches('0').rsplit_once('.').map_or(0, |(_, digits)| digits.len());
            if number.is_finite() { digits } else { 0 }
        };
        let needed = if is_scientific { DIGITS } else { numbers.iter().map(needed).max().unwrap_or(0) };
        Self { digits: digits.unwrap_or(needed), is_scientific }
    }

    fn format(&self, number: f64) -> String {
        let digits = self.digits;
        match (number.is_nan(), number.is_infinite()) {
            (true, _) => "NaN".into(),
            (_, true) => if number > 0.0 { "inf" } else { "-inf" }.into(),
            _ if self.is_scientific => format!("{number:.digits$e}"),
            _ => format!("{number:.digits$}"),
        }
    }
}

impl Display for Elements {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.dims)?;
        if self.elements.is_empty() {
            return f.write_str("[]");
        }
        let shown = self.shown_elements(0, 0);
        let notation = Notation::of(&shown, f.precision());
        let width = shown.iter().map(|number| notation.format(*number).len()).max().unwrap_or(0);
        let number = |number| format!("{:>width$}", notation.format(number));
        let axes = self.sizes.len();
        // A row of one axis begins on the next line; between parts of more axes there are empty lines.
        let separator = |row_axes: usize| "\n".repeat(row_axes.max(1)) + &" ".repeat(axes.saturating_sub(row_axes));
        self.write(f, (0, 0), &number, &separator)
    }
}

impl Debug for Elements {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} ", self.dims, self.dtype)?;
        if self.elements.is_empty() {
            return f.write_str("[]");
        }
        let digits = f.precision();
        self.write(f, (0, 0), &|number| short(number, digits.unwrap_or(DIGITS)), &|_| " ".into())
    }
}

/// A number without zeros at its end.
fn short(number: f64, digits: usize) -> String {
    let text = Notation::of(&[number], Some(digits)).format(number);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}
