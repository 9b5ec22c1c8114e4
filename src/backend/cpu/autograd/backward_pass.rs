use super::gradients::{Gradients, KernelKey, OfDfdx, tensor_id};
use super::{Buffer, add_in_parallel, copied};
use dfdx::dtypes::Dtype;
use dfdx::tensor::{Cpu, CpuError, Storage, Tensor, UniqueId};
use dfdx::tensor_ops::Device;
use std::{collections::HashSet, mem, rc::Rc};

/// A receiver of complete gradients. A backward pass calls it as soon as a parameter's gradient is complete, so that
/// ranks can sum it while the pass goes on.
///
/// The pass runs in reverse, so a gradient is complete once the backward pass of the first kernel that read the
/// parameter has run. dfdx's operations do not say which parameters they read, nor does a kernel that reads one with a
/// tape. So a gradient may still change after the call. The hook's owner checks that at the end.
pub trait GradientHook {
    /// Receives the gradient of the parameter with this id. It is complete unless an operation of dfdx, or a kernel
    /// that reads the parameter with a tape, adds to it later.
    fn receive(&self, parameter: UniqueId, gradient: &[f32]);
}

/// The gradients while a backward pass runs.
pub struct PassGradients<E, D: Storage<E>> {
    pub gradients: Gradients<E, D>,
    /// Whether an operation of dfdx has run, so that dfdx may have a term of any gradient of this pass.
    has_run_dfdx: bool,
    loss: UniqueId,
    hook: Option<Rc<dyn GradientHook>>,
}

/// The gradients that a backward pass leaves: those of parameters and inputs.
pub struct Leaves<E, D: Storage<E>> {
    pub gradients: Gradients<E, D>,
    /// The parameters and inputs that a kernel added to, even if it added only zeros, and those marked on the tape.
    pub used: HashSet<UniqueId>,
}

impl<E: Dtype, D: Device<E>> PassGradients<E, D> {
    /// The gradient of `loss` is 1.
    pub fn new(
        mut gradients: Gradients<E, D>,
        loss: &Tensor<(), E, D>,
        hook: Option<Rc<dyn GradientHook>>,
    ) -> Result<Self, D::Err> {
        for (key, len) in mem::take(&mut gradients.taken_from_dfdx) {
            *(key.find)(&mut gradients.of_dfdx)? = Storage::<E>::try_alloc_len(loss.device(), len)?;
        }
        loss.device().try_fill_with_ones(gradients.of_dfdx.get_or_alloc_mut(loss)?)?;
        Ok(Self { gradients, has_run_dfdx: false, loss: tensor_id(loss), hook })
    }

    /// All gradients, for an operation of dfdx.
    pub fn for_dfdx(&mut self) -> Result<&mut OfDfdx<E, D>, D::Err> {
        self.has_run_dfdx = true;
        self.gradients.for_dfdx()
    }

    /// The gradients that are left at the end of the pass.
    pub fn into_leaves(self) -> Result<Leaves<E, D>, D::Err> {
        let Self { mut gradients, loss, .. } = self;
        let mut used: HashSet<_> = gradients.of_kernels.keys().chain(&gradients.moved_to_dfdx).copied().collect();
        // The loss may be a parameter.
        used.insert(loss);
        if gradients.dfdx_has_terms || !gradients.non_leaves.contains(&loss) {
            gradients.for_dfdx()?;
        }
        if let Some(leaves) = &gradients.leaves {
            gradients.non_leaves.clear();
            gradients.of_kernels.retain(|id, _| leaves.contains(id));
            gradients.of_dfdx.drop_non_leafs();
        }
        Ok(Leaves { gradients, used })
    }
}

impl PassGradients<f32, Cpu> {
    /// Takes the gradient of a kernel's output, when all operations on the output have added to it. It is `None` if
    /// none has, or zeros once an operation of dfdx has run, because dfdx does not say what it adds to.
    pub fn take(&mut self, key: &KernelKey) -> Result<Option<Buffer>, CpuError> {
        let gradients = &mut self.gradients;
        let gradient = gradients.of_kernels.remove(&key.id).map(|entry| entry.gradient);
        gradients.non_leaves.insert(key.id);
        if !self.has_run_dfdx && key.id != self.loss && !gradients.moved_to_dfdx.contains(&key.id) {
            return Ok(gradient);
        }
        // dfdx's memory is freed. In the pool of buffers it would pile up, as dfdx allocates new memory in each step.
        let term = mem::take(&mut **(key.find)(&mut gradients.of_dfdx)?);
        if gradients.leaves.is_none() {
            gradients.taken_from_dfdx.push((key.clone(), term.len()));
        }
        Ok(Some(match gradient {
            Some(mut gradient) => {
                add_in_parallel(&mut gradient, &term);
                gradient
            }
            None => copied(&term),
        }))
    }

    /// Gives the hook the gradient of a parameter, if it has one: all kernels that read the parameter have added to it.
    pub fn report_complete(&mut self, parameter: &KernelKey) -> Result<(), CpuError> {
        let Some(hook) = &self.hook else { return Ok(()) };
        let gradients = &mut self.gradients;
        // Only this entry moves: kernels have yet to take the gradients of their outputs.
        if gradients.dfdx_has_terms
            && let Some(entry) = gradients.of_kernels.remove(&parameter.id)
        {
            gradients.move_to_dfdx(entry)?;
        }
        if let Some(entry) = gradients.of_kernels.get(&parameter.id) {
            hook.receive(parameter.id, &entry.gradient);
        } else if gradients.moved_to_dfdx.contains(&parameter.id) {
            hook.receive(parameter.id, (parameter.find)(&mut gradients.of_dfdx)?);
        }
        Ok(())
    }
}
