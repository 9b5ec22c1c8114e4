/// An axis of ranks: processes that hold parts or copies of the same values. [`ranks!`](crate::ranks!) declares one.
///
/// ```
/// use typed_transformer::{dims::RankAxis, ranks};
/// ranks! { pub World; }
/// fn describe<Axis: RankAxis>() -> String {
///     format!("{} ranks", Axis::NAME)
/// }
/// assert_eq!(describe::<World>(), "World ranks");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an axis of ranks",
    label = "`{Self}` is not an axis of ranks",
    note = "`ranks! {{ pub World; }}` declares an axis of ranks"
)]
pub trait RankAxis: Copy + Send + Sync + 'static {
    /// The name, for errors.
    const NAME: &'static str;
    /// The number of ranks, if the type says it.
    const EXPECTED_SIZE: Option<usize>;
}

/// One process: the ranks of a dimension that none divide.
#[diagnostic::do_not_recommend]
impl RankAxis for () {
    const NAME: &'static str = "()";
    const EXPECTED_SIZE: Option<usize> = Some(1);
}
