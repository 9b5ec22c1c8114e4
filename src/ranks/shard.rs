//! Axes of ranks, and the parts of the dimensions that they divide.

pub use crate::dims::RankAxis;

use super::RanksError;
use crate::dims::{AnyDim, ConstDim, DataDim, Dim, Divides, Factor, StaticSize};
use dfdx::shapes;
use std::hash::{Hash, Hasher};
use std::{any::type_name, marker::PhantomData, ops::Range};

/// Declares axes of ranks.
///
/// - `pub World;` has its size when the program starts: the number of ranks. It divides a batch.
/// - `pub Tp = 2;` has its size at compile time. The number of ranks is compared with it. It divides a model, and is a
///   dimension of [`dims!`](crate::dims!) too, so that it can [divide](crate::dims::Divides) others.
///
/// ```
/// use typed_transformer::{ranks, ranks::RankAxis};
/// ranks! {
///     /// All processes.
///     pub World;
///     /// Processes that divide the heads of one layer.
///     pub Tp = 2;
/// }
/// assert_eq!((World::NAME, World::EXPECTED_SIZE), ("World", None));
/// assert_eq!((Tp::NAME, Tp::EXPECTED_SIZE), ("Tp", Some(2)));
/// ```
#[macro_export]
macro_rules! ranks {
    () => {};

    ($(#[$meta:meta])* $vis:vis $name:ident; $($rest:tt)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis struct $name;

        #[diagnostic::do_not_recommend]
        impl $crate::ranks::RankAxis for $name {
            const NAME: &'static str = ::core::stringify!($name);
            const EXPECTED_SIZE: ::core::option::Option<usize> = ::core::option::Option::None;
        }
        #[diagnostic::do_not_recommend]
        impl $crate::ranks::DataRanks for $name {}
        $crate::ranks!($($rest)*);
    };

    ($(#[$meta:meta])* $vis:vis $name:ident = $size:expr; $($rest:tt)*) => {
        $crate::dims! {
            $(#[$meta])*
            $vis $name = $size;
        }
        #[diagnostic::do_not_recommend]
        impl $crate::ranks::RankAxis for $name {
            const NAME: &'static str = ::core::stringify!($name);
            const EXPECTED_SIZE: ::core::option::Option<usize> = ::core::option::Option::Some($name::SIZE);
        }
        #[diagnostic::do_not_recommend]
        impl $crate::ranks::ConstRankAxis for $name {}
        const _: () = ::core::assert!(
            $name::SIZE > 0,
            ::core::concat!("`", ::core::stringify!($name), "` needs at least one rank"),
        );
        $crate::ranks!($($rest)*);
    };

    ($($declaration:tt)+) => {
        ::core::compile_error!("an axis of ranks is declared by `Name;` or `Name = 2;`, with its `;`");
    };
}

/// An axis of ranks whose size is known at compile time. It is a dimension too, so that it can
/// [divide](crate::dims::Divides) others.
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::ConstRankAxis};
/// ranks! { pub Tp = 2; }
/// dims! { pub NumHeads = 6; }
/// fn heads_of_a_rank<Axis: ConstRankAxis + Divides<NumHeads>>() -> usize {
///     NumHeads::SIZE / Axis::EXPECTED_SIZE.unwrap()
/// }
/// assert_eq!(heads_of_a_rank::<Tp>(), 3);
/// ```
#[diagnostic::on_unimplemented(
    message = "the number of ranks of `{Self}` is not known at compile time",
    label = "`{Self}` gets its size when the program starts",
    note = "`ranks! {{ pub {Self} = 2; }}` gives it a size at compile time"
)]
pub trait ConstRankAxis: RankAxis + Dim + StaticSize {}

