use super::{Optimizer, OptimizerState, Parameter};
use crate::ranks::{Element, RankAxis, Ranks, RanksError, failure};
use std::{fmt, ops::Range};

/// An optimizer whose state the ranks of `Axis` share out: stage 1 of ZeRO ([Rajbhandari et al.,
/// 2019](https://arxiv.org/abs/1910.02054), 5.1).
///
/// A rank has the moments of its part of the model's elements only, so the memory for them falls by the number of ranks.
/// It updates this part, and the ranks gather the updated elements. All ranks must step with the same gradients, after
/// [their sum](crate::ranks::Partial::all_reduce). The numbers are those of `Inner`, to the bit.
///
/// A checkpoint holds the state of the whole model, so it does not depend on the number of ranks.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, ranks, ranks::Ranks, train::{Adam, ShardedState, update}};
/// # use dfdx::tensor_ops::SumTo;
/// ranks! { pub World; }
/// let weights = Ranks::<World>::in_threads(2, |ranks| {
///     let mut model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::seed_from_u64(0));
///     let gradients = model.bias.clone().put_tape(model.recording()).sum().backward();
///     let mut optimizer = ShardedState::new(Adam::default(), ranks);
///     update(&mut model, gradients, &mut optimizer, 0.1, 1.0).unwrap();
///     model.bias.as_vec()
/// });
/// assert_eq!(weights[0], weights[1]);
/// ```
pub struct ShardedState<Inner, Axis> {
    /// The optimizer of this rank's part.
    pub inner: Inner,
    ranks: Ranks<Axis>,
}

impl<Inner, Axis: RankAxis> ShardedState<Inner, Axis> {
    /// Shares out the state of an optimizer, which is the same on all ranks.
    pub fn new(inner: Inner, ranks: &Ranks<Axis>) -> Self {
        Self { inner, ranks: ranks.clone() }
    }
}

impl<Inner: Optimizer<Model, E>, Axis: RankAxis, Model, E: Element> Optimizer<Model, E> for ShardedState<Inner, Axis> {
    fn step(&mut self, learning_rate: f64, parameters: &mut [Parameter<E>]) {
        let lens: Vec<usize> = parameters.iter().map(|parameter| parameter.values.len()).collect();
        let (own, total) = (own_ranges(&lens, &self.ranks), lens.iter().sum());
        self.drop_other_parts(&lens, &own);
        let part = |(index, range): &(usize, Range<usize>)| Parameter {
            path: parameters[*index].path.clone(),
            sizes: parameters[*index].sizes.clone(),
            values: parameters[*index].values[range.clone()].to_vec(),
            gradient: parameters[*index].gradient[range.clone()].to_vec(),
        };
        let mut parts: Vec<Parameter<E>> = own.iter().map(part).collect();
        self.inner.step(learning_rate, &mut parts);
        let updated: Vec<E> = parts.into_iter().flat_map(|part| part.values).collect();
        match self.ranks.all_gather(&updated, &self.ranks.lens(total, 1)) {
            Ok(updated) => {
                let mut updated = &updated[..];
                for parameter in parameters {
                    let (values, rest) = updated.split_at(parameter.values.len());
                    parameter.values.copy_from_slice(values);
                    updated = rest;
                }
            }
            // `update` reports it, and leaves the model as it is.
            Err(error) => failure::put_aside(error),
        }
    }

    fn hyperparameters(&self) -> String {
        self.inner.hyperparameters()
    }

    fn state(&self) -> &OptimizerState<Model, E> {
        self.inner.state()
    }

    fn state_mut(&mut self) -> &mut OptimizerState<Model, E> {
        self.inner.state_mut()
    }

    fn is_shared(&self) -> bool {
        self.ranks.size() > 1
    }

    fn gather_state(&mut self, lens: &[usize]) -> Result<(), RanksError> {
        let (total, ranks) = (lens.iter().sum(), &self.ranks);
        for slot in &mut self.inner.state_mut().slots {
            let mut part: Vec<E> = slot.values.iter().flatten().copied().collect();
            let own = ranks.part_of(total, ranks.rank());
            if part.len() == total {
                // It was gathered or resumed before, and no step was made since.
                part = part[own.clone()].to_vec();
            }
            // No step was made at all.
            part.resize(own.len(), E::zero());
            let whole = ranks.all_gather(&part, &ranks.lens(total, 1))?;
            if ranks.is_first() {
                let mut whole = &whole[..];
                let values = lens.iter().map(|&len| {
                    let (values, rest) = whole.split_at(len);
                    whole = rest;
                    values.to_vec()
                });
                slot.values = values.collect();
            }
        }
        Ok(())
    }
}

impl<Inner, Axis: RankAxis> ShardedState<Inner, Axis> {
    /// Keeps this rank's part of a state of the whole model, such as that of a checkpoint.
    fn drop_other_parts<Model, E: Element>(&mut self, lens: &[usize], own: &[(usize, Range<usize>)])
    where
        Inner: Optimizer<Model, E>,
    {
        for slot in &mut self.inner.state_mut().slots {
            let is_whole = slot.values.iter().map(Vec::len).eq(lens.iter().copied());
            if is_whole {
                slot.values = own.iter().map(|(index, range)| slot.values[*index][range.clone()].to_vec()).collect();
            }
        }
    }
}

impl<Inner: fmt::Debug, Axis: RankAxis> fmt::Debug for ShardedState<Inner, Axis> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, shared out over {:?}", self.inner, self.ranks)
    }
}

/// This rank's range of each parameter of these lengths, without empty ranges.
fn own_ranges<Axis: RankAxis>(lens: &[usize], ranks: &Ranks<Axis>) -> Vec<(usize, Range<usize>)> {
    let own = ranks.part_of(lens.iter().sum(), ranks.rank());
    let mut start = 0;
    let ranges = lens.iter().enumerate().map(|(index, &len)| {
        let range = own.start.clamp(start, start + len) - start..own.end.clamp(start, start + len) - start;
        start += len;
        (index, range)
    });
    ranges.filter(|(_, range)| !range.is_empty()).collect()
}
