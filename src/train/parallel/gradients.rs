//! The sum of the ranks' gradients.

use super::buckets::{Buckets, ListParameters};
use crate::{
    backend::{
        Backend,
        gradient_hook::{register_parameters, with_hook},
    },
    ops::Real,
    ranks::{Element, Partial, RankAxis, Ranks, RanksError, Replicated, TermOver},
    train::{Backpropagate, GradientsOf, Recording},
};
use dfdx::{
    nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorRef},
    shapes::{HasShape, Rank0, Shape},
    tensor::{Gradients, Tensor},
    tensor_ops::Device,
};
use std::{mem, rc::Rc};

const OP: &str = "all-reduce of gradients";

impl<Model, E, D, W> Partial<GradientsOf<Model, E, D>, W>
where
    Model: TensorCollection<E, D>,
    E: Element,
    D: Backend<E>,
    W: RankAxis,
{
    /// Sums the gradients of all ranks. Every rank gets the same bits.
    ///
    /// # Errors
    /// [`RanksError::Engine`]; [`RanksError::Device`] if the device fails.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, nn::Linear, prelude::*, ranks, ranks::{Partial, Ranks, RanksError}};
    /// # use dfdx::tensor_ops::SumTo;
    /// ranks! { pub World; }
    /// let sums = Ranks::<World>::in_threads(3, |ranks| -> Result<Vec<f32>, RanksError> {
    ///     let model = ranks.replicate(Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default()))?;
    ///     // The loss is the sum of the bias, on each rank.
    ///     let loss: Partial<_, World> = Partial::term(model.bias.clone().put_tape(model.recording()).sum());
    ///     let gradients = loss.backward().all_reduce(ranks, &model)?;
    ///     Ok(gradients.into_inner().of(&model.bias).unwrap().as_vec())
    /// });
    /// assert_eq!(sums[0], Ok(vec![3.0; 28]));
    /// ```
    pub fn all_reduce(
        self,
        ranks: &Ranks<W>,
        model: &Replicated<Model, W>,
    ) -> Result<Replicated<GradientsOf<Model, E, D>, W>, RanksError> {
        let gradients = self.into_term();
        if ranks.size() == 1 {
            return Ok(Replicated::assume(gradients));
        }
        let buckets = Buckets::new(ranks, &list_parameters(model)?);
        sum(&buckets, gradients, model)
    }
}

impl<Model, E, D, W> Replicated<GradientsOf<Model, E, D>, W>
where
    Model: TensorCollection<E, D>,
    E: Element,
    D: Backend<E>,
    W: RankAxis,
{
    /// No rank can call it: the gradients are a sum.
    #[doc(hidden)]
    pub fn all_reduce(self, _: &Ranks<W>, _: &Replicated<Model, W>) -> Result<Self, RanksError>
    where
        GradientsOf<Model, E, D>: TermOver<W>,
    {
        Ok(self)
    }
}

impl<Model, E, D, W> Partial<Tensor<Rank0, E, D, Recording<Model, E, D>>, W>
where
    Model: TensorCollection<E, D>,
    E: Element,
    D: Backend<E>,
    W: RankAxis,
{
    /// [`try_backward`](Self::try_backward) and [`all_reduce`](Partial::all_reduce) at once: the gradients of the last
    /// layers are summed while those of the first are computed. The sums are the same bits.
    ///
    /// # Errors
    /// [`RanksError::Engine`]; [`RanksError::Device`] if the device fails.
    pub fn try_backward_all_reduce(
        self,
        ranks: &Ranks<W>,
        model: &Replicated<Model, W>,
    ) -> Result<Replicated<GradientsOf<Model, E, D>, W>, RanksError> {
        let backward = || self.into_term().try_backward().map_err(RanksError::device(OP));
        if ranks.size() == 1 {
            return backward().map(Replicated::assume);
        }
        // The next forward pass registers its parameters.
        register_parameters();
        let buckets = Rc::new(Buckets::new(ranks, &list_parameters(model)?));
        let gradients = with_hook(buckets.clone(), backward)?;
        sum(&buckets, gradients, model)
    }
}

