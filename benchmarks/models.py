"""Model selection in figures: `python -m benchmarks.models` prints the tables of docs/analyze-fit.md.

The genetic search on HPL (search-and-balance.md, section 1: 12 configurations by 3 patiences, and how often each term
is found), 200 planted models with 3 % noise beside stepwise selection and LASSO, 200 data sets of plain laws, and 600
scaling studies beside Extra-P.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from hpl_design import TERMS, measured  # noqa: E402
from plain_laws import BEYOND as BEYOND_LAWS  # noqa: E402
from plain_laws import LAWS, case, growth_of  # noqa: E402
from planted_models import BEYOND, error_of, lasso, planted, stepwise  # noqa: E402
from scaling_studies import QUARTILES, at, errors, frame_of, held_out, inside, parameters_of  # noqa: E402

import analyzer  # noqa: E402
from analyzer.models.fitting.criteria import criterion_of  # noqa: E402
from analyzer.models.fitting.least_squares import relative_weights  # noqa: E402
from analyzer.models.search.exact import search_all  # noqa: E402
from analyzer.models.search.genetic import GeneticOptions, search_genetically  # noqa: E402
from analyzer.models.search.space import make_space  # noqa: E402
from analyzer.models.terms.language import candidates  # noqa: E402

_CONFIGURATIONS = [(population, mutations) for population in (16, 32, 64, 128) for mutations in (1, 2, 4)]


def genetic_tables(rows: int = 1680) -> None:
    """Make tables of the paper's search, on all settings of its study: one population a run, without neighbours."""
    values, y = measured(rows)
    weight = relative_weights(y)
    space, criterion = make_space(candidates(TERMS), values, y, weight), criterion_of("aicc", weight)
    exact = search_all(space, criterion)
    print(f"exact: AICc {exact.scores[0]:.2f}, {exact.tried} models")
    print("| search | patience | CPU time | generations | mean AICc | runs at the optimum | models, most of a run |")
    print("|---|---|---|---|---|---|---|")
    found = np.zeros(len(space.terms))
    for name, runs, neighbours in (("paper's", 1, False), ("ours", 8, True)):
        for patience in (10, 20, 30):
            begin = time.process_time()
            all_runs = [
                search_genetically(space, criterion, GeneticOptions(mu, nu, patience, seed, runs, neighbours))
                for seed, (mu, nu) in enumerate(_CONFIGURATIONS)
            ]
            spent = time.process_time() - begin
            scores = np.array([run.selection.scores[0] for run in all_runs])
            found += np.sum([run.selection.best for run in all_runs], axis=0)
            generations = sum(int(run.generations.sum()) for run in all_runs)
            hits = int((scores < exact.scores[0] + 1e-6).sum())
            most = max(run.evaluated for run in all_runs) / exact.tried
            print(
                f"| {name} | {patience} | {spent:.1f} s | {generations} | {scores.mean():.2f} +- {scores.std():.2f} "
                f"| {hits} of 12 | {100 * most:.2f} % |"
            )
    print("\nterms of the 72 results:")
    for k in np.argsort(-found, kind="stable"):
        mark = "*" if exact.best[k] else ""
        print(f"{space.terms[k]!s:>14} {'#' * int(found[k] / 2)} {int(found[k])}{mark}")


def planted_table(number: int = 200) -> None:
    """Tabulate exact terms found, and the median and 90 % error of the prediction beyond the data."""
    searches = {"exact, ebic": "ebic", "exact, bic": "bic", "exact, aicc": "aicc"}
    right: dict[str, list[bool]] = {}
    errors: dict[str, list[float]] = {}
    for seed in range(number):
        problem = planted(seed)
        for name, criterion in searches.items():
            chosen = problem.searched(criterion)
            right.setdefault(name, []).append(chosen == problem.true)
            errors.setdefault(name, []).append(error_of(problem, chosen))
        for name, select in (("stepwise, aic", stepwise), ("LASSO, bic", lasso)):
            chosen = select(problem)
            right.setdefault(name, []).append(chosen == problem.true)
            errors.setdefault(name, []).append(error_of(problem, chosen))
    print(f"\n| selection | exact terms | median error at {BEYOND} x | 90 % |")
    print("|---|---|---|---|")
    for name, hits in right.items():
        median, most = np.percentile(errors[name], (50, 90))
        print(f"| {name} | {100 * np.mean(hits):.0f} % | {100 * median:.1f} % | {100 * most:.1f} % |")


def plain_table(number: int = 200) -> None:
    """Tabulate how often the fastest growing part is found, and the errors beyond the data."""
    right: dict[str, list[bool]] = {name: [] for name in LAWS}
    errors: list[tuple[float, float]] = []
    for seed in range(number):
        of = case(seed)
        model = analyzer.fit(of.frame, "time", list(of.growth))
        right[of.name].append(all(growth_of(model.selected, name) == growth for name, growth in of.growth.items()))
        errors.append((abs(model.predict(**of.at) / of.truth - 1), abs(model(**of.at) / of.truth - 1)))
    every = [one for of_law in right.values() for one in of_law]
    rest = ", ".join(f"{name} {sum(of)} of {len(of)}" for name, of in right.items() if not all(of))
    print(f"\nplain laws: growth found in {100 * np.mean(every):.1f} % of {number} ({rest}; all of the others)")
    for name, column in zip(("prediction", "formula"), np.transpose(errors), strict=True):
        median, most = np.percentile(column, (50, 90))
        print(f"{name}: error at {BEYOND_LAWS} x {100 * median:.1f} % (median), {100 * most:.1f} % (90 %)")


def held_out_table() -> None:
    """Print errors of predictions beside the errors of Extra-P, and how often the intervals hold the truth."""
    cases, theirs = held_out()
    models = [analyzer.fit(frame_of(case), "time", parameters_of(case)) for case in cases]
    found = {
        "Extra-P": errors(cases, lambda number, place: theirs[number]["predicted"][place]),
        "analyze fit": errors(cases, lambda number, place: models[number].predict(**at(cases[number], place))),
    }
    print(f"\n| {len(cases)} studies | | quartile | median | quartile | 90 % |\n|---|---|---|---|---|---|")
    for kind in found["Extra-P"]:
        for name, of in found.items():
            print(
                f"| {kind} | {name} | "
                + " | ".join(f"{100 * x:.1f}" for x in np.percentile(of[kind], QUARTILES))
                + " % |"
            )
    print(f"the intervals hold the truth in {100 * inside(cases, models):.1f} %")


if __name__ == "__main__":
    genetic_tables()
    planted_table()
    plain_table()
    held_out_table()
