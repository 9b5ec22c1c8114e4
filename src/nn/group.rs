//! Who computes a layer: one process, or ranks that divide its heads and hidden columns.

use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, DataDim, Dim, EndsIn, Factor, Product};
use crate::mask::AttentionMask;
use crate::nn::{Arch, Module, SummaryRow};
use crate::ops::collective::{PartLayout, entered, gathered};
use crate::ops::{
    AttentionOptions, DropoutSeed, OpError, Real, attend, dropout, drops_elements, kept_elements, reshape_to,
};
use crate::ranks::{Entered, RankAxis, Ranks, RanksError};
use crate::weights::{LoadError, Loadable, TensorSource};
use dfdx::nn::{ModuleVisitor, TensorCollection};
use dfdx::shapes::{ConstDim as _, HasShape, Shape};
use dfdx::{dtypes::Dtype, tensor::Tensor, tensor_ops::Device};
use std::collections::BTreeSet;
use std::marker::PhantomData;

/// The processes that compute a layer together: the ranks of `Axis`, or one process. A layer holds its group in a
/// field, as layers of *Megatron-LM* do. In a single process [`attend_own_heads`](Self::attend_own_heads) is attention
/// in all heads, [`dropout`](Self::dropout) is the operation of this name, [`enter`](Self::enter) and
/// [`gather`](Self::gather) return what they get, and [`ranks`](Self::ranks) returns an error.
///
/// It is a module without parameters. [`Distributed`](crate::tensor_parallel::Distributed) gives it the ranks.
#[derive(Clone)]
pub struct ProcessGroup<Axis, E, D> {
    ranks: Option<Ranks<Axis>>,
    /// The dtype and the device of the layer.
    dtype_and_device: PhantomData<fn() -> (E, D)>,
}

/// The group that divides the heads of `A`: each rank computes some of them.
pub type HeadGroupOf<A, E, D> = ProcessGroup<<<A as Arch>::NumHeads as Factor>::Axis, E, D>;

/// The group that divides the hidden columns of `A`. It has as many ranks as the group of the [heads](HeadGroupOf).
pub type HiddenGroupOf<A, E, D> = ProcessGroup<<<A as Arch>::HiddenDim as Factor>::Axis, E, D>;

/// Ranks divide both the heads and the hidden columns, or neither; else this fails to compile. If only one were
/// divided, dropout in the undivided layer would differ from rank to rank.
pub const fn ensure_one_group<A: Arch>() {
    // The number of ranks is whole size / own size. The equation is multiplied out, so that a size of 0 needs no care.
    let is_equal = A::NumHeads::WHOLE_SIZE * A::HiddenDim::SIZE == A::HiddenDim::WHOLE_SIZE * A::NumHeads::SIZE;
    assert!(is_equal, "ranks divide both `NumHeads` and `HiddenDim` of an `Arch`, or none");
}

impl<Axis: RankAxis, E: Real, D: Backend<E>> ProcessGroup<Axis, E, D> {
    /// Whether the group may have several ranks. False if the axis has size 1; then nothing for ranks is compiled.
    pub const ARE_RANKS: bool = !matches!(Axis::EXPECTED_SIZE, Some(1));

    /// The group of these ranks.
    pub fn of(ranks: &Ranks<Axis>) -> Self {
        Self { ranks: Some(ranks.clone()), dtype_and_device: PhantomData }
    }

    /// The ranks, for the operation `op`.
    pub fn ranks(&self, op: &'static str) -> Result<&Ranks<Axis>, OpError> {
        let source = RanksError::Unconnected { axis: Axis::NAME };
        self.ranks.as_ref().ok_or(OpError::Ranks { op, source })
    }

    /// Marks `x` as the input of a product whose columns the ranks divide among themselves. The forward pass returns
    /// `x`; the backward pass sums the ranks' gradients of `x`.
    pub fn enter<Dims: Shape, T: Tape<E, D>>(
        &self,
        x: Tensor<Dims, E, D, T>,
    ) -> Result<Entered<Tensor<Dims, E, D, T>, Axis>, OpError> {
        if Self::ARE_RANKS { entered(x, self.ranks("enter")?) } else { Ok(Entered::new(x)) }
    }

