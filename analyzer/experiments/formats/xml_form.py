"""TIA's interchange between measuring and analysing: XML of the type cll_data (Rodriguez 2011, section 2.4, Fig. 2.8).

Of the thesis's DTD only the first line survives, and what the text says of the rest: an experiment has the machines on
which its processes ran, the headers (names of parameters and measurements), and the sample, whose rows are executions
and whose columns are those of the headers. The attributes are ours. `date`, `version`, `driver` and `type` may be
absent.
"""

ROOT = "cll_data"
EXPERIMENT = "cll_experiment"

DTD = """\
<!ELEMENT cll_data (cll_experiment+)>
<!ATTLIST cll_data program CDATA #REQUIRED
                   date CDATA #IMPLIED
                   version CDATA #IMPLIED>
<!ELEMENT cll_experiment (machines, headers, sample)>
<!ATTLIST cll_experiment name CDATA #REQUIRED
                         driver CDATA #IMPLIED>
<!ELEMENT machines (node*)>
<!ELEMENT node (#PCDATA)>
<!ELEMENT headers (h+)>
<!ELEMENT h (#PCDATA)>
<!ATTLIST h type (integer|real|text) #IMPLIED>
<!ELEMENT sample (row*)>
<!ELEMENT row (c+)>
<!ELEMENT c (#PCDATA)>
"""
"""The document type: what a foreign tool may rely on, and has to keep to."""

CHILDREN = {
    ROOT: (EXPERIMENT,),
    EXPERIMENT: ("machines", "headers", "sample"),
    "machines": ("node",),
    "headers": ("h",),
    "sample": ("row",),
    "row": ("c",),
}
"""Which elements each may hold; all others hold text."""
IN_ORDER = (EXPERIMENT,)
"""Its children come once each, in this order."""
AT_LEAST_ONE = (ROOT, "headers", "row")
ATTRIBUTES = {ROOT: ("program", "date", "version"), EXPERIMENT: ("name", "driver"), "h": ("type",)}
REQUIRED = {ROOT: "program", EXPERIMENT: "name"}

VERSION = "tracelib 1"
"""Of files that we write."""
