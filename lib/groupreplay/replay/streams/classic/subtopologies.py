"""The subtopologies of a classic Streams group, as its K2s show them."""

from __future__ import annotations

from groupreplay.replay.kept.streams_tasks import StreamsState
from groupreplay.replay.life import Life
from groupreplay.replay.streams_facts import StreamsSubtopology


def subtopology_rows(life: Life, state: StreamsState) -> list[StreamsSubtopology]:
    """One row each. Nothing shows that a subtopology has no state, so that is never said."""
    found: dict[str, list[tuple[str, int]]] = {}
    for task in state.inputs:
        found.setdefault(task[0], []).append(task)
    return [
        StreamsSubtopology(
            **life.place,
            from_offset=life.incarnation,
            start_observed=life.birth_seen,
            subtopology=subtopology,
            tasks=len(tasks),
            source_topics=sorted({topic for task in tasks for topic, _ in state.inputs[task]}),
            is_stateful=True if subtopology in state.stateful else None,
            stateful_basis=state.stateful.get(subtopology, "NOT_SEEN"),
            standby_replicas=state.standby_replicas if subtopology in state.stateful else None,
        )
        for subtopology, tasks in sorted(found.items())
    ]
