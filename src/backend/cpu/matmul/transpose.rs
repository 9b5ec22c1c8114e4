//! Copies a matrix to rows, or adds it to them. A transposed one goes through tiles in vector registers.

use super::Matrix;
use crate::autograd::{Buffer, partition_rows};
use crate::simd::{add_row, level, row_chunks_mut};
#[cfg(target_arch = "x86_64")]
use pulp::{Arch, NullaryFnOnce, x86::V3};
use std::array;

/// Rows and columns of a tile.
const TILE: usize = 8;
type Tile = [[f32; TILE]; TILE];
/// The columns that fill a cache line of a row of the output.
const COLUMNS_PER_LINE: usize = 2 * TILE;

/// `(Rows, Columns) -> (Columns, Rows)`.
pub fn transpose_copy(elements: &[f32], rows: usize, columns: usize) -> Buffer {
    /// The cost of copying an element, in multiply-adds.
    const MACS_PER_COPY: usize = 8;
    let mut result = Buffer::recycled(elements.len());
    let transposed = Matrix::new(elements, rows, columns).transposed();
    partition_rows(columns, rows, MACS_PER_COPY).map_mut(&mut result, rows, |chunk, result| {
        let mut result: Vec<_> = row_chunks_mut(result, rows).collect();
        transposed.row_range(chunk.range()).copy_to_rows(&mut result);
    });
    result
}

impl Matrix<'_> {
    /// Copies each row to the beginning of a row of `output`. Rows or columns are contiguous.
    pub fn copy_to_rows(self, output: &mut [&mut [f32]]) {
        match self.contiguous_rows() {
            Some(rows) => {
                output.iter_mut().zip(rows).for_each(|(output, row)| output[..row.len()].copy_from_slice(row))
            }
            None => self.write_columns(output, |to, from| *to = from),
        }
    }

    /// Adds each row to a row of `output`. Rows or columns are contiguous.
    pub fn add_to_rows(self, output: &mut [&mut [f32]]) {
        match self.contiguous_rows() {
            Some(rows) => output.iter_mut().zip(rows).for_each(|(output, row)| add_row(output, row)),
            None => self.write_columns(output, |to, from| *to += from),
        }
    }

    /// `write(to, from)` for each element and its place in a row of `output`. Columns are contiguous.
    fn write_columns(self, output: &mut [&mut [f32]], write: impl Fn(&mut f32, f32)) {
        assert_eq!(self.row_stride, 1);
        let job = WriteColumns { matrix: self, output, write };
        match level() {
            #[cfg(target_arch = "x86_64")]
            Arch::V3(simd) => simd.vectorize(OnAvx2 { job, simd }),
            #[cfg(target_arch = "x86_64")]
            Arch::V4(simd) => simd.vectorize(OnAvx2 { job, simd: *simd }),
            _ => job.run(|columns| array::from_fn(|row| columns.map(|column| column[row]))),
        }
    }
}

struct WriteColumns<'a, 'row, Write> {
    matrix: Matrix<'a>,
    output: &'a mut [&'row mut [f32]],
    write: Write,
}

