use super::interleaved_backward::InterleavedBackward;
use super::interleaved_forward::InterleavedForward;
use super::{AttentionConfig, AttentionDims};
use crate::conventions::MaskFill;
use crate::simd::{level, simd_width};
use pulp::{Scalar, WithSimd};

/// The elements of one lane.
fn lane_of(all: &[f32], lane: usize) -> Vec<f32> {
    all.iter().skip(lane).step_by(simd_width()).copied().collect()
}

#[test]
fn every_lane_equals_its_sequence_alone() {
    let lanes = simd_width();
    let dims = AttentionDims { queries: 5, keys: 7, heads: 3, key_value_heads: 3, qk_dim: 2, vo_dim: 6 };
    let numbers = |len: usize, salt: usize| -> Vec<f32> {
        (0..len * lanes).map(|i| ((i * 37 + salt) % 29) as f32 / 10.0 - 1.4).collect()
    };
    let (q, k) = (numbers(dims.q_len(), 1), numbers(dims.k_len(), 2));
    let (v, d_out) = (numbers(dims.v_len(), 3), numbers(dims.out_len(), 4));
    let mask: Vec<bool> = (0..dims.mask_len() * lanes).map(|i| i % 5 != 0 && i % 35 > 6).collect();
    for mask_fill in [MaskFill::MinValue, MaskFill::Subtract(30.0)] {
        let config = AttentionConfig { dims, scale: 0.7, mask_fill };
        let run = |is_scalar: bool, [q, k, v, d_out]: [&[f32]; 4], mask: &[bool]| {
            let mut weights = vec![0.0; dims.heads * mask.len()];
            let mut out = vec![0.0; d_out.len()];
            let (mut dq, mut dk, mut dv) = (q.to_vec(), k.to_vec(), v.to_vec());
            let forward = InterleavedForward { out: &mut out, weights: &mut weights, q, k, v, mask, config };
            if is_scalar {
                forward.with_simd(Scalar)
            } else {
                level().dispatch(forward)
            }
            let (dq_out, dk_out, dv_out) = (&mut dq, &mut dk, &mut dv);
            let backward = InterleavedBackward {
                dq: dq_out,
                dk: dk_out,
                dv: dv_out,
                d_out,
                q,
                k,
                v,
                weights: &weights,
                mask,
                config,
            };
            if is_scalar {
                backward.with_simd(Scalar)
            } else {
                level().dispatch(backward)
            }
            [weights, out, dq, dk, dv]
        };
        let together = run(false, [&q, &k, &v, &d_out], &mask);
        for (lane, mask) in mask.chunks(dims.mask_len()).enumerate() {
            let [q, k, v, d_out] = [&q, &k, &v, &d_out].map(|all| lane_of(all, lane));
            let alone = run(true, [&q, &k, &v, &d_out], mask);
            for (together, alone) in together.iter().zip(alone) {
                for (a, b) in lane_of(together, lane).into_iter().zip(alone) {
                    assert!((a - b).abs() <= 1e-5, "{a} together, {b} alone");
                }
            }
        }
    }
}
