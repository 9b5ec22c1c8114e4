/// The contribution of one field of [`module!`](crate::module!) to each implementation.
///
/// A field is `param`, `optional_param`, `module`, `optional_module` or `layers`; the rules are grouped by
/// what they contribute: the type, the visit of dfdx, counting, the summary row and its children, the conventions.
///
/// A visit calls the visitor for each field. A tuple of dfdx's `ModuleField`s would be shorter here, but it makes
/// seven functions for each field and visitor instead of three, which took a third of the time of compiling the tests.
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

    (@visit $visitor:ident $field:ident (param $shape:ty, $init:expr)) => {
        $visitor.visit_tensor(
            ::core::stringify!($field),
            |module| &module.$field,
            |module| &mut module.$field,
            $crate::__private::TensorOptions::reset_with($init),
        )?
    };
    (@visit $visitor:ident $field:ident (optional_param $enabled:expr, $shape:ty, $init:expr)) => {
        if $enabled {
            let parameter = $visitor.visit_tensor(
                ::core::stringify!($field),
                |module| module.$field.as_ref().expect("the type says that it is enabled"),
                |module| module.$field.as_mut().expect("the type says that it is enabled"),
                $crate::__private::TensorOptions::reset_with($init),
            )?;
            $crate::__field!(@some parameter)
        } else {
            ::core::option::Option::Some(::core::option::Option::None)
        }
    };
    (@visit $visitor:ident $field:ident (module $module:ty)) => {
        $visitor.visit_module(::core::stringify!($field), |module| &module.$field, |module| &mut module.$field)?
    };
    (@visit $visitor:ident $field:ident (optional_module $enabled:expr, $module:ty)) => {
        if $enabled {
            let module = $visitor.visit_module(
                ::core::stringify!($field),
                |module| module.$field.as_ref().expect("the type says that it is enabled"),
                |module| module.$field.as_mut().expect("the type says that it is enabled"),
            )?;
            $crate::__field!(@some module)
        } else {
            ::core::option::Option::Some(::core::option::Option::None)
        }
    };
    (@visit $visitor:ident $field:ident (layers $count:block, $module:ty)) => {{
        let mut layers = ::core::option::Option::Some(::std::vec::Vec::with_capacity($count));
        for i in 0..$count {
            let layer = $visitor.visit_module(
                &::std::format!("{}.{i}", ::core::stringify!($field)),
                move |module| &module.$field[i],
                move |module| &mut module.$field[i],
            )?;
            match (&mut layers, layer) {
                (::core::option::Option::Some(layers), ::core::option::Option::Some(layer)) => layers.push(layer),
                _ => layers = ::core::option::Option::None,
            }
        }
        layers
    }};

    // `Option::map` would be one more function for each field and visitor.
    (@some $visited:ident) => {
        match $visited {
            ::core::option::Option::Some(visited) => ::core::option::Option::Some(::core::option::Option::Some(visited)),
            ::core::option::Option::None => ::core::option::Option::None,
        }
    };

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
