"""Paraver configurations of the common kind, written by hand from the tags of version 3.4."""

TOPS = ("cpu", "appl", "task", "thread", "node", "system", "workload")


def braces(values):
    inner = ", ".join(f"{{{key}, {value}}}" for key, value in values.items())
    return f"{{ {len(values)}, {{ {inner} }} }}"


def window(number, thread, *extra, level="thread", name="", functions=None, composes=None, units="Microseconds"):
    """A single window. extra: further lines, such as filters and parameters."""
    chosen = {"cpu": "Active Thd", "appl": "Adding", "task": "Adding", "thread": thread, "node": "Adding"}
    chosen |= {"system": "Adding", "workload": "Adding", "from_obj": "All", "to_obj": "All", "tag_msg": "All"}
    chosen |= {"size_msg": "All", "bw_msg": "All", "evt_type": "=", "evt_value": "All"} | (functions or {})
    return "\n".join(["window_type single", *_common(number, level, name, chosen, composes, units), *extra])


def derived(number, operation, first, second, *extra, level="thread", name="", factors=(1, 1), composes=None):
    chosen = {"appl": "Adding", "task": "Adding", "node": "Adding", "system": "Adding", "workload": "Adding"}
    lines = ["window_type composed", f"window_operation {operation}", f"window_identifiers {first} {second}"]
    lines.append("window_factors " + " ".join(f"{one:.12f}" for one in factors))
    return "\n".join([*lines, *_common(number, level, name, chosen, composes, "Microseconds"), *extra])


def _common(number, level, name, functions, composes, units):
    compose = {f"compose_{one}": "As Is" for one in TOPS} | {"topcompose1": "As Is", "topcompose2": "As Is"}
    return [
        f"window_name {name or f'window {number}'}", f"window_id {number}", "window_position_x 100",
        "window_logical_filtered true", "window_physical_filtered false", "window_comm_fromto true",
        "window_comm_tagsize true", "window_comm_typeval true", f"window_units {units}", "window_maximum_y 70.0",
        f"window_level {level}", "window_end_time_relative 1.000000000000", "window_object appl { 1, { All } }",
        "window_begin_time_relative 0.000000000000", f"window_selected_functions {braces(functions)}",
        f"window_compose_functions {braces(compose | (composes or {}))}",
    ]  # fmt: skip


def histogram(control, data, statistic, columns=None, *extra, name="table"):
    huge = f"{2.0**1023 * (2 - 2**-52):f}"
    lines = [f"Name: {name}", "X: 487", f"ControlWindow: {control}", f"DataWindow: {data}", "Accumulator: Semantic"]
    lines += [f"Statistic: {statistic}", "CalculateAll: True", f"Parameters: 2 -{huge} {huge}"]
    lines += ["AnalysisLimits: Alltrace", f"ComputeYScale: {columns is None}"]
    lines += [f"{key}: {value:f}" for key, value in zip(("Minimum", "Maximum", "Delta"), columns or (), strict=False)]
    return "\n".join(["< NEW ANALYZER2D >", *(f"Analyzer2D.{line}" for line in (*lines, *extra))])


def write_cfg(path, *sections):
    """Windows and histograms, in their order."""
    rule, parts = "#" * 80, ["#ParaverCFG", "ConfigFile.Version: 3.4", f"ConfigFile.NumWindows: {len(sections)}", ""]
    for section in sections:
        if not section.startswith("<"):
            name = section.split("window_name ")[1].splitlines()[0]
            parts += [rule, f"< NEW DISPLAYING WINDOW {name} >", rule]
        parts += [section, ""]
    path.write_text("\n".join(parts) + "\n")
    return path
