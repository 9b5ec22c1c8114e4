//! The gradients of a backward pass.
//!
//! | the gradient of | is kept in | begins as |
//! |---|---|---|
//! | what a kernel reads: a parameter, an input, an output of another kernel | `of_kernels` | its first term, without zeros before it |
//! | what an operation of dfdx reads | `of_dfdx`, to which all of `of_kernels` move before the operation runs | zeros |
//!
//! At the end of the pass the gradients of parameters and inputs are left: [`Leaves`], of which the main crate makes the
//! user's `GradientsOf`.

use super::Buffer;
use super::elementwise::{add_in_parallel, copied};
use dfdx::dtypes::{Dtype, Unit};
use dfdx::optim::UnusedTensors;
use dfdx::shapes::{Rank0, Shape};
use dfdx::tensor::{Cpu, CpuError, HasErr, Storage, Tensor, UniqueId};
use dfdx::tensor_ops::Device;
use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::collections::{HashMap, HashSet};
use std::{mem, rc::Rc, sync::Arc};

/// The key of a tensor's gradient. Views of a tensor share it.
pub fn tensor_id<Dims: Shape, E: Unit, D: Storage<E>>(tensor: &Tensor<Dims, E, D>) -> UniqueId {
    // No other public item of dfdx shows the id.
    let mut tensors = UnusedTensors::default();
    tensors.add(tensor);
    tensors.ids[0]
}

/// The key of a tensor's gradient, and the way to it.
pub struct GradientKey<E, D: Storage<E>> {
    id: UniqueId,
    /// Finds the gradient among dfdx's. If it is missing, it becomes zeros.
    find: Arc<Find<E, D>>,
}

type OfDfdx<E, D> = dfdx::tensor::Gradients<E, D>;
type Find<E, D> = dyn Fn(&mut OfDfdx<E, D>) -> Result<&mut <D as Storage<E>>::Vec, <D as HasErr>::Err> + Send + Sync;

/// The key of the gradient of a tensor that a kernel reads or writes.
pub type KernelKey = GradientKey<f32, Cpu>;

impl KernelKey {
    /// It does not keep the elements of the tensor.
    pub fn of<Dims: Shape>(tensor: &Tensor<Dims, f32, Cpu>) -> Self {
        let ghost = tensor.ghost();
        Self { id: tensor_id(tensor), find: Arc::new(move |gradients| gradients.get_or_alloc_mut(&ghost)) }
    }
}

impl<E, D: Storage<E>> GradientKey<E, D> {
    pub fn id(&self) -> UniqueId {
        self.id
    }
}

impl<E, D: Storage<E>> Clone for GradientKey<E, D> {
    fn clone(&self) -> Self {
        Self { id: self.id, find: self.find.clone() }
    }
}

/// A receiver of complete gradients. A backward pass calls it as soon as a parameter's gradient is complete, so that
/// ranks can sum it while the pass goes on.
///
/// The pass runs in reverse, so a gradient is complete once the backward pass of the first kernel that read the
/// parameter has run. dfdx's operations do not say which parameters they read, and a kernel that reads one with a
/// tape keeps its term between kernels until the end of the pass. So a gradient may still change after the call. The
/// hook's owner checks that at the end.
pub trait GradientHook {
    /// Receives the gradient of the parameter with this id. It is complete unless an operation of dfdx, or a kernel
    /// that reads the parameter with a tape, adds to it later.
    fn receive(&self, parameter: UniqueId, gradient: &[f32]);
}

/// Gradients by the ids of their tensors.
pub struct Gradients<E, D: Storage<E>> {
    /// Each is in the order of its tensor's storage.
    of_kernels: HashMap<UniqueId, Entry<E, D>>,
    of_dfdx: OfDfdx<E, D>,
    /// Whether `of_dfdx` may have terms of any gradient.
    has_used_dfdx: bool,
    /// The ids of tensors whose gradient in `of_dfdx` has a term of a kernel.
    ids_in_dfdx: HashSet<UniqueId>,
    /// The tensors whose gradients outlive a backward pass; `None` for all.
    leaves: Option<HashSet<UniqueId>>,
}

struct Entry<E, D: Storage<E>> {
    gradient: Buffer,
    key: GradientKey<E, D>,
    add: fn(&mut D::Vec, &[f32]),
}

impl<E, D: Storage<E>> Default for Gradients<E, D> {
    fn default() -> Self {
        Self {
            of_kernels: HashMap::new(),
            of_dfdx: OfDfdx::leaky(),
            has_used_dfdx: false,
            ids_in_dfdx: HashSet::new(),
            leaves: None,
        }
    }
}

