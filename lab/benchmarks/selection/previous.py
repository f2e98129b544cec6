"""``auto`` of a previous version, run in a process of its own so that two versions never meet."""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WORKER = """
import pickle, sys, warnings
warnings.simplefilter("ignore")
answers, sys.stdout = sys.stdout.buffer, sys.stderr
import dubio
pickle.dump(dubio.__file__, answers)
answers.flush()
while True:
    try:
        X, y, seed = pickle.load(sys.stdin.buffer)
    except EOFError:
        break
    try:
        answer = True, dubio.FeatureSelector(random_state=seed).fit(X, y).ranking_
    except Exception as error:
        answer = False, f"{type(error).__name__}: {error}"
    pickle.dump(answer, answers)
    answers.flush()
"""


class Worker:
    """A process that holds the previous version and ranks one table after another."""

    def __init__(self, source: str) -> None:
        environment = {**os.environ, "PYTHONPATH": source}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd="/",
        )
        where = self._answer()
        if not Path(where).is_relative_to(Path(source).resolve()):
            raise RuntimeError(f"{source} holds no dubio: {where} was used instead.")

    def ranking(self, X: Any, y: Any, seed: int) -> NDArray[np.int64]:
        assert self.process.stdin is not None
        pickle.dump((X, y, seed), self.process.stdin)
        self.process.stdin.flush()
        good, answer = self._answer()
        if not good:
            raise RuntimeError(answer)
        return answer

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        return pickle.load(self.process.stdout)


@cache
def _worker(source: str) -> Worker:
    return Worker(source)


def previous_order(source: str, X: Any, y: Any, seed: int) -> NDArray[np.int64]:
    """Features, best first, by ``auto`` of the version in the folder ``source``."""
    worker = _worker(source)
    try:
        return np.argsort(worker.ranking(X, y, seed), kind="stable")
    except BaseException:  # perhaps stopped half-way: the next table gets a new process
        worker.process.kill()
        worker.process.wait()
        _worker.cache_clear()
        raise


@cache
def fingerprint(source: str) -> str:
    """A short name of the code of a version: it changes with any change of the code."""
    whole = hashlib.sha256()
    for path in sorted(Path(source, "dubio").rglob("*.py")):
        whole.update(path.read_bytes())
    return whole.hexdigest()[:10]
