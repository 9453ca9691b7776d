"""The published models of the thesis as formulas (TIA, 4.4 to 4.9)."""

from analyzer.models.terms.parsing import parse

F, C = "floor(log2(P))", "ceil(log2(P))"
FORMULAS = {
    "linear": f"229 + 9*P - 18*{C} - 7.1*ns*ms + 8.7*ms*ns*P",
    "pipeline": f"-60 - 10*ns - 7*ms + 102*P + 30*{F} + 50*{C} + 12.9*ns*P + 9.6*ms*P - 9*ms*{C} + 6.5*ms*ns*{C}",
    "binary": f"40 - 10*P + 170*{F} + 18*{C} + 6*ns*ms - 7*ms*{F} + 2.7*ms*P + 3*ms*{C} + 13*ns*{F} + 3.3*ms*ns*{C}",
    "binomial": f"50 + 9*ns + 8*ms + 140*{F} + 29*{C} + 0.9*ms*P - 5*ms*{C} + 14*ns*{F} - 8*ns*{C} + 7.7*ms*ns*{C}",
    "whetstone": "30*it + 11.11*it^2",
    "is_min": "6.3 + 24.4/P + 0.17*P + 19*ceil(P/N)/P - 7/N - 0.019*P*N",
    "is_max": "9 + 7/P + 30*ceil(P/N)/P + 0.119*P*ceil(P/N) - 2.9*ceil(P/N)",
    "cg": "-210 + 16*nzpr - 700/P - 8*P + 60*nzpr/P + 0.9*nzpr*P",
    "cg_log": "-1260/P - 9.1*P + 232*nzpr/P - 43*log2(P) + 10.9*nzpr*log2(P) - 88*nzpr/P*log2(P)",
    "misses_a": "0.144*N^3/P - 98*N^2/P - 0.39*N^2 + 16400*N/P + 130*N",
    "misses_b": "0.154*N^3/P - 102*N^2/P + 0.9*N^2 + 17000*N/P - 230*N",
}


def published(name, **values):
    """A model's value."""
    return parse(FORMULAS[name]).value(values)
