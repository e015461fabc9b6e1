#!/usr/bin/env python3
"""Times the kernels of transformer training on the accelerator of this machine, for `weft calibrate --device`.

    python3 kernels.py --out kernels.csv            # minutes; needs PyTorch with CUDA or ROCm
    python3 kernels.py --quick --out kernels.csv    # a few shapes of every kind
    python3 kernels.py --self-test                  # lists what would be timed; needs nothing, writes no times
    weft calibrate kernels.csv --device h100 --out my-h100.json

Matrix products (16 and 8 bits, and those of experts), causal attention forward and backward by FlashAttention and by
cuDNN, memory-bound passes of every class that a step has, Adam, the gap between kernels, the host's time per kernel
and, with two devices or more, products beside an all-reduce. Of every case the median of several batches, each long
enough for the clock, after a warm-up; `spread` is the distance of the quartiles over the median. What this PyTorch does
not have is named and left out. Clocks and power limits are left as they are.
"""

import argparse
import os
import platform
import statistics
import sys
import time

COLUMNS = ["kind", "name", "precision", "m", "n", "k", "count", "keys", "head_size", "heads", "batch", "bytes",
           "parameters", "seconds", "alone_seconds", "spread"]
ELEMENT_BYTES = {"bf16": 2, "fp16": 2, "fp8": 1, "fp32": 4}
MIB = 1 << 20


# --- what is timed -------------------------------------------------------------------------------------------------


def gemm(name, m, n, k, precision, count=1):
    return {"kind": "gemm", "name": name, "precision": precision, "m": m, "n": n, "k": k, "count": count}


