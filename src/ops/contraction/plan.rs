//! The role of each axis in a contraction. This code does not depend on dtype, device and tape, so the compiler makes
//! it once.

use crate::ops::views::Sizes;

/// A number in place of an axis's name. Two axes have the same label if and only if they have the same name.
pub type Label = u8;

/// A tensor without axes counts as one axis of size 1. This is the label of that axis.
pub const UNIT_AXIS: Label = Label::MAX;

/// The labels, or [`UNIT_AXIS`] for a tensor without axes.
pub fn or_unit_axis(labels: &[Label]) -> &[Label] {
    if labels.is_empty() { &[UNIT_AXIS] } else { labels }
}

/// The axes of a tensor.
#[derive(Clone, Copy)]
pub struct Axes<'a> {
    pub labels: &'a [Label],
    pub sizes: &'a [usize],
}

impl Axes<'_> {
    pub fn has(self, label: Label) -> bool {
        self.labels.contains(&label)
    }

    /// The size of an axis; 1 if there is none.
    pub fn size(self, label: Label) -> usize {
        position(self.labels, label).map_or(1, |axis| self.sizes[axis])
    }

    /// The number of elements.
    pub fn len(self) -> usize {
        self.sizes.iter().product()
    }

    /// The labels that `keep` keeps.
    pub fn pick(self, keep: impl Fn(Label) -> bool) -> Vec<Label> {
        self.labels.iter().copied().filter(|label| keep(*label)).collect()
    }
}

pub fn position<Item: PartialEq>(items: &[Item], item: Item) -> Option<usize> {
    items.iter().position(|other| *other == item)
}

/// Whether the operands share axes, and the result has all of these. A contraction without shared axes is a linear map
/// of one inner element.
pub fn is_multiplication(x: Axes, w: Axes, to: &[Label]) -> bool {
    let shared = x.pick(|label| w.has(label));
    !shared.is_empty() && shared.iter().all(|label| to.contains(label))
}

/// Whether each operand repeats itself along axes that only the other one has, and at least 4 times: for fewer, the
/// copy of an operand takes less time than products of matrices.
pub fn is_outer_product(x: Axes, w: Axes) -> bool {
    let own_len = |one: Axes, other: Axes| -> usize {
        one.pick(|label| !other.has(label)).iter().map(|label| one.size(*label)).product()
    };
    x.len() * w.len() > 0 && own_len(x, w) >= 4 && own_len(w, x) >= 4
}

/// Whether `x` is the left operand of a product of matrices. A product has its rows before its columns, so the left
/// operand is the one whose own axis comes first in the result.
pub fn is_left(x: Axes, w: Axes, to: &[Label]) -> bool {
    let first_of = |one: Axes, other: Axes| to.iter().position(|label| one.has(*label) && !other.has(*label));
    first_of(x, w).unwrap_or(0) <= first_of(w, x).unwrap_or(0)
}

/// The size of an axis of `x` or of `w`; 1 if neither has it.
pub fn size_in(x: Axes, w: Axes, label: Label) -> usize {
    if x.has(label) { x.size(label) } else { w.size(label) }
}

/// The sizes of the axes `to` of two operands.
pub fn sizes_of<To: Sizes>(x: Axes, w: Axes, to: &[Label]) -> To {
    To::from_fn(|axis| size_in(x, w, to[axis]))
}

/// Positions in `to`: first of the labels that `labels` lacks, then of those in `labels`, in their order.
pub fn repeated_first<To: Sizes>(labels: &[Label], to: &[Label]) -> To {
    let new = (0..to.len()).filter(|axis| !labels.contains(&to[*axis]));
    let own = labels.iter().filter_map(|label| position(to, *label));
    let order: Vec<usize> = new.chain(own).collect();
    To::from_fn(|axis| order[axis])
}

/// The order that undoes an order of axes.
pub fn inverse<Order: Sizes>(order: Order) -> Order {
    Order::from_fn(|axis| position(order.as_ref(), axis).unwrap_or(axis))
}

/// The roles of the axes of two operands in a product of matrices.
pub struct Plan<To> {
    pub batch: Vec<Label>,
    pub rows: Vec<Label>,
    pub columns: Vec<Label>,
    pub inner: Vec<Label>,
    /// The axes of the product: [`UNIT_AXIS`] if the result has no axes, then `batch`, `rows` and `columns`.
    pub product: Vec<Label>,
    /// Their sizes.
    pub shape: To,
    /// The order of these axes in the result.
    pub order: To,
}

