use super::Buffer;
use crate::simd::add_assign;
use std::mem;

/// Sums of many terms, such as the gradient of an operand that repeats itself. Terms are added to a part, which then
/// joins the total: adding to a large sum rounds more.
pub struct SumsInParts {
    /// The parts before this one; `None` in the first part.
    total: Option<Buffer>,
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
        /// The average number of terms of a sum in a part. Ending a part costs two passes over the sums.
        const TERMS_PER_SUM: usize = 64;
        if self.num_terms >= TERMS_PER_SUM * self.part.len() {
            self.end_part();
        }
        self.num_terms += num_terms;
        &mut self.part
    }

    fn end_part(&mut self) {
        match &mut self.total {
            Some(total) => {
                add_assign(total, &self.part);
                self.part.fill(0.0);
            }
            None => {
                let part = Buffer::zeros(self.part.len());
                self.total = Some(mem::replace(&mut self.part, part));
            }
        }
        self.num_terms = 0;
    }

    /// The sums of all terms.
    pub fn into_total(self) -> Buffer {
        match self.total {
            Some(mut total) => {
                add_assign(&mut total, &self.part);
                total
            }
            None => self.part,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_has_each_term_once() {
        for len in [0, 1, 3] {
            for num_rows in [0, 1, 63, 64, 65, 128, 1000] {
                let mut sums = SumsInParts::zeros(len);
                for _ in 0..num_rows {
                    sums.part_for(len).iter_mut().for_each(|sum| *sum += 1.0);
                }
                assert_eq!(sums.into_total()[..], vec![num_rows as f32; len]);
            }
        }
    }
}
