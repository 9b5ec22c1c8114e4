pub use crate::dims::RankAxis;
use crate::dims::{Dim, StaticSize};

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
}
