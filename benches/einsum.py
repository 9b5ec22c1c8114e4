#!/usr/bin/env python3
"""Times `torch.einsum` for the contractions of `einsum.rs`, forward and backward together, float32, CPU.

    python3 -m venv .venv && .venv/bin/pip install torch numpy
    .venv/bin/python benches/einsum.py [--seconds 1] [--threads 2]

Prints one JSON object a line: contraction, median and minimum milliseconds.
"""
import argparse, json, statistics, time
import torch

# Sequences, positions, width, hidden width, heads, size of a head.
SIZES = {"rot13": (50, 15, 8, 5, 7, 5), "gpt": (12, 64, 128, 512, 4, 32), "wide": (8, 128, 512, 2048, 8, 64)}


def measure(name, equation, shapes, seconds):
    operands = [torch.randn(shape, requires_grad=True) for shape in shapes]
    gradient = torch.randn_like(torch.einsum(equation, *operands))
    times, end = [], 0
    while len(times) < 10 or time.perf_counter() < end:
        start = time.perf_counter()
        torch.einsum(equation, *operands).backward(gradient)
        times.append(time.perf_counter() - start)
        for operand in operands:
            operand.grad = None
        if len(times) == 5:
            end = time.perf_counter() + seconds
    times = times[5:]
    print(json.dumps(dict(name=name, median_ms=statistics.median(times) * 1e3, min_ms=min(times) * 1e3)), flush=True)


if __name__ == "__main__":
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--seconds", type=float, default=1)
    a.add_argument("--filter", default="", help="measure only the contractions whose names contain this text")
    a.add_argument("--threads", type=int, default=2)
    o = a.parse_args()
    torch.set_num_threads(o.threads)
    torch.manual_seed(0)
    for size, (b, s, m, f, h, d) in SIZES.items():
        for name, equation, shapes in [
            ("linear", "bsm,fm->bsf", [(b, s, m), (f, m)]),
            ("scores", "bhqd,bhkd->bhqk", [(b, h, s, d), (b, h, s, d)]),
            ("values", "bhqk,bhkd->bhqd", [(b, h, s, s), (b, h, s, d)]),
            ("scores_by_position", "bqhd,bkhd->bhqk", [(b, s, h, d), (b, s, h, d)]),
            ("values_by_position", "bhqk,bkhd->bqhd", [(b, h, s, s), (b, s, h, d)]),
            ("bilinear", "bsm,fm,bsf->bs", [(b, s, m), (f, m), (b, s, f)]),
        ]:
            if o.filter in f"{size}/{name}":
                measure(f"{size}/{name}", equation, shapes, o.seconds)
