//! The gradients of a backward pass.
//!
//! | the gradient of | is kept in | begins as |
//! |---|---|---|
//! | what a kernel reads: a parameter, an input, an output of another kernel | `of_kernels` | its first term; zeros if its first kernel can only add (`GradientTarget::add_with`) |
//! | the loss | `of_dfdx` | 1 |
//! | what an operation of dfdx reads | `of_dfdx`, to which all of `of_kernels` move before the operation runs | zeros |
//!
//! At the end of the pass the gradients of parameters and inputs are left: `Leaves`, of which the main crate makes the
//! user's `GradientsOf`.

use super::{Buffer, add_in_parallel};
use dfdx::dtypes::Unit;
use dfdx::optim::UnusedTensors;
use dfdx::shapes::Shape;
use dfdx::tensor::{Cpu, CpuError, HasErr, Storage, Tensor, UniqueId};
use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::collections::{HashMap, HashSet};
use std::{mem, sync::Arc};

/// The key of a tensor's gradient. Views of a tensor share it.
pub fn tensor_id<Dims: Shape, E: Unit, D: Storage<E>>(tensor: &Tensor<Dims, E, D>) -> UniqueId {
    // No other public item of dfdx shows the id.
    let mut tensors = UnusedTensors::default();
    tensors.add(tensor);
    tensors.ids[0]
}

/// The key of a tensor's gradient, and the way to it.
pub struct GradientKey<E, D: Storage<E>> {
    pub(super) id: UniqueId,
    /// Finds the gradient among dfdx's. If it is missing, it becomes zeros.
    pub(super) find: Arc<Find<E, D>>,
}

pub type OfDfdx<E, D> = dfdx::tensor::Gradients<E, D>;
type Find<E, D> = dyn Fn(&mut OfDfdx<E, D>) -> Result<&mut <D as Storage<E>>::Vec, <D as HasErr>::Err> + Send + Sync;

/// The key of the gradient of a tensor that a kernel reads or writes.
pub type KernelKey = GradientKey<f32, Cpu>;

impl KernelKey {
    /// The key does not keep the elements of the tensor.
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

/// Gradients by the ids of their tensors.
pub struct Gradients<E, D: Storage<E>> {
    /// Each is in the order of its tensor's storage.
    pub(super) of_kernels: HashMap<UniqueId, Entry<E, D>>,
    pub(super) of_dfdx: OfDfdx<E, D>,
    /// Whether `of_dfdx` may have terms of other gradients than that of the loss.
    pub(super) dfdx_has_terms: bool,
    /// The ids of tensors whose gradient in `of_dfdx` has a term of a kernel.
    pub(super) moved_to_dfdx: HashSet<UniqueId>,
    /// The tensors whose gradients outlive a backward pass; `None` for all.
    pub(super) leaves: Option<HashSet<UniqueId>>,
    /// The tensors whose gradient a backward pass has taken: outputs of kernels, which are no leaves.
    pub(super) non_leaves: HashSet<UniqueId>,
    /// The non-leaves whose gradient was taken out of `of_dfdx`, and the gradient's length. The next pass may read such
    /// a gradient, so it begins with zeros there.
    pub(super) taken_from_dfdx: Vec<(GradientKey<E, D>, usize)>,
}

pub(super) struct Entry<E, D: Storage<E>> {
    pub(super) gradient: Buffer,
    key: GradientKey<E, D>,
    /// Adds the gradient to dfdx's. This function is for `f32` on the CPU. The entry keeps it because its caller,
    /// `move_to_dfdx`, is generic.
    add: fn(&mut D::Vec, &[f32]),
}

impl<E, D: Storage<E>> Default for Gradients<E, D> {
    fn default() -> Self {
        Self {
            of_kernels: HashMap::new(),
            of_dfdx: OfDfdx::leaky(),
            dfdx_has_terms: false,
            moved_to_dfdx: HashSet::new(),
            leaves: None,
            non_leaves: HashSet::new(),
            taken_from_dfdx: Vec::new(),
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

    /// Whether the gradient of this tensor outlives a backward pass.
    pub fn keeps(&self, id: UniqueId) -> bool {
        !self.non_leaves.contains(&id) && self.leaves.as_ref().is_none_or(|leaves| leaves.contains(&id))
    }

    /// Moves all gradients to dfdx's, for a part of dfdx that reads or changes some of them.
    pub fn for_dfdx(&mut self) -> Result<&mut OfDfdx<E, D>, D::Err> {
        self.dfdx_has_terms = true;
        for entry in mem::take(&mut self.of_kernels).into_values() {
            self.move_to_dfdx(entry)?;
        }
        Ok(&mut self.of_dfdx)
    }

    /// The gradient of a tensor; zeros if there is none.
    pub fn get<Dims: Shape>(&mut self, tensor: &Tensor<Dims, E, D>) -> Result<Tensor<Dims, E, D>, D::Err>
    where
        E: Unit,
    {
        self.dfdx_has_terms = true;
        if let Some(entry) = self.of_kernels.remove(&tensor_id(tensor)) {
            self.move_to_dfdx(entry)?;
        }
        self.of_dfdx.try_alloc_for(tensor)?;
        Ok(self.of_dfdx.get(tensor))
    }

    pub(super) fn move_to_dfdx(&mut self, Entry { gradient, key, add }: Entry<E, D>) -> Result<(), D::Err> {
        self.moved_to_dfdx.insert(key.id);
        add((key.find)(&mut self.of_dfdx)?, &gradient);
        Ok(())
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

    /// Adds the parts of a term, in pairs: adding many parts to one sum rounds more.
    pub fn add_parts(&mut self, key: &KernelKey, mut parts: Vec<Buffer>) {
        while parts.len() > 1 {
            let others = parts.split_off(parts.len().div_ceil(2));
            parts.iter_mut().zip(&others).for_each(|(part, other)| add_in_parallel(part, other));
        }
        if let Some(term) = parts.pop() {
            self.add(key, term);
        }
    }

    /// Calls `write(gradient, accumulate)`, which writes a first term of `len` elements, or adds one if `accumulate`.
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
                self.dfdx_has_terms = true;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::copied;
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
        assert_eq!(gradients.get(&x).unwrap().as_vec(), [5.0; 2]);
        gradients.add(&key, term());
        assert_eq!(gradients.for_dfdx().unwrap().get(&x).as_vec(), [6.0; 2]);
        assert_eq!(gradients.elements_mut(&x).unwrap(), [6.0; 2]);
    }
}
