//! What a loss compares its logits with.

use super::unnamed::{Rows, rows};
use super::{OpError, Real};
use crate::backend::{Backend, Tape};
use crate::dims::{AnyDim, ConstDim, Dim, DimError, NamedShape, WholeShape, check_same_size, for_each_shape};
use crate::ranks::{RankAxis, Shard};
use crate::tokens::{Fin, Indices, LabelIds};
use dfdx::{shapes::Shape, tensor::Tensor};

/// The right classes of logits, over `Positions`: an index of `Classes` at each position. They are [`LabelIds`], some
/// of which may be padding, or [`Indices`] of up to 5 axes. [`LabelsByPosition`] has their methods.
///
/// ```
/// use typed_transformer::{ops::Labels, prelude::*, tokens::Indices};
/// dims! { pub NumClasses = 3; pub Batch; }
/// fn count<Positions: dfdx::shapes::Shape, Classes: Dim>(labels: &impl Labels<Positions, Classes>) -> usize {
///     labels.indices().as_slice().len()
/// }
/// let kinds = Indices::new(&[2, 0], (Batch::new(2),), NumClasses)?;
/// assert_eq!(count(&kinds), 2);
/// # Ok::<(), TokenError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "expected labels over `{Positions}`, indices of `{Classes}`",
    label = "`{Self}` is not `LabelIds` or `Indices` of these",
    note = "labels have the axes of the logits, without the last one, which they are indices of; `partial_cross_entropy` takes a `Shard` of a batch",
    note = "`TokenIds` are what a model reads: `teacher_forcing` makes inputs and labels of them, `windows` of a text, `LabelIds::from` labels alone; numbers become labels by `Indices::new` or `LabelIds::from_ids`"
)]
pub trait Labels<Positions: Shape, Classes: Dim>: LabelsByPosition<Positions, Classes> {}

// Without `do_not_recommend`: an unmet bound here is reported, so that an error says which axis is sharded.
impl<B: Dim, S: Dim, V: ConstDim> Labels<(B, S), V> for LabelIds<B, S, V> {}
#[diagnostic::do_not_recommend]
impl<Positions: WholeShape, Classes: Dim> Labels<Positions, Classes> for Indices<Positions, Classes> {}
#[diagnostic::do_not_recommend]
impl<Positions: Shape, Classes: Dim, Any: Labels<Positions, Classes>> Labels<Positions, Classes> for &Any {}

/// [`Labels`] for a loss of each position by itself: a rank may have its part of the positions.
///
/// ```
/// use typed_transformer::{ops::LabelsByPosition, prelude::*, tokens::Indices};
/// dims! { pub NumClasses = 3; pub Batch; }
/// let kinds = Indices::new(&[2, 0], (Batch::new(2),), NumClasses)?;
/// assert_eq!(LabelsByPosition::indices(&kinds).as_slice(), [2, 0]);
/// assert!(LabelsByPosition::padding(&kinds).is_none());
/// # Ok::<(), TokenError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "expected labels over `{Positions}`, indices of `{Classes}`",
    label = "`{Self}` is not `LabelIds` or `Indices` of these",
    note = "labels have the axes of the logits, without the last one, which they are indices of",
    note = "`TokenIds` are what a model reads: `teacher_forcing` makes inputs and labels of them, `windows` of a text, `LabelIds::from` labels alone; numbers become labels by `Indices::new` or `LabelIds::from_ids`"
)]
pub trait LabelsByPosition<Positions: Shape, Classes: Dim> {
    /// The labels as indices.
    fn indices(&self) -> &Indices<Positions, Classes>;

