#!/usr/bin/env python3
"""Times one training step of the reference models in the frameworks a user would pick instead.

    python3 -m venv .venv && .venv/bin/pip install torch transformers jax flax optax numpy llama-cpp-python ctranslate2
    .venv/bin/python peers.py rot13 typed gpt [--steps N] [--threads 2] [--only torch|transformers|jax|llama.cpp|ctranslate2]

Each step is forward, loss, backward, clip to global norm 1 and optimizer update on fixed data, float32, on the CPU. With
`--device cuda`, PyTorch and `transformers` compute on the GPU, and a step lasts until the GPU has done its work.
In `decode_...` it is greedy decoding: a lean loop with preallocated keys and values, and `generate` of `transformers`. In
`bert_forward` and `t5_..._forward` it is one forward pass.
Prints one JSON object a line: config, framework, parameters, median and minimum milliseconds, tokens per second.

  rot13  encoder-decoder of "Another annotated transformer": vocab 28, embed 8, 1+1 layers, 7 heads of 5, hidden 5,
         batch 50, length 15, SGD; 4,665 parameters
  typed  encoder-decoder of "The Typed Transformer": vocab 128, embed 128, 4+4 layers, 2 heads, hidden 512,
         batch 256, lengths 16 and 2, Adam; 1,899,136 parameters
  gpt    decoder-only, nanoGPT's CPU configuration: vocab 65, embed 128, 4 layers, 4 heads, block 64, batch 12,
         pre-LN, no biases, weights tied, AdamW; about 0.8 M parameters

and in PyTorch only:

  length_1024   the same architecture: embed 256, 4 layers, 8 heads, 1 x 1,024
  length_4096   embed 128, 2 layers, 4 heads, 1 x 4,096
  gpt2          GPT-2 small: vocab 50,257, embed 768, 12 layers, 12 heads, 1 x 128; 124 M parameters
  gpt_mixed, gpt2_mixed   gpt and gpt2 with their biases, under `torch.autocast` in bfloat16
  decode_gpt    the model of gpt with 256 positions: 240 tokens after a prompt of 16
  decode_gpt2   the model of gpt2 with its biases: 128 tokens after a prompt of 16; decode_gpt2_batch8: of 8 texts at once
  decode_smollm SmolLM-135M, a Llama: vocab 49,152, embed 576, 30 layers, 9 heads of 64, 3 of them for keys and values,
                hidden 1,536; 128 tokens after a prompt of 16
  bert_forward  encoder: vocab 30,522, embed 384, 6 layers, 12 heads, 3 x 24
  llama         SmolLM-135M of `transformers`: 1 x 128
  qwen3         Qwen3 of `transformers` with 4 layers of the size of those of Qwen3-0.6B, and a vocabulary of 8,192: 1 x 128
  t5_128        T5-small of `transformers`: 4 sources and targets of 128 tokens; t5_512: 1 of 512
  scaling       the architecture of gpt with 2 layers: --batch, --length and --width choose its size

and in llama.cpp and CTranslate2 only, as decode_gpt2 is there too, if the environment variable GPT2 names a folder with
`f32.gguf`, `bf16.gguf` and `q8_0.gguf` by llama.cpp's `convert_hf_to_gguf.py --outtype`, and with the folders `float32`,
`bfloat16` and `int8` by `ct2-transformers-converter --quantization`, all of one folder of a GPT-2 small:

  decode_gpt2_bf16, decode_gpt2_q8   with weights in 16 and in 8 bits
  decode_gpt2_q8_rows   with 8 bits and a scale for each row, in CTranslate2 only
"""
import argparse, json, os, resource, statistics, time

