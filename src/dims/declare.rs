use super::{ConstDim, DimError, name};
use std::marker::PhantomData;

/// A checked size: at most that of `By`, or declared for the local dimension `By`.
///
/// A dimension declared by `dims! { pub SrcLen <= MaxSeqLen; }` holds a `CheckedSize<MaxSeqLen>`, one declared by
/// `local_dims! { let source: SrcLen = 7; }` a `CheckedSize<SrcLen>`.
#[doc(hidden)]
pub struct CheckedSize<By> {
    pub(super) size: usize,
    pub(super) by: PhantomData<fn() -> By>,
}

impl<Max: ConstDim> CheckedSize<Max> {
    /// Accepts sizes from 0 to `Max::SIZE`.
    pub fn new(dim: &'static str, size: usize) -> Result<Self, DimError> {
        if size > Max::SIZE {
            return Err(DimError::TooLong { dim, size, max: name::<Max>(), max_size: Max::SIZE });
        }
        Ok(Self { size, by: PhantomData })
    }

    /// The size, or `Max::SIZE` if that is smaller.
    pub(crate) fn at_most_max(size: usize) -> Self {
        Self { size: size.min(Max::SIZE), by: PhantomData }
    }
}

impl<By> CheckedSize<By> {
    /// The size.
    #[must_use]
    pub const fn get(self) -> usize {
        self.size
    }
}

crate::dims::copied_and_compared!(CheckedSize<By> by size);
crate::error::debug_as!([By] CheckedSize<By>, |this, f| this.size.fmt(f));

