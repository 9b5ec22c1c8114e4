use super::CheckedSize;
use dfdx::shapes;
use std::sync::{PoisonError, RwLock};
use std::{collections::BTreeSet, marker::PhantomData};

impl<Local: LocalDim> CheckedSize<Local> {
    /// The size of a declaration by [`local_dims!`](crate::local_dims!), which alone calls this.
    #[must_use]
    pub fn declare(size: usize) -> Self {
        Local::sizes().write().unwrap_or_else(PoisonError::into_inner).insert(size);
        Self { size, by: PhantomData }
    }

    /// A size that the declaration has made before.
    #[must_use]
    pub fn declared(size: usize) -> Option<Self> {
        let sizes = Local::sizes().read().unwrap_or_else(PoisonError::into_inner);
        sizes.contains(&size).then_some(Self { size, by: PhantomData })
    }
}

/// A dimension of [`local_dims!`](crate::local_dims!).
pub trait LocalDim: shapes::Dim {
    /// The sizes that its declaration has made: one, unless the declaration runs several times.
    fn sizes() -> &'static RwLock<BTreeSet<usize>>;
}

/// Declares run-time dimensions that are local to a block, each with its only value.
///
/// `let source: SrcLen = 7;` declares the dimension `SrcLen` and the value `source`. Unlike a
/// dimension of [`dims!`](crate::dims!), it has no constructor, so no second value of another size can
/// be made: dfdx's `from_size` and `from_concrete` make the sizes of its declaration alone. Two lengths have different
/// types, even if their sizes are equal: a tensor over one is not accepted where a tensor over the other is expected.
///
/// `let source: SrcLen <= MaxSeqLen = 7;` checks the length first: `source` is a
/// `Result<SrcLen, DimError>`, and `SrcLen` is [`AtMost<MaxSeqLen>`](crate::dims::AtMost).
///
/// ```
/// use typed_transformer::{local_dims, prelude::*};
/// dims! { MaxSeqLen = 16; EmbedDim = 2; }
///
/// fn lengths(words: &[&str]) -> Result<(), DimError> {
///     local_dims! {
///         let first: FirstLen <= MaxSeqLen = words[0].len();
///         let second: SecondLen = words[1].len();
///     }
///     let first = first?;
///     let device = Cpu::default();
///     let x: Tensor<(FirstLen, EmbedDim), f32, Cpu> = device.zeros_like(&(first, EmbedDim));
///     let y: Tensor<(SecondLen, EmbedDim), f32, Cpu> = device.zeros_like(&(second, EmbedDim));
///     assert_eq!((x.shape().0.size(), y.shape().0.size()), (5, 5));
///     Ok(())
/// }
/// lengths(&["hello", "world"])?;
/// assert!(lengths(&["a word that is too long", ""]).is_err());
/// # Ok::<(), DimError>(())
/// ```
///
/// ```compile_fail,E0308
/// use typed_transformer::{local_dims, prelude::*};
/// local_dims! { let source: SrcLen = 5; let target: TgtLen = 5; }
/// let x: Tensor<(TgtLen,), f32, Cpu> = Cpu::default().zeros_like(&(source,)); // expected `TgtLen`, found `SrcLen`
/// ```
///
/// Two declarations of one name are two dimensions. An error names the lines where they are declared.
///
/// The type belongs to the declaration in the source, not to its execution. In a loop, every iteration
/// has the same type; if values of two iterations meet, their sizes are compared at run time.
///
/// ```
/// use typed_transformer::{local_dims, prelude::*};
/// local_dims! { let length: Len = 7; }
/// assert!(<(Len,)>::from_concrete(&[5]).is_none());
/// ```
#[macro_export]
macro_rules! local_dims {
    () => {};
    (let $value:ident: $name:ident <= $max:ident::SIZE $($rest:tt)*) => {
        $crate::dims! { $name <= $max::SIZE; }
    };
    (let $value:ident: $name:ident <= $max:ty = $size:expr; $($rest:tt)*) => {
        $crate::local_dims!(@declare $name);
        #[diagnostic::do_not_recommend]
        impl $crate::dims::Bounded for $name {
            type Max = $max;
        }
        #[diagnostic::do_not_recommend]
        impl $crate::dims::LengthOf<$max> for $name {}
        let $value = <$name as $crate::dims::Bounded>::check(::core::stringify!($name), $size)
            .map(|size| $name($crate::dims::CheckedSize::declare(size.get())));
        $crate::local_dims!($($rest)*);
    };
    (let $value:ident: $name:ident = $size:expr; $($rest:tt)*) => {
        $crate::local_dims!(@declare $name);
        let $value = $name($crate::dims::CheckedSize::declare($size));
        $crate::local_dims!($($rest)*);
    };
    (let $value:ident: $name:ident <= $max:literal $($rest:tt)*) => {
        $crate::dims! { $name <= $max; }
    };
    (@declare $name:ident) => {
        #[$crate::__private::named_by_line]
        #[derive(Clone, Copy, PartialEq, Eq)]
        struct $name($crate::dims::CheckedSize<$name>);

        impl $crate::__private::LocalDim for $name {
            fn sizes() -> &'static ::std::sync::RwLock<::std::collections::BTreeSet<usize>> {
                static SIZES: ::std::sync::RwLock<::std::collections::BTreeSet<usize>> =
                    ::std::sync::RwLock::new(::std::collections::BTreeSet::new());
                &SIZES
            }
        }
        $crate::__dfdx_dim!([] $name, |this| this.0.get(), |size| {
            $crate::dims::CheckedSize::declared(size).map(Self)
        });
        $crate::dims!(@run_time [] $name);
        $crate::dims!(@common  $name);
    };
    ($($declaration:tt)+) => {
        ::core::compile_error!(
            "a local dimension is declared by `let value: Name = size;` or `let value: Name <= MaxName = size;`, \
             with its `;`"
        );
    };
}
