//! Checks of hyperparameters before the step that uses them.

use crate::ops::{OpError, Real, cast};

/// An error unless a hyperparameter `is_valid`.
pub(super) fn ensure(name: &'static str, found: f64, is_valid: bool, expected: &'static str) -> Result<(), OpError> {
    if is_valid { Ok(()) } else { Err(OpError::Hyperparameter { name, expected, found }) }
}

/// An error unless `rate` is the decay rate of an average, from 0 to below 1.
pub(super) fn ensure_decay_rate<E: Real>(name: &'static str, rate: f64) -> Result<(), OpError> {
    ensure(name, rate, (0.0..1.0).contains(&rate), "at least 0 and below 1")?;
    ensure(name, rate, cast::<E>(rate) < E::one(), "below 1 in the type of the parameters")
}

/// An error unless `value` is finite, also in `E`, and not negative.
pub(super) fn ensure_non_negative<E: Real>(name: &'static str, value: f64) -> Result<(), OpError> {
    ensure(name, value, value.is_finite() && value >= 0.0, "finite and at least 0")?;
    ensure(name, value, cast::<E>(value).is_finite(), "finite in the type of the parameters")
}