/// Declares dimensions.
///
/// There are four forms, which may be mixed. Doc comments and visibility are kept.
///
/// - `pub VocabSize = 28;` has its size at compile time. The size is any constant expression below
///   2³². The dimension implements [`ConstDim`](crate::dims::ConstDim), and every relation of
///   [`dims`](mod@crate::dims) applies to it. A quotient of two named constants, such as
///   `HeadDim = EmbedDim::SIZE / NumHeads::SIZE;`, must have no remainder; one in parentheses is rounded down.
/// - `pub KeyValueDim: Sum<KeyDim, ValueDim>;` has the size of the sum, and is
///   [`SumOf<KeyDim, ValueDim>`](crate::dims::SumOf), so that it can be split into the two.
/// - `pub SrcLen <= MaxSeqLen;` has its size at run time, from `SrcLen::new`. The bound is a compile-time dimension
///   that is as visible as `SrcLen`; a longer size is a [`DimError`](crate::dims::DimError). The dimension is
///   [`AtMost<MaxSeqLen>`](crate::dims::AtMost), and at most any compile-time dimension that is no shorter than
///   `MaxSeqLen`.
/// - `pub Batch;` has its size at run time, from `Batch::new`, without a bound.
///
/// ```
/// use typed_transformer::{dims, dims::{ConstDim, Dim, DimError}};
///
/// const HEADS: usize = 2;
/// dims! {
///     /// Number of columns of an embedding.
///     pub EmbedDim = 64 * HEADS;
///     pub(crate) MaxSeqLen = 16;
///     SrcLen <= MaxSeqLen;
///     pub Batch;
/// }
///
/// assert_eq!(EmbedDim::SIZE, 128);
/// assert_eq!(Batch::new(3).size(), 3);
/// assert!(matches!(SrcLen::new(17), Err(DimError::TooLong { size: 17, max_size: 16, .. })));
/// ```
///
/// An error names a dimension of a module without the path of the module, if the dimension is imported by name and no
/// other module of the program declares one of this name. After a glob import (`use sizes::*;`) it has the path.
///
/// The bound must be a dimension, not a number:
///
/// ```compile_fail
/// typed_transformer::dims! { pub SrcLen <= 15; }
/// ```
#[macro_export]
macro_rules! dims {
    () => {};

    (
        $(#[$meta:meta])*
        $vis:vis $name:ident = $whole:ident $(::$of_whole:ident)* / $parts:ident $(::$of_parts:ident)*;
        $($rest:tt)*
    ) => {
        const _: () = ::core::assert!(
            $whole $(::$of_whole)* % $parts $(::$of_parts)* == 0,
            ::core::concat!(
                "`", ::core::stringify!($parts) $(, "::", ::core::stringify!($of_parts))*, "` does not divide `",
                ::core::stringify!($whole) $(, "::", ::core::stringify!($of_whole))*, "`: `",
                ::core::stringify!($name), "` would be rounded down",
            ),
        );
        // In parentheses the size does not match this arm again.
        $crate::dims! {
            $(#[$meta])*
            $vis $name = ($whole $(::$of_whole)* / $parts $(::$of_parts)*);
        }
        $crate::dims!($($rest)*);
    };

    ($(#[$meta:meta])* $vis:vis $name:ident = $size:expr; $($rest:tt)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Default, PartialEq, Eq)]
        $vis struct $name;

        impl $name {
            /// The size.
            #[allow(dead_code)]
            $vis const SIZE: usize = $size;
        }
        $crate::__dfdx_dim!([] $name, |_| Self::SIZE, |size| (size == Self::SIZE).then_some($name));
        impl $crate::__private::DfdxConstDim for $name {
            const SIZE: usize = Self::SIZE;
        }
        #[diagnostic::do_not_recommend]
        impl $crate::dims::Factor for $name {
            type Whole = Self;
            type Axis = ();
        }
        #[diagnostic::do_not_recommend]
        impl $crate::dims::ConstDim for $name {}
        impl $crate::dims::StaticSize for $name {
            type Nat = $crate::__nat!($name::SIZE);
            type Factors<Rest> = (Self, Rest);
        }
        $crate::__count_by_size!([] $name);
        #[diagnostic::do_not_recommend]
        impl $crate::dims::StaticKind for $name {}
        const _: () = ::core::assert!(
            ($name::SIZE as u64) < 1 << 32,
            ::core::concat!("`", ::core::stringify!($name), "` must be smaller than 2^32"),
        );
        $crate::dims!(@common $vis $name, ::core::option::Option::Some($name::SIZE));
        $crate::dims!($($rest)*);
    };

    ($(#[$meta:meta])* $vis:vis $name:ident: Product<$($rest:tt)*) => {
        ::core::compile_error!("a product gets a name by `type`: `type Name = Product<Left, Right>;`");
    };

    ($(#[$meta:meta])* $vis:vis $name:ident: Sum<$left:ty, $right:ty $(,)?>; $($rest:tt)*) => {
        $crate::dims! {
            $(#[$meta])*
            $vis $name = <$crate::dims::Sum<$left, $right> as $crate::__private::DfdxConstDim>::SIZE;
        }
        #[diagnostic::do_not_recommend]
        impl $crate::dims::SumOf<$left, $right> for $name {}
        $crate::dims!($($rest)*);
    };

    ($(#[$meta:meta])* $vis:vis $name:ident <= $max:ident::SIZE $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "the bound of `", ::core::stringify!($name), "` is the dimension `", ::core::stringify!($max),
            "`, not its size: `", ::core::stringify!($name), " <= ", ::core::stringify!($max), ";`",
        ));
    };

    ($(#[$meta:meta])* $vis:vis $name:ident <= $max:ty; $($rest:tt)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        $vis struct $name($crate::dims::CheckedSize<$max>);

        impl $name {
            /// The dimension of this size, if it is not longer than its bound.
            ///
            /// # Errors
            /// `DimError::TooLong` if it is longer.
            #[allow(dead_code)]
            $vis fn new(size: usize) -> ::core::result::Result<Self, $crate::dims::DimError> {
                <Self as $crate::dims::Bounded>::check(::core::stringify!($name), size).map(Self)
            }
        }
        $crate::__dfdx_dim!([] $name, |this| this.0.get(), |size| $name::new(size).ok());
        #[diagnostic::do_not_recommend]
        impl $crate::dims::Bounded for $name {
            type Max = $max;
        }
        #[diagnostic::do_not_recommend]
        impl $crate::dims::LengthOf<$max> for $name {}
        $crate::dims!(@run_time [] $name);
        $crate::dims!(@common $vis $name);
        $crate::dims!($($rest)*);
    };

    ($(#[$meta:meta])* $vis:vis $name:ident; $($rest:tt)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        $vis struct $name(usize);

        impl $name {
            /// The dimension of this size.
            #[allow(dead_code)]
            $vis const fn new(size: usize) -> Self {
                Self(size)
            }
        }
        $crate::__dfdx_dim!([] $name, |this| this.0, |size| ::core::option::Option::Some(Self(size)));
        $crate::dims!(@run_time [] $name);
        $crate::dims!(@common $vis $name);
        $crate::dims!($($rest)*);
    };

    ($(#[$meta:meta])* $vis:vis $name:ident <= $max:literal $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "the bound of `", ::core::stringify!($name), "` is a dimension, not the number ", $max, ": `MaxLen = ",
            $max, "; ", ::core::stringify!($name), " <= MaxLen;`",
        ));
    };

    ($(#[$meta:meta])* $vis:vis $name:ident $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "this is no declaration of `", ::core::stringify!($name), "`; one is `Name = 8;`, `Name <= MaxName;`, \
             `Name: Sum<Left, Right>;` or `Name;`, with its `;`",
        ));
    };

    (@run_time [$($generics:tt)*] $name:ty) => {
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> $crate::dims::CountFactor for $name {
            type Static = $crate::__private::U1;
            type Dynamic<Rest> = (Self, Rest);
            type Factors<Rest> = (Self, Rest);
        }
    };

    (@common $vis:vis $name:ident $(, $static_size:expr)?) => {
        $crate::__whole_dim!([] $name $(, $static_size)?);
        impl $name {
            /// The size.
            #[allow(dead_code)]
            #[inline(always)]
            $vis fn size(self) -> usize {
                $crate::dims::DfdxDim::size(&self)
            }
        }
        impl ::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::write!(f, "{}={}", ::core::stringify!($name), self.size())
            }
        }
    };
}
