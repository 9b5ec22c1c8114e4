//! How the rows that a kernel works on lie in memory: one after the other or, if they are short, side
//! by side.
//!
//! A row of eight numbers fills no vector register, nor does a head of five; as many rows as there are
//! lanes do.

use super::{
    add_row,
    buffer::Buffer,
    lanes::sum,
    leaf::Leaf,
    matmul::{Matrix, matmul},
    parallel::Share,
    product::{Factor, Product},
    vectorized,
};
use dfdx::tensor::{Cpu, CpuError, Gradients};
use pulp::{Arch, Simd, WithSimd};
use std::iter;

/// How rows lie in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One after the other.
    Rows,
    /// So many side by side, number by number: each lane of a vector belongs to a sequence or, where it
    /// does not matter which rows belong together, to as many rows as each lane gets.
    Lanes(usize),
}

/// Side by side in vectors of this processor, if they have several numbers and so many sequences fill
/// at least half of one.
pub fn side_by_side(sequences: usize) -> Layout {
    let lanes = lanes();
    match lanes > 1 && sequences >= lanes / 2 {
        true => Layout::Lanes(lanes),
        false => Layout::Rows,
    }
}

/// The numbers in a vector of this processor.
pub fn lanes() -> usize {
    struct Lanes;
    impl WithSimd for Lanes {
        type Output = usize;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> usize {
            S::F32_LANES
        }
    }
    Arch::new().dispatch(Lanes)
}

impl Layout {
    /// The sequences that so many take the room of: lanes may stay empty.
    pub fn room(self, sequences: usize) -> usize {
        sequences.next_multiple_of(self.unit())
    }

    /// How many rows each lane takes of so many.
    pub fn each(self, rows: usize) -> usize {
        rows.div_ceil(self.unit())
    }

    /// How many numbers make one.
    fn unit(self) -> usize {
        match self {
            Self::Rows => 1,
            Self::Lanes(lanes) => lanes,
        }
    }

    /// How many rows of a width there are; side by side they are one.
    pub fn rows(self, elements: &[f32], width: usize) -> usize {
        elements.len() / (width * self.unit()).max(1)
    }

    /// `output = a b`, or `output += a b` if `accumulate`; `b` holds the same for all rows.
    pub fn multiply(self, output: &mut [f32], a: Matrix, b: Matrix, bias: Option<&[f32]>, accumulate: bool) {
        match self {
            Self::Rows => {
                if let Some(bias) = bias {
                    vectorized(
                        #[inline(always)]
                        || {
                            for row in output.chunks_exact_mut(b.columns().max(1)) {
                                match accumulate {
                                    true => add_row(row, bias),
                                    false => row.copy_from_slice(bias),
                                }
                            }
                        },
                    );
                }
                matmul(output, a, b, accumulate || bias.is_some());
            }
            Self::Lanes(_) => Arch::new().dispatch(Product {
                output,
                stride: b.columns(),
                a,
                b: Factor::Numbers(b),
                bias,
                accumulate,
            }),
        }
    }

    /// `output = a b`, or `output += a b` if `accumulate`: a sum over rows, in as many parts as there are
    /// lanes.
    pub fn sum_over_rows(self, output: &mut [f32], a: Matrix, b: Matrix, accumulate: bool) {
        match self {
            Self::Rows => matmul(output, a, b, accumulate),
            Self::Lanes(_) => Arch::new().dispatch(Product {
                output,
                stride: b.columns(),
                a,
                b: Factor::Vectors(b),
                bias: None,
                accumulate,
            }),
        }
    }

    /// How many numbers a sum over rows has for the gradient of a parameter, all parts together.
    pub fn numbers(self, parameter: &Leaf) -> usize {
        parameter.elements.len() * self.unit()
    }

    /// Zeros for a part of the gradient of a parameter.
    pub fn zeros(self, parameter: &Leaf) -> Buffer {
        Buffer::zeros(self.numbers(parameter))
    }

    /// Adds a part of the gradient of a parameter. Parts are added one after the other, since two
    /// leaves of a kernel may be one tensor.
    pub fn add(
        self,
        parameter: &Leaf,
        gradients: &mut Gradients<f32, Cpu>,
        part: &[f32],
    ) -> Result<(), CpuError> {
        let Self::Lanes(lanes) = self else {
            return parameter.add(gradients, part);
        };
        let to = gradients.get_or_alloc_mut(&parameter.tensor)?;
        vectorized(
            #[inline(always)]
            || {
                for (to, part) in to.iter_mut().zip(part.chunks_exact(lanes)) {
                    *to += sum(part);
                }
            },
        );
        Ok(())
    }

