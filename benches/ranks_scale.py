#!/usr/bin/env python3
"""Works out what more ranks would do, from measured steps of one rank: the tables of docs/ranks.md.

    python3 ranks_scale.py

A message of n bytes takes latency + n / bandwidth. Sums are those of `src/ranks/collectives.rs`: an all-to-all and an
all-gather, each of N - 1 messages a rank. Buckets are those of `src/train/data_parallel/buckets.rs`.
"""
from math import ceil

# Bytes a second, seconds a message.
NETWORKS = {
    "10 Gbit/s Ethernet": (1.18e9, 25e-6),
    "100 Gbit/s Ethernet": (11.8e9, 5e-6),
    "InfiniBand NDR": (48e9, 2e-6),
}
# Parameters; seconds a step on one core (measured; of GPT-2, 6 x parameters x tokens at the rate of nanoGPT's); the sums
# over tensor-parallel ranks, and the elements of each; heads; the part of the step that tensor parallelism does not
# share, that of the logits.
MODELS = {
    "nanoGPT's": (804_096, 0.055, [(16, 12 * 64 * 128)], 4, 0.01),
    "GPT-2, 124 M": (124_439_808, 11.3, [(48, 1_024 * 768)], 12, 0.31),
}
RANKS = [8, 64, 1024]
# Seconds that Adam needs for a parameter on one core: 28 bytes at 14 GB/s.
UPDATE = 2.0e-9
# Sums and gathers of a few bytes in a step: of the loss, of what has failed, of whether a gradient has changed.
SMALL_OPERATIONS = 3


def all_reduce(ranks, count_bytes, network):
    bandwidth, latency = network
    return 2 * (ranks - 1) / ranks * count_bytes / bandwidth + 2 * (ranks - 1) * latency


def data_parallel(model, ranks, network):
    """Seconds of a step in which every rank has as many rows as the one had."""
    parameters, step = model[:2]
    buckets = ceil(4 * parameters / max(1 << 20, ranks << 17))
    sums = buckets * all_reduce(ranks, 4 * parameters / buckets, network)
    # The backward pass is two thirds of a step. The last bucket is full when it ends.
    exposed = max(sums / buckets, sums - 2 / 3 * step * (1 - 1 / buckets))
    return step + exposed + SMALL_OPERATIONS * (ranks - 1) * network[1]


def tensor_parallel(model, ranks, network):
    """Seconds of a step with the rows of one rank. Each sum is waited for."""
    _, step, sums, _, whole = model
    return step * (whole + (1 - whole) / ranks) + sum(count * all_reduce(ranks, 4 * elements, network) for count, elements in sums)


def zero(model, ranks, network):
    """Seconds that sharing the optimizer's state out adds to a step: a gather of the parameters, less its update."""
    parameters, bandwidth, latency = model[0], *network
    gather = (ranks - 1) / ranks * 4 * parameters / bandwidth + (ranks - 1) * latency
    return gather - UPDATE * parameters * (1 - 1 / ranks)


def table(title, number, ranks):
    columns = " | ".join(f"{n:,} ranks" for n in ranks)
    print(f"\n{title}\n\n| model, network | {columns} |\n| --- |" + " ---: |" * len(ranks))
    for name, model in MODELS.items():
        for network, numbers in NETWORKS.items():
            print(f"| {name}, {network} |", " | ".join(number(model, n, numbers) for n in ranks), "|")


table("Data parallel: the part of a rank's time that computes",
      lambda m, n, w: f"{m[1] / data_parallel(m, n, w):.2f}", RANKS)
table("Tensor parallel: how many times as fast as one rank",
      lambda m, n, w: f"{m[1] / tensor_parallel(m, n, w):.1f}" if m[3] % n == 0 else "", [2, 4, 12])
table("ZeRO-1: milliseconds that a step takes longer",
      lambda m, n, w: f"{1e3 * zero(m, n, w):.1f}", RANKS)