    /// The columns of all ranks side by side, as the input of another product:
    /// `(.., Columns) -> Entered<(.., Columns::Whole)>`. It is
    /// [`all_gather_entered`](crate::tensor_parallel::all_gather_entered): the backward pass is a reduce-scatter.
    pub fn gather<Dims: EndsIn<Columns>, Columns: Factor<Axis = Axis>, T: Tape<E, D>>(
        &self,
        columns: Tensor<Dims, E, D, T>,
    ) -> Result<Entered<Tensor<Dims::WithLast<Columns::Whole>, E, D, T>, Axis>, OpError> {
        let shape = columns.shape().with_last(Columns::Whole::default());
        if Self::ARE_RANKS {
            return gathered(columns, shape, Dims::NUM_DIMS - 1, self.ranks("all-gather")?);
        }
        reshape_to("all-gather", columns, shape).map(Entered::new)
    }

    /// [`multi_head_attention`](crate::ops::multi_head_attention), or
    /// [`grouped_query_attention`](crate::ops::grouped_query_attention), in the heads of this process.
    pub fn attend_own_heads<B: DataDim, Q: Dim, K: Dim, H, NumKeyValueHeads: Factor, QKDim: ConstDim, VODim, T>(
        &self,
        query: Tensor<(B, Q, Product<H, QKDim>), E, D, T>,
        key: Tensor<(B, K, Product<NumKeyValueHeads, QKDim>), E, D, T>,
        value: Tensor<(B, K, Product<NumKeyValueHeads, VODim>), E, D, T>,
        mask: &AttentionMask<B, Q, K>,
        options: AttentionOptions<H, Q, K, E, D, T>,
    ) -> Result<Tensor<(B, Q, Product<H, VODim>), E, D, T>, OpError>
    where
        H: Factor<Axis = Axis>,
        VODim: ConstDim,
        T: Tape<E, D>,
    {
        let mut kept = None;
        if Self::ARE_RANKS && drops_elements::<E, D, T>(options.dropout) {
            let ranks = self.ranks("attention")?;
            let (batch, queries, keys) = mask.shape();
            let sizes = [batch.size(), H::WHOLE_SIZE, queries.size(), keys.size()];
            let all = kept_elements::<(B, H::Whole, Q, K)>(options.dropout, &sizes, || query.device().random_u64())?;
            kept = Some(PartLayout::of(&sizes, 1, ranks.size()).part(&all, ranks.rank()));
        }
        attend(query, key, value, mask, options, kept)
    }

    /// [`dropout`] of a tensor that all ranks have. Each of them drops the same elements. If the caller has set no
    /// [`DropoutSeed`], rank 0 draws one.
    pub fn dropout<Dims: Shape, T: Tape<E, D>>(
        &self,
        x: Tensor<Dims, E, D, T>,
        rate: f64,
    ) -> Result<Tensor<Dims, E, D, T>, OpError> {
        // While `_seed` lives, `dropout` draws from it.
        let mut _seed = None;
        if Self::ARE_RANKS && drops_elements::<E, D, T>(rate) && !DropoutSeed::is_set() {
            let mut seed = x.device().random_u64().to_ne_bytes();
            let sent = self.ranks("dropout")?.broadcast_bytes(&mut seed, 0);
            sent.map_err(|source| OpError::Ranks { op: "dropout", source })?;
            _seed = Some(DropoutSeed::new(u64::from_ne_bytes(seed)));
        }
        dropout(x, rate)
    }
}

impl<Axis: RankAxis, E: Dtype, D: Device<E>> TensorCollection<E, D> for ProcessGroup<Axis, E, D> {
    type To<To: Dtype, ToDevice: Device<To>> = ProcessGroup<Axis, To, ToDevice>;

    fn iter_tensors<V: ModuleVisitor<Self, E, D>>(_: &mut V) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        Ok(Some(ProcessGroup { ranks: None, dtype_and_device: PhantomData }))
    }
}

#[diagnostic::do_not_recommend]
impl<Axis: RankAxis, E: Dtype, D: Device<E>> Loadable<E, D> for ProcessGroup<Axis, E, D> {
    fn load_from(source: &mut TensorSource<'_, E, D>, _: &str) -> Result<Self, LoadError> {
        Ok(Self { ranks: source.ranks(), dtype_and_device: PhantomData })
    }
}

#[diagnostic::do_not_recommend]
impl<Axis, E, D> Module for ProcessGroup<Axis, E, D> {
    const NUM_PARAMS: usize = 0;

    fn describe(_: &str, _: &mut Vec<SummaryRow>) {}

    fn conventions(_: &mut BTreeSet<(&'static str, String)>) {}
}
