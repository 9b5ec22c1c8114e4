//! Rules on the names of axes, decided at compile time by the words that a user wrote.
//!
//! In a generic function, rustc cannot test whether two types are equal. It can evaluate a constant that is made from
//! strings, so the spelling of axes is compared. The macros [`einsum!`](crate::einsum!) and
//! [`rearrange!`](crate::rearrange!) pass each axis as a type, and whether its rule holds as a constant.

use super::ConstDim;

/// The number of `names` that are `name`.
#[must_use]
pub const fn count(name: &str, names: &[&str]) -> usize {
    match names {
        [first, rest @ ..] => is_same(name.as_bytes(), first.as_bytes()) as usize + count(name, rest),
        [] => 0,
    }
}

/// Whether one of the lists has `name`.
#[must_use]
pub const fn is_in(name: &str, lists: &[&[&str]]) -> bool {
    match lists {
        [first, rest @ ..] => count(name, first) > 0 || is_in(name, rest),
        [] => false,
    }
}

/// Whether a result has only axes of the operands, and none twice. If not, rules on the operands' axes would only
/// repeat the error.
#[must_use]
pub const fn is_result(names: &[&str], operands: &[&[&str]]) -> bool {
    match names {
        [first, rest @ ..] => is_in(first, operands) && count(first, rest) == 0 && is_result(rest, operands),
        [] => true,
    }
}

/// A number in place of an axis's name. Two axes have the same label if and only if they have the same name.
pub type Label = u8;

/// The label of `name`: its position in the list of all names.
#[must_use]
pub const fn label(name: &str, all: &[&str]) -> Label {
    match all {
        [first, rest @ ..] if !is_same(name.as_bytes(), first.as_bytes()) => 1 + label(name, rest),
        _ => 0,
    }
}

/// The number of axes of a tensor with these names; a tensor without axes counts as one axis of one element.
#[must_use]
pub const fn num_axes(names: &[&str]) -> usize {
    if names.is_empty() { 1 } else { names.len() }
}

/// The number of axes of the product of two operands, which has those that are in one of the lists `kept`; at least 1.
#[must_use]
pub const fn product_num_axes(operands: [&[&str]; 2], kept: &[&[&str]]) -> usize {
    let (mut num_axes, mut operand) = (0, 0);
    while operand < 2 {
        let mut axis = 0;
        while axis < operands[operand].len() {
            let name = operands[operand][axis];
            let is_first = operand == 0 || count(name, operands[0]) == 0;
            num_axes += (is_first && is_in(name, kept)) as usize;
            axis += 1;
        }
        operand += 1;
    }
    if num_axes == 0 { 1 } else { num_axes }
}

/// Whether two types are written alike. Spaces do not count, because `stringify!` adds some.
const fn is_same(one: &[u8], other: &[u8]) -> bool {
    match (one, other) {
        ([b' ', one @ ..], other) | (other, [b' ', one @ ..]) => is_same(one, other),
        ([a, one @ ..], [b, other @ ..]) => *a == *b && is_same(one, other),
        ([], []) => true,
        _ => false,
    }
}

/// The size of a factor of a [`Product`](super::Product).
#[must_use]
pub const fn size<Factor: ConstDim>() -> usize {
    Factor::SIZE
}

/// `Holds<true>` is [`True`].
pub struct Holds<const HOLDS: bool>;
/// The rule holds.
pub trait True {}
impl True for Holds<true> {}

// Each rule is a trait with an implementation for every type. rustc would otherwise suggest the trait as a bound of
// the user's generic parameter, or list the types that have one.

/// An axis is in an operand once.
#[diagnostic::on_unimplemented(
    message = "`{Name}` stands twice in the operand",
    label = "one of two axes called `{Name}`",
    note = "the axes of a tensor have different names here; `rename` gives an axis another one"
)]
pub trait IsOnceInOperand<Name, const HOLDS: bool> {}
#[diagnostic::do_not_recommend]
impl<Any, Name, const HOLDS: bool> IsOnceInOperand<Name, HOLDS> for Any where Holds<HOLDS>: True {}
/// Compiles if the rule [`IsOnceInOperand`] holds.
pub const fn once_in_operand<Name, const HOLDS: bool>()
where
    (): IsOnceInOperand<Name, HOLDS>,
{
}

