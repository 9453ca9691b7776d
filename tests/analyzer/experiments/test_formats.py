"""Tables as files and back: the same values, by every format; and files that are none."""

import importlib.util
import io
import subprocess
import sys

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.errors import TracelibError
from analyzer.experiments.formats import ENDINGS, read_table, write_table
from analyzer.experiments.formats.tia_xml import DTD

TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"), max_size=8
)
NAMES = st.text(st.sampled_from("abn_.-&<>\"' é"), min_size=1, max_size=6).filter(lambda name: name.strip() == name)
REALS = st.floats(allow_nan=True, allow_infinity=True)
INTEGERS = st.integers(-(2**63), 2**63 - 1)


@st.composite
def frames(draw):
    """Rows by region, then columns of integers, reals and texts that no reader takes for numbers; some are missing in
    a row, in a region, or everywhere."""
    rows = draw(st.integers(1, 6))
    regions = sorted(draw(st.lists(st.sampled_from(["exchange", "solve", "7"]), min_size=rows, max_size=rows)))
    columns = {
        "region": pandas.Series(regions, dtype=object),
        "time": pandas.Series(draw(st.lists(REALS, min_size=rows, max_size=rows))),
    }
    texts = TEXT.map(lambda text: f"<{text}")
    for name in draw(st.lists(NAMES, max_size=4, unique=True)):
        kind, dtype = draw(st.sampled_from([(INTEGERS, None), (REALS, float), (texts, object)]))
        columns[name] = pandas.Series(draw(st.lists(kind, min_size=rows, max_size=rows)), dtype=dtype)
    frame = pandas.DataFrame(columns)
    missing = draw(st.sampled_from([None, "7", "solve", "all"]))
    if missing:
        frame.loc[
            (frame["region"] == missing) | (missing == "all"),
            draw(st.lists(st.sampled_from([*columns][1:]), unique=True)),
        ] = None
    if draw(st.booleans()) and set(regions) != {"7"}:
        frame.loc[frame["region"] == "7", "region"] = None
    return frame


