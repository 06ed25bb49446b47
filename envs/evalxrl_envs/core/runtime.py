"""Settings of XLA that must precede the import of JAX. This module imports nothing but the standard library."""

import os

FLAGS = "--xla_backend_optimization_level=1 --xla_cpu_multi_thread_eigen=false"


def prepare() -> None:
    """Asks for quick compilation and one thread, so that results do not depend on the number of cores."""
    os.environ["XLA_FLAGS"] = f"{FLAGS} {os.environ.get('XLA_FLAGS', '')}".strip()
    os.environ["NPROC"] = "1"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
