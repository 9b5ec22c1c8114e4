//! Operations that find axes by name, at every rank: their results against the definition, their gradients against
//! finite differences in `f64`, and their run-time errors.

use crate::finite_differences::{assert_slopes, weighted_sum};
use crate::numbers::{F64, Taped, assert_close, device, positive_like as random};
use crate::recorded::Recorded;
use dfdx::{shapes::Shape, tensor::*};
use typed_transformer::dims::{DataShape, EndsIn, RenameOf};
use typed_transformer::ops;
use typed_transformer::prelude::*;

// Every dimension has its own size, so that confusing two of them fails.
dims! { Batch = 2; SeqLen = 3; EmbedDim = 4; NumHeads = 5; HeadDim = 6; Groups = 2; HiddenDim = 7; Free; Other; }

/// Compares the recorded gradient of the input with finite differences.
#[track_caller]
fn check<Dims: Shape>(input: &F64<Dims>, run: impl Fn(Taped<Dims>) -> Taped<()>) {
    let gradient = run(input.recorded()).backward().unwrap().of(input).unwrap().as_vec();
    let at = |elements| {
        let shifted: F64<Dims> = device().tensor_from_vec(elements, *input.shape());
        run(shifted.recorded()).array()
    };
    assert_slopes(&gradient, &input.as_vec(), gradient.len() / 9 + 1, 1e-6, &at);
}

#[test]
fn linear_maps_the_last_axis_at_every_rank() {
    fn check_rank<Dims: Shape + EndsIn<HeadDim, Before: DataShape>>(shape: Dims) {
        let (x, weight, bias) = (random(1, shape), random(2, (HiddenDim, HeadDim)), random(3, (HiddenDim,)));
        let y = ops::linear(x.clone(), &weight, Some(&bias)).unwrap();
        let (weights, biases) = (weight.as_vec(), bias.as_vec());
        let rows = x.as_vec();
        let expected = rows.chunks(6).flat_map(|row| {
            let outputs = weights.chunks(6).zip(&biases);
            outputs.map(|(weight, bias)| bias + row.iter().zip(weight).map(|(x, w)| x * w).sum::<f64>())
        });
        assert_close(&y.as_vec(), &expected.collect::<Vec<_>>(), 1e-9);
        check(&x, |x| weighted_sum(ops::linear(x, &weight, Some(&bias)).unwrap()));
        check(&x, |x| weighted_sum(ops::linear(x, &weight, None).unwrap()));
    }
    check_rank((HeadDim,));
    check_rank((Batch, HeadDim));
    check_rank((Batch, SeqLen, HeadDim));
    check_rank((Batch, SeqLen, EmbedDim, HeadDim));
    check_rank((Batch, SeqLen, Free::new(1), Groups, HeadDim));
    check_rank((Batch, SeqLen, Free::new(2), Groups, Const::<2>, HeadDim));
}

