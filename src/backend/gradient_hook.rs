//! Tells during a backward pass when the gradient of a parameter is complete, so that ranks can sum it while the pass
//! goes on.
//!
//! The first operation of a forward pass that reads a parameter is the last one of the backward pass that adds to its
//! gradient. Kernels note their parameters here before they record themselves. Operations of dfdx do not, so a gradient
//! may still change after its note: who acts on notes checks that at the end.

use std::{
    cell::{Cell, RefCell},
    collections::HashSet,
    rc::Rc,
};

/// Who wants to know of complete gradients.
pub trait GradientHook {
    /// The gradient of the parameter whose elements lie at `address` is probably complete.
    fn gradient_is_complete(&self, address: usize, gradient: &[f32]);
}

thread_local! {
    /// The parameters that the forward pass on this thread has read so far, by the address of their elements.
    static READ: RefCell<HashSet<usize>> = RefCell::default();
    static HOOK: RefCell<Option<Rc<dyn GradientHook>>> = const { RefCell::new(None) };
    /// Whether the passes of this thread are those of several ranks.
    static IS_WANTED: Cell<bool> = const { Cell::new(false) };
}

/// A new forward pass begins on this thread.
pub fn begin_pass() {
    READ.with_borrow_mut(HashSet::clear);
}

/// Whether this is the first operation of the pass that reads the parameter at `address`, and someone may want to know
/// when its gradient is complete.
pub fn is_first_read(address: usize) -> bool {
    IS_WANTED.get() && READ.with_borrow_mut(|read| read.insert(address))
}

/// Calls the hook, if there is one.
pub fn gradient_is_complete(address: usize, gradient: &[f32]) {
    if let Some(hook) = HOOK.with_borrow(Clone::clone) {
        hook.gradient_is_complete(address, gradient);
    }
}

/// From now on, the forward passes of this thread note their parameters.
pub fn note_parameters() {
    IS_WANTED.set(true);
}

/// Calls `hook` during `pass`, a backward pass.
pub fn with_hook<Value>(hook: Rc<dyn GradientHook>, pass: impl FnOnce() -> Value) -> Value {
    /// Ends the hook, also when the pass panics.
    struct EndHook;
    impl Drop for EndHook {
        fn drop(&mut self) {
            HOOK.set(None);
        }
    }
    HOOK.set(Some(hook));
    let _end = EndHook;
    pass()
}