/// Sums the gradients that the buckets do not have yet, and waits for all.
fn sum<Model, E, D, W>(
    buckets: &Buckets<E, W>,
    mut gradients: GradientsOf<Model, E, D>,
    model: &Replicated<Model, W>,
) -> Result<Replicated<GradientsOf<Model, E, D>, W>, RanksError>
where
    Model: TensorCollection<E, D>,
    E: Element,
    D: Backend<E>,
    W: RankAxis,
{
    let local = mem::replace(&mut gradients.gradients, Gradients::leaky());
    let mut take = TakeGradients { gradients: local, taken: Vec::new() };
    Model::iter_tensors(&mut RecursiveWalker { m: &**model, f: &mut take })
        .map_err(RanksError::device::<D::Err>(OP))?;
    let sums = match buckets.finish(&take.taken)? {
        Some(sums) => sums,
        // A gradient changed after it was in a bucket: all are summed again.
        None => buckets.empty().finish(&take.taken)?.expect("nothing was collected before, so nothing changed"),
    };
    let mut put = PutGradients { gradients: Gradients::leaky(), sums: sums.into_iter() };
    Model::iter_tensors(&mut RecursiveWalker { m: &**model, f: &mut put }).map_err(RanksError::device::<D::Err>(OP))?;
    gradients.gradients = put.gradients;
    Ok(Replicated::assume(gradients))
}

fn list_parameters<Model, E, D, W>(model: &Replicated<Model, W>) -> Result<Vec<(usize, Option<usize>)>, RanksError>
where
    Model: TensorCollection<E, D>,
    E: Element,
    D: Backend<E>,
{
    let mut list = ListParameters(Vec::new());
    Model::iter_tensors(&mut RecursiveWalker { m: &**model, f: &mut list })
        .map_err(RanksError::device::<D::Err>(OP))?;
    Ok(list.0)
}

/// Takes the gradients of the trained parameters, in the order of the model's fields.
struct TakeGradients<E: Element, D: Backend<E>> {
    gradients: Gradients<E, D>,
    taken: Vec<Vec<E>>,
}

impl<E: Element, D: Backend<E>> TensorVisitor<E, D> for TakeGradients<E, D> {
    type Viewer = ViewTensorRef;
    type Err = D::Err;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, D>,
        tensor: &Tensor<S, E, D>,
    ) -> Result<Option<Tensor<S, E, D>>, D::Err> {
        if options.do_gradient_update {
            let is_row_major = D::address_of(tensor).is_some();
            let gradient = D::gradient_mut(self.gradients.get_or_alloc_mut(tensor)?);
            self.taken.push(match gradient.filter(|_| is_row_major) {
                Some(gradient) => gradient.to_vec(),
                // dfdx's `as_vec` panics on a tensor without elements.
                None if tensor.shape().num_elements() == 0 => Vec::new(),
                None => self.gradients.get(tensor).as_vec(),
            });
        }
        Ok(None)
    }
}

/// Makes the sums the gradients of the trained parameters.
struct PutGradients<E: Real, D: Device<E>, Sums> {
    gradients: Gradients<E, D>,
    sums: Sums,
}

impl<E: Real, D: Backend<E>, Sums: Iterator<Item = Vec<E>>> TensorVisitor<E, D> for PutGradients<E, D, Sums> {
    type Viewer = ViewTensorRef;
    type Err = D::Err;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, D>,
        tensor: &Tensor<S, E, D>,
    ) -> Result<Option<Tensor<S, E, D>>, D::Err> {
        if options.do_gradient_update
            && let Some(sum) = self.sums.next()
        {
            let gradients = mem::replace(&mut self.gradients, Gradients::leaky());
            self.gradients = D::try_put_gradient(gradients, tensor, sum)?;
        }
        Ok(None)
    }
}
