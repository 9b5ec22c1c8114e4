use super::backward_pass::{GradientHook, Leaves, PassGradients};
use super::gradients::{Gradients, KernelKey};
use super::output_memory::count_part;
use dfdx::tensor::{Cpu, Merge, NoneTape, Storage, Tape as DfdxTape, Tensor, UniqueId};
use dfdx::{dtypes::Dtype, tensor_ops::Device};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{cell::RefCell, collections::hash_map::Entry, mem, rc::Rc};

/// A tape records the operations on a tensor. It is dfdx's `Tape`, and can be cloned.
///
/// A clone of a tape that has recorded something records to the same pass; clones of an empty one are passes of their
/// own until tensors of both meet. So a value that is used twice is cloned, with its tape.
#[diagnostic::on_unimplemented(
    message = "the tape is not one of operations in `{E}` on `{D}`",
    label = "`{Self}` is no such tape that can be cloned",
    note = "`model.recording()` records a pass in the dtype and on the device of the model; a tensor without a tape has `NoneTape`"
)]
pub trait Tape<E, D: Storage<E>>: DfdxTape<E, D> + Clone {
    /// Where kernels record; `None` if nothing is recorded.
    #[doc(hidden)]
    fn shared(&mut self) -> Option<&mut SharedTape<E, D>>;
}

impl<E, D: Storage<E>> Tape<E, D> for NoneTape {
    fn shared(&mut self) -> Option<&mut SharedTape<E, D>> {
        None
    }
}

/// The operations of a pass; `None` until something is recorded. From then on clones are handles of the same pass. Two
/// passes become one when their tensors meet.
pub struct SharedTape<E, D: Storage<E>>(Option<Node<E, D>>);

type Node<E, D> = Rc<RefCell<State<E, D>>>;

enum State<E, D: Storage<E>> {
    Open(Pass<E, D>),
    /// Merged into the pass of this node.
    Joined(Node<E, D>),
    /// The backward pass has run.
    HasRun,
    /// Two passes became one, and each adds to gradients of its own.
    TwoAccumulators,
}

struct Pass<E, D: Storage<E>> {
    operations: Vec<(u64, Operation<E, D>)>,
    /// Parameters that count as used even if no kernel of this pass adds to their gradients: those that were
    /// [marked](SharedTape::mark_used), and those of an earlier pass to whose gradients this one adds.
    marked_used: HashSet<UniqueId>,
    /// The time at which the first kernel read each parameter.
    first_reads: HashMap<UniqueId, u64>,
    /// The gradients that the backward pass adds to, if it does not start from zero.
    gradients: Option<Box<Gradients<E, D>>>,
}

/// An entry of the tape: the backward pass of an operation, or the first read of a parameter.
enum Operation<E, D: Storage<E>> {
    OfDfdx(Backward<dfdx::tensor::Gradients<E, D>, D::Err>),
    OfKernel(Backward<PassGradients<E, D>, D::Err>),
    /// A kernel is about to read this parameter for the first time. The backward pass runs in reverse, so the
    /// parameter's gradient is complete when the pass comes to this entry.
    FirstRead(UniqueId, Backward<PassGradients<E, D>, D::Err>),
}

pub type Backward<Gradients, Err> = Box<dyn FnOnce(&mut Gradients) -> Result<(), Err>>;

/// Why a backward pass has no gradients.
pub enum BackwardError<Err> {
    /// Another tensor of the same pass has run it.
    HasRun,
    /// Two passes became one, and each adds to gradients of its own.
    TwoAccumulators,
    Device(Err),
}

impl<Err> From<Err> for BackwardError<Err> {
    fn from(error: Err) -> Self {
        Self::Device(error)
    }
}

impl<E, D: Storage<E>> SharedTape<E, D> {
    /// A tape whose backward pass adds to the `gradients` of earlier passes, in which the parameters `used` were used.
    pub fn adding_to(gradients: Gradients<E, D>, used: HashSet<UniqueId>) -> Self {
        // The cache of memory is emptied after some steps, and a part of a batch counts as one.
        count_part();
        Self::new(Pass { marked_used: used, gradients: Some(Box::new(gradients)), ..Pass::default() })
    }

    fn new(pass: Pass<E, D>) -> Self {
        Self(Some(Rc::new(RefCell::new(State::Open(pass)))))
    }

    /// Records the backward pass of an operation of dfdx.
    pub fn add_backward_of_dfdx(&mut self, backward: Backward<dfdx::tensor::Gradients<E, D>, D::Err>) {
        self.record(Operation::OfDfdx(backward));
    }

    /// Records the backward pass of a kernel.
    pub fn add_backward_of_kernel(&mut self, backward: Backward<PassGradients<E, D>, D::Err>) {
        self.record(Operation::OfKernel(backward));
    }

    /// Marks a parameter as used, where [`record_read`](Self::record_read) does not see it: if it is the `&tensor`
    /// operand of `add`, `einsum!` and the like, or if dfdx reads it. (dfdx cannot list the parameters that have
    /// gradients.)
    pub fn mark_used(&mut self, id: UniqueId) {
        if let State::Open(pass) = &mut *self.node().borrow_mut() {
            pass.marked_used.insert(id);
        }
    }