impl<E, D: Storage<E>> Gradients<E, D> {
    /// No gradients. Only those of `leaves` will outlive a backward pass that adds to them.
    pub fn of_leaves(leaves: &[UniqueId]) -> Self {
        let mut of_dfdx = OfDfdx::leaky();
        of_dfdx.retain_leafs(leaves);
        Self { of_dfdx, leaves: Some(leaves.iter().copied().collect()), ..Self::default() }
    }

    /// All gradients, for what of dfdx reads and changes some of them.
    pub fn for_dfdx(&mut self) -> Result<&mut OfDfdx<E, D>, D::Err> {
        self.has_used_dfdx = true;
        for (id, Entry { gradient, key, add }) in self.of_kernels.drain() {
            self.ids_in_dfdx.insert(id);
            add((key.find)(&mut self.of_dfdx)?, &gradient);
        }
        Ok(&mut self.of_dfdx)
    }
}

impl Gradients<f32, Cpu> {
    /// Adds to the gradient of a tensor: the first term becomes the gradient.
    pub fn add(&mut self, key: &KernelKey, term: Buffer) {
        match self.of_kernels.entry(key.id) {
            Occupied(entry) => add_in_parallel(&mut entry.into_mut().gradient, &term),
            Vacant(entry) => {
                entry.insert(Entry::new(key, term));
            }
        }
    }

    /// Calls `write(gradient, accumulate)`, which writes a first term of `len` elements, or adds a term if `accumulate`.
    pub fn write(&mut self, key: &KernelKey, len: usize, write: impl FnOnce(&mut [f32], bool)) {
        match self.of_kernels.entry(key.id) {
            Occupied(entry) => write(&mut entry.into_mut().gradient, true),
            Vacant(entry) => {
                let mut term = Buffer::recycled(len);
                write(&mut term, false);
                entry.insert(Entry::new(key, term));
            }
        }
    }

    /// The gradient of a tensor in the order of its storage; zeros if there is none.
    pub fn elements_mut<Dims: Shape>(&mut self, tensor: &Tensor<Dims, f32, Cpu>) -> Result<&mut [f32], CpuError> {
        match self.of_kernels.get_mut(&tensor_id(tensor)) {
            Some(entry) => Ok(&mut entry.gradient),
            None => {
                self.has_used_dfdx = true;
                Ok(&mut *self.of_dfdx.get_or_alloc_mut(tensor)?)
            }
        }
    }
}

impl Entry<f32, Cpu> {
    fn new(key: &KernelKey, gradient: Buffer) -> Self {
        Self { gradient, key: key.clone(), add: |all, term| add_in_parallel(all, term) }
    }
}

/// The gradients while a backward pass runs.
pub struct PassGradients<E, D: Storage<E>> {
    pub gradients: Gradients<E, D>,
    /// Whether an operation of dfdx has run, so that dfdx may have a term of any gradient of this pass.
    has_run_dfdx: bool,
    loss: UniqueId,
    /// The tensors whose gradient a backward pass has taken: they are no leaves.
    non_leaves: HashSet<UniqueId>,
    hook: Option<Rc<dyn GradientHook>>,
}

/// What a backward pass leaves: the gradients of parameters and inputs.
pub struct Leaves<E, D: Storage<E>> {
    pub gradients: Gradients<E, D>,
    /// The outputs of kernels, whose gradients are not kept.
    pub non_leaves: HashSet<UniqueId>,
    /// The parameters and inputs that a kernel added to, even if it added only zeros, and those noted on the tape.
    pub reached: HashSet<UniqueId>,
}

impl<E: Dtype, D: Device<E>> PassGradients<E, D> {
    /// The gradient of `loss` is 1.
    pub fn new(
        mut gradients: Gradients<E, D>,
        loss: &Tensor<Rank0, E, D>,
        hook: Option<Rc<dyn GradientHook>>,
    ) -> Result<Self, D::Err> {
        loss.device().try_fill_with_ones(gradients.of_dfdx.get_or_alloc_mut(loss)?)?;
        Ok(Self { gradients, has_run_dfdx: false, loss: tensor_id(loss), non_leaves: HashSet::new(), hook })
    }

    /// All gradients, for an operation of dfdx.
    pub fn for_dfdx(&mut self) -> Result<&mut OfDfdx<E, D>, D::Err> {
        self.has_run_dfdx = true;
        self.gradients.for_dfdx()
    }

