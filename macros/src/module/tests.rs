use super::expand;
use proc_macro2::{Delimiter, Group, TokenStream};
use quote::quote;

#[test]
fn what_no_module_can_be_is_refused_in_its_own_words() {
    const BOUNDS: &str = "a module bounds its dtype and its device itself: write `E, D` here, and \
                          `E: Real, D: Backend<E>` at its `impl`";
    const LAYER: &str = "a layer has the bound `Module` alone here: what layers have in common is a bound at the `impl` \
                         of `forward`";
    const LAST_TWO: &str = "the last two parameters of a module are its dtype and its device: `struct Name<.., E, D>`";
    const OF_DTYPE_AND_DEVICE: &str = "a field is a parameter or a module of the dtype `E` and the device `D`, such as \
                                       `Linear<InDim, OutDim, E, D>`\na type parameter that stands for a layer has \
                                       the bound `Module`";
    const PRECISION: &str = "the precision of a module is its last parameter: `struct Name<.., E, D, P: Precision>`";
    const NUMBER: &str =
        "a field is a parameter or a module; a number that is not trained is a constant of the configuration";
    let modules = [
        ("struct Scaled<E, D> { scale: f64 }", NUMBER),
        ("struct Scaled<E, D> { sizes: (usize, usize) }", NUMBER),
        (
            "struct Twice<E, D> { maps: [Linear<Width, Width, E, D>; 2] }",
            "modules of one type are `Layers<NumLayers, Module>`",
        ),
        (
            "struct Twice<E, D> { maps: (Linear<Width, Width, E, D>, Linear<Width, Width, E, D>) }",
            "each module is a field of its own",
        ),
        ("struct Named<E, D> { name: &'static str }", NUMBER),
        (
            "struct Borrowed<'a, E, D> { map: &'a Linear<Width, Width, E, D> }",
            "a module owns its parts: leave the `&` out",
        ),
        ("struct Boxed<E, D> { map: Box<Linear<Width, Width, E, D>> }", "a module stands in a field without a `Box`"),
        (
            "struct Shared<E, D> { map: std::sync::Arc<Linear<Width, Width, E, D>> }",
            "a module stands in a field without an `Arc`",
        ),
        ("struct Mlp<Width: ConstDim, E, D> { map: Linear<Width, Width> }", OF_DTYPE_AND_DEVICE),
        ("struct Mlp<Width: ConstDim, E, D> { map: Linear<Width, Width, E> }", OF_DTYPE_AND_DEVICE),
        ("struct Mlp<Width: ConstDim, E, D> { #[layers(2)] maps: Vec<Linear<Width, Width>> }", OF_DTYPE_AND_DEVICE),
        ("struct Sampled<E, D> { rng: StdRng }", OF_DTYPE_AND_DEVICE),
        ("struct Gated<Act: Activation, E, D> { act: Act, map: Linear<Width, Width, E, D> }", OF_DTYPE_AND_DEVICE),
        ("struct Stack<Inner, E, D> { layers: Layers<NumLayers, Inner> }", OF_DTYPE_AND_DEVICE),
        ("struct Scaled<E, D> { #[param(init::ones)] scale: Tensor<(Width,)> }", OF_DTYPE_AND_DEVICE),
        (
            "struct Of<C, E, D> { config: std::marker::PhantomData<C> }",
            "a module keeps its type parameters itself: leave this field out",
        ),
        ("struct Twice<D, E> { first: Linear<Width, Width, E, D> }", "the dtype `E` stands before the device `D`"),
        ("struct Twice<E: Real, D: Backend<E>> { first: Linear<Width, Width, E, D> }", BOUNDS),
        (
            "struct PreNorm<E, D, Inner: Module> { inner: Inner }",
            "the dtype `E` and the device `D` stand after the layers",
        ),
        ("struct PreNorm<Inner: Module + Layer<E, D>, E, D> { inner: Inner }", LAYER),
        ("struct Stack<Inner: Module, E, D> where Inner: Clone { layers: Layers<NumLayers, Inner> }", LAYER),
        ("struct Mlp { map: Linear<Width, Width, E, D> }", LAST_TWO),
        ("struct Mlp<InDim: ConstDim, OutDim: ConstDim> { map: Linear<Width, Width, E, D> }", LAST_TWO),
        ("struct Mlp<Width: ConstDim, E> { map: Linear<Width, Width, E, D> }", LAST_TWO),
        ("struct Mlp<Float: Real, Gpu: Backend<Float>> { map: Linear<Width, Width, E, D> }", BOUNDS),
        (
            "struct Layer<E, D, Width: ConstDim> { map: Linear<Width, Width, E, D> }",
            "the dtype `E` and the device `D` are the last two parameters of a module: `struct Name<.., E, D>`\n\
             behind them stands only a precision, `P: Precision`",
        ),
        ("struct Layer<Width: ConstDim, E, D, P: Trainable> { map: Linear<Width, Width, E, D, P> }", PRECISION),
        ("struct Layer<Width: ConstDim, P: Precision, E, D> { map: Linear<Width, Width, E, D, P> }", PRECISION),
        ("struct Layer<E, D, P> where P: Precision + Trainable { map: Linear<Width, Width, E, D, P> }", PRECISION),
        (
            "struct Map<Width: ConstDim, E, D, P: Precision> { map: Linear<Width, Width, E, D> }",
            "no field has the precision `P`: hand it on, as in `Linear<InDim, OutDim, E, D, P>`",
        ),
        (
            "struct Stack<E, D> { layers: Layers<Linear<Width, Width, E, D>, NumLayers> }",
            "modules of one type are `Layers<NumLayers, Module>`",
        ),
        (
            "struct Stack<E, D> { #[some_if(true)] layers: Option<Layers<Linear<Width, Width, E, D>, NumLayers>> }",
            "modules of one type are `Layers<NumLayers, Module>`",
        ),
        (
            "struct Stack<Inner: Module, E, D> { layers: Layers<Inner, NumLayers> }",
            "modules of one type are `Layers<NumLayers, Module>`",
        ),
        ("struct Tables<E, D> { tables: [Tensor<(Width,), E, D>; 2] }", NUMBER),
        ("struct Once<E, D> where D: Backend<E> { map: Linear<Width, Width, E, D> }", BOUNDS),
        (
            r#"struct Sometimes<E, D> { #[cfg(feature = "more")] more: Linear<Width, Width, E, D> }"#,
            "a field of a module is there in every build: make it an `Option` with `#[some_if(cfg!(…))]`",
        ),
        (
            "#[derive(Clone, Debug)] struct Copied<E, D> { map: Linear<Width, Width, E, D> }",
            "a module is `Clone` and `Debug` by itself: leave them out of `#[derive]`",
        ),
    ];
    for (module, expected) in modules {
        let error = expand(TokenStream::new(), module.parse().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{module}");
    }
}

#[test]
fn a_precision_may_be_declared_in_a_where_clause() {
    let module = "struct Map<E, D, P> where P: Precision { map: Linear<Width, Width, E, D, P> }";
    let expanded = expand(TokenStream::new(), module.parse().unwrap()).unwrap().to_string();
    assert!(expanded.contains("struct Map < E = f32 , D : :: typed_transformer"), "{expanded}");
    assert!(expanded.contains("P = :: typed_transformer :: nn :: FullPrecision"), "{expanded}");
}

#[test]
fn names_of_the_crate_may_be_names_of_others() {
    let module = "struct Net<Config: other::Trainable, E, D> { heads: Box<Config, E, D> }";
    let expanded = expand(TokenStream::new(), module.parse().unwrap()).unwrap().to_string();
    assert!(!expanded.contains("FullPrecision"), "{expanded}");
}

#[test]
fn a_type_of_a_declarative_macro_is_read() {
    let module = |ty: TokenStream| {
        let ty = Group::new(Delimiter::None, ty);
        quote!(struct Scale<E, D> { #[param(init::ones)] weight: #ty, })
    };
    expand(TokenStream::new(), module(quote!(Tensor<(Width,), E, D>))).unwrap();
    expand(TokenStream::new(), module(quote!(Vec<(Width,), E, D>))).unwrap_err();
    let width = Group::new(Delimiter::None, quote!(Width));
    let module = quote!(struct Map<Width, E, D> where #width: ConstDim { map: Linear<Width, Width, E, D> });
    expand(TokenStream::new(), module).unwrap();
}
