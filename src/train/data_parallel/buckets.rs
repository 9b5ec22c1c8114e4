//! Gradients are summed over the ranks in buckets, while the backward pass goes on ([Li et al.,
//! 2020](https://arxiv.org/abs/2006.15704), 3.2.3).

use crate::backend::GradientHook;
use crate::ranks::{Element, Pending, RankAxis, Ranks, RanksError};
use bytemuck::{cast_slice, try_cast_slice};
use dfdx::tensor::UniqueId;
use std::{cell::RefCell, mem};

/// The least bytes of a full bucket: few enough that the first sum starts early.
const BUCKET_LEN_BYTES: usize = 1 << 20;
/// The least bytes of a message. From this size on its latency is negligible. A bucket is cut into one message for
/// each rank.
const MESSAGE_LEN_BYTES: usize = 1 << 17;

/// The gradients of a model's trained parameters, in buckets. The order is that of the backward pass: the last
/// parameter of the model comes first.
pub struct Buckets<E: Element, W> {
    state: RefCell<State<E>>,
    ranks: Ranks<W>,
}

struct State<E> {
    parameters: Vec<Parameter>,
    buckets: Vec<Bucket<E>>,
    /// `sums[i]` is the sum of `buckets[i]`; it has been started.
    sums: Vec<Pending<Vec<E>>>,
}

struct Parameter {
    id: UniqueId,
    len: usize,
    bucket: usize,
    /// The place of its first element in the bucket.
    start: usize,
    /// The hash of the gradient in the bucket, once it is there.
    collected_hash: Option<u32>,
}

struct Bucket<E> {
    elements: Vec<E>,
    /// The number of gradients that are still missing.
    missing: usize,
}

impl<E: Element, W: RankAxis> Buckets<E, W> {
    /// Empty buckets for parameters of these ids and lengths, in the order of the model's fields.
    pub fn new(ranks: &Ranks<W>, parameters: &[(UniqueId, usize)]) -> Self {
        let mut placed: Vec<Parameter> = Vec::new();
        let mut buckets: Vec<Bucket<E>> = Vec::new();
        let bucket_len_bytes = BUCKET_LEN_BYTES.max(ranks.size() * MESSAGE_LEN_BYTES);
        for &(id, len) in parameters.iter().rev() {
            let is_full = |bucket: &Bucket<E>| size_of_val(&*bucket.elements) >= bucket_len_bytes;
            if buckets.last().is_none_or(is_full) {
                buckets.push(Bucket { elements: Vec::new(), missing: 0 });
            }
            let last = buckets.len() - 1;
            let Bucket { elements, missing } = &mut buckets[last];
            placed.push(Parameter { id, len, bucket: last, start: elements.len(), collected_hash: None });
            elements.resize(elements.len() + len, E::zero());
            *missing += 1;
        }
        placed.reverse();
        let state = State { parameters: placed, buckets, sums: Vec::new() };
        Self { state: RefCell::new(state), ranks: ranks.clone() }
    }

    /// Adds the gradients that the backward pass did not report, and waits for all sums. Returns them in the order of
    /// the model's fields, or `None` if a gradient of some rank changed after the backward pass reported it.
    pub fn finish(&self, gradients: &[Vec<E>]) -> Result<Option<Vec<Vec<E>>>, RanksError> {
        let mut state = self.state.borrow_mut();
        let mut has_changed = false;
        for (index, gradient) in gradients.iter().enumerate() {
            match state.parameters[index].collected_hash {
                Some(hash) => has_changed |= hash != hash_of(gradient),
                None => state.collect(index, gradient),
            }
            state.start_full(&self.ranks);
        }
        let has_changed = self.ranks.any(has_changed)?;
        let sums = mem::take(&mut state.sums).into_iter().map(Pending::wait).collect::<Result<Vec<_>, _>>()?;
        if has_changed {
            return Ok(None);
        }
        let sum_of = |p: &Parameter| sums[p.bucket][p.start..][..p.len].to_vec();
        Ok(Some(state.parameters.iter().map(sum_of).collect()))
    }
}

impl<E: Element, W: RankAxis> GradientHook for Buckets<E, W> {
    fn receive(&self, parameter: UniqueId, gradient: &[f32]) {
        let mut state = self.state.borrow_mut();
        let is_missing = |p: &Parameter| p.id == parameter && p.collected_hash.is_none();
        if let Some(index) = state.parameters.iter().position(is_missing)
            && let Ok(gradient) = try_cast_slice::<f32, E>(gradient)
            && state.parameters[index].len == gradient.len()
        {
            state.collect(index, gradient);
            state.start_full(&self.ranks);
        }
    }
}

impl<E: Element> State<E> {
    fn collect(&mut self, index: usize, gradient: &[E]) {
        let Parameter { len, bucket, start, collected_hash, .. } = &mut self.parameters[index];
        *collected_hash = Some(hash_of(gradient));
        let bucket = &mut self.buckets[*bucket];
        bucket.elements[*start..][..*len].copy_from_slice(gradient);
        bucket.missing -= 1;
    }

    /// Starts the sums of full buckets. All ranks do so in the same order.
    fn start_full<W: RankAxis>(&mut self, ranks: &Ranks<W>) {
        while let Some(bucket) = self.buckets.get_mut(self.sums.len()).filter(|bucket| bucket.missing == 0) {
            self.sums.push(ranks.start_all_reduce(mem::take(&mut bucket.elements)));
        }
    }
}

fn hash_of<E: Element>(gradient: &[E]) -> u32 {
    crc32fast::hash(cast_slice(gradient))
}