/// An axis is in the result once.
#[diagnostic::on_unimplemented(
    message = "`{Name}` stands twice in the result",
    label = "one of two axes called `{Name}`",
    note = "the axes of a tensor have different names here; `rename` gives an axis another one"
)]
pub trait IsOnceInResult<Name, const HOLDS: bool> {}
#[diagnostic::do_not_recommend]
impl<Any, Name, const HOLDS: bool> IsOnceInResult<Name, HOLDS> for Any where Holds<HOLDS>: True {}
/// Compiles if the rule [`IsOnceInResult`] holds.
pub const fn once_in_result<Name, const HOLDS: bool>()
where
    (): IsOnceInResult<Name, HOLDS>,
{
}

/// An axis of the result is in an operand.
#[diagnostic::on_unimplemented(
    message = "`{Name}` of the result is in no operand",
    label = "no operand has an axis `{Name}`",
    note = "each axis of the result is an axis of an operand; `broadcast` adds a new one"
)]
pub trait IsGiven<Name, const HOLDS: bool> {}
#[diagnostic::do_not_recommend]
impl<Any, Name, const HOLDS: bool> IsGiven<Name, HOLDS> for Any where Holds<HOLDS>: True {}
/// Compiles if the rule [`IsGiven`] holds.
pub const fn given<Name, const HOLDS: bool>()
where
    (): IsGiven<Name, HOLDS>,
{
}

/// An axis of an operand is in another one or in the result.
#[diagnostic::on_unimplemented(
    message = "`{Name}` is in this operand alone",
    label = "neither the result nor another operand has an axis `{Name}`",
    note = "an axis of two operands may be summed over; `sum_over` sums over an axis of one"
)]
pub trait IsNotAlone<Name, const HOLDS: bool> {}
#[diagnostic::do_not_recommend]
impl<Any, Name, const HOLDS: bool> IsNotAlone<Name, HOLDS> for Any where Holds<HOLDS>: True {}
/// Compiles if the rule [`IsNotAlone`] holds.
pub const fn not_alone<Name, const HOLDS: bool>()
where
    (): IsNotAlone<Name, HOLDS>,
{
}

/// An axis of the input is in the result.
#[diagnostic::on_unimplemented(
    message = "`{Name}` is not in the result",
    label = "the result has no axis `{Name}`",
    note = "a rearrangement keeps all axes; `sum_over` and `mean_over` remove one"
)]
pub trait IsKept<Name, const HOLDS: bool> {}
#[diagnostic::do_not_recommend]
impl<Any, Name, const HOLDS: bool> IsKept<Name, HOLDS> for Any where Holds<HOLDS>: True {}
/// Compiles if the rule [`IsKept`] holds.
pub const fn kept<Name, const HOLDS: bool>()
where
    (): IsKept<Name, HOLDS>,
{
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_spaces() {
        let names = ["Batch", "Product<H, K>", "M"];
        assert_eq!(count("Product < H , K >", &names), 1);
        assert_eq!(count("Product<K, H>", &names), 0);
        assert_eq!(count("Batch", &["Batch", "B", "Batch"]), 2);
        assert_eq!((label("Batch", &names), label("Product<H,K>", &names), label("M", &names)), (0, 1, 2));
        assert!(is_in("M", &[&["Batch"], &["M"]]) && !is_in("M", &[&["Batch"], &[]]));
    }

    #[test]
    fn a_result_has_axes_of_the_operands_once() {
        let operands: &[&[&str]] = &[&["A", "B"], &["C"]];
        assert!(is_result(&["C", "A"], operands) && is_result(&[], operands));
        assert!(!is_result(&["A", "D"], operands) && !is_result(&["A", "C", "A"], operands));
    }

    #[test]
    fn the_product_of_two_operands_has_the_axes_that_are_kept() {
        assert_eq!(product_num_axes([&["A", "B"], &["B", "C"]], &[&["C", "D"], &["A", "D"]]), 2);
        assert_eq!(product_num_axes([&["A", "B"], &["B", "C"]], &[&["B"], &["A", "C"]]), 3);
        assert_eq!(product_num_axes([&["A"], &["A"]], &[&["B"], &["B"]]), 1);
    }
}
