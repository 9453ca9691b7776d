"""The measuring side: the runtime's launcher, the file schema, and the API of a traced program."""

from tracelib.regions import event, label_type, label_value, parallel, parameter, pause, region, resume

__all__ = ["event", "label_type", "label_value", "parallel", "parameter", "pause", "region", "resume"]
