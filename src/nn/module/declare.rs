/// Declares a module and derives its implementations.
///
/// From the fields it generates:
///
/// - the struct, with `Clone` and `Debug`;
/// - dfdx's [`TensorCollection`](dfdx::nn::TensorCollection), which gives building, resetting, moving between
///   devices and dtypes, and dfdx's optimizers;
/// - [`Module`](crate::nn::Module), with `NUM_PARAMS` and the summary.
///
/// The name of a parameter in a weights file is its field path.
///
/// The last two type parameters are always the dtype `E` and the device `D`, by default `f32` and `Cpu`. A semicolon
/// separates them from the other parameters. Two optional clauses follow. `in A::Conventions`: the module depends on the conventions of the
/// [`Arch`](crate::nn::Arch) `A`, which are therefore stored with saved parameters; `in Config` stores those of a
/// configuration with a function `conventions`, as every model of [`models`](crate::models) has. `-> Width`: the last
/// dimension of the output, shown in the summary.
///
/// A field has one of these forms:
///
/// | form | type of the field |
/// | --- | --- |
/// | `weight: param (OutDim, InDim) = init,` | a `Tensor<(OutDim, InDim), E, D>`; `init` is a function that fills it, such as those in [`init`](crate::nn::init) |
/// | `bias: optional(FLAG) param (OutDim,) = init,` | an `Option` of a tensor, `Some` if the constant `FLAG` is true |
/// | `norm: module Norm<EmbedDim, A, E, D>,` | `Norm<EmbedDim, A, E, D>` |
/// | `norm: optional(FLAG) module Norm<EmbedDim, A, E, D>,` | an `Option` of a module, `Some` if the constant `FLAG` is true |
/// | `layers: layers(NumLayers) EncoderLayer<EmbedDim, A, E, D>,` | a `Vec` of `NumLayers::SIZE` modules |
/// | `inner: layers({ N }) Linear<EmbedDim, EmbedDim, E, D>,` | a `Vec` of `N` modules, for a constant `N` |
///
/// ```
/// use typed_transformer::{module, nn::{Linear, Module, init}, prelude::*};
///
/// module! {
///     /// A linear map with a factor for each column of its output.
///     pub struct Gated<EmbedDim: ConstDim; E, D> -> EmbedDim {
///         /// The linear map.
///         pub map: module Linear<EmbedDim, EmbedDim, E, D>,
///         /// The factor of each column.
///         pub gate: param (EmbedDim,) = init::ones,
///     }
/// }
///
/// impl<EmbedDim: ConstDim, E: Real, D: Backend<E>> Gated<EmbedDim, E, D> {
///     fn forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
///         &self,
///         input: Tensor<(B, S, EmbedDim), E, D, T>,
///     ) -> Tensor<(B, S, EmbedDim), E, D, T> {
///         let mapped = self.map.forward(input);
///         let shape = *mapped.shape();
///         mapped * self.gate.retaped::<T>().broadcast_like(&shape)
///     }
/// }
///
/// dims! { EmbedDim = 3; }
/// const _: () = assert!(Gated::<EmbedDim, f32, Cpu>::NUM_PARAMS == 15);
/// let device = Cpu::default();
/// let gated = Gated::<EmbedDim, f32, Cpu>::build(&device);
/// let x: Tensor<(Const<2>, Const<4>, EmbedDim), f32, Cpu> = device.zeros();
/// assert_eq!(gated.forward(x).as_vec().len(), 24);
/// ```
#[macro_export]
macro_rules! module {
    ($(#[$meta:meta])* $vis:vis struct $name:ident<E, D> $(-> $out:ty)? { $($fields:tt)* }) => {
        $crate::module!(@fields [$(#[$meta])* $vis $name [] [] $($out)?] [] $($fields)* ,);
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<$param:ident: $($rest:tt)*
    ) => {
        $crate::module!(@params [$(#[$meta])* $vis $name] [] $param [] $($rest)*);
    };

    // Each parameter becomes {name bound}. Bounds are passed on as raw tokens, so that compiler errors
    // point at the bound in the user's source.
    (@params $head:tt [$($done:tt)*] $param:ident $bound:tt , $next:ident: $($rest:tt)*) => {
        $crate::module!(@params $head [$($done)* {$param $bound}] $next [] $($rest)*);
    };
    (@params [$($head:tt)*] [$($done:tt)*] $param:ident $bound:tt ; E, D>
        $(in $config:ident $(:: $conventions:ident)?)? $(-> $out:ty)? { $($fields:tt)* }
    ) => {
        $crate::module!(@fields
            [$($head)* [$($done)* {$param $bound}] [$($config $($conventions)?)?] $($out)?] [] $($fields)* ,);
    };
    (@params $head:tt $done:tt $param:ident [$($bound:tt)*] $token:tt $($rest:tt)*) => {
        $crate::module!(@params $head $done $param [$($bound)* $token] $($rest)*);
    };

    // Each field becomes {attributes visibility name (kind arguments)}.
    (@fields $head:tt [$($done:tt)*]
        $(#[$meta:meta])* $vis:vis $field:ident: param $shape:ty = $init:expr, $($rest:tt)*
    ) => {
        $crate::module!(@fields $head
            [$($done)* {[$(#[$meta])* $vis] $field (param $shape, $init)}] $($rest)*);
    };
    (@fields $head:tt [$($done:tt)*]
        $(#[$meta:meta])* $vis:vis $field:ident: optional($enabled:expr) param $shape:ty = $init:expr,
        $($rest:tt)*
    ) => {
        $crate::module!(@fields $head
            [$($done)* {[$(#[$meta])* $vis] $field (optional_param $enabled, $shape, $init)}] $($rest)*);
    };
    (@fields $head:tt [$($done:tt)*]
        $(#[$meta:meta])* $vis:vis $field:ident: module $module:ty, $($rest:tt)*
    ) => {
        $crate::module!(@fields $head
            [$($done)* {[$(#[$meta])* $vis] $field (module $module)}] $($rest)*);
    };
    (@fields $head:tt [$($done:tt)*]
        $(#[$meta:meta])* $vis:vis $field:ident: optional($enabled:expr) module $module:ty,
        $($rest:tt)*
    ) => {
        $crate::module!(@fields $head
            [$($done)* {[$(#[$meta])* $vis] $field (optional_module $enabled, $module)}] $($rest)*);
    };
    (@fields $head:tt [$($done:tt)*]
        $(#[$meta:meta])* $vis:vis $field:ident: layers($count:block) $module:ty, $($rest:tt)*
    ) => {
        $crate::module!(@fields $head
            [$($done)* {[$(#[$meta])* $vis] $field (layers $count, $module)}] $($rest)*);
    };
    (@fields $head:tt [$($done:tt)*]
        $(#[$meta:meta])* $vis:vis $field:ident: layers($count:ty) $module:ty, $($rest:tt)*
    ) => {
        $crate::module!(@fields $head [$($done)*]
            $(#[$meta])* $vis $field: layers({ <$count as $crate::__private::DfdxConstDim>::SIZE }) $module,
            $($rest)*);
    };

    (@conventions) => { ::std::vec::Vec::new() };
    (@conventions $config:ident) => { $config::conventions() };
    (@conventions $arch:ident $conventions:ident) => {
        <$arch::$conventions as $crate::nn::Conventions>::conventions()
    };

    (@fields
        [
            $(#[$meta:meta])* $vis:vis $name:ident
            [$({$param:ident [$($bound:tt)*]})*] [$($config:ident)*] $($out:ty)?
        ]
        [$({[$($field_head:tt)*] $field:ident $kind:tt})*]
        // We append a comma, so a trailing comma is optional; this consumes the leftover.
        $(,)?
    ) => {
        $(#[$meta])*
        $vis struct $name<
            $($param: $($bound)*,)*
            E: $crate::__private::Dtype = f32,
            D: $crate::__private::Device<E> = $crate::__private::Cpu,
        > {
            $($($field_head)* $field: $crate::__field!(@type $kind),)*
            __dims: ::core::marker::PhantomData<fn() -> ($($param,)* E, D)>,
        }

        impl<$($param: $($bound)*,)* E: $crate::ops::Real, D: $crate::__private::Device<E>>
            $crate::__private::TensorCollection<E, D> for $name<$($param,)* E, D>
        {
            type To<E2: $crate::__private::Dtype, D2: $crate::__private::Device<E2>> =
                $name<$($param,)* E2, D2>;

            fn iter_tensors<V: $crate::__private::ModuleVisitor<Self, E, D>>(
                visitor: &mut V,
            ) -> ::core::result::Result<
                ::core::option::Option<Self::To<V::E2, V::D2>>,
                V::Err,
            > {
                $(let $field = $crate::__field!(@visit visitor $field $kind);)*
                $(let ::core::option::Option::Some($field) = $field else {
                    return ::core::result::Result::Ok(::core::option::Option::None);
                };)*
                ::core::result::Result::Ok(::core::option::Option::Some($name {
                    $($field,)*
                    __dims: ::core::marker::PhantomData,
                }))
            }
        }

        impl<$($param: $($bound)*,)* E: $crate::__private::Dtype, D: $crate::__private::Device<E>>
            $crate::nn::Module for $name<$($param,)* E, D>
        {
            const NUM_PARAMS: usize = 0 $(+ $crate::__field!(@count $kind))*;

            fn describe(path: &str, rows: &mut ::std::vec::Vec<$crate::nn::SummaryRow>) {
                #[allow(unused_mut)]
                let mut row = $crate::nn::SummaryRow {
                    path: path.to_string(),
                    module: ::core::stringify!($name),
                    output: ::core::option::Option::None,
                    parameters: ::std::vec::Vec::new(),
                    count: 0,
                };
                $(row.output = ::core::option::Option::Some(
                    ::std::format!("{:?}", <$out as ::core::default::Default>::default()),
                );)?
                $($crate::__field!(@row row $field $kind);)*
                rows.push(row);
                $($crate::__field!(@children path rows $field $kind);)*
            }

            fn conventions(
                _out: &mut ::std::collections::BTreeSet<(&'static str, ::std::string::String)>,
            ) {
                _out.extend($crate::module!(@conventions $($config)*));
                $($crate::__field!(@conventions _out $kind);)*
            }
        }

        impl<$($param: $($bound)*,)* E: $crate::__private::Dtype, D: $crate::__private::Device<E>>
            ::core::clone::Clone for $name<$($param,)* E, D>
        {
            fn clone(&self) -> Self {
                Self {
                    $($field: self.$field.clone(),)*
                    __dims: ::core::marker::PhantomData,
                }
            }
        }

        impl<$($param: $($bound)*,)* E: $crate::__private::Dtype, D: $crate::__private::Device<E>>
            ::core::fmt::Debug for $name<$($param,)* E, D>
        {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::write!(f, "{}\n{}", $crate::dims::name::<Self>(), $crate::nn::Summary::of::<Self>())
            }
        }
    };
}