/// This rank's part of the dimension `Whole`, which is divided among the ranks of `Axis`.
///
/// [`Ranks::shard`](super::Ranks::shard) makes one, with parts that need not be equally long. If `Whole` and `Axis` are
/// known at compile time, `Axis` must divide `Whole`, and the part is a compile-time dimension of dfdx's. Ranks
/// of a compile-time axis divide a model.
///
/// It may stand in every axis that an operation does not sum, normalize, index or order. It is no [`Dim`]: a sum, mean,
/// norm, softmax or contraction along it would take a part for the whole. A shard of data is [`DataDim`]. A shard
/// of a model is not: no weight that all ranks have may repeat along it.
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::Ranks};
/// ranks! { pub World; }
/// dims! { pub Batch; }
/// let lens = Ranks::<World>::in_threads(2, |ranks| ranks.shard(Batch::new(5)).size());
/// assert_eq!(lens, [3, 2]);
/// ```
pub struct Shard<Whole, Axis> {
    len: usize,
    /// The index of the first element in the whole; `None` if `Ranks::shard` did not make the shard.
    start: Option<usize>,
    /// The length of the whole; `None` if a shape was made from sizes alone.
    whole: Option<usize>,
    axis: PhantomData<fn() -> (Whole, Axis)>,
}

impl<Whole, Axis> Shard<Whole, Axis> {
    pub(super) fn new(range: Range<usize>, whole: usize) -> Self {
        Self { len: range.len(), start: Some(range.start), whole: Some(whole), axis: PhantomData }
    }

    /// The length of this rank's part.
    #[must_use]
    pub fn size(self) -> usize {
        self.len
    }

    /// Whether this rank has nothing of the dimension.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The indices of this rank's part in the whole.
    ///
    /// # Errors
    /// [`RanksError::Place`] if [`Ranks::shard`](super::Ranks::shard) did not make the shard: it has a length and no
    /// place.
    ///
    /// ```
    /// use typed_transformer::{prelude::*, ranks, ranks::Ranks};
    /// ranks! { pub World; }
    /// dims! { pub Batch; }
    /// let words = ["to", "be", "or", "not", "to"];
    /// let parts = Ranks::<World>::in_threads(2, |ranks| {
    ///     let batch = ranks.shard(Batch::new(words.len()));
    ///     batch.range().map(|rows| words[rows].to_vec())
    /// });
    /// assert_eq!(parts, [Ok(vec!["to", "be", "or"]), Ok(vec!["not", "to"])]);
    /// ```
    pub fn range(self) -> Result<Range<usize>, RanksError>
    where
        Whole: Dim,
        Axis: RankAxis,
    {
        let start = self.start.ok_or_else(|| RanksError::Place { dim: format!("{self:?}") })?;
        Ok(start..start + self.len)
    }

    /// The length of the whole dimension, if it is known: a shape that dfdx made from sizes alone does not tell.
    #[must_use]
    pub fn whole_size(self) -> Option<usize> {
        self.whole
    }
}

crate::__dfdx_dim!([Whole: Dim, Axis: RankAxis] Shard<Whole, Axis>, |this| this.len, |size| {
    Some(Self { len: size, start: None, whole: None, axis: PhantomData })
});
// The only impl of `AnyDim` without `do_not_recommend`: an error names this one and does not list shapes.
impl<Whole: Dim, Axis: RankAxis> AnyDim for Shard<Whole, Axis> {
    // A shape that dfdx made from sizes alone does not know the whole. With a compile-time axis, all parts are equal.
    fn whole_size(self) -> usize {
        self.whole.unwrap_or(self.len * Axis::EXPECTED_SIZE.unwrap_or(1))
    }
}
crate::dims!(@run_time [Whole: Dim, Axis: RankAxis] Shard<Whole, Axis>);

impl<Whole: ConstDim, Axis: ConstRankAxis + Divides<Whole>> shapes::ConstDim for Shard<Whole, Axis> {
    const SIZE: usize = Whole::SIZE / <Axis as shapes::ConstDim>::SIZE;
}
impl<Whole: ConstDim, Axis: ConstRankAxis + Divides<Whole>> Default for Shard<Whole, Axis> {
    /// A rank's part: all parts have this size. It does not know which of them it is.
    fn default() -> Self {
        let len = Whole::SIZE / <Axis as shapes::ConstDim>::SIZE;
        Self { len, start: None, whole: Some(Whole::SIZE), axis: PhantomData }
    }
}

