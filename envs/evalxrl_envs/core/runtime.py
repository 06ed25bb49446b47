"""Settings of XLA that must precede the import of JAX. This module imports nothing but the standard library."""

import ctypes
import gc
import os

FLAGS = "--xla_backend_optimization_level=1 --xla_cpu_multi_thread_eigen=false"

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""Options of glibc's mallopt."""


def prepare() -> None:
    """Asks for quick compilation and one thread, so that results do not depend on the number of cores."""
    os.environ["XLA_FLAGS"] = f"{FLAGS} {os.environ.get('XLA_FLAGS', '')}".strip()
    os.environ["NPROC"] = "1"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    keep_memory()


def keep_memory() -> None:
    """Seldom collects what tracing holds anyway, and keeps memory that the next update wants again."""
    gc.set_threshold(200_000, 20, 100)
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt is not None:
        for option, value in ((TRIM_THRESHOLD, 2**31 - 1), (MMAP_THRESHOLD, 32 * 2**20)):
            mallopt(option, value)