CONFIGS = {
    "rot13": dict(vocab=28, d=8, heads=7, head=5, hidden=5, layers=1, batch=50, src=15, tgt=15),
    "typed": dict(vocab=128, d=128, heads=2, head=64, hidden=512, layers=4, batch=256, src=16, tgt=2, max_len=16),
    "gpt": dict(vocab=65, d=128, heads=4, head=32, hidden=512, layers=4, batch=12, src=0, tgt=64),
    "length_1024": dict(vocab=65, d=256, heads=8, head=32, hidden=1024, layers=4, batch=1, src=0, tgt=1024),
    "length_4096": dict(vocab=65, d=128, heads=4, head=32, hidden=512, layers=2, batch=1, src=0, tgt=4096),
    "gpt2": dict(vocab=50257, d=768, heads=12, head=64, hidden=3072, layers=12, batch=1, src=0, tgt=128),
    "decode_gpt": dict(vocab=65, d=128, heads=4, head=32, hidden=512, layers=4, batch=1, src=16, tgt=256),
    "decode_gpt2": dict(vocab=50257, d=768, heads=12, head=64, hidden=3072, layers=12, batch=1, src=16, tgt=144, max_len=1024),
    "decode_smollm": dict(vocab=49152, d=576, heads=9, key_heads=3, head=64, hidden=1536, layers=30, batch=1, src=16, tgt=144, max_len=2048),
    "bert_forward": dict(vocab=30522, d=384, heads=12, head=32, hidden=1536, layers=6, batch=3, src=24, tgt=24, max_len=512),
    "llama": dict(vocab=49152, d=576, heads=9, key_heads=3, head=64, hidden=1536, layers=30, batch=1, src=0, tgt=128, max_len=2048),
    "qwen3": dict(vocab=8192, d=1024, heads=16, key_heads=8, head=128, hidden=3072, layers=4, batch=1, src=0, tgt=128, max_len=32768),
    "t5_128": dict(vocab=32128, batch=4, src=128, tgt=128),
    "t5_512": dict(vocab=32128, batch=1, src=512, tgt=512),
}
CONFIGS.update({f"{name}_forward": CONFIGS[name] for name in ("t5_128", "t5_512")})
CONFIGS.update({f"decode_gpt2_{precision}": CONFIGS["decode_gpt2"] for precision in ("bf16", "f16", "q8", "q8_rows")})
CONFIGS["decode_gpt2_batch8"] = dict(CONFIGS["decode_gpt2"], batch=8)
CONFIGS.update({f"{name}_mixed": CONFIGS[name] for name in ("gpt", "gpt2")})
CONFIGS["scaling"] = dict(vocab=65, heads=4, layers=2, src=0)
STEPS = {"scaling": 3, "rot13": 300, "typed": 15, "gpt": 40, "gpt_mixed": 40, "length_1024": 8, "length_4096": 5, "gpt2": 5, "gpt2_mixed": 5, "decode_gpt": 10,
         "decode_gpt2": 1, "decode_smollm": 1, "bert_forward": 40, "llama": 5, "qwen3": 10,
         "t5_128": 3, "t5_512": 3, "t5_128_forward": 5, "t5_512_forward": 5,
         "decode_gpt2_bf16": 1, "decode_gpt2_f16": 1, "decode_gpt2_q8": 1, "decode_gpt2_q8_rows": 1, "decode_gpt2_batch8": 1}


def report(config, framework, params, times, tokens):
    med = statistics.median(times)
    print(json.dumps(dict(config=config, framework=framework, params=params, median_ms=round(med * 1e3, 3),
                          min_ms=round(min(times) * 1e3, 3), peak_mb=round(peak_mb()), idle_mb=round(IDLE_MB),
                          tokens_per_s=round(tokens / med))), flush=True)


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


IDLE_MB = 0  # the peak memory before a model is built
DEVICE = "cpu"  # of torch and transformers


def build_on_device(torch):
    """Makes what follows on the GPU, if it is used. `torch.set_default_device(None)` ends it, since it slows each call."""
    if DEVICE == "cuda":
        torch.set_default_device(DEVICE)