impl<Write: Fn(&mut f32, f32)> WriteColumns<'_, '_, Write> {
    /// The inner loops go along columns, so that memory is read in its order. They fill a cache line of each row, so
    /// that none is written twice: lines that are a power of two apart push each other out of the cache.
    #[inline(always)]
    fn run(self, transpose: impl Fn(Tile) -> Tile) {
        let Self { matrix, output, write } = self;
        for first_column in (0..matrix.columns).step_by(COLUMNS_PER_LINE) {
            let width = COLUMNS_PER_LINE.min(matrix.columns - first_column);
            let mut columns: [&[f32]; COLUMNS_PER_LINE] = [&[]; COLUMNS_PER_LINE];
            for (i, column) in columns.iter_mut().enumerate() {
                // A tile of fewer columns has its last one several times.
                let start = (first_column + i.min(width - 1)) * matrix.column_stride;
                *column = &matrix.elements[start..][..matrix.rows];
            }
            let (tiles, rest) = output.as_chunks_mut::<TILE>();
            for (index, rows) in tiles.iter_mut().enumerate() {
                for (start, columns) in (0..width).step_by(TILE).zip(columns.as_chunks::<TILE>().0) {
                    let mut tile = [[0.0; TILE]; TILE];
                    for (to, column) in tile.iter_mut().zip(columns) {
                        to.copy_from_slice(&column[index * TILE..][..TILE]);
                    }
                    for (output, row) in rows.iter_mut().zip(transpose(tile)) {
                        let output = &mut output[first_column + start..][..TILE.min(width - start)];
                        // A row of known length is written as one vector.
                        match output.as_mut_array::<TILE>() {
                            Some(output) => output.iter_mut().zip(row).for_each(|(to, from)| write(to, from)),
                            None => output.iter_mut().zip(row).for_each(|(to, from)| write(to, from)),
                        }
                    }
                }
            }
            let first_row = tiles.len() * TILE;
            for (row, output) in (first_row..).zip(rest) {
                for (to, column) in output[first_column..][..width].iter_mut().zip(columns) {
                    write(to, column[row]);
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
struct OnAvx2<Job> {
    job: Job,
    simd: V3,
}

#[cfg(target_arch = "x86_64")]
impl<Write: Fn(&mut f32, f32)> NullaryFnOnce for OnAvx2<WriteColumns<'_, '_, Write>> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let simd = self.simd;
        self.job.run(
            #[inline(always)]
            |columns| transpose_on_avx(simd, columns),
        );
    }
}

// Without closures: one that is not inlined is compiled without vector instructions.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn transpose_on_avx(V3 { avx, .. }: V3, [a, b, c, d, e, f, g, h]: Tile) -> Tile {
    macro_rules! each {
        ($operation:ident: $($x:ident $y:ident),*) => { ($(avx.$operation($x, $y)),*) };
        ($operation:ident::<$order:literal>: $($x:ident $y:ident),*) => { ($(avx.$operation::<$order>($x, $y)),*) };
    }
    let (a, b, c, d) = (pulp::cast(a), pulp::cast(b), pulp::cast(c), pulp::cast(d));
    let (e, f, g, h) = (pulp::cast(e), pulp::cast(f), pulp::cast(g), pulp::cast(h));
    // Pairs of columns, then quadruples of them, then all eight.
    let (ab, cd, ef, gh) = each!(_mm256_unpacklo_ps: a b, c d, e f, g h);
    let (ab_high, cd_high, ef_high, gh_high) = each!(_mm256_unpackhi_ps: a b, c d, e f, g h);
    let (a, c, e, g) = each!(_mm256_shuffle_ps::<0x44>: ab cd, ab_high cd_high, ef gh, ef_high gh_high);
    let (b, d, f, h) = each!(_mm256_shuffle_ps::<0xee>: ab cd, ab_high cd_high, ef gh, ef_high gh_high);
    let (row_0, row_1, row_2, row_3) = each!(_mm256_permute2f128_ps::<0x20>: a e, b f, c g, d h);
    let (row_4, row_5, row_6, row_7) = each!(_mm256_permute2f128_ps::<0x31>: a e, b f, c g, d h);
    pulp::cast([row_0, row_1, row_2, row_3, row_4, row_5, row_6, row_7])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [(usize, usize); 9] =
        [(0, 3), (1, 1), (1, 40), (3, 17), (8, 16), (16, 16), (17, 5), (33, 50), (64, 72)];

    fn numbers(count: usize) -> Vec<f32> {
        (0..count).map(|i| (i * 7919 % 101) as f32).collect()
    }

    #[test]
    fn rows_and_columns_are_added_and_copied_to_their_place() {
        for (rows, columns) in SIZES {
            let numbers = numbers(rows * columns);
            let views = [Matrix::new(&numbers, rows, columns), Matrix::new(&numbers, columns, rows).transposed()];
            for view in views {
                let mut sums = vec![2.0; rows * columns];
                view.add_to_rows(&mut sums.chunks_mut(columns).collect::<Vec<_>>());
                let elements = (0..rows * columns).map(|i| view.get(i / columns, i % columns));
                assert_eq!(sums, elements.clone().map(|element| 2.0 + element).collect::<Vec<_>>());
                view.copy_to_rows(&mut sums.chunks_mut(columns).collect::<Vec<_>>());
                assert_eq!(sums, elements.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_transposed_copy_has_each_element_in_its_place() {
        for (rows, columns) in SIZES.into_iter().chain([(300, 1_000)]) {
            let numbers = numbers(rows * columns);
            let expected: Vec<f32> = (0..rows * columns).map(|i| numbers[i % rows * columns + i / rows]).collect();
            assert_eq!(transpose_copy(&numbers, rows, columns)[..], expected);
        }
    }
}
