"""A child process: makes the calls whose seeds it reads, one per line, and writes one outcome per line."""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import sys
import warnings
from dataclasses import asdict

from fuzz.outcome import FAULT, FINE, REFUSED, Broken, Outcome, where

#: Memory that a child may use.
MEMORY = 4 * 2**30


def outcome_of(seed: str) -> Outcome:
    """Make one call and look at what comes out."""
    from dubio import InputError
    from fuzz.calls import make_call

    run, number = (int(part) for part in seed.split(":"))
    try:
        call = make_call(run, number)
    except Exception as error:
        return Outcome(seed, "", FAULT, f"no call could be made: {type(error).__name__}", str(error)[:500])
    quiet = contextlib.redirect_stderr(io.StringIO())
    with warnings.catch_warnings(), quiet:
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            call.do()
        except InputError as error:
            return Outcome(seed, call.says, REFUSED, call.name, str(error))
        except Broken as error:
            return Outcome(seed, call.says, FAULT, f"{call.name}: {error.promise}", str(error))
        except Exception as error:
            group = f"{type(error).__name__} in {where(error)}"
            return Outcome(seed, call.says, FAULT, group, str(error)[:500])
    return Outcome(seed, call.says, FINE, call.name)


def main() -> None:
    """Read seeds from standard input until it ends."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")  # nothing that is printed gets between the answers
    os.dup2(2, 1)
    for line in sys.stdin:
        answers.write(json.dumps(asdict(outcome_of(line.strip()))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
