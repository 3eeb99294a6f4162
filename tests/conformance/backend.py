"""Which backend the tests trace with: USCOPE_TEST_BACKEND (bpf, kmod), or the one that `record` takes by itself."""

import os

BACKEND = os.environ.get("USCOPE_TEST_BACKEND", "")
OPTIONS = ["--backend", BACKEND] if BACKEND else []