def now(torch):
    """The time at which the GPU, if it is used, has done its work."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def run_torch(name, c, steps, threads):
    import torch, torch.nn as nn, torch.nn.functional as F
    global IDLE_MB
    torch.set_num_threads(threads)
    build_on_device(torch)
    torch.manual_seed(0)
    IDLE_MB = peak_mb()

    class Attention(nn.Module):
        def __init__(s, bias):
            super().__init__()
            inner = c["heads"] * c["head"]
            s.q, s.k, s.v = (nn.Linear(c["d"], inner, bias=bias) for _ in range(3))
            s.o = nn.Linear(inner, c["d"], bias=bias)

        def forward(s, x, kv, mask=None, causal=False, cache=None):
            split = lambda y: y.view(y.shape[0], y.shape[1], c["heads"], c["head"]).transpose(1, 2)
            k, v = split(s.k(kv)), split(s.v(kv))
            if cache is not None:
                keys, values, start = cache
                keys[:, :, start : start + x.shape[1]], values[:, :, start : start + x.shape[1]] = k, v
                k, v = keys[:, :, : start + x.shape[1]], values[:, :, : start + x.shape[1]]
            y = F.scaled_dot_product_attention(split(s.q(x)), k, v, attn_mask=mask, is_causal=causal)
            return s.o(y.transpose(1, 2).reshape(x.shape[0], x.shape[1], -1))

    class Feed(nn.Module):
        def __init__(s, act, bias=True):
            super().__init__()
            s.i, s.o, s.act = nn.Linear(c["d"], c["hidden"], bias=bias), nn.Linear(c["hidden"], c["d"], bias=bias), act

        def forward(s, x):
            return s.o(s.act(s.i(x)))

    class Seq2Seq(nn.Module):
        def __init__(s):
            super().__init__()
            typed = name == "typed"
            act = (lambda x: F.gelu(x, approximate="tanh")) if typed else F.relu
            norm = lambda: nn.LayerNorm(c["d"])
            s.src, s.tgt = nn.Embedding(c["vocab"], c["d"]), nn.Embedding(c["vocab"], c["d"])
            s.typed = typed
            if typed:
                s.src_pos, s.tgt_pos = nn.Embedding(c["max_len"], c["d"]), nn.Embedding(c["max_len"], c["d"])
                s.src_norm, s.tgt_norm = norm(), norm()
            bias = not typed
            s.enc = nn.ModuleList(nn.ModuleList([Attention(bias), norm(), Feed(act), norm()]) for _ in range(c["layers"]))
            s.dec = nn.ModuleList(nn.ModuleList([Attention(bias), norm(), Attention(bias), norm(), Feed(act), norm()]) for _ in range(c["layers"]))
            s.logit = nn.Linear(c["d"], c["vocab"])
            pos = torch.arange(64)[:, None] / 10000 ** (torch.arange(0, c["d"], 2) / c["d"])
            s.register_buffer("pe", torch.stack([pos.sin(), pos.cos()], -1).flatten(1))

        def forward(s, x, y):
            pad = c["vocab"] - 1
            xm, ym = x != pad, y != pad
            if s.typed:
                e = s.src_norm(s.src(x) + s.src_pos.weight[: x.shape[1]])
                d = s.tgt_norm(s.tgt(y) + s.tgt_pos.weight[: y.shape[1]])
                em, cm = (xm[:, :, None] & xm[:, None, :])[:, None], (ym[:, :, None] & xm[:, None, :])[:, None]
                dm = ((ym[:, :, None] & ym[:, None, :]) & torch.ones(y.shape[1], y.shape[1], dtype=torch.bool, device=y.device).tril())[:, None]
            else:
                e, d = s.src(x) * c["d"] ** 0.5 + s.pe[: x.shape[1]], s.tgt(y) * c["d"] ** 0.5 + s.pe[: y.shape[1]]
                em = cm = xm[:, None, None, :]
                dm = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool, device=y.device).tril()
            for a, n1, f, n2 in s.enc:
                e = n1(e + a(e, e, em))
                e = n2(e + f(e))
            for a, n1, x_, n2, f, n3 in s.dec:
                d = n1(d + a(d, d, dm))
                d = n2(d + x_(d, e, cm))
                d = n3(d + f(d))
            return s.logit(d)

    class GPT(nn.Module):
        def __init__(s):
            super().__init__()
            bias = name.startswith("decode_gpt2") or name.endswith("_mixed")
            norm = lambda: nn.LayerNorm(c["d"], bias=bias)
            act = (lambda x: F.gelu(x, approximate="tanh")) if bias else F.gelu
            s.tok, s.pos = nn.Embedding(c["vocab"], c["d"]), nn.Embedding(c.get("max_len", c["tgt"]), c["d"])
            s.blocks = nn.ModuleList(nn.ModuleList([norm(), Attention(bias), norm(), Feed(act, bias)]) for _ in range(c["layers"]))
            s.norm = norm()

        def forward(s, _, y, caches=None, start=0):
            h = s.tok(y) + s.pos.weight[start : start + y.shape[1]]
            for i, (n1, a, n2, f) in enumerate(s.blocks):
                z = n1(h)
                h = h + a(z, z, causal=y.shape[1] > 1, cache=caches and (*caches[i], start))
                h = h + f(n2(h))
            return s.norm(h) @ s.tok.weight.T

    class Llama(nn.Module):
        def __init__(s):
            super().__init__()
            linear = lambda a, b: nn.Linear(a, b, bias=False)
            d, q, k, h = c["d"], c["heads"] * c["head"], c["key_heads"] * c["head"], c["hidden"]
            norm = lambda: nn.RMSNorm(d, eps=1e-5)
            s.tok = nn.Embedding(c["vocab"], d)
            s.blocks = nn.ModuleList(
                nn.ModuleList([norm(), linear(d, q), linear(d, k), linear(d, k), linear(q, d), norm(), linear(d, h), linear(d, h), linear(h, d)])
                for _ in range(c["layers"]))
            s.norm = norm()
            angles = torch.arange(c["tgt"])[:, None] / 10000 ** (torch.arange(0, c["head"], 2) / c["head"])
            s.register_buffer("cos", angles.cos().repeat(1, 2))
            s.register_buffer("sin", angles.sin().repeat(1, 2))

        def forward(s, _, y, caches, start):
            h, length, end = s.tok(y), y.shape[1], start + y.shape[1]
            split = lambda x, heads: x.view(1, length, heads, c["head"]).transpose(1, 2)
            half = c["head"] // 2
            turn = lambda x: x * s.cos[start:end] + torch.cat([-x[..., half:], x[..., :half]], -1) * s.sin[start:end]
            for (n1, q, k, v, o, n2, gate, hidden, output), (keys, values) in zip(s.blocks, caches):
                x = n1(h)
                keys[:, :, start:end], values[:, :, start:end] = turn(split(k(x), c["key_heads"])), split(v(x), c["key_heads"])
                x = F.scaled_dot_product_attention(turn(split(q(x), c["heads"])), keys[:, :, :end], values[:, :, :end],
                                                   is_causal=length > 1, enable_gqa=True)
                h = h + o(x.transpose(1, 2).reshape(1, length, -1))
                x = n2(h)
                h = h + output(F.silu(gate(x)) * hidden(x))
            return s.norm(h) @ s.tok.weight.T

    def decode(model, prompt):
        shape = (c["batch"], c.get("key_heads", c["heads"]), c["tgt"], c["head"])
        caches = [[torch.empty(shape, device=prompt.device) for _ in "kv"] for _ in model.blocks]
        start, y = 0, prompt
        while start + y.shape[1] < c["tgt"]:
            logits, start = model(None, y, caches, start)[:, -1], start + y.shape[1]
            y = logits.argmax(-1, keepdim=True)

    class Bert(nn.Module):
        def __init__(s):
            super().__init__()
            s.tok, s.pos, s.norm = nn.Embedding(c["vocab"], c["d"]), nn.Embedding(c["max_len"], c["d"]), nn.LayerNorm(c["d"])
            norm = lambda: nn.LayerNorm(c["d"])
            act = lambda x: F.gelu(x, approximate="tanh")
            s.layers = nn.ModuleList(nn.ModuleList([Attention(False), norm(), Feed(act), norm()]) for _ in range(c["layers"]))

        def forward(s, x):
            h = s.norm(s.tok(x) + s.pos.weight[: x.shape[1]])
            for a, n1, f, n2 in s.layers:
                h = n1(h + a(h, h))
                h = n2(h + f(h))
            return h

    def forward_only(run, model, tokens):
        times = []
        torch.set_default_device(None)
        with torch.inference_mode():
            for _ in range(steps + min(steps, 5)):
                t0 = now(torch)
                run()
                times.append(now(torch) - t0)
        report(name, "torch " + torch.__version__, sum(p.numel() for p in model.parameters()), times[min(steps, 5) :], tokens)

    if name == "bert_forward":
        model, x = Bert(), torch.randint(0, c["vocab"], (c["batch"], c["src"]))
        return forward_only(lambda: model(x), model, c["batch"] * c["src"])
    model = Seq2Seq() if name in ("rot13", "typed") else Llama() if name == "decode_smollm" else GPT()
    if name.startswith("decode"):
        prompt = torch.randint(0, c["vocab"], (c["batch"], c["src"]))
        return forward_only(lambda: decode(model, prompt), model, c["batch"] * (c["tgt"] - c["src"]))
    opt = {"rot13": lambda p: torch.optim.SGD(p, 0.5, fused=True),
           "typed": lambda p: torch.optim.Adam(p, 1e-3, fused=True)}.get(
        name, lambda p: torch.optim.AdamW(p, 1e-3, betas=(0.9, 0.99), weight_decay=0.1, fused=True))(model.parameters())
    x = torch.randint(0, c["vocab"] - 2, (c["batch"], c["src"]))
    y, t = (torch.randint(0, c["vocab"] - 2, (c["batch"], c["tgt"])) for _ in range(2))
    times, untimed = [], min(steps, 5)
    torch.set_default_device(None)
    for _ in range(steps + untimed):
        t0 = now(torch)
        with torch.autocast(DEVICE, torch.bfloat16, enabled=name.endswith("_mixed")):
            loss = F.cross_entropy(model(x, y).flatten(0, 1), t.flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        times.append(now(torch) - t0)
    report(name, "torch " + torch.__version__, sum(p.numel() for p in model.parameters()), times[untimed:], c["batch"] * (c["src"] + c["tgt"]))


def run_transformers(name, c, steps, threads):
    import torch, transformers
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM
    from transformers import T5Config, T5ForConditionalGeneration
    global IDLE_MB
    torch.set_num_threads(threads)
    build_on_device(torch)
    torch.manual_seed(0)
    IDLE_MB = peak_mb()
    sizes = dict(vocab_size=c["vocab"], bos_token_id=None, eos_token_id=None)
    if name in ("decode_smollm", "llama", "qwen3"):
        sizes.update(hidden_size=c["d"], intermediate_size=c["hidden"], num_hidden_layers=c["layers"], num_attention_heads=c["heads"],
                     num_key_value_heads=c["key_heads"], head_dim=c["head"], max_position_embeddings=c["max_len"], tie_word_embeddings=True)
    if not name.startswith("decode"):
        if name.startswith("t5"):
            # The defaults are the sizes of T5-small.
            model = T5ForConditionalGeneration(T5Config(vocab_size=c["vocab"], dropout_rate=0.0, use_cache=False))
        else:
            model = Qwen3ForCausalLM(Qwen3Config(use_cache=False, **sizes)) if name == "qwen3" else LlamaForCausalLM(LlamaConfig(use_cache=False, **sizes))
        x, y, t = (torch.randint(1, c["vocab"], (c["batch"], n)) for n in (c["src"], c["tgt"], c["tgt"]))
        inputs = dict(input_ids=x, decoder_input_ids=y) if name.startswith("t5") else dict(input_ids=y)
        opt = torch.optim.AdamW(model.parameters(), 1e-3, betas=(0.9, 0.99), weight_decay=0.1, fused=True)
        times = []
        torch.set_default_device(None)
        for _ in range(steps + min(steps, 5)):
            t0 = now(torch)
            with torch.set_grad_enabled(not name.endswith("forward")):
                output = model(**inputs, labels=None if name.endswith("forward") else t)
            if output.loss is not None:
                opt.zero_grad()
                output.loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
            times.append(now(torch) - t0)
        params = sum(p.numel() for p in model.parameters())
        return report(name, "transformers " + transformers.__version__, params, times[min(steps, 5) :], c["batch"] * (c["src"] + c["tgt"]))
    if name == "decode_smollm":
        model = LlamaForCausalLM(LlamaConfig(**sizes))
    else:
        model = GPT2LMHeadModel(GPT2Config(
            n_embd=c["d"], n_layer=c["layers"], n_head=c["heads"], n_positions=c.get("max_len", c["tgt"]), **sizes))
    model.eval()
    prompt = torch.randint(0, c["vocab"], (c["batch"], c["src"]))
    count = c["tgt"] - c["src"]
    times = []
    torch.set_default_device(None)
    for _ in range(steps + min(steps, 5)):
        t0 = now(torch)
        written = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=count, do_sample=False, pad_token_id=0)
        times.append(now(torch) - t0)
        assert written.shape[1] == c["tgt"]
    report(name, "transformers " + transformers.__version__, sum(p.numel() for p in model.parameters()), times[min(steps, 5) :], c["batch"] * count)


GPT2_PARAMS = 124_439_808


def run_llama_cpp(name, c, steps, threads):
    import llama_cpp
    precision = {"decode_gpt2": "f32", "decode_gpt2_bf16": "bf16", "decode_gpt2_q8": "q8_0"}[name]
    file = os.path.join(os.environ["GPT2"], f"{precision}.gguf")
    model = llama_cpp.Llama(file, n_ctx=256, n_threads=threads, n_threads_batch=threads, verbose=False)
    times = []
    for _ in range(steps + min(steps, 5)):
        t0 = time.perf_counter()
        model.reset()
        model.eval([100] * c["src"])
        for _ in range(c["tgt"] - c["src"] - 1):
            model.eval([model.sample(temp=0.0)])
        model.sample(temp=0.0)
        times.append(time.perf_counter() - t0)
    report(name, "llama.cpp " + llama_cpp.__version__, GPT2_PARAMS, times[min(steps, 5) :], c["tgt"] - c["src"])


def run_ctranslate2(name, c, steps, threads):
    import ctranslate2
    precision = {"decode_gpt2_bf16": "bfloat16", "decode_gpt2_q8": "int8"}.get(name.removesuffix("_rows"), "float32")
    folder = os.path.join(os.environ["GPT2"], precision)
    model = ctranslate2.Generator(folder, device="cpu", compute_type=precision, intra_threads=threads, inter_threads=1)
    with open(os.path.join(folder, "vocabulary.json")) as file:
        prompts = [[json.load(file)[100]] * c["src"]] * c["batch"]
    count, times = c["tgt"] - c["src"], []
    for _ in range(steps + min(steps, 5)):
        t0 = time.perf_counter()
        written = model.generate_batch(
            prompts, max_length=count, min_length=count, sampling_topk=1, include_prompt_in_result=False, end_token=[])
        times.append(time.perf_counter() - t0)
        assert all(len(text.sequences_ids[0]) == count for text in written)
    report(name, "ctranslate2 " + ctranslate2.__version__, GPT2_PARAMS, times[min(steps, 5) :], c["batch"] * count)


def run_jax(name, c, steps, _threads):
    import jax, jax.numpy as jnp, optax, numpy as np
    from flax import linen as nn

    class Attention(nn.Module):
        bias: bool

        @nn.compact
        def __call__(s, x, kv, mask):
            split = lambda n, y: nn.Dense(c["heads"] * c["head"], use_bias=s.bias, name=n)(y).reshape(y.shape[0], y.shape[1], c["heads"], c["head"])
            q, k, v = split("q", x), split("k", kv), split("v", kv)
            w = jnp.einsum("bqhd,bkhd->bhqk", q, k) / c["head"] ** 0.5
            w = jax.nn.softmax(jnp.where(mask, w, jnp.finfo(w.dtype).min), -1)
            return nn.Dense(c["d"], use_bias=s.bias)(jnp.einsum("bhqk,bkhd->bqhd", w, v).reshape(x.shape[0], x.shape[1], -1))

    class Feed(nn.Module):
        bias: bool = True

        @nn.compact
        def __call__(s, x):
            act = nn.relu if name == "rot13" else nn.gelu
            return nn.Dense(c["d"], use_bias=s.bias)(act(nn.Dense(c["hidden"], use_bias=s.bias)(x)))

    pos = np.arange(64)[:, None] / 10000 ** (np.arange(0, c["d"], 2) / c["d"])
    pe = np.stack([np.sin(pos), np.cos(pos)], -1).reshape(64, -1).astype(np.float32)

    class Seq2Seq(nn.Module):
        @nn.compact
        def __call__(s, x, y):
            typed, pad = name == "typed", c["vocab"] - 1
            xm, ym, norm = x != pad, y != pad, nn.LayerNorm
            emb = lambda n, ids: nn.Embed(c["vocab"], c["d"], name=n)(ids)
            tri = jnp.tril(jnp.ones((y.shape[1], y.shape[1]), bool))
            if typed:
                place = lambda n, ids: nn.Embed(c["max_len"], c["d"], name=n)(jnp.arange(ids.shape[1]))
                e, d = norm()(emb("src", x) + place("sp", x)), norm()(emb("tgt", y) + place("tp", y))
                em, cm = (xm[:, :, None] & xm[:, None, :])[:, None], (ym[:, :, None] & xm[:, None, :])[:, None]
                dm = (ym[:, :, None] & ym[:, None, :] & tri)[:, None]
            else:
                e, d = emb("src", x) * c["d"] ** 0.5 + pe[: x.shape[1]], emb("tgt", y) * c["d"] ** 0.5 + pe[: y.shape[1]]
                em = cm = xm[:, None, None, :]
                dm = tri
            for _ in range(c["layers"]):
                e = norm()(e + Attention(not typed)(e, e, em))
                e = norm()(e + Feed()(e))
            for _ in range(c["layers"]):
                d = norm()(d + Attention(not typed)(d, d, dm))
                d = norm()(d + Attention(not typed)(d, e, cm))
                d = norm()(d + Feed()(d))
            return nn.Dense(c["vocab"])(d)

    class GPT(nn.Module):
        @nn.compact
        def __call__(s, _, y):
            norm = lambda: nn.LayerNorm(use_bias=False)
            tok = nn.Embed(c["vocab"], c["d"])
            h = tok(y) + nn.Embed(c["tgt"], c["d"])(jnp.arange(c["tgt"]))
            tri = jnp.tril(jnp.ones((c["tgt"], c["tgt"]), bool))
            for _ in range(c["layers"]):
                z = norm()(h)
                h = h + Attention(False)(z, z, tri)
                h = h + Feed(False)(norm()(h))
            return tok.attend(norm()(h))

    model = GPT() if name == "gpt" else Seq2Seq()
    r = np.random.default_rng(0)
    ids = lambda n: jnp.array(r.integers(0, c["vocab"] - 2, (c["batch"], n)))
    x, y, t = ids(c["src"]), ids(c["tgt"]), ids(c["tgt"])
    params = model.init(jax.random.PRNGKey(0), x, y)
    opt = optax.chain(optax.clip_by_global_norm(1.0), {"rot13": optax.sgd(0.5), "typed": optax.adam(1e-3),
                                                       "gpt": optax.adamw(1e-3, b2=0.99, weight_decay=0.1)}[name])
    state = opt.init(params)

    @jax.jit
    def step(params, state):
        loss, g = jax.value_and_grad(lambda p: optax.softmax_cross_entropy_with_integer_labels(model.apply(p, x, y), t).mean())(params)
        u, state = opt.update(g, state, params)
        return optax.apply_updates(params, u), state, loss

    times = []
    for _ in range(steps + 5):
        t0 = time.perf_counter()
        params, state, loss = step(params, state)
        loss.block_until_ready()
        times.append(time.perf_counter() - t0)
    report(name, "jax " + jax.__version__, sum(p.size for p in jax.tree_util.tree_leaves(params)), times[5:], c["batch"] * (c["src"] + c["tgt"]))


if __name__ == "__main__":
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("configs", nargs="+", choices=CONFIGS)
    a.add_argument("--steps", type=int, default=0, help="timed steps (default: enough for a few seconds)")
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--only", choices=["torch", "transformers", "jax", "llama.cpp", "ctranslate2"])
    a.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="of torch and transformers")
    a.add_argument("--batch", type=int, default=1)
    a.add_argument("--length", type=int, default=256)
    a.add_argument("--width", type=int, default=128)
    o = a.parse_args()
    CONFIGS["scaling"].update(d=o.width, head=o.width // 4, hidden=4 * o.width, batch=o.batch, tgt=o.length)
    DEVICE = o.device
    for name in o.configs:
        steps = o.steps or STEPS[name]
        is_packed = name in ("decode_gpt2_bf16", "decode_gpt2_f16", "decode_gpt2_q8", "decode_gpt2_q8_rows")
        of_transformers, has_gguf = name.startswith(("t5", "llama", "qwen3")), name in ("decode_gpt2", "decode_gpt2_bf16", "decode_gpt2_q8")
        runs = (("torch", run_torch, not of_transformers and not is_packed),
                ("transformers", run_transformers, of_transformers or name.startswith("decode") and not is_packed),
                ("jax", run_jax, name in ("rot13", "typed", "gpt")),
                ("llama.cpp", run_llama_cpp, "GPT2" in os.environ and has_gguf),
                ("ctranslate2", run_ctranslate2, "GPT2" in os.environ and (has_gguf or name in ("decode_gpt2_batch8", "decode_gpt2_q8_rows"))))
        for framework, run, has_model in runs:
            if o.only in (None, framework) and has_model and (DEVICE == "cpu" or framework in ("torch", "transformers")):
                run(name, CONFIGS[name], steps, o.threads)
