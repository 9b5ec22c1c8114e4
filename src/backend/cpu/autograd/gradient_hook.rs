//! A hook that is called during a backward pass as soon as a parameter's gradient is complete, so that ranks can sum it
//! while the pass goes on.
//!
//! A backward pass runs in reverse, so the gradient is complete when it has passed the first operation that read the
//! parameter. Kernels register their parameters here. dfdx's operations do not, so a gradient may still change after
//! the call, and the hook's owner checks that at the end.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

/// A receiver of complete gradients.
pub trait GradientHook {
    /// Receives the gradient of the parameter whose elements lie at `address`, which is probably complete.
    fn receive(&self, address: usize, gradient: &[f32]);
}

thread_local! {
    /// The parameters that the forward pass on this thread has read so far, by the address of their elements.
    static PARAMETERS_READ: RefCell<HashSet<usize>> = RefCell::default();
    static HOOK: RefCell<Option<Rc<dyn GradientHook>>> = const { RefCell::new(None) };
    /// Whether forward passes of this thread register their parameters: once a model is trained on several ranks.
    static IS_ENABLED: Cell<bool> = const { Cell::new(false) };
}

/// A new forward pass begins on this thread.
pub fn begin_pass() {
    PARAMETERS_READ.with_borrow_mut(HashSet::clear);
}

/// Whether this is the first operation of the pass that reads the parameter at `address`, and someone may want to know
/// when its gradient is complete.
pub fn is_first_read(address: usize) -> bool {
    IS_ENABLED.get() && PARAMETERS_READ.with_borrow_mut(|read| read.insert(address))
}

/// Calls the hook, if there is one, with a gradient that is probably complete.
pub fn call_hook(address: usize, gradient: &[f32]) {
    if let Some(hook) = HOOK.with_borrow(Clone::clone) {
        hook.receive(address, gradient);
    }
}

/// From now on, the forward passes of this thread register their parameters.
pub fn register_parameters() {
    IS_ENABLED.set(true);
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
