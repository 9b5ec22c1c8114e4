/// The contribution of one field of [`module!`](crate::module!) to each implementation.
///
/// A field is `param`, `optional_param`, `module`, `optional_module` or `layers`; the rules are grouped by
/// what they contribute: the type, the names and visits for dfdx, rebuilding, counting, the summary row
/// and its children, the conventions.
#[doc(hidden)]
#[macro_export]
macro_rules! __field {
    (@type (param $shape:ty, $init:expr)) => { $crate::__private::Tensor<$shape, E, D> };
    (@type (optional_param $enabled:expr, $shape:ty, $init:expr)) => {
        ::core::option::Option<$crate::__private::Tensor<$shape, E, D>>
    };
    (@type (module $module:ty)) => { $module };
    (@type (optional_module $enabled:expr, $module:ty)) => { ::core::option::Option<$module> };
    (@type (layers $count:block, $module:ty)) => { ::std::vec::Vec<$module> };

    // The names under which dfdx visits the field: one, or one for each of the `layers`.
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
    (@visit $field:ident (optional_param $enabled:expr, $shape:ty, $init:expr)) => {
        ($enabled)
            .then(|| Self::tensor(
                $field,
                |module| module.$field.as_ref().expect("the type says that it is enabled"),
                |module| module.$field.as_mut().expect("the type says that it is enabled"),
                $crate::__private::TensorOptions::reset_with($init),
            ))
            .into_iter()
            .collect::<::std::vec::Vec<_>>()
    };
    (@visit $field:ident (module $module:ty)) => {
        Self::module($field, |module| &module.$field, |module| &mut module.$field)
    };
    (@visit $field:ident (optional_module $enabled:expr, $module:ty)) => {
        ($enabled)
            .then(|| Self::module(
                $field,
                |module| module.$field.as_ref().expect("the type says that it is enabled"),
                |module| module.$field.as_mut().expect("the type says that it is enabled"),
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

    (@rebuild $field:ident (optional_param $($args:tt)*)) => { $field.into_iter().next() };
    (@rebuild $field:ident (optional_module $($args:tt)*)) => { $field.into_iter().next() };
    (@rebuild $field:ident $kind:tt) => { $field };

    (@count (param $shape:ty, $init:expr)) => {
        <$shape as $crate::__private::ConstShape>::NUMEL
    };
    (@count (optional_param $enabled:expr, $shape:ty, $init:expr)) => {
        ($enabled) as usize * <$shape as $crate::__private::ConstShape>::NUMEL
    };
    (@count (module $module:ty)) => { <$module as $crate::nn::Module>::NUM_PARAMS };
    (@count (optional_module $enabled:expr, $module:ty)) => {
        ($enabled) as usize * <$module as $crate::nn::Module>::NUM_PARAMS
    };
    (@count (layers $count:block, $module:ty)) => {
        $count * <$module as $crate::nn::Module>::NUM_PARAMS
    };

    (@row $row:ident $field:ident (param $shape:ty, $init:expr)) => {
        $row.parameters.push((
            ::core::stringify!($field),
            ::std::format!("{:?}", <$shape as ::core::default::Default>::default()),
        ));
        $row.count += <$shape as $crate::__private::ConstShape>::NUMEL;
    };
    (@row $row:ident $field:ident (optional_param $enabled:expr, $shape:ty, $init:expr)) => {
        if $enabled {
            $crate::__field!(@row $row $field (param $shape, $init));
        }
    };
    (@row $row:ident $field:ident $kind:tt) => {};

    (@children $path:ident $rows:ident $field:ident (module $module:ty)) => {
        <$module as $crate::nn::Module>::describe(
            &$crate::nn::child_path($path, ::core::stringify!($field)),
            $rows,
        );
    };
    (@children $path:ident $rows:ident $field:ident (optional_module $enabled:expr, $module:ty)) => {
        if $enabled {
            $crate::__field!(@children $path $rows $field (module $module));
        }
    };
    (@children $path:ident $rows:ident $field:ident (layers $count:block, $module:ty)) => {
        for i in 0..$count {
            let field = ::std::format!("{}.{i}", ::core::stringify!($field));
            <$module as $crate::nn::Module>::describe(&$crate::nn::child_path($path, &field), $rows);
        }
    };
    (@children $path:ident $rows:ident $field:ident $kind:tt) => {};

    (@conventions $out:ident (module $module:ty)) => {
        <$module as $crate::nn::Module>::conventions($out);
    };
    (@conventions $out:ident (optional_module $enabled:expr, $module:ty)) => {
        if $enabled {
            <$module as $crate::nn::Module>::conventions($out);
        }
    };
    (@conventions $out:ident (layers $count:block, $module:ty)) => {
        if $count > 0 {
            <$module as $crate::nn::Module>::conventions($out);
        }
    };
    (@conventions $out:ident $kind:tt) => {};
}

/// `a b c` as `(a, (b, (c, ())))`, because dfdx visits tuples of at most six fields.
#[doc(hidden)]
#[macro_export]
macro_rules! __nest {
    () => { () };
    ($first:tt $($rest:tt)*) => { ($first, $crate::__nest!($($rest)*)) };
}
