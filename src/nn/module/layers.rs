use super::{Module, SummaryRow, child_path};
use crate::dims::ConstDim;
use crate::weights::{LoadError, Loadable, TensorSource};
use dfdx::nn::{ModuleVisitor, TensorCollection};
use dfdx::{dtypes::Dtype, tensor_ops::Device};
use std::ops::{Deref, DerefMut};
use std::{collections::BTreeSet, fmt, iter, marker::PhantomData, slice};

/// A layer, or another item such as a cache, for each of `NumLayers`. Its type has the number of items, unlike that of
/// a `Vec`.
///
/// It dereferences to a slice. The [`zip`](LayersIter::zip) of its iterators takes only items of the same `NumLayers`;
/// the iterators of two `Vec`s would end with the shorter one.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{EncoderLayer, Layers}, prelude::*};
///
/// #[module]
/// struct Stack<E, D> {
///     layers: Layers<NumLayers, EncoderLayer<EmbedDim, Model, E, D>>,
/// }
///
/// let stack = Stack::<f32, Cpu>::build(&Cpu::default());
/// let scales: Layers<NumLayers, f64> = Layers::try_from_fn(|i| Ok::<_, OpError>(1.0 / (i + 1) as f64))?;
/// for (layer, scale) in stack.layers.iter().zip(&scales) {
///     let _: (&EncoderLayer<EmbedDim, Model>, &f64) = (layer, scale);
/// }
/// assert_eq!(stack.layers.len(), NumLayers::SIZE);
/// # Ok::<(), OpError>(())
/// ```
pub struct Layers<NumLayers, Layer> {
    layers: Vec<Layer>,
    num_layers: PhantomData<fn() -> NumLayers>,
}

impl<NumLayers: ConstDim, Layer> Layers<NumLayers, Layer> {
    /// The items that `make` returns for the indices from 0 to `NumLayers` less 1.
    ///
    /// # Errors
    /// The first error of `make`.
    pub fn try_from_fn<Error>(mut make: impl FnMut(usize) -> Result<Layer, Error>) -> Result<Self, Error> {
        // `map` and `collect` would be many more functions for each type of layer.
        let mut layers = Vec::with_capacity(NumLayers::SIZE);
        for i in 0..NumLayers::SIZE {
            layers.push(make(i)?);
        }
        Ok(Self { layers, num_layers: PhantomData })
    }
}

impl<NumLayers, Layer> Layers<NumLayers, Layer> {
    /// The items, first to last.
    pub fn iter(&self) -> LayersIter<NumLayers, slice::Iter<'_, Layer>> {
        LayersIter::new(self.layers.iter())
    }

    /// The items, first to last, to be changed.
    pub fn iter_mut(&mut self) -> LayersIter<NumLayers, slice::IterMut<'_, Layer>> {
        LayersIter::new(self.layers.iter_mut())
    }
}

impl<NumLayers, Layer> Deref for Layers<NumLayers, Layer> {
    type Target = [Layer];

    fn deref(&self) -> &[Layer] {
        &self.layers
    }
}
impl<NumLayers, Layer> DerefMut for Layers<NumLayers, Layer> {
    fn deref_mut(&mut self) -> &mut [Layer] {
        &mut self.layers
    }
}
crate::dims::cloned!([NumLayers, Layer: Clone] Layers<NumLayers, Layer> { layers, num_layers });
crate::error::debug_as!([NumLayers, Layer: fmt::Debug] Layers<NumLayers, Layer>, |this, f| this.layers.fmt(f));

/// An iterator over an item for each of `NumLayers`.
///
/// Its [`zip`](Self::zip) takes only items of the same `NumLayers`.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{Layers, LayersIter}, prelude::*};
/// use std::slice;
/// let rates: Layers<NumLayers, f64> = Layers::try_from_fn(|_| Ok::<_, OpError>(0.1))?;
/// let each: LayersIter<NumLayers, slice::Iter<'_, f64>> = rates.iter();
/// assert_eq!(each.zip(&rates).enumerate().count(), NumLayers::SIZE);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LayersIter<NumLayers, Items> {
    items: Items,
    num_layers: PhantomData<fn() -> NumLayers>,
}

impl<NumLayers, Items: Iterator> LayersIter<NumLayers, Items> {
    fn new(items: Items) -> Self {
        Self { items, num_layers: PhantomData }
    }

    /// [`Iterator::zip`] with other items of the same `NumLayers`.
    pub fn zip<Other: ForEachLayer<NumLayers>>(
        self,
        other: Other,
    ) -> LayersIter<NumLayers, iter::Zip<Items, Other::IntoIter>> {
        LayersIter::new(self.items.zip(other))
    }