    /// Nothing is recorded if the pass has already run, and [`run`](Self::run) returns an error later.
    fn record(&mut self, operation: Operation<E, D>) {
        if let State::Open(pass) = &mut *self.node().borrow_mut() {
            pass.operations.push((now(), operation));
        }
    }

    /// The number of dfdx's operations in a pass that has not run.
    pub fn num_dfdx_operations(&mut self) -> usize {
        match &*self.node().borrow() {
            State::Open(pass) => {
                pass.operations.iter().filter(|(_, operation)| matches!(operation, Operation::OfDfdx(_))).count()
            }
            State::Joined(_) | State::HasRun | State::TwoAccumulators => 0,
        }
    }

    /// The pass that this is a handle of.
    fn node(&mut self) -> Node<E, D> {
        if self.0.is_none() {
            *self = Self::new(Pass::default());
        }
        let mut node = self.0.clone().expect("a tape was just made");
        loop {
            let next = match &*node.borrow() {
                State::Joined(next) => next.clone(),
                State::Open(_) | State::HasRun | State::TwoAccumulators => break,
            };
            node = next;
        }
        self.0 = Some(node.clone());
        node
    }

    /// Runs the backward passes of all operations, the last one first. Calls `hook` with each gradient that is
    /// complete.
    pub fn run(
        mut self,
        loss: &Tensor<(), E, D>,
        hook: Option<Rc<dyn GradientHook>>,
    ) -> Result<Leaves<E, D>, BackwardError<D::Err>>
    where
        E: Dtype,
        D: Device<E>,
    {
        let mut pass = match mem::replace(&mut *self.node().borrow_mut(), State::HasRun) {
            State::Open(pass) => pass,
            State::TwoAccumulators => return Err(BackwardError::TwoAccumulators),
            State::Joined(_) | State::HasRun => return Err(BackwardError::HasRun),
        };
        let mut gradients = PassGradients::new(*pass.gradients.unwrap_or_default(), loss, hook)?;
        // When two passes become one, the operations of one stand behind those of the other.
        pass.operations.sort_by_key(|(time, _)| *time);
        while let Some((time, operation)) = pass.operations.pop() {
            match operation {
                Operation::OfDfdx(backward) => backward(gradients.for_dfdx()?)?,
                Operation::OfKernel(backward) => backward(&mut gradients)?,
                Operation::FirstRead(parameter, report_complete) if pass.first_reads.get(&parameter) == Some(&time) => {
                    report_complete(&mut gradients)?;
                }
                Operation::FirstRead(..) => {}
            }
        }
        let mut leaves = gradients.into_leaves()?;
        leaves.used.extend(pass.marked_used);
        Ok(leaves)
    }
}

impl SharedTape<f32, Cpu> {
    /// Records that a kernel is about to read a parameter.
    pub fn record_read(&mut self, parameter: &KernelKey) {
        if let State::Open(pass) = &mut *self.node().borrow_mut()
            && let Entry::Vacant(entry) = pass.first_reads.entry(parameter.id)
        {
            let (time, parameter) = (*entry.insert(now()), parameter.clone());
            let id = parameter.id;
            let report_complete = move |gradients: &mut PassGradients<f32, Cpu>| gradients.report_complete(&parameter);
            pass.operations.push((time, Operation::FirstRead(id, Box::new(report_complete))));
        }
    }
}

/// A number that grows with each call.
fn now() -> u64 {
    static TIME: AtomicU64 = AtomicU64::new(0);
    TIME.fetch_add(1, Ordering::Relaxed)
}

impl<E, D: Storage<E>> Default for Pass<E, D> {
    fn default() -> Self {
        Self { operations: Vec::new(), marked_used: HashSet::new(), first_reads: HashMap::new(), gradients: None }
    }
}

impl<E, D: Storage<E>> Clone for SharedTape<E, D> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<E, D: Storage<E>> Default for SharedTape<E, D> {
    fn default() -> Self {
        Self(None)
    }
}

impl<E, D: Storage<E>> Merge<Self> for SharedTape<E, D> {
    fn merge(mut self, mut other: Self) -> Self {
        if other.0.is_none() {
            return self;
        }
        if self.0.is_none() {
            return other;
        }
        let (node, joined) = (self.node(), other.node());
        if Rc::ptr_eq(&node, &joined) {
            return self;
        }
        let others = mem::replace(&mut *joined.borrow_mut(), State::Joined(node.clone()));
        let state = &mut *node.borrow_mut();
        match (&mut *state, others) {
            (State::Open(pass), State::Open(mut others)) if pass.gradients.is_none() || others.gradients.is_none() => {
                // The shorter list moves, so that joining many passes stays fast. The times keep the order.
                if others.operations.len() > pass.operations.len() {
                    mem::swap(pass, &mut others);
                }
                pass.add(others);
            }
            // A pass that has run cannot run again.
            (State::HasRun, _) | (_, State::HasRun) => *state = State::HasRun,
            _ => *state = State::TwoAccumulators,
        }
        self
    }
}

impl<E, D: Storage<E>> Pass<E, D> {
    fn add(&mut self, others: Self) {
        self.operations.extend(others.operations);
        self.marked_used.extend(others.marked_used);
        for (parameter, time) in others.first_reads {
            self.first_reads.entry(parameter).and_modify(|first| *first = time.min(*first)).or_insert(time);
        }
        self.gradients = self.gradients.take().or(others.gradients);
    }
}
