/// The eigenvalues and unit eigenvectors of a symmetric matrix, sorted by descending eigenvalue. Jacobi's
/// method: each rotation zeroes one pair of off-diagonal elements.
pub(super) fn symmetric_eigen(mut matrix: Vec<Vec<f64>>) -> Vec<(f64, Vec<f64>)> {
    /// The method converges in fewer than ten sweeps.
    const MAX_SWEEPS: usize = 30;
    let size = matrix.len();
    let unit = |i: usize| (0..size).map(|j| f64::from(u8::from(i == j))).collect();
    // Row `i` becomes the eigenvector of eigenvalue `i`.
    let mut vectors: Vec<Vec<f64>> = (0..size).map(unit).collect();
    for _ in 0..MAX_SWEEPS {
        let mut rotated = false;
        for p in 0..size {
            for q in p + 1..size {
                let diagonal_gap = matrix[q][q] - matrix[p][p];
                let off_diagonal = matrix[p][q];
                if off_diagonal.abs() <= 1e-12 * (matrix[p][p].abs() + matrix[q][q].abs()) {
                    continue;
                }
                rotated = true;
                let angle = 0.5 * (2.0 * off_diagonal / diagonal_gap).atan();
                let (sin, cos) = angle.sin_cos();
                let rotate = |a: &mut f64, b: &mut f64| {
                    (*a, *b) = (cos * *a - sin * *b, sin * *a + cos * *b);
                };
                for row in &mut matrix {
                    let (left, right) = row.split_at_mut(q);
                    rotate(&mut left[p], &mut right[0]);
                }
                for rows in [&mut matrix, &mut vectors] {
                    let (above, below) = rows.split_at_mut(q);
                    for (a, b) in above[p].iter_mut().zip(&mut below[0]) {
                        rotate(a, b);
                    }
                }
            }
        }
        if !rotated {
            break;
        }
    }
    // An eigenvector has no sign. It gets the one that makes its largest element positive, so that plots of
    // the same matrix agree.
    let with_positive_peak = |vector: Vec<f64>| {
        let peak = vector.iter().fold(0.0, |peak: f64, x| if x.abs() > peak.abs() { *x } else { peak });
        vector.iter().map(|x| x * if peak < 0.0 { -1.0 } else { 1.0 }).collect()
    };
    let values = (0..size).map(|i| matrix[i][i]);
    let mut pairs: Vec<_> = values.zip(vectors.into_iter().map(with_positive_peak)).collect();
    pairs.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    pairs
}

#[cfg(test)]
mod tests {
    use super::symmetric_eigen;

    #[test]
    fn eigenvectors_satisfy_their_equation_and_are_sorted() {
        let matrix = vec![vec![4.0, 1.0, -2.0], vec![1.0, 2.0, 0.0], vec![-2.0, 0.0, 3.0]];
        let pairs = symmetric_eigen(matrix.clone());
        for (value, vector) in &pairs {
            let length: f64 = vector.iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-12);
            for (row, x) in matrix.iter().zip(vector) {
                let product: f64 = row.iter().zip(vector).map(|(a, b)| a * b).sum();
                assert!((product - value * x).abs() < 1e-12);
            }
        }
        assert!(pairs[0].0 > pairs[1].0 && pairs[1].0 > pairs[2].0);
    }
}