    /// Work on so many rows or sequences, in chunks that fill all lanes but those of the last one.
    pub fn share(self, units: usize, cost: usize, most: usize) -> Share {
        let unit = self.unit();
        Share::new(units.div_ceil(unit), unit * cost, most / unit).times(unit)
    }

    /// Room for what is put in another layout than [`Rows`](Self::Rows).
    pub fn scratch(self, size: usize) -> Buffer {
        Buffer::new(if self == Self::Rows { 0 } else { size })
    }

    /// The rows, `size` numbers to a lane, as they lie in this layout; in `room` if it is another. Lanes
    /// that would stay empty repeat the first, since what can be calculated with it can be with them.
    pub fn arrange<'a>(self, rows: &'a [f32], size: usize, room: &'a mut [f32]) -> &'a [f32] {
        self.arrange_and(rows, size, room, rows.iter())
    }

    /// The same for a gradient, of which nothing may come from lanes that would stay empty: they are 0.
    pub fn arrange_gradient<'a>(self, rows: &'a [f32], size: usize, room: &'a mut [f32]) -> &'a [f32] {
        self.arrange_and(rows, size, room, iter::repeat(&0.0))
    }

    fn arrange_and<'a>(
        self,
        rows: &'a [f32],
        size: usize,
        room: &'a mut [f32],
        beyond: impl Iterator<Item = &'a f32> + Clone,
    ) -> &'a [f32] {
        let Self::Lanes(lanes) = self else {
            return rows;
        };
        let room = &mut room[..size * lanes];
        for lane in 0..lanes {
            let own = rows.get(lane * size..).unwrap_or_default();
            let own = &own[..own.len().min(size)];
            let (taken, empty) = room.split_at_mut(own.len() * lanes);
            for (vector, number) in taken.chunks_exact_mut(lanes).zip(own) {
                vector[lane] = *number;
            }
            let beyond = beyond.clone().skip(own.len());
            for (vector, number) in empty.chunks_exact_mut(lanes).zip(beyond) {
                vector[lane] = *number;
            }
        }
        room
    }

    /// Lets `run` write the rows as they lie in this layout; in `room` if it is another.
    pub fn write(self, rows: &mut [f32], size: usize, room: &mut [f32], run: impl FnOnce(&mut [f32])) {
        let Self::Lanes(lanes) = self else {
            return run(rows);
        };
        let room = &mut room[..size * lanes];
        run(room);
        separate(room, lanes, rows, size, |to, number| *to = number);
    }

    /// Lets `run` add to the rows as they lie in this layout; in `room` if it is another.
    pub fn add_to(self, rows: &mut [f32], size: usize, room: &mut [f32], run: impl FnOnce(&mut [f32])) {
        let Self::Lanes(lanes) = self else {
            return run(rows);
        };
        let room = &mut room[..size * lanes];
        room.fill(0.0);
        run(room);
        separate(room, lanes, rows, size, |to, number| *to += number);
    }
}

/// Puts what lies in lanes back into rows, `size` numbers to a lane.
fn separate(room: &[f32], lanes: usize, rows: &mut [f32], size: usize, put: impl Fn(&mut f32, f32)) {
    for (lane, own) in rows.chunks_mut(size).enumerate() {
        for (to, vector) in own.iter_mut().zip(room.chunks_exact(lanes)) {
            put(to, vector[lane]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_arranged_comes_back() {
        for (lanes, size, len) in [(4, 3, 12), (4, 3, 8), (4, 3, 10), (1, 5, 5), (16, 2, 2)] {
            let layout = Layout::Lanes(lanes);
            let sequences: Vec<f32> = (0..len).map(|i| i as f32 + 1.0).collect();
            let mut room = vec![7.0; size * lanes];
            layout.arrange_gradient(&sequences, size, &mut room);
            assert_eq!(room.iter().filter(|x| **x == 0.0).count(), room.len() - len);
            layout.arrange(&sequences, size, &mut room);
            assert!(room.iter().all(|x| sequences.contains(x)));
            let arranged = room.clone();
            let mut again = vec![1.0; len];
            layout.write(&mut again, size, &mut room, |room| room.copy_from_slice(&arranged));
            assert_eq!(again, sequences);
            layout.add_to(&mut again, size, &mut room, |room| {
                super::super::add_row(room, &arranged);
            });
            assert!(again.iter().zip(&sequences).all(|(a, b)| *a == 2.0 * b));
        }
    }
}
