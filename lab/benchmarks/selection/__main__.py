"""``python -m benchmarks.selection``: compare dubio's feature selection with its peers, over many kinds of doubt.

    DUBIO_DATA=... python -m benchmarks.selection --draws 10 --jobs 2    run what is missing
    python -m benchmarks.selection --write                               write docs/comparison.md from the summaries
    python -m benchmarks.selection --list                                regimes, tables and selectors

Every finished cell (a draw of a table in a regime) is stored, with several jobs together with the other regimes of the
same draw. So a stopped run goes on where it was, and selectors added later are filled in. ``--baseline`` adds ``auto``
of a previous version, from its source folder.

The stored cells are large and stay on the machine. ``--write`` first renews the summaries in the repository from them:
a selector enters, or takes the place of what is there, if it has at least as many draws on at least as many tables.
Cells of tables that are not in the summary yet are joined with it, once: finish all new tables and selectors before.
The page is then written from the summaries alone, so it needs no cells.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "bench-results" / "selection"
SUMMARIES = Path(__file__).parent / "summaries"
PAGE = ROOT / "docs" / "comparison.md"
ALTERNATIVES = ROOT / "docs" / "alternatives.md"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.selection", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=10, help="draws of each table (10)")
    parser.add_argument("--jobs", type=int, default=1, help="cells at the same time, each with one thread (1)")
    parser.add_argument("--regimes", nargs="+", metavar="NAME", help="only these kinds of doubt")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="only these tables")
    parser.add_argument("--only-selectors", nargs="+", metavar="NAME", help="only these selectors")
    parser.add_argument("--again", nargs="+", metavar="NAME", help="forget the stored results of these selectors first")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds after which a selector is too slow (60)")
    parser.add_argument("--baseline", type=Path, metavar="SRC", help="source folder of a previous version of dubio")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the stored results")
    parser.add_argument("--write", action="store_true", help="run nothing; renew the summaries and write the page")
    parser.add_argument("--summaries", type=Path, default=SUMMARIES, help="folder of the summaries")
    parser.add_argument("--page", type=Path, default=PAGE, help="where --write writes (docs/comparison.md)")
    parser.add_argument("--list", action="store_true", help="list the regimes, tables and selectors")
    return parser


def main(given: list[str] | None = None) -> None:
    parser = arguments()
    options = parser.parse_args(given)
    for name in THREADS:  # before numpy and numba are imported
        os.environ[name] = "1"

    from benchmarks.selection.regimes import REGIMES
    from benchmarks.selection.run import forget, run, stale
    from benchmarks.selection.selectors import PREVIOUS, selectors
    from benchmarks.selection.tables import BY_NAME

    previous = str(options.baseline.resolve()) if options.baseline else None
    everything = selectors(previous)

    def names(wished: list[str] | None, known: list[str], what: str) -> list[str]:
        unknown = sorted(set(wished or ()) - set(known))
        if unknown:
            parser.error(f"unknown {what}: {', '.join(unknown)}. Known: {', '.join(known)}")
        return [name for name in known if not wished or name in wished]

    if options.list:
        for regime in REGIMES.values():
            print(f"regime    {regime.name:12} {regime.title}")
        for key, table in BY_NAME.items():
            print(f"table     {table.name:28} {key.partition('/')[0]:8} {table.why}")
        for selector in everything.values():
            print(f"selector  {selector.name:28} {selector.family:8} {selector.reason_missing or selector.note}")
        return
    if options.write:
        write_page(options)
        return
    regimes = names(options.regimes, list(REGIMES), "regimes")
    short = names(options.tables, list(dict.fromkeys(table.name for table in BY_NAME.values())), "tables")
    wanted = {name: everything[name] for name in names(options.only_selectors, list(everything), "selectors")}
    if previous is None:
        wanted.pop(PREVIOUS, None)
    if options.again:
        again = names(options.again, list(everything), "selectors")
        print(f"forgotten: {forget(options.results, regimes, again)} results")
    for name in [name for name, selector in wanted.items() if selector.reason_missing]:
        print(f"left out: {name}, {wanted.pop(name).reason_missing}")
    tables = [key for key, table in BY_NAME.items() if table.name in short]
    for key in [key for key in tables if not BY_NAME[key].available]:
        print(f"left out: {BY_NAME[key].name}, not in the folder DUBIO_DATA")
        tables.remove(key)
    old = stale(options.results, regimes)
    if old:
        print(
            f"note: stored results of {', '.join(old)} come from other versions of the code. To measure this version, "
            f"give --again {' '.join(repr(name) for name in old)}"
        )
    run(
        options.results,
        regimes=regimes,
        tables=tables,
        wanted=wanted,
        draws=options.draws,
        jobs=options.jobs,
        limit=options.limit,
        previous=previous,
        say=lambda line: print(line, flush=True),
    )


def write_page(options: argparse.Namespace) -> None:
    """Renew the summaries from the results, and write the pages that quote them."""
    from benchmarks.selection.page import page
    from benchmarks.selection.quote import renewed
    from benchmarks.selection.stored import read_summaries, read_versions, renew
    from dubio_app.whole_files import write_whole

    for name in renew(options.summaries, options.results):
        print(f"renewed: the summary of {name}")
    text = page(read_summaries(options.summaries), read_versions(options.summaries))
    write_whole(options.page, text)
    print(f"written: {options.page}")
    if options.page == PAGE:
        write_whole(ALTERNATIVES, renewed(ALTERNATIVES.read_text(encoding="utf-8"), text))
        print(f"renewed: {ALTERNATIVES}")


if __name__ == "__main__":
    main()
