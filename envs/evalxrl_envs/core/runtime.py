"""Settings of XLA that must precede the import of JAX. This module imports nothing but the standard library."""

import ctypes
import gc
import os

FLAGS = "--xla_backend_optimization_level=1 --xla_cpu_multi_thread_eigen=false"

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""Options of glibc's mallopt: memory is kept that the next update wants again."""


def prepare() -> None:
    """Asks for quick compilation and one thread, so that results do not depend on the number of cores."""
    os.environ["XLA_FLAGS"] = f"{FLAGS} {os.environ.get('XLA_FLAGS', '')}".strip()
    os.environ["NPROC"] = "1"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    gc.set_threshold(200_000, 20, 100)  # what tracing makes is held anyway
    if os.name == "posix" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)):
        mallopt(TRIM_THRESHOLD, 2**31 - 1)
        mallopt(MMAP_THRESHOLD, 32 * 2**20)
