//! Rules on the names of axes, decided at compile time by the words that a user wrote.
//!
//! rustc cannot compare two types in a generic function, but it can compare their names: a constant that
//! depends on strings alone is known there too. The macros [`einsum!`](crate::einsum!) and
//! [`rearrange!`](crate::rearrange!) pass each axis as a type, and whether its rule holds as a constant.

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

/// A number in place of an axis's name. Two axes have the same label if and only if they have the same name.
pub type Label = u8;

/// The label of each of `names`: its position in the list of all names.
#[must_use]
pub const fn labels<const N: usize>(names: &[&str; N], all: &[&str]) -> [Label; N] {
    let mut labels = [0; N];
    let mut axis = 0;
    while axis < N {
        while !is_same(names[axis].as_bytes(), all[labels[axis] as usize].as_bytes()) {
            labels[axis] += 1;
        }
        axis += 1;
    }
    labels
}

/// The rank of the product of two operands, which has all axes that are in one of the lists `kept`; at least 1.
#[must_use]
pub const fn product_rank(operands: [&[&str]; 2], kept: &[&[&str]]) -> usize {
    let (mut rank, mut operand) = (0, 0);
    while operand < 2 {
        let mut axis = 0;
        while axis < operands[operand].len() {
            let name = operands[operand][axis];
            let is_first = operand == 0 || count(name, operands[0]) == 0;
            rank += (is_first && is_in(name, kept)) as usize;
            axis += 1;
        }
        operand += 1;
    }
    if rank == 0 { 1 } else { rank }
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

/// `Holds<true>` is [`True`].
pub struct Holds<const HOLDS: bool>;
/// The rule holds.
pub trait True {}
impl True for Holds<true> {}

// Each rule has a trait, which has an implementation for every type. rustc would otherwise suggest the trait as
// a bound of the user's generic parameter, or list the one type that has an implementation.
macro_rules! rule {
    ($function:ident: $rule:ident, $message:literal, $label:literal, $note:literal) => {
        #[diagnostic::on_unimplemented(message = $message, label = $label, note = $note)]
        pub trait $rule<Name, const HOLDS: bool> {}
        #[diagnostic::do_not_recommend]
        impl<Any, Name, const HOLDS: bool> $rule<Name, HOLDS> for Any where Holds<HOLDS>: True {}
        /// Compiles if `HOLDS`.
        pub const fn $function<Name, const HOLDS: bool>()
        where
            (): $rule<Name, HOLDS>,
        {
        }
    };
}
rule!(
    once: IsOnce,
    "`{Name}` is there twice",
    "one of two axes called `{Name}`",
    "each axis of a tensor has its own name here; `rename` gives an axis another one"
);
rule!(
    given: IsGiven,
    "`{Name}` of the result is in no operand",
    "no operand has an axis `{Name}`",
    "each axis of the result is an axis of an operand; `broadcast` adds a new one"
);
rule!(
    shared: IsShared,
    "`{Name}` is in this operand alone",
    "neither the result nor another operand has an axis `{Name}`",
    "an axis that two operands share may be summed over; `sum_over` sums over one of a single operand"
);
rule!(
    kept: IsKept,
    "`{Name}` is not in the result",
    "the result has no axis `{Name}`",
    "a rearrangement keeps all axes; `sum_over` and `mean_over` remove one"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_spaces() {
        let names = ["Batch", "Product<H, K>", "M"];
        assert_eq!(count("Product < H , K >", &names), 1);
        assert_eq!(count("Product<K, H>", &names), 0);
        assert_eq!(count("Batch", &["Batch", "B", "Batch"]), 2);
        assert_eq!(labels(&["M", "Product<H,K>", "Batch"], &names), [2, 1, 0]);
        assert!(is_in("M", &[&["Batch"], &["M"]]) && !is_in("M", &[&["Batch"], &[]]));
    }

    #[test]
    fn the_product_of_two_operands_has_the_axes_that_are_kept() {
        assert_eq!(product_rank([&["A", "B"], &["B", "C"]], &[&["C", "D"], &["A", "D"]]), 2);
        assert_eq!(product_rank([&["A", "B"], &["B", "C"]], &[&["B"], &["A", "C"]]), 3);
        assert_eq!(product_rank([&["A"], &["A"]], &[&["B"], &["B"]]), 1);
    }
}
