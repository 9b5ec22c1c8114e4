#!/usr/bin/env python3
"""Times a training step of nanoGPT's CPU configuration under PyTorch's DDP on gloo, the peer of `benches/ranks.rs`.

    python3 ranks.py --ranks 4 [--steps 20]

Every rank is a process with one thread and has its part of a batch of 12. Prints one JSON object: median milliseconds.
"""
import argparse, json, os, statistics, time

VOCAB, D, HEADS, LAYERS, BLOCK, BATCH = 65, 128, 4, 4, 64, 12


def model(torch, nn, F):
    class Attention(nn.Module):
        def __init__(s):
            super().__init__()
            s.q, s.k, s.v, s.o = (nn.Linear(D, D, bias=False) for _ in range(4))

        def forward(s, x):
            split = lambda y: y.view(y.shape[0], y.shape[1], HEADS, D // HEADS).transpose(1, 2)
            y = F.scaled_dot_product_attention(split(s.q(x)), split(s.k(x)), split(s.v(x)), is_causal=True)
            return s.o(y.transpose(1, 2).reshape(x.shape))

    class GPT(nn.Module):
        def __init__(s):
            super().__init__()
            norm = lambda: nn.LayerNorm(D, bias=False)
            s.tok, s.pos = nn.Embedding(VOCAB, D), nn.Embedding(BLOCK, D)
            feed = lambda: nn.Sequential(nn.Linear(D, 4 * D, bias=False), nn.GELU(), nn.Linear(4 * D, D, bias=False))
            s.blocks = nn.ModuleList(nn.ModuleList([norm(), Attention(), norm(), feed()]) for _ in range(LAYERS))
            s.norm = norm()

        def forward(s, y):
            h = s.tok(y) + s.pos.weight[: y.shape[1]]
            for n1, a, n2, f in s.blocks:
                h = h + a(n1(h))
                h = h + f(n2(h))
            return s.norm(h) @ s.tok.weight.T

    return GPT()


def rank(index, ranks, steps, port):
    import torch, torch.distributed as dist, torch.nn as nn, torch.nn.functional as F
    from torch.nn.parallel import DistributedDataParallel
    torch.set_num_threads(1)
    torch.manual_seed(0)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=index, world_size=ranks)
    net = DistributedDataParallel(model(torch, nn, F)) if ranks > 1 else model(torch, nn, F)
    rows = len(range(index, BATCH, ranks))
    x, y = (torch.randint(0, VOCAB, (rows, BLOCK)) for _ in range(2))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, betas=(0.9, 0.99), weight_decay=0.1)
    times = []
    for _ in range(steps + 5):
        start = time.perf_counter()
        optimizer.zero_grad()
        F.cross_entropy(net(x).flatten(0, 1), y.flatten()).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        times.append(time.perf_counter() - start)
    if index == 0:
        print(json.dumps(dict(median_ms=round(statistics.median(times[5:]) * 1e3, 3))), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--port", type=int, default=29_511)
    arguments = parser.parse_args()
    import torch.multiprocessing as mp
    mp.spawn(rank, (arguments.ranks, arguments.steps, arguments.port), nprocs=arguments.ranks)
