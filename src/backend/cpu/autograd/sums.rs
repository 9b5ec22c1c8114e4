use super::Buffer;
use crate::simd::vectorized;
use std::mem;

/// Sums of many terms, such as the gradient of an operand that repeats itself. Terms are added to a part, which then
/// joins the total: adding to a large sum rounds more.
pub struct SumsInParts {
    /// The parts before this one, in `f64`: their number may be large, too. `None` in the first part.
    total: Option<Vec<f64>>,
    part: Buffer,
    num_terms: usize,
}

impl SumsInParts {
    pub fn zeros(len: usize) -> Self {
        Self { total: None, part: Buffer::zeros(len), num_terms: 0 }
    }

    /// The sums that the next terms are added to.
    #[inline(always)]
    pub fn part_for(&mut self, num_terms: usize) -> &mut [f32] {
        /// The average number of terms of a sum in a part. Ending a part costs a pass over the sums.
        const TERMS_PER_SUM: usize = 64;
        if self.num_terms >= TERMS_PER_SUM * self.part.len() {
            self.end_part();
        }
        self.num_terms += num_terms;
        &mut self.part
    }

    fn end_part(&mut self) {
        let total = self.total.get_or_insert_with(|| vec![0.0; self.part.len()]);
        vectorized!(for (total, part) in total.iter_mut().zip(self.part.iter_mut()) {
            *total += f64::from(mem::take(part));
        });
        self.num_terms = 0;
    }

    /// The sums of all terms.
    pub fn into_total(mut self) -> Buffer {
        if let Some(total) = &self.total {
            vectorized!(for (part, total) in self.part.iter_mut().zip(total) {
                *part = (total + f64::from(*part)) as f32;
            });
        }
        self.part
    }
}
