/// The size of a dimension that [`local_dims!`](crate::local_dims!) declared.
///
/// ```
/// use typed_transformer::{dims::Dim, local_dims};
/// local_dims! { let source: SrcLen = "typed".len(); }
/// assert_eq!(source.size(), 5);
/// assert_eq!(format!("{source:?}"), "SrcLen=5");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LocalSize(usize);

impl LocalSize {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(size: usize) -> Self {
        Self(size)
    }

    /// The size.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0
    }
}

/// Gives a length that is known only at run time a dimension of its own, for the rest of the block.
///
/// `let source: SrcLen = 7;` declares the dimension `SrcLen` and its only value, `source`: unlike a
/// dimension of [`dims!`](crate::dims!), it has no constructor that could be called with another size.
/// Two lengths that came from different values so have different types, whatever their sizes, and a
/// tensor over one does not go where a tensor over the other belongs. It costs nothing when it runs.
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
/// The type belongs to the place in the program. A value that a loop keeps from one pass to the next
/// keeps its type, and as with any run-time dimension their sizes are compared where the two meet.
#[macro_export]
macro_rules! local_dims {
    () => {};
    (let $value:ident: $name:ident <= $max:ty = $size:expr; $($rest:tt)*) => {
        $crate::local_dims!(@declare $name, |size| $crate::dims::BoundedSize::<$max>::new("", size).is_ok());
        #[diagnostic::do_not_recommend]
        impl<Max: $crate::dims::Dim> $crate::dims::AtMost<Max> for $name where
            $max: $crate::dims::AtMost<Max>
        {
        }
        let $value = $crate::dims::BoundedSize::<$max>::new(::core::stringify!($name), $size)
            .map(|size| $name($crate::dims::LocalSize::new(size.get())));
        $crate::local_dims!($($rest)*);
    };
    (let $value:ident: $name:ident = $size:expr; $($rest:tt)*) => {
        $crate::local_dims!(@declare $name, |_| true);
        let $value = $name($crate::dims::LocalSize::new($size));
        $crate::local_dims!($($rest)*);
    };
    (@declare $name:ident, $can_be:expr) => {
        #[derive(Clone, Copy, PartialEq, Eq)]
        struct $name($crate::dims::LocalSize);

        impl $crate::dims::Dim for $name {
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
        $crate::dims!(@unknown $name);
        $crate::dims!(@debug $name);
    };
}