impl<To: Sizes> Plan<To> {
    pub fn new(left: Axes, right: Axes, to: &[Label]) -> Self {
        // Shared axes take the order of the larger operand. So if the definition copies an operand, it is the smaller
        // one.
        let shared = match left.len() >= right.len() {
            true => left.pick(|label| right.has(label)),
            false => right.pick(|label| left.has(label)),
        };
        let (batch, inner): (Vec<Label>, Vec<Label>) = shared.iter().partition(|label| to.contains(label));
        let rows = left.pick(|label| !right.has(label));
        let columns = right.pick(|label| !left.has(label));

        let product = [&*batch, &rows, &columns].concat();
        let absent = to.iter().filter(|label| !product.contains(label));
        let product: Vec<Label> = absent.chain(product.iter().filter(|label| to.contains(label))).copied().collect();
        let shape = sizes_of(left, right, &product);
        let order = To::from_fn(|axis| position(&product, to[axis]).unwrap_or(0));
        Self { batch, rows, columns, inner, product, shape, order }
    }

    /// Whether neither the rows nor the columns are neighbours in the result, as in that of an outer-product mean, and
    /// the result ends with an axis that is shorter than another of its kind. Products of one axis of rows and one of
    /// columns are then many, and their elements lie apart. If the last axis has fewer than 4 elements, a copy of the
    /// whole product takes longer.
    pub fn is_interleaved(&self, left: Axes, right: Axes, to: &[Label]) -> bool {
        if self.rows.len().min(self.columns.len()) < 2 {
            return false;
        }
        let size = |label: &Label| size_in(left, right, *label);
        let long = |labels: &[Label]| labels.iter().copied().filter(|label| size(label) > 1).collect::<Vec<_>>();
        let (to, rows, columns) = (long(to), long(&self.rows), long(&self.columns));
        let is_apart = |own: &[Label]| own.len() > 1 && !to.windows(own.len()).any(|part| part == own);
        let has_longer = |last: &Label| {
            let is_longer = |label: &Label| size(label) > size(last);
            [&rows, &columns].into_iter().any(|own| own.contains(last) && own.iter().any(is_longer))
        };
        let ends_short = to.last().is_some_and(|last| size(last) >= 4 && has_longer(last));
        is_apart(&rows) && is_apart(&columns) && ends_short
    }

    /// The rows, columns and inner elements, if the product is that of a linear map.
    pub fn linear_map(&self, left: Axes, right: Axes) -> Option<(usize, usize, usize)> {
        let is_linear = self.batch.is_empty()
            && left.labels == [&*self.rows, &self.inner].concat()
            && right.labels == [&*self.columns, &self.inner].concat();
        let count = |labels: &[Label]| labels.iter().map(|label| size_in(left, right, *label)).product();
        is_linear.then(|| (count(&self.rows), count(&self.columns), count(&self.inner)))
    }
}

/// Three blocks of neighbouring axes: of the batch, and of the matrices' rows and columns.
pub struct Blocks {
    /// The elements of each.
    pub sizes: [usize; 3],
    /// The blocks in the order of the tensor; those without axes first.
    pub order: [usize; 3],
    /// Whether a matrix product can read the tensor in place: its axes have the order of the blocks, and there is a
    /// unit stride in a row or in a column.
    pub is_matrix: bool,
}

impl Blocks {
    pub fn new(x: Axes, blocks: [&[Label]; 3]) -> Self {
        let sizes = blocks.map(|block| block.iter().map(|label| x.size(*label)).product());
        let mut order = [0, 1, 2];
        order.sort_by_key(|i| blocks[*i].first().map(|label| position(x.labels, *label)));
        let is_in_order = order.iter().flat_map(|i| blocks[*i]).eq(x.labels);
        Self { sizes, order, is_matrix: is_in_order && (order[2] >= 1 || sizes[order[2]] == 1) }
    }
}

/// The axes that have these labels.
pub fn axes_of<Order: Sizes>(labels: &[Label], order: &[Label]) -> Order {
    Order::from_fn(|axis| position(labels, order[axis]).unwrap_or(axis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_of_one_element_and_ends_of_few_are_not_interleaved() {
        let is_interleaved = |[summed, i, c, j, d]: [usize; 5]| {
            let (x, w) = ([summed, i, c], [summed, j, d]);
            let (x, w) = (Axes { labels: &[0, 1, 2], sizes: &x }, Axes { labels: &[0, 3, 4], sizes: &w });
            Plan::<[usize; 4]>::new(x, w, &[1, 3, 2, 4]).is_interleaved(x, w, &[1, 3, 2, 4])
        };
        assert!(is_interleaved([2, 8, 4, 8, 4]) && is_interleaved([2, 8, 2, 8, 4]));
        let others = [[2, 8, 4, 8, 3], [2, 8, 4, 8, 8], [2, 8, 1, 8, 4], [2, 1, 4, 8, 4], [2, 8, 4, 1, 4]];
        assert!(!others.into_iter().any(is_interleaved));
    }
}
