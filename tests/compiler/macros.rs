//! The macros, used as a user of the crate uses them.

use typed_transformer::dims::StaticSize;
use typed_transformer::nn::{Linear, Module, init};
use typed_transformer::prelude::*;

dims! { pub EmbedDim = 4; pub HiddenDim = 6; NumLayers = 3; SeqLen = 2; Batch = 1; }

/// All dimensions known: nothing to be generic in but dtype and device.
#[module]
pub struct Net<E, D> {
    /// In.
    pub hidden: Linear<EmbedDim, HiddenDim, E, D>,
    /// Out.
    pub output: Linear<HiddenDim, EmbedDim, E, D>,
}

impl<E: Real, D: Backend<E>> Net<E, D> {
    fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        self.output.forward(self.hidden.forward(input)?)
    }
}

/// A switch that is part of a module's type.
trait Switch: 'static {
    const ON: bool;
}
struct On;
struct Off;
impl Switch for On {
    const ON: bool = true;
}
impl Switch for Off {
    const ON: bool = false;
}

/// Every kind of field, more of them than dfdx visits at once, and bounds of every form.
#[module]
struct Everything<Width: ConstDim, Part: ConstDim + Divides<Width>, S: Switch, E, D> {
    #[param(init::zeros)]
    one: Tensor<(Width, Part), E, D>,
    #[some_if(S::ON)]
    #[param(init::ones)]
    two: Option<Tensor<(Width,), E, D>>,
    three: Net<E, D>,
    #[some_if(S::ON)]
    four: Option<Net<E, D>>,
    five: Layers<NumLayers, Net<E, D>>,
    #[param(init::ones)]
    dims: Tensor<(Part,), E, D>,
    #[param(init::ones)]
    seven: Tensor<(), E, D>,
    #[param(|parameter| init::uniform::<Part, _, _, _>(parameter))]
    eight: Tensor<(Width,), E, D>,
}

/// A module that a macro of the user declares.
macro_rules! affine {
    ($name:ident, $weight:ty, $bias:ty, $map:ty) => {
        #[module]
        struct $name<E, D> {
            #[param(init::ones)]
            weight: $weight,
            #[some_if(On::ON)]
            #[param(init::zeros)]
            bias: $bias,
            map: $map,
        }
    };
}
affine! {
    Scale,
    Tensor<(EmbedDim,), E, D>,
    Option<Tensor<(HiddenDim,), E, D>>,
    Linear<EmbedDim, HiddenDim, E, D>
}
const _: () = assert!(Scale::<f32, Cpu>::NUM_PARAMS == 4 + 6 + 4 * 6 + 6);

dims! { Width = 8; Part = 2; }
const NET: usize = (4 * 6 + 6) + (6 * 4 + 4);
const _: () = assert!(Net::<f32, Cpu>::NUM_PARAMS == NET);
type With = Everything<Width, Part, On, f32, Cpu>;
type Without = Everything<Width, Part, Off, f32, Cpu>;
const _: () = assert!(With::NUM_PARAMS == 16 + 8 + NET + NET + 3 * NET + 2 + 1 + 8);
const _: () = assert!(Without::NUM_PARAMS == 16 + NET + 3 * NET + 2 + 1 + 8);

#[test]
fn a_module_of_known_dimensions_runs() {
    let device = Cpu::default();
    let x: Tensor<(Batch, SeqLen, EmbedDim), f64, Cpu> = device.zeros();
    let y: Tensor<(Batch, SeqLen, EmbedDim), f64, Cpu> = Net::build(&device).forward(x).unwrap();
    assert_eq!(y.as_vec().len(), 8);
}

/// `dims!` has a type parameter of this name.
#[test]
fn a_dimension_named_rest_is_a_factor() {
    dims! { pub Rest = 3; }
    let (Rest, ()): <Rest as StaticSize>::Factors<()> = (Rest, ());
}

#[test]
fn a_macro_declares_a_module() {
    let scale = Scale::<f32, Cpu>::build(&Cpu::default());
    assert_eq!((scale.weight.as_vec(), scale.bias.unwrap().as_vec()), (vec![1.0; 4], vec![0.0; 6]));
    assert_eq!(scale.map.weight.as_vec().len(), 4 * 6);
}

#[test]
fn every_kind_of_field_is_built_and_counted() {
    use dfdx::nn::NumParams;
    let device = Cpu::default();
    let (with, without) = (With::build(&device), Without::build(&device));
    assert_eq!(with.num_trainable_params(), With::NUM_PARAMS);
    assert_eq!(without.num_trainable_params(), Without::NUM_PARAMS);
    assert!(with.two.is_some() && with.four.is_some() && without.two.is_none());
    assert_eq!(with.five.len(), 3);
    assert_eq!((with.one.as_vec(), with.dims.as_vec()), (vec![0.0; 16], vec![1.0; 2]));
    assert_eq!((with.seven.array(), with.eight.as_vec().len()), (1.0, 8));
    let copy = with.clone();
    assert_eq!(copy.three.hidden.weight.as_vec(), with.three.hidden.weight.as_vec());
    assert!(format!("{with:?}").starts_with("Everything<Width, Part, On>\npath"));
}
