use super::GradientsOf;
use crate::backend::elements_of;
use crate::model_tensors::map_tensors;
use crate::ops::{OpError, Real, device_error};
use dfdx::{nn::TensorCollection, tensor_ops::Device};
use std::{convert::Infallible, fmt};

/// Compares the gradient of each parameter with that of a reference. `expected` is a model that holds the reference's
/// gradients in place of parameters. A port of a model is right if its gradients are those of the original;
/// [`guide::porting`](crate::guide::porting) shows how.
///
/// # Errors
/// [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, ops, prelude::*, train::compare_gradients};
/// let model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
/// let mut gradients = sum_over(model.bias.clone().put_tape(model.recording()), axis::<VocabSize>())?.backward()?;
/// let mut expected = model.clone(); // or `load_mapped(file, &names, &device)?`
/// expected.weight = Cpu::default().zeros();
/// expected.bias = ops::full(&Cpu::default(), (VocabSize,), 1.0)?;
/// let differences = compare_gradients(&model, &mut gradients, &expected)?;
/// assert_eq!(differences.largest(), 0.0, "{differences}");
/// # Ok::<(), OpError>(())
/// ```
pub fn compare_gradients<Model: TensorCollection<E, D>, E: Real, D: Device<E>>(
    model: &Model,
    gradients: &mut GradientsOf<Model, E, D>,
    expected: &Model,
) -> Result<Differences, OpError> {
    let numbers =
        |elements: Vec<E>| -> Vec<f64> { elements.into_iter().map(|x| x.to_f64().unwrap_or(f64::NAN)).collect() };
    let Ok(references) = map_tensors::<_, E, D, _, Infallible>(expected, |visited| Ok(Some(visited.tensor.to_vec())));
    let mut references = references.into_iter();
    let rows = map_tensors::<_, E, D, _, D::Err>(model, |visited| {
        let found = numbers(elements_of(&visited.tensor.flat_gradient(&mut gradients.gradients)?));
        // Both models are of one type.
        let expected = numbers(references.next().unwrap_or_default());
        Ok(Some(Difference::of(visited.path, &found, &expected)))
    });
    rows.map(Differences::of).map_err(device_error("compare gradients"))
}

/// The differences of a model's gradients from those of a reference, which [`compare_gradients`] makes. It prints as a
/// table with a line for each parameter, those that differ most first.
///
/// A difference is relative to the reference's largest gradient in the parameter, or to a thousandth of the reference's
/// largest gradient in the model, if that is more. For example, the true gradient of a key's bias is 0, so both sides
/// have only rounding errors there.
///
/// ```
/// use typed_transformer::train::Differences;
/// fn check(differences: &Differences) {
///     assert!(differences.largest() < 1e-4, "{differences}");
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Differences {
    rows: Vec<Difference>,
}

#[derive(Clone, Debug, PartialEq)]
struct Difference {
    /// The field path of the parameter.
    path: String,
    /// The largest difference of an element; infinite if there is a NaN or another number of elements.
    absolute: f64,
    /// The largest absolute number of the reference.
    largest: f64,
    relative: f64,
}

impl Difference {
    fn of(path: String, found: &[f64], expected: &[f64]) -> Self {
        let distance = |(found, expected): (&f64, &f64)| match (found - expected).abs() {
            distance if distance.is_nan() => f64::INFINITY,
            distance => distance,
        };
        let absolute = match found.len() == expected.len() {
            true => found.iter().zip(expected).map(distance).fold(0.0, f64::max),
            false => f64::INFINITY,
        };
        let largest = expected.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        Self { path, absolute, largest, relative: 0.0 }
    }
}

impl Differences {
    fn of(mut rows: Vec<Difference>) -> Self {
        let finite = rows.iter().map(|row| row.largest).filter(|largest| largest.is_finite());
        let least = finite.fold(0.0, f64::max) / 1000.0;
        for row in &mut rows {
            row.relative = match row.absolute {
                0.0 => 0.0,
                f64::INFINITY => f64::INFINITY,
                absolute => absolute / row.largest.max(least),
            };
        }
        rows.sort_by(|one, other| other.relative.total_cmp(&one.relative));
        Self { rows }
    }

    /// The largest relative difference of all parameters; 0 for a model without parameters.
    #[must_use]
    pub fn largest(&self) -> f64 {
        self.rows.first().map_or(0.0, |row| row.relative)
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "difference  largest gradient  parameter")?;
        self.rows.iter().try_for_each(|row| write!(f, "\n{:10.1e}  {:16.2e}  {}", row.relative, row.largest, row.path))
    }
}
