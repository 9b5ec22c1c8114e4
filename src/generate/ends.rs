//! The tokens that end a text.

use crate::tokens::Fin;

/// Tokens of `V` that end a text: `None`, `Some(end)`, or a list. The trait exists for its error message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "expected the tokens of `{V}` that end a text",
    label = "its items are not of type `Fin<{V}>`",
    note = "one token is `Some(end)`, several are `[one, other]`, and a text without an end has `None`; the token of a number is `Fin::new(3)?`"
)]
pub trait Ends<V> {
    fn into_vec(self) -> Vec<Fin<V>>;
}

#[diagnostic::do_not_recommend]
impl<V, Tokens: IntoIterator<Item = Fin<V>>> Ends<V> for Tokens {
    fn into_vec(self) -> Vec<Fin<V>> {
        self.into_iter().collect()
    }
}
