//! The sum of the ranks' gradients.

use crate::{
    backend::Backend,
    ops::Real,
    ranks::{Element, Partial, Pending, RankAxis, Ranks, RanksError, Replicated},
    train::GradientsOf,
};
use dfdx::{
    nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorRef},
    shapes::{HasShape, Shape},
    tensor::{Gradients, Tensor},
    tensor_ops::Device,
};
use std::mem;

const OP: &str = "all-reduce of gradients";

/// Gradients are summed in buckets of about this size: the first is summed while the next is collected.
const BUCKET_LEN_BYTES: usize = 4 << 20;

impl<Model, E: Element, D: Backend<E>, W: RankAxis> Partial<GradientsOf<Model, E, D>, W> {
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
    ) -> Result<Replicated<GradientsOf<Model, E, D>, W>, RanksError>
    where
        Model: TensorCollection<E, D>,
    {
        let mut gradients = self.into_term();
        if ranks.size() == 1 {
            return Ok(Replicated::assume(gradients));
        }
        let device_error = || RanksError::device::<D::Err>(OP);
        let local = mem::replace(&mut gradients.gradients, Gradients::leaky());
        let mut collect = Collect { gradients: local, bucket: Vec::new(), sums: Vec::new(), ranks };
        Model::iter_tensors(&mut RecursiveWalker { m: &**model, f: &mut collect }).map_err(device_error())?;
        collect.flush();
        let sums: Vec<Vec<E>> = collect.sums.into_iter().map(Pending::wait).collect::<Result<_, _>>()?;

        let mut put = Put { gradients: Gradients::leaky(), sums: sums.into_iter().flatten() };
        Model::iter_tensors(&mut RecursiveWalker { m: &**model, f: &mut put }).map_err(device_error())?;
        gradients.gradients = put.gradients;
        Ok(Replicated::assume(gradients))
    }
}

/// Takes the gradients of the trained parameters into buckets, and starts to sum each bucket once it is full.
struct Collect<'a, E: Element, D: Backend<E>, W> {
    gradients: Gradients<E, D>,
    bucket: Vec<E>,
    sums: Vec<Pending<Vec<E>>>,
    ranks: &'a Ranks<W>,
}

impl<E: Element, D: Backend<E>, W: RankAxis> Collect<'_, E, D, W> {
    /// Starts to sum the bucket.
    fn flush(&mut self) {
        if !self.bucket.is_empty() {
            self.sums.push(self.ranks.start_all_reduce(mem::take(&mut self.bucket)));
        }
    }
}

impl<E: Element, D: Backend<E>, W: RankAxis> TensorVisitor<E, D> for Collect<'_, E, D, W> {
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
            let mut gradient = vec![E::zero(); tensor.shape().num_elements()];
            D::try_take_gradient(&mut self.gradients, tensor, &mut gradient)?;
            self.bucket.extend(gradient);
            if size_of_val(&*self.bucket) >= BUCKET_LEN_BYTES {
                self.flush();
            }
        }
        Ok(None)
    }
}

/// Makes the sums the gradients of the trained parameters.
struct Put<E: Real, D: Device<E>, Sums> {
    gradients: Gradients<E, D>,
    sums: Sums,
}

impl<E: Real, D: Backend<E>, Sums: Iterator<Item = E>> TensorVisitor<E, D> for Put<E, D, Sums> {
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
            let gradient = self.sums.by_ref().take(tensor.shape().num_elements()).collect();
            let gradients = mem::replace(&mut self.gradients, Gradients::leaky());
            self.gradients = D::try_put_gradient(gradients, tensor, gradient)?;
        }
        Ok(None)
    }
}
