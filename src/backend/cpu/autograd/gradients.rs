//! The gradients of a backward pass.
//!
//! While the pass runs, [`Gradients`] has them; kernels call it `KernelGradients`. At its end they become [`Leaves`],
//! of which the main crate makes the user's `GradientsOf`.
//!
//! | the gradient of | is kept in | begins as |
//! |---|---|---|
//! | a tensor that a kernel reads with its tape, such as an output of another kernel | `between_kernels` | its first term, without zeros before it |
//! | a parameter | `of_dfdx` | zeros, to which kernels add their terms in place |
//! | an output of a kernel that one kernel reads with its tape and another one as a parameter | `between_kernels` and `of_dfdx`; [`take`](Gradients::take) adds the two | as the two above |
//! | a tensor that an operation of dfdx reads | `of_dfdx`, to which all of `between_kernels` move before the operation runs | zeros |

use super::elementwise::{add_in_parallel, copied};
use super::{Buffer, operand::FlatTensor};
use dfdx::optim::UnusedTensors;
use dfdx::shapes::{Shape, Unit};
use dfdx::tensor::{Cpu, CpuError, HasErr, Storage, Tensor, UniqueId};
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

/// The gradients of a backward pass: those between kernels, and dfdx's.
pub struct Gradients<E, D: Storage<E>> {
    between_kernels: HashMap<UniqueId, Entry<E, D>>,
    of_dfdx: OfDfdx<E, D>,
    /// Whether an operation of dfdx has run, so that `of_dfdx` may have terms of any gradient.
    has_run_dfdx: bool,
    /// The ids of tensors whose gradient in `of_dfdx` has a term of a kernel: the loss, what a kernel reads as a
    /// parameter, and what was moved there.
    ids_in_dfdx: HashSet<UniqueId>,
    /// The tensors whose gradient a backward pass has taken: they are no leaves.
    non_leaves: HashSet<UniqueId>,
    hook: Option<Rc<dyn GradientHook>>,
}

/// The gradients of a pass: those of parameters and inputs.
pub struct Leaves<E, D: Storage<E>> {
    pub gradients: OfDfdx<E, D>,
    /// The outputs of kernels, whose gradients are not kept.
    pub non_leaves: HashSet<UniqueId>,
    /// The parameters and inputs that a kernel added to, even if it added only zeros, and those noted on the tape.
    pub reached: HashSet<UniqueId>,
}

struct Entry<E, D: Storage<E>> {
    gradient: Buffer,
    key: GradientKey<E, D>,
    add: fn(&mut D::Vec, &[f32]),
}

impl<E, D: Storage<E>> Gradients<E, D> {
    /// `of_dfdx` has the gradient of the loss.
    pub fn new(of_dfdx: OfDfdx<E, D>, loss: UniqueId, hook: Option<Rc<dyn GradientHook>>) -> Self {
        Self {
            between_kernels: HashMap::new(),
            of_dfdx,
            has_run_dfdx: false,
            ids_in_dfdx: HashSet::from([loss]),
            non_leaves: HashSet::new(),
            hook,
        }
    }

    /// All gradients, for an operation of dfdx that reads and changes some of them.
    pub fn for_dfdx(&mut self) -> Result<&mut OfDfdx<E, D>, D::Err> {
        self.has_run_dfdx = true;
        for (id, Entry { gradient, key, add }) in self.between_kernels.drain() {
            self.ids_in_dfdx.insert(id);
            add((key.find)(&mut self.of_dfdx)?, &gradient);
        }
        Ok(&mut self.of_dfdx)
    }

    /// The gradients that are left at the end of the pass.
    pub fn into_leaves(mut self) -> Result<Leaves<E, D>, D::Err> {
        let reached = self.between_kernels.keys().chain(&self.ids_in_dfdx).copied().collect();
        self.for_dfdx()?;
        Ok(Leaves { gradients: self.of_dfdx, non_leaves: self.non_leaves, reached })
    }
}

impl Gradients<f32, Cpu> {
    /// Adds to the gradient of a tensor: the first term becomes the gradient.
    pub fn add(&mut self, key: &KernelKey, term: Buffer) {
        match self.between_kernels.get_mut(&key.id) {
            Some(entry) => add_in_parallel(&mut entry.gradient, &term),
            None => {
                let entry = Entry { gradient: term, key: key.clone(), add: |all, term| add_in_parallel(all, term) };
                self.between_kernels.insert(key.id, entry);
            }
        }
    }

    /// Takes the gradient of a kernel's output, when all operations on the output have added to it: `None` if nothing
    /// was added; zeros once an operation of dfdx has run, because dfdx does not say what it adds to.
    pub fn take(&mut self, key: &KernelKey) -> Result<Option<Buffer>, CpuError> {
        let gradient = self.between_kernels.remove(&key.id).map(|entry| entry.gradient);
        self.non_leaves.insert(key.id);
        if !self.has_run_dfdx && !self.ids_in_dfdx.contains(&key.id) {
            return Ok(gradient);
        }
        // The memory is freed here. In the pool of buffers it would pile up: dfdx allocates its own in each step.
        let term = mem::take(&mut **(key.find)(&mut self.of_dfdx)?);
        Ok(Some(match gradient {
            Some(mut gradient) => {
                add_in_parallel(&mut gradient, &term);
                gradient
            }
            None => copied(&term),
        }))
    }

    /// The gradient of a parameter; zeros if nothing was added yet.
    pub fn of_parameter(&mut self, parameter: &FlatTensor) -> Result<&mut Vec<f32>, CpuError> {
        self.ids_in_dfdx.insert(tensor_id(parameter));
        Ok(&mut *self.of_dfdx.get_or_alloc_mut(parameter)?)
    }

    /// Tells the hook that all kernels that read the parameter have added to its gradient, if any did.
    pub fn report_complete(&mut self, parameter: &FlatTensor) -> Result<(), CpuError> {
        let id = tensor_id(parameter);
        if let Some(hook) = self.hook.clone().filter(|_| self.ids_in_dfdx.contains(&id)) {
            hook.receive(id, self.of_parameter(parameter)?);
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
}
