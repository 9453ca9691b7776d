"""The policies of batch schedulers once more, as slowly as their definitions read: every second is looked at."""

from __future__ import annotations


def starts(jobs, nodes, policy):
    """When each job starts. jobs: (submit, width, run, estimate) in whole seconds, in order of submission."""
    waiting, running, start, promise = [], [], {}, {}
    now, coming = 0, list(range(len(jobs)))
    while coming or waiting or running:
        early = any(_end(jobs, start, job) == now and start[job] + jobs[job][3] > now for job in running)
        running = [job for job in running if _end(jobs, start, job) > now]
        new = [job for job in coming if jobs[job][0] <= now]
        coming = coming[len(new) :]
        waiting += new
        for job in _chosen(jobs, nodes, policy, now, waiting, running, start, promise, new, early):
            start[job] = now
            waiting.remove(job)
            running.append(job)
        if any(_end(jobs, start, job) == now for job in running):
            continue  # a job of no length ends at once
        now += 1
    return [start[job] for job in range(len(jobs))]


def _end(jobs, start, job):
    return start[job] + min(jobs[job][2], jobs[job][3])


def _chosen(jobs, nodes, policy, now, waiting, running, start, promise, new, early):
    """The jobs that start now, in order."""
    held = [(start[job], start[job] + jobs[job][3], jobs[job][1]) for job in running]
    free = nodes - sum(width for _, _, width in held)
    if policy in ("fcfs", "first-fit"):
        found = []
        for job in waiting:
            if jobs[job][1] <= free:
                found.append(job)
                free -= jobs[job][1]
            elif policy == "fcfs":
                break
        return found
    if policy == "easy":
        return _easy(jobs, nodes, now, list(waiting), held)
    if policy == "backfill-predictive":
        taken = list(held)
        for job in waiting:
            promise[job] = _earliest(jobs[job], nodes, now, taken)
            taken.append((promise[job], promise[job] + jobs[job][3], jobs[job][1]))
    else:
        for job in waiting:
            if job in new or early:
                if job in promise and promise[job] <= now:
                    continue
                others = [one for one in waiting if one != job and one in promise]
                taken = held + [(promise[one], promise[one] + jobs[one][3], jobs[one][1]) for one in others]
                promise[job] = _earliest(jobs[job], nodes, now, taken)
    return [job for job in waiting if promise[job] == now]


def _easy(jobs, nodes, now, waiting, held):
    found = []
    while waiting and _fits(jobs[waiting[0]], nodes, now, held):
        found.append(waiting.pop(0))
        held.append((now, now + jobs[found[-1]][3], jobs[found[-1]][1]))
    if waiting:
        first = waiting[0]
        shadow = _earliest(jobs[first], nodes, now, held)
        for job in waiting[1:]:
            mine = (now, now + jobs[job][3], jobs[job][1])
            if _fits(jobs[job], nodes, now, held) and _earliest(jobs[first], nodes, now, [*held, mine]) == shadow:
                found.append(job)
                held.append(mine)
    return found


def _fits(job, nodes, now, held):
    return sum(width for begin, end, width in held if begin <= now < end) + job[1] <= nodes


def _earliest(job, nodes, now, taken):
    """The first second from which on the job's nodes are free for as long as it says."""
    begin = now
    while True:
        blocked = [
            second
            for second in range(begin, begin + job[3])
            if sum(width for b, e, width in taken if b <= second < e) + job[1] > nodes
        ]
        if not blocked:
            return begin
        begin = blocked[-1] + 1