def layer_gemms(precision, hidden, tokens, tensor):
    """The products of a transformer layer on one of `tensor` ranks: forward, then input and weight gradients."""
    shapes = {"qkv": (3 * hidden // tensor, hidden), "projection": (hidden, hidden // tensor),
              "up": (4 * hidden // tensor, hidden), "down": (hidden, 4 * hidden // tensor)}
    for name, (n, k) in shapes.items():
        yield gemm(name, tokens, n, k, precision)
        yield gemm(name + " input gradient", tokens, k, n, precision)
        yield gemm(name + " weight gradient", n, k, tokens, precision)


def gemm_cases(precision, quick):
    for size in ([4096] if quick else [512, 1024, 2048, 4096, 8192, 16384]):
        yield gemm("square", size, size, size, precision)
    models = [(4096, 4096, 1)] if quick else [(2048, 4096, 1), (4096, 4096, 1), (6144, 2048, 8), (8192, 4096, 4),
                                              (12288, 2048, 8), (1024, 8192, 1), (768, 8192, 1)]
    for hidden, tokens, tensor in models:
        yield from layer_gemms(precision, hidden, tokens, tensor)
    for k in ([64, 1024] if quick else [32, 64, 128, 256, 512, 1024, 2048, 32768]):
        yield gemm("inner dimension", 4096, 4096, k, precision)
    for m in ([128] if quick else [16, 32, 64, 128, 256, 512]):
        yield gemm("few rows", m, 8192, 8192, precision)
    yield gemm("vocabulary", 4096, 50304, 4096, precision)
    if precision == "fp8":
        return  # the 8-bit products of PyTorch take multiples of 16 only, and no batches
    for rows, experts, inner in ([(512, 16, 768)] if quick else [(128, 64, 768), (512, 64, 768), (1024, 16, 4096)]):
        yield gemm("grouped", rows, inner, 2048, precision, count=experts)
        yield gemm("grouped", rows, 2048, inner, precision, count=experts)
    for odd in ([4095, 4100] if quick else [4095, 4098, 4100, 4104, 4112, 4128]):
        yield gemm("unaligned", 4096, odd, odd, precision)
    yield gemm("vocabulary, unaligned", 4096, 50257, 4096, precision)
    for sequence, head in ([(2048, 128)] if quick else [(512, 64), (1024, 64), (2048, 64), (2048, 128), (4096, 128)]):
        yield gemm("scores", sequence, sequence, head, precision, count=32)
        yield gemm("context", sequence, head, sequence, precision, count=32)


def attention_cases(precision, quick):
    for keys in ([2048] if quick else [512, 1024, 2048, 4096, 8192, 16384, 32768]):
        for head_size in ([128] if quick else [64, 80, 96, 128]):
            batch = max(1, 16384 // keys)
            for name in ("causal", "causal cudnn"):
                for kind in ("attention", "attention_backward"):
                    yield {"kind": kind, "name": name, "precision": precision, "keys": keys, "head_size": head_size,
                           "heads": 16, "batch": batch}


# Bytes read and written per element of the (16-bit) operand: what an ideal fused kernel moves. The logarithms of a loss
# are in fp32 and read twice, once for maximum and sum.
PASSES = {"copy": 4, "add": 6, "cast": 6, "layer_norm": 4, "rms_norm": 4, "softmax": 4, "log_softmax": 12, "gelu": 4,
          "silu": 4, "dropout": 5, "transpose": 4, "scale rows": 4, "column sums": 2, "rows": 4, "add rows": 6}


def pass_cases(precision, quick):
    for elements in ([256 * MIB] if quick else [32 * MIB, 64 * MIB, 128 * MIB, 256 * MIB, 512 * MIB]):
        for name, moved in PASSES.items():
            yield {"kind": "memory", "name": name, "precision": precision, "bytes": elements * moved,
                   "elements": elements}
    for parameters in ([64 * MIB] if quick else [16 * MIB, 64 * MIB, 256 * MIB]):
        # All in fp32: reads parameter, gradient and two moments; writes all but the gradient.
        for name in ("adam fused", "adam foreach"):
            case = {"kind": "memory", "name": name, "precision": "fp32", "bytes": 28 * parameters,
                    "parameters": parameters}
            if name == "adam fused":
                yield case
            else:
                yield dict(case, kind="adam_foreach")  # several passes: for people, calibrate does not know it


def overhead_cases():
    yield {"kind": "launch", "name": "chain in a graph", "precision": "fp32", "bytes": 8}
    yield {"kind": "host", "name": "enqueue", "precision": "fp32"}


def contended_cases(precision, quick):
    for size in ([8192] if quick else [2048, 4096, 8192]):
        yield {"kind": "contended", "name": "beside all-reduce", "precision": precision, "m": size, "n": size,
               "k": size, "count": 1}


def all_cases(precisions, quick):
    for precision in precisions:
        yield from gemm_cases(precision, quick)
        if precision in ("bf16", "fp16"):
            yield from attention_cases(precision, quick)
    half = next((p for p in precisions if p in ("bf16", "fp16")), "bf16")
    yield from pass_cases(half, quick)
    yield from overhead_cases()
    yield from contended_cases(half, quick)


def operand_bytes(case):
    """Memory that the operands of a case take, about."""
    if case["kind"] in ("gemm", "contended"):
        m, n, k = case["m"], case["n"], case["k"]
        return case["count"] * (m * k + k * n + m * n) * 2
    if "keys" in case:
        return 12 * case["batch"] * case["heads"] * case["keys"] * case["head_size"] * 2
    return 2 * case.get("bytes", 0)


# --- timing --------------------------------------------------------------------------------------------------------


class Clock:
    """Times a function that enqueues one kernel: batches of at least `least` seconds, by the device's own events."""

    def __init__(self, torch, batches, least=5e-3):
        self.torch, self.batches, self.least = torch, batches, least

    def batch(self, run, repeats):
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(repeats):
            run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3 / repeats

    def measure(self, run):
        """(median seconds, spread) of one kernel."""
        for _ in range(3):
            run()
        once = max(self.batch(run, 3), 1e-7)
        repeats = max(1, min(2000, int(self.least / once)))
        self.batch(run, repeats)
        return summarize([self.batch(run, repeats) for _ in range(self.batches)])


def summarize(times):
    times = sorted(times)
    middle = statistics.median(times)
    quarter = len(times) // 4
    return middle, (times[-1 - quarter] - times[quarter]) / middle


def torch_type(torch, precision):
    return {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[precision]


def gemm_run(torch, case):
    m, n, k, count = case["m"], case["n"], case["k"], case["count"]
    if case["precision"] == "fp8":
        kind = torch.float8_e4m3fnuz if "gfx94" in architecture(torch) else torch.float8_e4m3fn
        a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16).to(kind)
        b = torch.randn(n, k, device="cuda", dtype=torch.bfloat16).to(kind).t()
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    dtype = torch_type(torch, case["precision"])
    if case["name"] == "grouped":  # tokens of one expert after another
        a = torch.randn(count * m, k, device="cuda", dtype=dtype)
        b = torch.randn(count, n, k, device="cuda", dtype=dtype).transpose(-2, -1)
        ends = torch.arange(1, count + 1, device="cuda", dtype=torch.int32) * m
        return lambda: torch._grouped_mm(a, b, offs=ends)
    if count > 1:
        a, b = (torch.randn(count, *s, device="cuda", dtype=dtype) for s in ((m, k), (k, n)))
        out = torch.empty(count, m, n, device="cuda", dtype=dtype)
        return lambda: torch.bmm(a, b, out=out)
    a, b = torch.randn(m, k, device="cuda", dtype=dtype), torch.randn(n, k, device="cuda", dtype=dtype).t()
    out = torch.empty(m, n, device="cuda", dtype=dtype)
    return lambda: torch.mm(a, b, out=out)


def attention_run(torch, case):
    shape = (case["batch"], case["heads"], case["keys"], case["head_size"])
    is_backward = case["kind"] == "attention_backward"
    q, k, v = (torch.randn(shape, device="cuda", dtype=torch_type(torch, case["precision"]), requires_grad=is_backward)
               for _ in range(3))

    def forward():
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    if not is_backward:
        return forward
    out = forward()
    gradient = torch.randn_like(out)
    return lambda: torch.autograd.grad(out, (q, k, v), gradient, retain_graph=True)


def attention_only(torch, case):
    """A context in which attention is the one that was asked for, or fails."""
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
        by_cudnn = case["name"].endswith("cudnn")
        return sdpa_kernel(SDPBackend.CUDNN_ATTENTION if by_cudnn else SDPBackend.FLASH_ATTENTION)
    except ImportError:
        if case["name"].endswith("cudnn"):
            raise
        return torch.backends.cuda.sdp_kernel(enable_flash=True, enable_math=False, enable_mem_efficient=False)


def pass_run(torch, case):
    width = 8192
    x = torch.randn(case["elements"] // width, width, device="cuda", dtype=torch_type(torch, case["precision"]))
    functional = torch.nn.functional
    if case["name"] == "copy":
        y = torch.empty_like(x)
        return lambda: y.copy_(x)
    if case["name"] == "add":
        y, z = torch.randn_like(x), torch.empty_like(x)
        return lambda: torch.add(x, y, out=z)
    if case["name"] == "cast":
        y = torch.empty_like(x, dtype=torch.float32)
        return lambda: y.copy_(x)
    if case["name"] == "log_softmax":
        x = x.float()
        return lambda: torch.log_softmax(x, -1)
    if case["name"] == "transpose":
        return lambda: x.t().contiguous()
    if case["name"] == "scale rows":
        scales = torch.randn(x.shape[0], 1, device="cuda", dtype=x.dtype)
        return lambda: x * scales
    if case["name"] in ("rows", "add rows"):
        rows, y = torch.randperm(x.shape[0], device="cuda"), torch.zeros_like(x)
        return (lambda: x[rows]) if case["name"] == "rows" else lambda: y.index_add_(0, rows, x)
    return {"layer_norm": lambda: functional.layer_norm(x, (width,)), "softmax": lambda: torch.softmax(x, -1),
            "rms_norm": lambda: functional.rms_norm(x, (width,)), "gelu": lambda: functional.gelu(x),
            "silu": lambda: functional.silu(x), "column sums": lambda: x.sum(0),
            "dropout": lambda: torch.native_dropout(x, 0.1, True)}[case["name"]]


def adam_run(torch, case):
    parameters = [torch.nn.Parameter(torch.randn(MIB, device="cuda")) for _ in range(case["parameters"] // MIB)]
    for p in parameters:
        p.grad = torch.randn_like(p)
    way = {"fused": True} if case["name"] == "adam fused" else {"foreach": True}
    return torch.optim.AdamW(parameters, lr=1e-4, **way).step


def launch_seconds(torch, clock):
    """Of one in a chain of tiny kernels that a graph starts, so that the host is out of the way."""
    length = 500
    x = torch.zeros(1, device="cuda")
    x.add_(1)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(length):
            x.add_(1)
    seconds, spread = clock.measure(graph.replay)
    return seconds / length, spread


def host_seconds(torch, batches):
    """Of the host to start a kernel, while the device is held up and its queue is not full."""
    length = 400
    x = torch.zeros(1, device="cuda")
    times = []
    for _ in range(batches + 2):
        torch.cuda.synchronize()
        torch.cuda._sleep(int(1e8))
        begin = time.perf_counter()
        for _ in range(length):
            x.add_(1)
        times.append((time.perf_counter() - begin) / length)
        torch.cuda.synchronize()
    return summarize(times[2:])


def measure(torch, case, clock):
    kind = case["kind"]
    if kind == "gemm":
        return clock.measure(gemm_run(torch, case))
    if kind in ("attention", "attention_backward"):
        with attention_only(torch, case):
            return clock.measure(attention_run(torch, case))
    if "parameters" in case:
        return clock.measure(adam_run(torch, case))
    if kind == "memory":
        return clock.measure(pass_run(torch, case))
    return launch_seconds(torch, clock) if kind == "launch" else host_seconds(torch, clock.batches)


# --- computation beside communication ------------------------------------------------------------------------------


def contended_rank(rank, ranks, cases, batches, port, answers):
    """One of the processes, one per device. The first puts (case, seconds, alone, spread) or None on `answers`."""
    import torch
    import torch.distributed as distributed
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    distributed.init_process_group("nccl", rank=rank, world_size=ranks)
    buffer = torch.zeros(128 * MIB, device="cuda", dtype=torch.bfloat16)
    clock = Clock(torch, batches)
    for case in cases:
        run = gemm_run(torch, case)
        alone, _ = clock.measure(run)
        repeats = max(1, int(5e-3 / alone))
        together = []
        for _ in range(batches + 1):
            distributed.barrier()
            torch.cuda.synchronize()
            works = [distributed.all_reduce(buffer, async_op=True) for _ in range(40)]
            torch.cuda._sleep(2000000)  # a millisecond or so, until the first has begun
            together.append(clock.batch(run, repeats))
            if works[-1].is_completed():
                together[-1] = None  # communication was over before the products were: nothing learnt
            for work in works:
                work.wait()
        together = [t for t in together[1:] if t is not None]
        if rank == 0:
            answers.put((case, *summarize(together), alone) if together else (case, None, None, alone))
    distributed.destroy_process_group()


def contended_rows(torch, cases, batches, port):
    import torch.multiprocessing as processes
    ranks = torch.cuda.device_count()
    answers = processes.get_context("spawn").SimpleQueue()
    processes.spawn(contended_rank, args=(ranks, cases, batches, port, answers), nprocs=ranks)
    for _ in cases:
        case, seconds, spread, alone = answers.get()
        if seconds is None:
            note(f"skipped: {title(case)}: the all-reduce was over too soon")
        else:
            yield dict(case, seconds=seconds, alone_seconds=alone, spread=spread)


# --- the program ---------------------------------------------------------------------------------------------------


def note(text):
    print(text, file=sys.stderr, flush=True)


def fail(text):
    note("kernels.py: error: " + text)
    sys.exit(2)


def title(case):
    sizes = " ".join(f"{key}={case[key]}" for key in COLUMNS if key in case and key not in ("kind", "name"))
    return f"{case['kind']} ({case['name']}) {sizes}"


def architecture(torch):
    return getattr(torch.cuda.get_device_properties(0), "gcnArchName", "")


def row_text(row):
    def cell(value):
        text = f"{value:.6g}" if isinstance(value, float) else str(value)
        return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text
    return ",".join(cell(row.get(column, "")) for column in COLUMNS)


def provenance(torch, options):
    yield "device", torch.cuda.get_device_name(0)
    yield "devices", torch.cuda.device_count()
    yield "torch", torch.__version__
    yield "rocm" if torch.version.hip else "cuda", torch.version.hip or torch.version.cuda
    yield "python", platform.python_version()
    yield "batches", options.batches
    yield "seed", options.seed
    if options.date:
        yield "date", options.date
    yield "measured by", "tools/measure/kernels.py"


def self_test(cases):
    """Checks the list of cases and prints it."""
    keys = [row_text(case) for case in cases]
    assert len(set(keys)) == len(keys), "a case stands there twice"
    for case in cases:
        numbers = [value for value in case.values() if not isinstance(value, str)]
        assert all(isinstance(value, int) and value > 0 for value in numbers), title(case)
        assert set(case) - {"elements"} <= set(COLUMNS), title(case)
        assert not {"seconds", "alone_seconds", "spread"} & set(case), "a time that nobody measured"
        if case["precision"] == "fp8":
            assert all(case[x] % 16 == 0 for x in "mnk"), title(case)
    median, spread = summarize([5.0, 1.0, 2.0, 4.0, 3.0])
    assert (median, spread) == (3.0, 2.0 / 3.0)
    print(",".join(COLUMNS))
    for key in keys:
        print(key)
    note(f"{len(cases)} cases; nothing was timed")


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", metavar="F.csv", help="write here (default: standard output)")
    parser.add_argument("--quick", action="store_true", help="a few shapes of every kind")
    parser.add_argument("--precision", default="bf16,fp8", help="of fp16, bf16 and fp8 (default: bf16,fp8)")
    parser.add_argument("--batches", type=int, default=9, help="of which the median counts (default: 9)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--date", help="of the measurement, for the table's comments")
    parser.add_argument("--port", type=int, default=29517, help="for the processes that communicate")
    parser.add_argument("--self-test", action="store_true", help="list what would be timed; needs no accelerator")
    options = parser.parse_args()
    options.precisions = options.precision.split(",")
    for precision in options.precisions:
        if precision not in ("fp16", "bf16", "fp8"):
            fail(f"--precision: expected fp16, bf16 or fp8, got \"{precision}\"")
    if options.batches < 3:
        fail("--batches: expected 3 or more")
    return options


def import_torch():
    try:
        import torch
    except ImportError:
        fail("PyTorch is not installed: pip install torch, or --self-test to list what would be timed")
    if not torch.cuda.is_available():
        fail("PyTorch sees no accelerator: a build for CUDA or ROCm and a driver are needed")
    return torch


def main():
    options = read_options()
    cases = list(all_cases(options.precisions, options.quick))
    if options.self_test:
        return self_test(cases)
    torch = import_torch()
    torch.manual_seed(options.seed)
    clock = Clock(torch, options.batches)
    free = torch.cuda.mem_get_info()[0]
    out = open(options.out, "w", encoding="utf-8") if options.out else sys.stdout
    for key, value in provenance(torch, options):
        print(f"# {key}: {value}", file=out)
    print(",".join(COLUMNS), file=out, flush=True)
    contended = [case for case in cases if case["kind"] == "contended"]
    single = [case for case in cases if case["kind"] != "contended"]
    for number, case in enumerate(single, 1):
        if operand_bytes(case) > 0.8 * free:
            note(f"skipped: {title(case)}: does not fit in memory")
            continue
        try:
            seconds, spread = measure(torch, case, clock)
        except (RuntimeError, AttributeError, ImportError, TypeError, ValueError) as error:
            note(f"skipped: {title(case)}: {str(error).splitlines()[0]}")
            continue
        finally:
            torch.cuda.empty_cache()
        note(f"{number}/{len(single)} {title(case)}: {seconds * 1e6:.2f} us")
        # What no single kernel does is for people only.
        prefix = "# " if case["kind"] == "adam_foreach" else ""
        print(prefix + row_text(dict(case, seconds=seconds, spread=spread)), file=out, flush=True)
    if torch.cuda.device_count() < 2:
        note("skipped: products beside an all-reduce: they take two devices or more")
        contended = []
    if contended:
        for row in contended_rows(torch, contended, options.batches, options.port):
            print(row_text(row), file=out, flush=True)
    return None


if __name__ == "__main__":
    sys.exit(main())
