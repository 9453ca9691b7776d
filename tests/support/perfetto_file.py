"""Contents of a Perfetto file, decoded by the classes of Perfetto's own package."""

from dataclasses import dataclass, field

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

EVENT = pb.TrackEvent


@dataclass
class Decoded:
    """Events by track; a track is (rank, thread) by name, of a counter (rank, thread, counter)."""

    slices: list = field(default_factory=list)  # (track, begin, end, name, category, arguments)
    opened: dict = field(default_factory=dict)  # arrow -> (track, time)
    closed: dict = field(default_factory=dict)
    instants: list = field(default_factory=list)  # (track, time) of ends of arrows
    notes: list = field(default_factory=list)  # (track, time, name, arguments) of events of the program
    values: list = field(default_factory=list)  # (track, time, value)


class _Reader:
    def __init__(self):
        self.names, self.tracks, self.found, self.open = {}, {}, Decoded(), {}

    def track(self, said):
        parent = self.tracks.get(said.parent_uuid, ())
        self.tracks[said.uuid] = (*parent, said.name)
        if said.HasField("process"):
            assert said.process.process_name == said.name and said.process.pid > 0
        if said.HasField("thread"):
            assert said.thread.thread_name == said.name and said.thread.tid > 0

    def intern(self, data):
        for kind in ("event_categories", "event_names", "debug_annotation_names", "debug_annotation_string_values"):
            for entry in getattr(data, kind):
                text = entry.str.decode() if kind.endswith("values") else entry.name
                assert (kind, entry.iid) not in self.names
                self.names[kind, entry.iid] = text

    def argument(self, said):
        name = self.names["debug_annotation_names", said.name_iid]
        if said.HasField("string_value_iid"):
            return name, self.names["debug_annotation_string_values", said.string_value_iid]
        return name, said.int_value

    def event(self, time, event):
        track, found = self.tracks[event.track_uuid], self.found
        stack = self.open.setdefault(track, [])
        if event.type == EVENT.TYPE_SLICE_BEGIN:
            name = self.names["event_names", event.name_iid]
            categories = [self.names["event_categories", iid] for iid in event.category_iids]
            stack.append((time, name, *categories, dict(map(self.argument, event.debug_annotations))))
        elif event.type == EVENT.TYPE_SLICE_END:
            begin, *rest = stack.pop()
            found.slices.append((track, begin, time, *rest))
        elif event.type == EVENT.TYPE_INSTANT:
            (category,) = (self.names["event_categories", iid] for iid in event.category_iids)
            name = self.names["event_names", event.name_iid]
            arguments = dict(map(self.argument, event.debug_annotations))
            if category == "event":
                found.notes.append((track, time, name, arguments))
            else:
                assert (category, name, arguments) == ("message", "message", {})
                found.instants.append((track, time))
        else:
            assert event.type == EVENT.TYPE_COUNTER
            measured = event.HasField("double_counter_value")
            found.values.append((track, time, event.double_counter_value if measured else event.counter_value))
        for ids, ends in ((event.flow_ids, found.opened), (event.terminating_flow_ids, found.closed)):
            for number in ids:
                assert number not in ends
                ends[number] = track, time


def decode(path):
    """Decode the events, in order of time; events of one time keep the order of the file."""
    reader, events = _Reader(), []
    for packet in pb.Trace.FromString(path.read_bytes()).packet:
        if packet.HasField("track_descriptor"):
            reader.track(packet.track_descriptor)
        reader.intern(packet.interned_data)
        if packet.HasField("track_event"):
            events.append((packet.timestamp, packet.track_event))
    for time, event in sorted(events, key=lambda pair: pair[0]):
        reader.event(time, event)
    assert not any(reader.open.values())
    return reader.found
