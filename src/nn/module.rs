use std::{collections::BTreeSet, fmt};

/// What the type of a module says of it without an instance: its parameters and their dimensions.
///
/// [`module!`](crate::module!) implements it.
///
/// ```
/// use typed_transformer::{nn::{Linear, Module}, prelude::*};
/// dims! { pub EmbedDim = 8; pub VocabSize = 28; }
/// type Logit = Linear<EmbedDim, VocabSize, f32, Cpu>;
/// const _: () = assert!(Logit::NUM_PARAMS == 8 * 28 + 28);
/// ```
pub trait Module {
    /// Number of trainable scalars.
    const NUM_PARAMS: usize;

    /// Adds a row for the module at `path` and one for each module below it.
    fn describe(path: &str, rows: &mut Vec<SummaryRow>);

    /// The module as a table.
    fn summary(&self) -> Summary
    where
        Self: Sized,
    {
        Summary::of::<Self>()
    }

    /// Adds the [conventions](super::Conventions::conventions) of the module and of those below it.
    fn conventions(found: &mut BTreeSet<(&'static str, String)>);
}

/// One module in a [`Summary`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryRow {
    /// Field path from the root of the model.
    pub path: String,
    /// Name of the module's type.
    pub module: &'static str,
    /// Last dimension of what it puts out, with its size, if the module declares one.
    pub output: Option<String>,
    /// Field and dimensions of each of its own parameters.
    pub parameters: Vec<(&'static str, String)>,
    /// Number of scalars in them.
    pub count: usize,
}

/// A model as a table: path, module, output dimensions, parameters, count, total (*Another annotated
/// transformer*, "Multi-head attention").
///
/// ```
/// use typed_transformer::{nn::{FeedForward, Summary}, prelude::*};
/// dims! { pub EmbedDim = 8; pub NumHeads = 7; pub HeadDim = 5; pub HiddenDim = 5; }
/// struct Small;
/// impl Arch for Small {
///     type NumHeads = NumHeads;
///     type QKDim = HeadDim;
///     type VODim = HeadDim;
///     type HiddenDim = HiddenDim;
///     type Conventions = TypedTransformer;
/// }
/// let summary = Summary::of::<FeedForward<EmbedDim, Small, f32, Cpu>>();
/// assert_eq!(summary.to_string(), "\
/// path    module       output             parameters                                             count
///         FeedForward  (.., EmbedDim=8)
/// hidden  Projection   (.., HiddenDim=5)  weight (HiddenDim=5, EmbedDim=8), bias (HiddenDim=5,)     45
/// output  Projection   (.., EmbedDim=8)   weight (EmbedDim=8, HiddenDim=5), bias (EmbedDim=8,)      48
/// norm    Norm         (.., EmbedDim=8)   weight (EmbedDim=8,), bias (EmbedDim=8,)                  16
/// total                                                                                            109");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// A row for each module, the whole first.
    pub rows: Vec<SummaryRow>,
    /// Number of scalars in all of them.
    pub total: usize,
}

impl Summary {
    /// The summary of a module's type.
    #[must_use]
    pub fn of<M: Module>() -> Self {
        let mut rows = Vec::new();
        M::describe("", &mut rows);
        Self { rows, total: M::NUM_PARAMS }
    }
}

impl SummaryRow {
    fn cells(&self) -> [String; 5] {
        let named = |(name, dims): &(_, _)| format!("{name} {dims}");
        let parameters: Vec<String> = self.parameters.iter().map(named).collect();
        [
            self.path.clone(),
            self.module.to_string(),
            self.output.as_ref().map_or_else(String::new, |width| format!("(.., {width})")),
            parameters.join(", "),
            if self.count > 0 { self.count.to_string() } else { String::new() },
        ]
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = vec![["path", "module", "output", "parameters", "count"].map(String::from)];
        table.extend(self.rows.iter().map(SummaryRow::cells));
        let total = self.total.to_string();
        table.push(["total", "", "", "", &total].map(String::from));
        let width = |column: usize| table.iter().map(|row| row[column].len()).max().unwrap_or(0);
        let [path, module, output, parameters, count] = [0, 1, 2, 3, 4].map(width);
        let line = |[a, b, c, d, e]: &[String; 5]| {
            let line = format!("{a:path$}  {b:module$}  {c:output$}  {d:parameters$}  {e:>count$}");
            line.trim_end().to_string()
        };
        let lines: Vec<_> = table.iter().map(line).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// Joins a field to the path of the module that holds it.
#[doc(hidden)]
#[must_use]
pub fn join(path: &str, field: &str) -> String {
    if path.is_empty() {
        return field.to_string();
    }
    format!("{path}.{field}")
}

/// Declares a module once and derives the rest.
///
/// From the fields with their dimensions come the struct, dfdx's
/// [`TensorCollection`](dfdx::nn::TensorCollection) (and through it building, resetting, counting,
/// moving between devices and dtypes, dfdx's optimizers), [`Module`] with `NUM_PARAMS` and the rows
/// of the summary, `Clone` and `Debug`. A parameter's path in a checkpoint is its field path.
///
/// The last two type parameters are always the dtype `E` and the device `D`; a semicolon divides them
/// from dimensions and whatever else the module is generic in. After them may stand `in A::Conventions`, where
/// the module computes what the style of an [`Arch`](crate::nn::Arch) `A` decides, so that weights in a file are
/// known by it; and `-> Width`, the last dimension of what it puts out, for the summary. A field is one
/// of
///
/// | form | is |
/// | --- | --- |
/// | `weight: param (OutDim, InDim) = init,` | a `Tensor<(OutDim, InDim), E, D>`; `init` is a function that fills it, such as those in [`init`](crate::nn::init) |
/// | `bias: optional(FLAG) param (OutDim,) = init,` | an `Option` of one, there if the constant `FLAG` is true |
/// | `norm: module Norm<EmbedDim, A, E, D>,` | another module |
/// | `norm: optional(FLAG) module Norm<EmbedDim, A, E, D>,` | an `Option` of one |
/// | `layers: layers(NumLayers) EncoderLayer<EmbedDim, A, E, D>,` | a `Vec` of `NumLayers::SIZE` modules |
/// | `inner: layers({ N }) Linear<EmbedDim, EmbedDim, E, D>,` | a `Vec` of as many modules as the constant `N` says |
///
/// ```
/// use typed_transformer::{module, nn::{Linear, Module, init}, prelude::*};
///
/// module! {
///     /// A linear map that its own gate opens and closes.
///     pub struct Gated<EmbedDim: ConstDim; E, D> -> EmbedDim {
///         /// The map.
///         pub map: module Linear<EmbedDim, EmbedDim, E, D>,
///         /// The gate of each column.
///         pub gate: param (EmbedDim,) = init::ones,
///     }
/// }
///
/// impl<EmbedDim: ConstDim, E: Real, D: Backend<E>> Gated<EmbedDim, E, D> {
///     fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
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

    // Each parameter becomes {name bound}. Bounds stay tokens, so that the compiler points at them
    // where they are written.
    (@params $head:tt [$($done:tt)*] $param:ident $bound:tt , $next:ident: $($rest:tt)*) => {
        $crate::module!(@params $head [$($done)* {$param $bound}] $next [] $($rest)*);
    };
    (@params [$($head:tt)*] [$($done:tt)*] $param:ident $bound:tt ; E, D>
        $(in $arch:ident::Conventions)? $(-> $out:ty)? { $($fields:tt)* }
    ) => {
        $crate::module!(@fields
            [$($head)* [$($done)* {$param $bound}] [$($arch)?] $($out)?] [] $($fields)* ,);
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
        $(#[$meta:meta])* $vis:vis $field:ident: optional($there:expr) param $shape:ty = $init:expr,
        $($rest:tt)*
    ) => {
        $crate::module!(@fields $head
            [$($done)* {[$(#[$meta])* $vis] $field (optional_param $there, $shape, $init)}] $($rest)*);
    };
    (@fields $head:tt [$($done:tt)*]
        $(#[$meta:meta])* $vis:vis $field:ident: module $module:ty, $($rest:tt)*
    ) => {
        $crate::module!(@fields $head
            [$($done)* {[$(#[$meta])* $vis] $field (module $module)}] $($rest)*);
    };
    (@fields $head:tt [$($done:tt)*]
        $(#[$meta:meta])* $vis:vis $field:ident: optional($there:expr) module $module:ty,
        $($rest:tt)*
    ) => {
        $crate::module!(@fields $head
            [$($done)* {[$(#[$meta])* $vis] $field (optional_module $there, $module)}] $($rest)*);
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
            $(#[$meta])* $vis $field: layers({ <$count as $crate::dims::ConstDim>::SIZE }) $module,
            $($rest)*);
    };

    (@fields
        [
            $(#[$meta:meta])* $vis:vis $name:ident
            [$({$param:ident [$($bound:tt)*]})*] [$($arch:ident)?] $($out:ty)?
        ]
        [$({[$($field_head:tt)*] $field:ident $kind:tt})*]
        // Left of the comma that was added, so that the last field needs none of its own.
        $(,)?
    ) => {
        $(#[$meta])*
        $vis struct $name<
            $($param: $($bound)*,)*
            E: $crate::__private::Dtype,
            D: $crate::__private::Device<E>,
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
                $(let $field = $crate::__field!(@names $field $kind);)*
                visitor.visit_fields(
                    $crate::__nest!($(($crate::__field!(@visit $field $kind)))*),
                    |$crate::__nest!($($field)*)| $name {
                        $($field: $crate::__field!(@built $field $kind),)*
                        __dims: ::core::marker::PhantomData,
                    },
                )
            }
        }

        impl<$($param: $($bound)*,)* E: $crate::__private::Dtype, D: $crate::__private::Device<E>>
            $crate::nn::Module for $name<$($param,)* E, D>
        {
            const NUM_PARAMS: usize = 0 $(+ $crate::__field!(@count $kind))*;

            fn describe(path: &str, rows: &mut ::std::vec::Vec<$crate::nn::SummaryRow>) {
                #[allow(unused_mut)]
                let mut own = $crate::nn::SummaryRow {
                    path: path.to_string(),
                    module: ::core::stringify!($name),
                    output: ::core::option::Option::None,
                    parameters: ::std::vec::Vec::new(),
                    count: 0,
                };
                $(own.output = ::core::option::Option::Some(
                    ::std::format!("{:?}", <$out as ::core::default::Default>::default()),
                );)?
                $($crate::__field!(@own own $field $kind);)*
                rows.push(own);
                $($crate::__field!(@below path rows $field $kind);)*
            }

            fn conventions(
                _found: &mut ::std::collections::BTreeSet<(&'static str, ::std::string::String)>,
            ) {
                $(_found.extend(<$arch::Conventions as $crate::nn::Conventions>::conventions());)?
                $($crate::__field!(@conventions _found $kind);)*
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

/// What each kind of field contributes to a module.
#[doc(hidden)]
#[macro_export]
macro_rules! __field {
    (@type (param $shape:ty, $init:expr)) => { $crate::__private::Tensor<$shape, E, D> };
    (@type (optional_param $there:expr, $shape:ty, $init:expr)) => {
        ::core::option::Option<$crate::__private::Tensor<$shape, E, D>>
    };
    (@type (module $module:ty)) => { $module };
    (@type (optional_module $there:expr, $module:ty)) => { ::core::option::Option<$module> };
    (@type (layers $count:block, $module:ty)) => { ::std::vec::Vec<$module> };

    // The names under which dfdx visits the field; only the fields of `layers` have several.
    (@names $field:ident (layers $count:block, $module:ty)) => {
        (0..$count)
            .map(|i| ::std::format!("{}.{i}", ::core::stringify!($field)))
            .collect::<::std::vec::Vec<_>>()
    };
    (@names $field:ident $kind:tt) => { ::core::stringify!($field) };

    (@visit $field:ident (param $shape:ty, $init:expr)) => {
        Self::tensor(
            $field,
            |module| &module.$field,
            |module| &mut module.$field,
            $crate::__private::TensorOptions::reset_with($init),
        )
    };
    (@visit $field:ident (optional_param $there:expr, $shape:ty, $init:expr)) => {
        ($there)
            .then(|| Self::tensor(
                $field,
                |module| module.$field.as_ref().expect("there by its type"),
                |module| module.$field.as_mut().expect("there by its type"),
                $crate::__private::TensorOptions::reset_with($init),
            ))
            .into_iter()
            .collect::<::std::vec::Vec<_>>()
    };
    (@visit $field:ident (module $module:ty)) => {
        Self::module($field, |module| &module.$field, |module| &mut module.$field)
    };
    (@visit $field:ident (optional_module $there:expr, $module:ty)) => {
        ($there)
            .then(|| Self::module(
                $field,
                |module| module.$field.as_ref().expect("there by its type"),
                |module| module.$field.as_mut().expect("there by its type"),
            ))
            .into_iter()
            .collect::<::std::vec::Vec<_>>()
    };
    (@visit $field:ident (layers $count:block, $module:ty)) => {
        $field
            .iter()
            .enumerate()
            .map(|(i, name)| Self::module(
                name,
                move |module| &module.$field[i],
                move |module| &mut module.$field[i],
            ))
            .collect::<::std::vec::Vec<_>>()
    };

    (@built $field:ident (optional_param $($args:tt)*)) => { $field.into_iter().next() };
    (@built $field:ident (optional_module $($args:tt)*)) => { $field.into_iter().next() };
    (@built $field:ident $kind:tt) => { $field };

    (@count (param $shape:ty, $init:expr)) => {
        <$shape as $crate::__private::ConstShape>::NUMEL
    };
    (@count (optional_param $there:expr, $shape:ty, $init:expr)) => {
        ($there) as usize * <$shape as $crate::__private::ConstShape>::NUMEL
    };
    (@count (module $module:ty)) => { <$module as $crate::nn::Module>::NUM_PARAMS };
    (@count (optional_module $there:expr, $module:ty)) => {
        ($there) as usize * <$module as $crate::nn::Module>::NUM_PARAMS
    };
    (@count (layers $count:block, $module:ty)) => {
        $count * <$module as $crate::nn::Module>::NUM_PARAMS
    };

    (@own $own:ident $field:ident (param $shape:ty, $init:expr)) => {
        $own.parameters.push((
            ::core::stringify!($field),
            ::std::format!("{:?}", <$shape as ::core::default::Default>::default()),
        ));
        $own.count += <$shape as $crate::__private::ConstShape>::NUMEL;
    };
    (@own $own:ident $field:ident (optional_param $there:expr, $shape:ty, $init:expr)) => {
        if $there {
            $crate::__field!(@own $own $field (param $shape, $init));
        }
    };
    (@own $own:ident $field:ident $kind:tt) => {};

    (@below $path:ident $rows:ident $field:ident (module $module:ty)) => {
        <$module as $crate::nn::Module>::describe(
            &$crate::nn::join($path, ::core::stringify!($field)),
            $rows,
        );
    };
    (@below $path:ident $rows:ident $field:ident (optional_module $there:expr, $module:ty)) => {
        if $there {
            $crate::__field!(@below $path $rows $field (module $module));
        }
    };
    (@below $path:ident $rows:ident $field:ident (layers $count:block, $module:ty)) => {
        for i in 0..$count {
            let field = ::std::format!("{}.{i}", ::core::stringify!($field));
            <$module as $crate::nn::Module>::describe(&$crate::nn::join($path, &field), $rows);
        }
    };
    (@below $path:ident $rows:ident $field:ident $kind:tt) => {};

    (@conventions $found:ident (module $module:ty)) => {
        <$module as $crate::nn::Module>::conventions($found);
    };
    (@conventions $found:ident (optional_module $there:expr, $module:ty)) => {
        if $there {
            <$module as $crate::nn::Module>::conventions($found);
        }
    };
    (@conventions $found:ident (layers $count:block, $module:ty)) => {
        if $count > 0 {
            <$module as $crate::nn::Module>::conventions($found);
        }
    };
    (@conventions $found:ident $kind:tt) => {};
}

/// `a b c` as `(a, (b, (c, ())))`: dfdx visits tuples of up to six fields, and pairs nest.
#[doc(hidden)]
#[macro_export]
macro_rules! __nest {
    () => { () };
    ($first:tt $($rest:tt)*) => { ($first, $crate::__nest!($($rest)*)) };
}
