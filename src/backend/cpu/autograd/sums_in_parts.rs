use super::Buffer;
use crate::simd::add_assign;

/// Sums of many terms, such as the gradient of an operand that repeats itself. Terms are added to a part, which then joins
/// the total: adding to a large sum rounds more.
pub struct SumsInParts {
    total: Buffer,
    part: Buffer,
    num_terms: usize,
}

impl SumsInParts {
    pub fn zeros(len: usize) -> Self {
        Self { total: Buffer::zeros(len), part: Buffer::zeros(len), num_terms: 0 }
    }

    /// The sums that the next terms are added to.
    #[inline(always)]
    pub fn with_terms(&mut self, num_terms: usize) -> &mut [f32] {
        /// Of each sum, on average. A part costs two passes over the sums.
        const TERMS_PER_PART: usize = 64;
        if self.num_terms >= TERMS_PER_PART * self.part.len() {
            self.end_part();
        }
        self.num_terms += num_terms;
        &mut self.part
    }

    fn end_part(&mut self) {
        add_assign(&mut self.total, &self.part);
        self.part.fill(0.0);
        self.num_terms = 0;
    }

    pub fn into_total(mut self) -> Buffer {
        self.end_part();
        self.total
    }
}
