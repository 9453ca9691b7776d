"""Batch jobs on a shared machine: what good predictions of run times buy (apart from `analyzer.scheduling`, which is
about the processes of few applications on one processor)."""