@pytest.mark.parametrize("ending", ENDINGS)
@settings(max_examples=60)
@given(frame=frames())
def test_what_is_written_is_read(ending, frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("round") / f"table{ending}"
    write_table(frame, path)
    again = read_table(path)
    assert sorted(again.columns) == sorted(frame.columns)
    for name in frame.columns:
        wanted, found = frame[name], again[name]
        if wanted.isna().all():
            assert found.isin([np.nan, None, ""]).all()
        elif wanted.dtype.kind in "if":
            np.testing.assert_array_equal(found.to_numpy(wanted.dtype), wanted.to_numpy())
        else:
            assert found.where(found.notna(), "").tolist() == wanted.where(wanted.notna(), "").tolist()


@settings(max_examples=40)
@given(frame=frames())
def test_xml_is_valid_by_a_foreign_validator(frame, tmp_path_factory):
    """libxml2 reads the document with the document type that is in it."""
    etree = pytest.importorskip("lxml.etree")
    path = tmp_path_factory.mktemp("valid") / "table.xml"
    write_table(frame, path)
    tree = etree.parse(path, etree.XMLParser(dtd_validation=True))
    assert len(tree.findall("cll_experiment")) == frame["region"].nunique(dropna=False)
    assert len(tree.findall(".//row")) == len(frame)


GOOD = """<cll_data program="app"><cll_experiment name="e"><machines><node>a</node></machines>
<headers><h>CLOCK</h><h>n</h></headers><sample><row><c>1.5</c><c>3</c></row></sample></cll_experiment></cll_data>"""
CHANGES = {
    "as it is": ("", ""),
    "no rows": ("<row><c>1.5</c><c>3</c></row>", ""),
    "no machine": ("<node>a</node>", ""),
    "a type": ("<h>n</h>", '<h type="integer">n</h>'),
    "another root": ("cll_data", "data"),
    "no headers": ("<headers><h>CLOCK</h><h>n</h></headers>", ""),
    "empty headers": ("<h>CLOCK</h><h>n</h>", ""),
    "two samples": ("</cll_experiment>", "<sample></sample></cll_experiment>"),
    "out of order": ("<machines><node>a</node></machines>", "<sample></sample>"),
    "no name": (' name="e"', ""),
    "a strange attribute": (' name="e"', ' name="e" size="3"'),
    "a strange type": ("<h>n</h>", '<h type="long">n</h>'),
    "a strange element": ("<c>3</c>", "<d>3</d>"),
    "text between": ("<sample>", "<sample>rows:"),
    "an empty row": ("<c>1.5</c><c>3</c>", ""),
    "no program": (' program="app"', ""),
    "nothing": (GOOD[len('<cll_data program="app">') : -len("</cll_data>")], ""),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_valid_is_what_a_foreign_validator_says(change, tmp_path):
    etree = pytest.importorskip("lxml.etree")
    text = GOOD.replace(*CHANGES[change]) if CHANGES[change][0] else GOOD
    valid = etree.DTD(io.StringIO(DTD)).validate(etree.fromstring(text))
    path = tmp_path / "table.xml"
    path.write_text(text)
    if valid:
        assert "region" in read_table(path).columns
    else:
        with pytest.raises(TracelibError):
            read_table(path)


def test_a_foreign_file_by_hand(tmp_path):
    """Two experiments with different variables, as TIA's instrumentation writes them; CLOCK stays what it is."""
    path = tmp_path / "profile.xml"
    second = """<cll_experiment name="f"><machines/><headers><h>CLOCK</h><h>how</h></headers>
<sample><row><c>2</c><c>ring</c></row></sample></cll_experiment></cll_data>"""
    path.write_text(GOOD.replace("</cll_data>", second))
    frame = read_table(path)
    assert frame.columns.tolist() == ["region", "CLOCK", "n", "how"]
    assert frame["CLOCK"].tolist() == [1.5, 2.0] and frame["region"].tolist() == ["e", "f"]
    assert frame["n"][0] == 3 and np.isnan(frame["n"][1]) and frame["how"][1] == "ring"


WRONG = {
    "table.xml": {
        "": "no element found",
        GOOD.replace("<c>3</c>", ""): "a row has 1 columns, and its experiment 2",
        GOOD.replace("<h>n</h>", "<h>CLOCK</h>"): "two columns are called 'CLOCK'",
        GOOD.replace("<h>n</h>", '<h type="integer">n</h>').replace(">3<", ">three<"): "invalid literal",
        '<!DOCTYPE cll_data [<!ENTITY a "aaaa">]>' + GOOD: "declares an entity",
        GOOD[:-4]: "unclosed token",
    },
    "table.csv": {
        "": "is empty",
        "a,b\n1\n": "line 2 has 1 columns, and the header 2",
        "a,a\n1,2\n": "two columns are called 'a'",
        'a,b\n"1,2\n': "unexpected end of data",
    },
    "table.parquet": {"": "is not a Parquet table", "PAR1": "is not a Parquet table"},
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in WRONG.items() for text in texts])
def test_files_that_are_no_tables(name, text, tmp_path):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(TracelibError, match=WRONG[name][text]):
        read_table(path)


def test_a_region_without_any_number_is_read_again(tmp_path):
    """Its only observable is missing, so its experiment once had no headers, and could not be read."""
    frame = pandas.DataFrame({"region": ["solve", "halo"], "time": [2.5, np.nan]})
    write_table(frame, tmp_path / "table.xml")
    pandas.testing.assert_frame_equal(read_table(tmp_path / "table.xml"), frame)


def test_names_alone_are_no_xml(tmp_path):
    with pytest.raises(TracelibError, match="names alone"):
        write_table(pandas.DataFrame({"region": ["solve"]}), tmp_path / "table.xml")


def test_without_pyarrow_one_line(tmp_path):
    """In a process that cannot import it."""
    (tmp_path / "a.csv").write_text("region,time\ne,1\n")
    program = "import sys; sys.modules['pyarrow'] = None; from analyzer.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program, "table", "a.csv", "-o", "b.parquet"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and not (tmp_path / "b.parquet").exists()
    assert done.stderr == "Error: Parquet needs pyarrow (pip install pyarrow, or use .csv)\n"


def test_no_format_is_imported_before_it_is_needed():
    assert importlib.util.find_spec("pandas")
    program = "import sys, analyzer.experiments.formats; print('pandas' in sys.modules, 'pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