    /// [`Iterator::rev`]: the last item first.
    pub fn rev(self) -> LayersIter<NumLayers, iter::Rev<Items>>
    where
        Items: DoubleEndedIterator,
    {
        LayersIter::new(self.items.rev())
    }

    /// [`Iterator::enumerate`]: each item after its index.
    pub fn enumerate(self) -> LayersIter<NumLayers, iter::Enumerate<Items>> {
        LayersIter::new(self.items.enumerate())
    }
}

impl<NumLayers, Items: Iterator> Iterator for LayersIter<NumLayers, Items> {
    type Item = Items::Item;

    fn next(&mut self) -> Option<Items::Item> {
        self.items.next()
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}
impl<NumLayers, Items: ExactSizeIterator> ExactSizeIterator for LayersIter<NumLayers, Items> {}
impl<NumLayers, Items: DoubleEndedIterator> DoubleEndedIterator for LayersIter<NumLayers, Items> {
    fn next_back(&mut self) -> Option<Items::Item> {
        self.items.next_back()
    }
}

/// An item for each of `NumLayers` layers: [`Layers`] or an iterator over them. [`zip`](LayersIter::zip) takes it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not for each of `{NumLayers}` layers",
    label = "this is not `Layers<{NumLayers}, _>`",
    note = "layers are paired with as many items; `Layers::try_from_fn` makes an item for each layer"
)]
pub trait ForEachLayer<NumLayers>: IntoIterator {}
#[diagnostic::do_not_recommend]
impl<NumLayers, Items: Iterator> ForEachLayer<NumLayers> for LayersIter<NumLayers, Items> {}

impl<'a, NumLayers, Layer> IntoIterator for &'a Layers<NumLayers, Layer> {
    type Item = &'a Layer;
    type IntoIter = LayersIter<NumLayers, slice::Iter<'a, Layer>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
#[diagnostic::do_not_recommend]
impl<NumLayers, Layer> ForEachLayer<NumLayers> for &Layers<NumLayers, Layer> {}
impl<'a, NumLayers, Layer> IntoIterator for &'a mut Layers<NumLayers, Layer> {
    type Item = &'a mut Layer;
    type IntoIter = LayersIter<NumLayers, slice::IterMut<'a, Layer>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
#[diagnostic::do_not_recommend]
impl<NumLayers, Layer> ForEachLayer<NumLayers> for &mut Layers<NumLayers, Layer> {}

impl<NumLayers: ConstDim, Layer: TensorCollection<E, D>, E: Dtype, D: Device<E>> TensorCollection<E, D>
    for Layers<NumLayers, Layer>
{
    type To<To: Dtype, ToDevice: Device<To>> = Layers<NumLayers, Layer::To<To, ToDevice>>;

    fn iter_tensors<V: ModuleVisitor<Self, E, D>>(visitor: &mut V) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        let mut layers = Vec::with_capacity(NumLayers::SIZE);
        for i in 0..NumLayers::SIZE {
            let name = i.to_string();
            let layer =
                visitor.visit_module::<Layer, _, _>(&name, move |all| &all.layers[i], move |all| &mut all.layers[i])?;
            layers.extend(layer);
        }
        // A visitor that only looks at tensors returns no layers.
        Ok((layers.len() == NumLayers::SIZE).then_some(Layers { layers, num_layers: PhantomData }))
    }
}

#[diagnostic::do_not_recommend]
impl<NumLayers: ConstDim, Layer: Loadable<E, D>, E: Dtype, D: Device<E>> Loadable<E, D> for Layers<NumLayers, Layer> {
    fn load_from(source: &mut TensorSource<'_, E, D>, path: &str) -> Result<Self, LoadError> {
        Self::try_from_fn(|i| Layer::load_from(source, &child_path(path, &i.to_string())))
    }
}

#[diagnostic::do_not_recommend]
impl<NumLayers: ConstDim, Layer: Module> Module for Layers<NumLayers, Layer> {
    const NUM_PARAMS: usize = NumLayers::SIZE * Layer::NUM_PARAMS;

    fn describe(path: &str, rows: &mut Vec<SummaryRow>) {
        for i in 0..NumLayers::SIZE {
            Layer::describe(&child_path(path, &i.to_string()), rows);
        }
    }

    fn conventions(out: &mut BTreeSet<(&'static str, String)>) {
        if NumLayers::SIZE > 0 {
            Layer::conventions(out);
        }
    }
}
