use super::{ConstDim, DimError, name};
use std::{fmt, marker::PhantomData};

/// A size that was checked against the size of `Max` when it was made.
///
/// It is what a dimension declared by `dims! { pub SrcLen <= MaxSeqLen; }` holds; nothing but its
/// checking constructor makes one.
pub struct BoundedSize<Max> {
    size: usize,
    max: PhantomData<fn() -> Max>,
}

impl<Max: ConstDim> BoundedSize<Max> {
    /// Accepts sizes from 0 to `Max::SIZE`.
    ///
    /// # Errors
    /// [`DimError::TooLong`], naming `dim`, its size, `Max` and its size.
    ///
    /// ```
    /// use typed_transformer::dims::{BoundedSize, Const};
    /// assert_eq!(BoundedSize::<Const<8>>::new("Len", 8).unwrap().get(), 8);
    /// assert!(BoundedSize::<Const<8>>::new("Len", 9).is_err());
    /// ```
    pub fn new(dim: &'static str, size: usize) -> Result<Self, DimError> {
        if size > Max::SIZE {
            return Err(DimError::TooLong { dim, size, max: name::<Max>(), max_size: Max::SIZE });
        }
        Ok(Self { size, max: PhantomData })
    }
}

impl<Max> BoundedSize<Max> {
    /// The size.
    #[must_use]
    pub fn get(self) -> usize {
        self.size
    }
}

// Derives would ask the same of `Max`, which is only a name here.
impl<Max> Clone for BoundedSize<Max> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<Max> Copy for BoundedSize<Max> {}
impl<Max> PartialEq for BoundedSize<Max> {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size
    }
}
impl<Max> Eq for BoundedSize<Max> {}
impl<Max> fmt::Debug for BoundedSize<Max> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.size.fmt(f)
    }
}

/// Declares dimensions.
///
/// Three forms, which may be mixed; doc comments and visibility pass through:
///
/// - `pub VocabSize = 28;` has its size at compile time; the size is any constant expression below
///   2³². It implements [`ConstDim`](crate::dims::ConstDim) and takes part in every relation of
///   [`dims`](mod@crate::dims).
/// - `pub SrcLen <= MaxSeqLen;` gets its size at run time from `SrcLen::new`, which returns a
///   [`DimError`](crate::dims::DimError) when it is longer than `MaxSeqLen`, a compile-time
///   dimension. It is [`AtMost<MaxSeqLen>`](crate::dims::AtMost), and whatever `MaxSeqLen` is at
///   most.
/// - `pub Batch;` gets its size at run time, without a bound, from `Batch::new`.
///
/// ```
/// use typed_transformer::{dims, dims::{ConstDim, Dim, DimError}};
///
/// const HEADS: usize = 2;
/// dims! {
///     /// Width of an embedding.
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
/// The bound of a run-time dimension is itself a dimension:
///
/// ```compile_fail,E0747
/// typed_transformer::dims! { pub SrcLen <= 15; }
/// ```
#[macro_export]
macro_rules! dims {
    () => {};

    ($(#[$meta:meta])* $vis:vis $name:ident = $size:expr; $($rest:tt)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Default, PartialEq, Eq)]
        $vis struct $name;

        impl $crate::dims::Dim for $name {
            #[inline(always)]
            fn size(&self) -> usize {
                <Self as $crate::dims::ConstDim>::SIZE
            }
            #[inline(always)]
            fn from_size(size: usize) -> ::core::option::Option<Self> {
                (size == <Self as $crate::dims::ConstDim>::SIZE).then_some($name)
            }
        }
        impl $crate::dims::ConstDim for $name {
            const SIZE: usize = $size;
        }
        impl $crate::dims::StaticSize for $name {
            type Nat = $crate::__nat!(<$name as $crate::dims::ConstDim>::SIZE);
        }
        impl $crate::dims::FullyStatic for $name {}
        const _: () = ::core::assert!(
            (<$name as $crate::dims::ConstDim>::SIZE as u64) < 1 << 32,
            ::core::concat!("`", ::core::stringify!($name), "` must be smaller than 2^32"),
        );
        $crate::dims!(@debug $name);
        $crate::dims!($($rest)*);
    };

    ($(#[$meta:meta])* $vis:vis $name:ident <= $max:ty; $($rest:tt)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        $vis struct $name($crate::dims::BoundedSize<$max>);

        impl $name {
            /// Makes the dimension, if it is not longer than its bound.
            ///
            /// # Errors
            /// Its name and size and those of the bound, when it is longer.
            #[allow(dead_code)]
            $vis fn new(size: usize) -> ::core::result::Result<Self, $crate::dims::DimError> {
                $crate::dims::BoundedSize::new(::core::stringify!($name), size).map(Self)
            }
        }
        impl $crate::dims::Dim for $name {
            #[inline(always)]
            fn size(&self) -> usize {
                self.0.get()
            }
            #[inline(always)]
            fn from_size(size: usize) -> ::core::option::Option<Self> {
                $name::new(size).ok()
            }
        }
        #[diagnostic::do_not_recommend]
        impl<Max: $crate::dims::Dim> $crate::dims::AtMost<Max> for $name where
            $max: $crate::dims::AtMost<Max>
        {
        }
        $crate::dims!(@unknown $name);
        $crate::dims!(@debug $name);
        $crate::dims!($($rest)*);
    };

    ($(#[$meta:meta])* $vis:vis $name:ident; $($rest:tt)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        $vis struct $name(usize);

        impl $name {
            /// Makes the dimension.
            #[allow(dead_code)]
            $vis const fn new(size: usize) -> Self {
                Self(size)
            }
        }
        impl $crate::dims::Dim for $name {
            #[inline(always)]
            fn size(&self) -> usize {
                self.0
            }
            #[inline(always)]
            fn from_size(size: usize) -> ::core::option::Option<Self> {
                ::core::option::Option::Some(Self(size))
            }
        }
        $crate::dims!(@unknown $name);
        $crate::dims!(@debug $name);
        $crate::dims!($($rest)*);
    };

    (@unknown $name:ident) => {
        impl $crate::dims::CountFactor for $name {
            type Static = $crate::__private::U1;
            type Dynamic<Rest> = ($name, Rest);
        }
    };

    (@debug $name:ident) => {
        impl ::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::write!(f, "{}={}", ::core::stringify!($name), $crate::dims::Dim::size(self))
            }
        }
    };
}