/// Whether a dimension of the shape with this type name is a [`Shard`], or has one as a factor.
pub(crate) fn is_sharded(dims: &str) -> bool {
    // Types are not compared, because the dimensions of a shape are not known here; names of types have their paths.
    let shard = type_name::<Shard<(), ()>>();
    dims.contains(&shard[..=shard.find('<').unwrap_or(shard.len() - 1)])
}

/// No type implements this trait. It exists for its error message, which rustc shows where a shard stands for a whole
/// dimension.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Whole}` is sharded over `{Axis}`, but what sums, normalizes, indexes or orders `{Whole}` needs all of it",
    label = "this rank has only its part of `{Whole}`",
    note = "`partial_cross_entropy` gives this rank's term of a loss, `partial_mean` that of a mean; `gather_batch` joins a batch, `all_gather` the parts of `{Whole}` if both sizes are known at compile time"
)]
pub trait IsAllOf<Whole, Axis>: PartOfData<Whole, Axis> {}
/// The ranks of `Axis` divide a batch: a rank has a term of each weight's gradient, and `all_reduce` sums the terms.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Whole}` is sharded over `{Axis}`, whose ranks may divide a model: a weight would get this rank's term of its gradient",
    label = "this rank has only its part of `{Whole}`",
    note = "`all_gather` along `{Whole}` before it; an axis of ranks without a size, as in `ranks! {{ pub World; }}`, divides a batch; a function that is generic in such an axis has the bound `ranks::DataRanks`"
)]
pub trait PartOfData<Whole, Axis> {}
/// Stands for a dimension in these bounds. With the dimension itself, an error would quote its declaration.
#[doc(hidden)]
pub struct Part;
#[diagnostic::do_not_recommend]
impl<Whole, Axis: DataRanks> PartOfData<Whole, Axis> for Part {}

/// An axis of ranks that divides a batch: its size is known when the program starts. A function of a model's rows has
/// this bound if it is generic in the axis.
///
/// ```
/// use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::{DataRanks, Shard}};
/// ranks! { pub World; }
/// dims! { pub Batch; pub EmbedDim = 4; }
/// type Rows<W> = Tensor<(Shard<Batch, W>, EmbedDim), f32, Cpu>;
/// fn run<W: DataRanks>(model: &Linear<EmbedDim, EmbedDim, f32, Cpu>, x: Rows<W>) -> Result<Rows<W>, OpError> {
///     model.forward(x)
/// }
/// let _ = run::<World>;
/// ```
pub trait DataRanks: RankAxis {}

// A shard of a batch is `DataDim`. No shard is a `Dim`: that impl exists for the error of its bound. Both are
// without `do_not_recommend`, so that an error is that of `PartOfData` or of `IsAllOf`.
impl<Whole: Dim, Axis: RankAxis> DataDim for Shard<Whole, Axis> where Part: PartOfData<Whole, Axis> {}
impl<Whole: Dim, Axis: RankAxis> Dim for Shard<Whole, Axis> where Part: IsAllOf<Whole, Axis> {}
#[diagnostic::do_not_recommend]
impl<Whole: ConstDim, Axis: ConstRankAxis + Divides<Whole>> ConstDim for Shard<Whole, Axis> where
    Part: IsAllOf<Whole, Axis>
{
}
// The only impl of `Factor` without `do_not_recommend`: an unmet bound is reported as `Divides`.
impl<Whole: ConstDim, Axis: ConstRankAxis + Divides<Whole>> Factor for Shard<Whole, Axis> {
    type Whole = Whole;
    type Axis = Axis;
}

// Two shards are equal if their lengths are: this is how dfdx compares sizes.
crate::dims::copied_and_compared!(Shard<Whole, Axis> by len);
impl<Whole, Axis> Hash for Shard<Whole, Axis> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len.hash(state);
    }
}
crate::error::debug_as!([Whole: Dim, Axis: RankAxis] Shard<Whole, Axis>, |this, f| {
    let whole = this.whole.map_or(String::new(), |whole| format!(" of {whole}"));
    write!(f, "Shard<{}, {}>={}{whole}", crate::dims::name::<Whole>(), Axis::NAME, this.len)
});