#[test]
fn arithmetic_finds_the_axes_of_the_second_operand_by_name() {
    let x = random(1, (Batch, SeqLen, EmbedDim));
    let y = random(11, (EmbedDim, Batch));
    let at = |b: usize, m: usize| y.as_vec()[m * 2 + b];
    macro_rules! check_op {
        ($op:ident, $definition:expr) => {{
            let definition: fn(f64, f64) -> f64 = $definition;
            let elements = x.as_vec();
            let expected = (0..elements.len()).map(|i| definition(elements[i], at(i / 12, i % 4)));
            assert_close(&ops::$op(&x, &y).unwrap().as_vec(), &expected.collect::<Vec<_>>(), 1e-9);
            check(&x, |x| weighted_sum(ops::$op(x, &y).unwrap()));
            check(&y, |y| weighted_sum(ops::$op(&x, y).unwrap()));
        }};
    }
    check_op!(add, |x, y| x + y);
    check_op!(sub, |x, y| x - y);
    check_op!(mul, |x, y| x * y);
    check_op!(div, |x, y| x / y);
    check_op!(maximum, f64::max);
    check_op!(minimum, f64::min);

    // All axes, none, and six.
    check(&x, |x| -> Taped<()> { weighted_sum(ops::mul(&x.retaped::<NoneTape>(), x).unwrap()) });
    let scalar = random(2, ());
    assert_close(&ops::mul(&x, &scalar).unwrap().as_vec(), &(x.clone() * scalar.array()).as_vec(), 1e-9);
    let six = random(3, (Batch, SeqLen, EmbedDim, Free::new(2), Groups2, Const::<1>));
    let three = random(4, (Groups2, SeqLen, Free::new(2)));
    let sum = ops::add(&six, &three).unwrap();
    assert_close(&ops::sub(&sum, &three).unwrap().as_vec(), &six.as_vec(), 1e-9);
    check(&three, |three| weighted_sum(ops::mul(&six, three).unwrap()));

    let short = random(5, (Free::new(1),));
    let error = ops::add(&six, &short).unwrap_err().to_string();
    assert!(error.starts_with("add: shape (Free=1,) is not compatible with (Batch=2, SeqLen=3, EmbedDim=4, Free=2, "));
}
dims! { Groups2 = 3; }

#[test]
fn stack_makes_a_new_axis_at_any_place() {
    let (one, other) = (random(1, (Batch, EmbedDim)), random(2, (Batch, EmbedDim)));
    let first: F64<(Groups, Batch, EmbedDim)> = ops::stack(vec![one.clone(), other.clone()], Groups).unwrap();
    assert_close(&first.as_vec(), &[one.as_vec(), other.as_vec()].concat(), 1e-9);
    let middle: F64<(Batch, Groups, EmbedDim)> = ops::stack(vec![one.clone(), other.clone()], Groups).unwrap();
    let moved: F64<(Groups, Batch, EmbedDim)> = permute(middle).unwrap();
    assert_close(&moved.as_vec(), &first.as_vec(), 1e-9);
    check(&one, |one| -> Taped<()> {
        let all: Taped<(Batch, EmbedDim, Groups)> = ops::stack(vec![one, other.retaped()], Groups).unwrap();
        weighted_sum(all)
    });
    // A tensor may stand in the list twice.
    check(&one, |one| -> Taped<()> {
        let all: Taped<(Batch, Groups, EmbedDim)> = ops::stack(vec![one.retaped(), one], Groups).unwrap();
        weighted_sum(all)
    });
    let lengths = [3, 4].map(|len| random(1, (Free::new(len),))).to_vec();
    let lengths: Result<F64<(Groups, Free)>, _> = ops::stack(lengths, Groups);
    assert_eq!(lengths.unwrap_err().to_string(), "stack: shape (Free=4,) is not compatible with (Free=3,)");
    let nothing: Result<F64<(Other, Free)>, _> = ops::stack(Vec::<F64<(Free,)>>::new(), Other::new(2));
    assert_eq!(nothing.unwrap_err().to_string(), "stack: 0 tensors for Other=2");
}

