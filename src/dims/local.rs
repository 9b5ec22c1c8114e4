/// The size of a dimension of [`local_dims!`](crate::local_dims!).
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LocalSize(usize);

impl LocalSize {
    #[must_use]
    pub const fn new(size: usize) -> Self {
        Self(size)
    }

    #[must_use]
    pub const fn get(self) -> usize {
        self.0
    }
}

/// Declares run-time dimensions that are local to a block, each with its only value.
///
/// `let source: SrcLen = 7;` declares the dimension `SrcLen` and the value `source`. Unlike a
/// dimension of [`dims!`](crate::dims!), it has no constructor, so no second value of another size can
/// be made. Two lengths have different types, even if their sizes are equal: a tensor over one is not
/// accepted where a tensor over the other is expected. This costs nothing at run time.
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
#[macro_export]
macro_rules! local_dims {
    () => {};
    (let $value:ident: $name:ident <= $max:ty = $size:expr; $($rest:tt)*) => {
        $crate::local_dims!(@declare $name, |size| <$name as $crate::dims::Bounded>::check("", size).is_ok());
        #[diagnostic::do_not_recommend]
        impl $crate::dims::Bounded for $name {
            type Max = $max;
        }
        let $value = <$name as $crate::dims::Bounded>::check(::core::stringify!($name), $size)
            .map(|size| $name($crate::dims::LocalSize::new(size.get())));
        $crate::local_dims!($($rest)*);
    };
    (let $value:ident: $name:ident = $size:expr; $($rest:tt)*) => {
        $crate::local_dims!(@declare $name, |_| true);
        let $value = $name($crate::dims::LocalSize::new($size));
        $crate::local_dims!($($rest)*);
    };
    (@declare $name:ident, $can_be:expr) => {
        #[$crate::__private::named_by_line]
        #[derive(Clone, Copy, PartialEq, Eq)]
        struct $name($crate::dims::LocalSize);

        impl $crate::__private::DfdxDim for $name {
            #[inline(always)]
            fn size(&self) -> usize {
                self.0.get()
            }
            #[inline(always)]
            fn from_size(size: usize) -> ::core::option::Option<Self> {
                let can_be: fn(usize) -> bool = $can_be;
                can_be(size).then(|| Self($crate::dims::LocalSize::new(size)))
            }
        }
        $crate::dims!(@run_time $name);
        $crate::dims!(@common  $name);
    };
}