    /// The label that means padding, if there is one.
    fn padding(&self) -> Option<Fin<Classes>> {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<B: AnyDim, S: Dim, V: ConstDim> LabelsByPosition<(B, S), V> for LabelIds<B, S, V> {
    fn indices(&self) -> &Indices<(B, S), V> {
        self.indices()
    }

    fn padding(&self) -> Option<Fin<V>> {
        self.pad_token_id()
    }
}
#[diagnostic::do_not_recommend]
impl<Positions: NamedShape, Classes: Dim> LabelsByPosition<Positions, Classes> for Indices<Positions, Classes> {
    fn indices(&self) -> &Self {
        self
    }
}
#[diagnostic::do_not_recommend]
impl<Positions: Shape, Classes: Dim, Any: LabelsByPosition<Positions, Classes>> LabelsByPosition<Positions, Classes>
    for &Any
{
    fn indices(&self) -> &Indices<Positions, Classes> {
        (**self).indices()
    }

    fn padding(&self) -> Option<Fin<Classes>> {
        (**self).padding()
    }
}

/// The [`Labels`] of one rank's part of a batch, which is sharded over `Axis`: the first of `Positions` is a [`Shard`].
///
/// ```
/// use typed_transformer::{ops::ShardedLabels, prelude::*, ranks, ranks::{RankAxis, Ranks}, tokens::Indices};
/// ranks! { pub World; }
/// dims! { pub NumClasses = 3; pub Batch; }
/// fn whole<Positions: Shape, W: RankAxis>(labels: &impl ShardedLabels<Positions, NumClasses, W>) -> usize {
///     labels.whole_rows().unwrap()
/// }
/// let rows = Ranks::<World>::in_threads(2, |ranks| {
///     let rows = ranks.shard(Batch::new(3));
///     whole(&Indices::new(&[2, 0, 1][rows.range().unwrap()], (rows,), NumClasses).unwrap())
/// });
/// assert_eq!(rows, [3, 3]);
/// ```
#[diagnostic::on_unimplemented(
    message = "expected labels over `{Positions}`, indices of `{Classes}`",
    label = "`{Self}` is not `LabelIds` or `Indices` of these",
    note = "the first axis of the labels is a `Shard` of the batch, of which `cross_entropy` takes a whole one; `TokenIds` become labels by `teacher_forcing`, `windows` or `LabelIds::from`"
)]
pub trait ShardedLabels<Positions: Shape, Classes: Dim, Axis: RankAxis>: LabelsByPosition<Positions, Classes> {
    /// The number of rows of the whole batch, if the shard knows it.
    fn whole_rows(&self) -> Option<usize>;
}

#[diagnostic::do_not_recommend]
impl<B: Dim, Axis: RankAxis, S: Dim, V: ConstDim> ShardedLabels<(Shard<B, Axis>, S), V, Axis>
    for LabelIds<Shard<B, Axis>, S, V>
{
    fn whole_rows(&self) -> Option<usize> {
        self.indices().shape().0.whole_size()
    }
}

macro_rules! sharded_labels {
    ($($axis:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<B: Dim, Axis: RankAxis, $($axis: Dim,)* V: Dim> ShardedLabels<(Shard<B, Axis>, $($axis,)*), V, Axis>
            for Indices<(Shard<B, Axis>, $($axis,)*), V>
        {
            fn whole_rows(&self) -> Option<usize> {
                self.shape().0.whole_size()
            }
        }
    };
}
for_each_shape!(sharded_labels: A C F G);

/// The labels, over `Positions`, fit logits over `Logits`, which are `Positions` and then `Classes`. (`Self` is
/// the labels' type, so that rustc shows it.)
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "logits over `{Logits}` do not fit labels over `{Positions}`, which are indices of `{Classes}`",
    label = "labels over `{Positions}`, indices of `{Classes}`",
    note = "logits have the axes of their labels, and a last axis that the labels are indices of"
)]
pub trait FitsLogits<Logits: Shape, Positions: Shape, Classes: Dim> {
    /// Compares the run-time sizes of logits and labels.
    fn check_sizes(logits: Logits, labels: &Indices<Positions, Classes>) -> Result<(), DimError>;
    /// The logits of each position as a row: `(.., Classes) -> (Rows, Classes)`.
    fn rows<E: Real, D: Backend<E>, T: Tape<E, D>>(
        op: &'static str,
        logits: Tensor<Logits, E, D, T>,
    ) -> Result<Tensor<(Rows, Classes), E, D, T>, OpError>;
}

macro_rules! fits_logits {
    ($($axis:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<Labels: ?Sized, $($axis: AnyDim,)* V: Dim> FitsLogits<($($axis,)* V,), ($($axis,)*), V> for Labels {
            #[allow(non_snake_case)]
            fn check_sizes(
                ($($axis,)* classes,): ($($axis,)* V,),
                labels: &Indices<($($axis,)*), V>,
            ) -> Result<(), DimError> {
                NamedShape::check_same_sizes(($($axis,)*), "the logits", labels.shape(), "the labels")?;
                check_same_size("the logits", classes, "the labels", labels.axis())
            }
            fn rows<E: Real, D: Backend<E>, T: Tape<E, D>>(
                op: &'static str,
                logits: Tensor<($($axis,)* V,), E, D, T>,
            ) -> Result<Tensor<(Rows, V), E, D, T>, OpError> {
                rows(op, logits)
            }
        }
    };
}
for_each_shape!(fits_logits: A B C F G);
