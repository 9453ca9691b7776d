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


def everything(path):
    """One of each: functions with parameters, filters, composition, derived windows, tables of one to three windows."""
    third = "3D_ControlWindow: 4", "3D_Minimum: 0", "3D_Maximum: 9", "3D_Delta: 3"
    passes = {"from_obj": "=", "to_obj": "!=", "tag_msg": "[x,y]", "size_msg": ">", "evt_type": "All"}
    return write_cfg(
        path,
        window(1, "Useful", functions={"evt_type": "All"}, composes={"compose_thread": "Sign"}),
        window(2, "In State", "window_semantic_module thread In State { 1, { 2 3.0 8.0 } }", level="task"),
        window(
            3, "Send BandWidth", "window_semantic_module thread Send BandWidth { 1, { 1 1024.0 } }",
            "window_filter_module from_obj 2 1 2", "window_filter_module to_obj 1 3",
            "window_filter_module tag_msg 2 0 9", "window_filter_module size_msg 1 64", functions=passes,
            units="Seconds",
        ),
        window(
            4, "Last Evt Val", "window_filter_module evt_type 2 50000001 50000003",
            'window_filter_module evt_type_label 2 "a" "b"', "window_filter_module evt_value 2 1 2",
            "window_semantic_module topcompose1 Select Range { 2, { 1 100.0, 1 0.0 } }",
            functions={"evt_type": "[x,y]", "evt_value": "="}, composes={"topcompose1": "Select Range"},
        ),
        window(5, "Avg Next Evt Val", "window_filter_module evt_type 1 42000050", units="Nanoseconds"),
        window(6, "State Record Dur.", "window_semantic_module thread State Record Dur. { 1, { 1 1 } }", level="appl"),
        derived(7, "product", 1, 4, factors=(1, 0.5), composes={"topcompose2": "Is Equal"}),
        derived(8, "controlled: clear by", 1, 4),
        histogram(4, 4, "Time", (0, 40, 1)),
        histogram(1, 7, "% Time Not Zero", None),
        histogram(1, 3, "Bytes sent", (0, 1, 1), *third),
        histogram(2, 2, "# Bursts", (0, 1, 0.5)),
    )  # fmt: skip
