"""Run random calls: ``python -m fuzz --calls 20000 --seed 0``; one of them again: ``python -m fuzz --replay 0:123``."""

from __future__ import annotations

import argparse
import os
import sys

from fuzz.child import outcome_of
from fuzz.outcome import FAULT
from fuzz.runner import run_calls, summary


def main() -> int:
    """Run what the arguments say; the exit code is 1 if there was a fault."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000, help="number of calls")
    parser.add_argument("--first", type=int, default=0, help="number of the first call")
    parser.add_argument("--seed", type=int, default=0, help="seed of the run")
    parser.add_argument("--children", type=int, default=os.cpu_count() or 1, help="number of processes")
    parser.add_argument("--seconds", type=float, default=120.0, help="time limit of a call")
    parser.add_argument("--replay", metavar="RUN:NUMBER", help="make one call again, in this process")
    parser.add_argument("--traceback", action="store_true", help="with --replay: do not catch the error")
    options = parser.parse_args()
    if options.replay:
        if options.traceback:
            from fuzz.calls import make_call

            call = make_call(*(int(part) for part in options.replay.split(":")))
            print(call.says)
            call.do()
            return 0
        outcome = outcome_of(options.replay)
        print(f"{outcome.kind}: {outcome.group}\n  {outcome.call}\n  {outcome.detail}")
        return int(outcome.kind == FAULT)
    seeds = [f"{options.seed}:{number}" for number in range(options.first, options.first + options.calls)]
    outcomes = run_calls(seeds, children=options.children, seconds=options.seconds)
    return int(bool(summary(outcomes, lambda line: print(line, flush=True))))


if __name__ == "__main__":
    sys.exit(main())