    /// The gradients that are left at the end of the pass.
    pub fn into_leaves(self) -> Result<Leaves<E, D>, D::Err> {
        let Self { mut gradients, loss, non_leaves, .. } = self;
        let mut reached: HashSet<_> = gradients.of_kernels.keys().chain(&gradients.ids_in_dfdx).copied().collect();
        // The loss may be a parameter.
        reached.insert(loss);
        if gradients.has_used_dfdx || gradients.of_kernels.contains_key(&loss) {
            gradients.for_dfdx()?;
        }
        if let Some(leaves) = &gradients.leaves {
            gradients.of_kernels.retain(|id, _| leaves.contains(id));
            gradients.of_dfdx.drop_non_leafs();
        }
        Ok(Leaves { gradients, non_leaves, reached })
    }
}

impl PassGradients<f32, Cpu> {
    /// Takes the gradient of a kernel's output, when all operations on the output have added to it: `None` if nothing
    /// was added; zeros once an operation of dfdx has run, because dfdx does not say what it adds to.
    pub fn take(&mut self, key: &KernelKey) -> Result<Option<Buffer>, CpuError> {
        let gradients = &mut self.gradients;
        let gradient = gradients.of_kernels.remove(&key.id).map(|entry| entry.gradient);
        self.non_leaves.insert(key.id);
        if !self.has_run_dfdx && key.id != self.loss {
            return Ok(gradient);
        }
        // The memory is freed here. In the pool of buffers it would pile up: dfdx allocates its own in each step.
        let term = mem::take(&mut **(key.find)(&mut gradients.of_dfdx)?);
        Ok(Some(match gradient {
            Some(mut gradient) => {
                add_in_parallel(&mut gradient, &term);
                gradient
            }
            None => copied(&term),
        }))
    }

    /// Tells the hook that all kernels that read the parameter have added to its gradient, if any did.
    pub fn report_complete(&mut self, parameter: &KernelKey) -> Result<(), CpuError> {
        let Some(hook) = &self.hook else { return Ok(()) };
        let gradients = &mut self.gradients;
        if gradients.has_used_dfdx {
            gradients.for_dfdx()?;
        }
        if let Some(entry) = gradients.of_kernels.get(&parameter.id) {
            hook.receive(parameter.id, &entry.gradient);
        } else if gradients.ids_in_dfdx.contains(&parameter.id) {
            hook.receive(parameter.id, (parameter.find)(&mut gradients.of_dfdx)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfdx::shapes::{Axes2, Rank1, Rank2};
    use dfdx::tensor::ZerosTensor;
    use dfdx::tensor_ops::{PermuteTo, ReshapeTo};

    #[test]
    fn views_of_a_tensor_have_its_id_and_other_tensors_have_others() {
        let device = Cpu::default();
        let (x, y): (Tensor<Rank2<3, 4>, f32, _>, Tensor<Rank2<3, 4>, f32, _>) = (device.zeros(), device.zeros());
        let id = tensor_id(&x);
        assert_eq!(id, tensor_id(&x.clone()));
        assert_eq!(id, tensor_id(&x.clone().reshape::<Rank1<12>>()));
        assert_eq!(id, tensor_id(&x.clone().permute::<Rank2<4, 3>, Axes2<1, 0>>()));
        assert_ne!(id, tensor_id(&y));
        assert_ne!(id, tensor_id(&(x.clone() + y)));
    }

    #[test]
    fn terms_add_up_wherever_they_are_kept() {
        let x: Tensor<Rank1<2>, f32, Cpu> = Cpu::default().zeros();
        let key = KernelKey::of(&x);
        let term = || copied(&[1.0; 2]);
        let write = |gradient: &mut [f32], accumulate: bool| {
            gradient.iter_mut().for_each(|x| *x = if accumulate { *x + 2.0 } else { 2.0 });
        };
        let mut gradients = Gradients::default();
        gradients.write(&key, 2, write);
        gradients.add(&key, term());
        gradients.write(&key, 2, write);
        assert_eq!(gradients.elements_mut(&x).unwrap(), [5.0; 2]);
        assert_eq!(gradients.for_dfdx().unwrap().get(&x).as_vec(), [5.0; 2]);
        gradients.add(&key, term());
        assert_eq!(gradients.for_dfdx().unwrap().get(&x).as_vec(), [6.0; 2]);
        assert_eq!(gradients.elements_mut(&x).unwrap(), [6.0; 2]);
    }
}