#[test]
fn axes_of_rank_six_are_found_by_name() {
    type Six = (Batch, SeqLen, EmbedDim, Free, Groups, HeadDim);
    let x = random::<Six>(1, (Batch, SeqLen, EmbedDim, Free::new(1), Groups, HeadDim));
    let sum: F64<(Batch, SeqLen, EmbedDim, Free, HeadDim)> = sum_over(x.clone(), axis::<Groups>()).unwrap();
    let again: F64<(Batch, SeqLen, Free, HeadDim)> = sum_over(sum, axis::<EmbedDim>()).unwrap();
    let both: F64<(Batch, SeqLen, Free, HeadDim)> = einsum!(
        &x: (Batch, SeqLen, EmbedDim, Free, Groups, HeadDim), ones(): (EmbedDim, Groups)
        -> (Batch, SeqLen, Free, HeadDim)
    )
    .unwrap();
    assert_close(&again.as_vec(), &both.as_vec(), 1e-9);
    check(&x, |x| weighted_sum(mean_over(x, axis::<HeadDim>()).unwrap()));
    check(&x, |x| weighted_sum(softmax_over(x, axis::<SeqLen>()).unwrap()));
    let part: F64<(Batch, SeqLen, First, Free, Groups, HeadDim)> =
        narrow(x.clone(), axis::<EmbedDim>(), 1, First).unwrap();
    assert_eq!(part.as_vec().len(), x.as_vec().len() / 2);
    let turned: F64<(HeadDim, Groups, Free, EmbedDim, SeqLen, Batch)> = permute(x.clone()).unwrap();
    let back: F64<Six> = permute(turned).unwrap();
    assert_close(&back.as_vec(), &x.as_vec(), 1e-9);
    let less: F64<(Batch, SeqLen, Free, Groups, HeadDim)> = max_over(x.clone(), axis::<EmbedDim>()).unwrap();
    let more: F64<Six> = broadcast(less.clone(), *x.shape(), axis::<EmbedDim>()).unwrap();
    assert_close(&max_over(more, axis::<EmbedDim>()).unwrap().as_vec(), &less.as_vec(), 1e-9);
    let parts = ops::rename(x.clone(), axis::<HeadDim>(), Sum::of(First, Rest)).unwrap();
    let (first, rest) = split(parts, First, Rest, axis::<Sum<First, Rest>>()).unwrap();
    let whole: F64<(Batch, SeqLen, EmbedDim, Free, Groups, Sum<First, Rest>)> =
        concat(first, rest, along::<First, Rest>()).unwrap();
    assert_close(&whole.as_vec(), &x.as_vec(), 1e-9);
}

fn ones() -> F64<(EmbedDim, Groups)> {
    device().ones()
}

#[test]
fn rename_changes_a_name_and_no_element() {
    let x = random(1, (Batch, Free::new(3), EmbedDim));
    let renamed: F64<(Batch, Other, EmbedDim)> = ops::rename(x.clone(), axis::<Free>(), Other::new(3)).unwrap();
    assert_eq!((renamed.as_vec(), renamed.shape().1.size()), (x.as_vec(), 3));
    let error = ops::rename(renamed, axis::<Other>(), SeqLen2).unwrap_err();
    assert_eq!(
        error.to_string(),
        "rename: shape (Batch=2, Other=3, EmbedDim=4) is not compatible with (Batch=2, SeqLen2=9, EmbedDim=4)"
    );
    check(&x, |x| weighted_sum(ops::rename(x, axis::<EmbedDim>(), Product::<Batch, Groups>::default()).unwrap()));
}
dims! { SeqLen2 = 9; First = 2; Rest = 4; }

#[test]
fn a_bound_for_one_new_name_leaves_others_open() {
    fn named<I: Dim, J: RenameOf<I>, E: Real, D: Backend<E>>(
        x: Tensor<(I, EmbedDim), E, D>,
        to: J,
    ) -> Result<Tensor<(J, EmbedDim), E, D>, OpError> {
        local_dims! { let keys: Keys = x.shape().0.size(); }
        let keys: Tensor<(Keys, EmbedDim), E, D> = ops::rename(x.clone(), axis::<I>(), keys)?;
        let named: Tensor<(J, EmbedDim), E, D> = ops::rename(x, axis::<I>(), to)?;
        assert_eq!(keys.as_vec(), named.as_vec());
        Ok(named)
    }
    let x = random(1, (SeqLen2, EmbedDim));
    let product: Product<SeqLen, SeqLen> = Product::default();
    assert_eq!(named(x.clone(), product).unwrap().as_vec(), x.as_vec());
    assert_eq!(named(x.clone(), Free::new(9)).unwrap().as_vec(), x.as_vec());
}
