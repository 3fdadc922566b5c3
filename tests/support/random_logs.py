"""Any log at all: records that are well formed one by one, in orders that no broker would write;
tombstones, holes, other leaders anywhere.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from groupreplay.records.entries import Entry
from tests.support.building import GROUP, record
from tests.support.words import Form

MEMBERS = ("A", "B", "C")
TOPICS = ("foo", "bar", "old", "unnamed")
NAMES = {"foo-id": "foo", "bar-id": "bar", "old-id": "foo"}
"""Two ids of one name, as when a topic was deleted and made anew; one topic that nobody named."""

_MEMBER = st.sampled_from(MEMBERS)
_EPOCH = st.integers(0, 5)
_STEPS_MS = (0, 0, 0, 3, 500, 5_000, 70_000, 700_000, 4_000_000)
_BACKWARDS_MS = (-40, -90_000)

_partitions = st.dictionaries(
    st.sampled_from(TOPICS),
    st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True),
    max_size=2,
)
_instance = st.sampled_from([None, None, "i1", "i2"])
_topics = st.sampled_from([["foo"], ["foo"], ["bar", "foo"], []])


def _form(**words: Any) -> st.SearchStrategy[Form]:
    """A form whose words are drawn; plain values stand for themselves."""
    return st.fixed_dictionaries(
        {
            name: value if isinstance(value, st.SearchStrategy) else st.just(value)
            for name, value in words.items()
        }
    )


_k2_member = _form(
    assigned=_partitions,
    instance=_instance,
    client=st.sampled_from(["c1", "c2"]),
    timeout=st.sampled_from([0, 20_000]),
)
_forms: st.SearchStrategy[Form] = st.one_of(
    _form(
        k1=st.sampled_from(["foo-0", "foo-1", "bar-0"]),
        topic_id=st.sampled_from([None, "foo-id", "unnamed-id"]),
    ),
    _form(k1x=st.sampled_from(["foo-0", "foo-1", "bar-0"])),
    _form(
        k2=_EPOCH,
        members=st.dictionaries(_MEMBER, _k2_member, max_size=3),
        type=st.sampled_from(["consumer", "consumer", "consumer", "", "connect"]),
        protocol=st.sampled_from(["range", "range", None, "stream"]),
    ),
    _form(k2x=True),
    _form(k3=_EPOCH, hash=st.integers(0, 2)),
    _form(k3x=True),
    _form(k4=st.just({"foo": 3, "bar": 1})),
    _form(
        k5=_MEMBER,
        topics=_topics,
        instance=_instance,
        client=st.sampled_from(["c1", "c2"]),
        regex=st.sampled_from(["", "f.*"]),
        timeout=st.sampled_from([0, 20_000]),
        classic=st.booleans(),
    ),
    _form(k5x=_MEMBER),
    _form(k6=_EPOCH, stamp=st.sampled_from([0, 5])),
    _form(k6x=True),
    _form(k7=_MEMBER, target=_partitions),
    _form(k7=_MEMBER, target=_partitions),
    _form(k7x=_MEMBER),
    _form(
        k8=_MEMBER,
        epoch=st.sampled_from([1, 2, 3, 4, 5, 0, -2]),
        prev=_EPOCH,
        state=st.sampled_from([0, 0, 1, 1, 2, 127]),
        assigned=_partitions,
        pending=_partitions,
    ),
    _form(
        k8=_MEMBER,
        epoch=st.sampled_from([1, 2, 3, 4, 5]),
        prev=_EPOCH,
        state=st.sampled_from([0, 2]),
        assigned=_partitions,
    ),
    _form(k8x=_MEMBER),
    _form(k16="f.*", topics=_topics),
    _form(k16x="f.*"),
    _form(other=11, value=st.just({"epoch": 2})),
    _form(other=10, member=_MEMBER, value=st.just({"client_id": "c1", "client_host": "/host"})),
    _form(otherx=st.sampled_from([10, 11]), member=_MEMBER),
)

_tasks = st.lists(st.sampled_from(["0-0", "0-1", "1-0"]), max_size=2, unique=True)
_streams_forms: st.SearchStrategy[Form] = st.one_of(
    _form(k1=st.sampled_from(["foo-0", "foo-1", "bar-0"])),
    _form(
        streams_group=_EPOCH,
        hash=st.integers(0, 2),
        validated=st.sampled_from([-1, 0, 0]),
        configs=st.sampled_from([None, {"num.standby.replicas": 1}]),
    ),
    _form(
        streams_member=_MEMBER,
        process=st.sampled_from(["p1", "p2"]),
        instance=_instance,
        host=st.sampled_from(["/h1", "/h2"]),
        topology=st.sampled_from([0, 1]),
    ),
    _form(
        streams_topology=0, subtopologies=st.just({0: {"sources": ["foo"], "changelogs": ["c"]}})
    ),
    _form(streams_target_epoch=_EPOCH),
    _form(streams_target=_MEMBER, active=_tasks, standby=_tasks),
    _form(
        streams_current=_MEMBER,
        epoch=st.sampled_from([1, 2, 3, 4, 5, 0, -2]),
        prev=_EPOCH,
        state=st.sampled_from(["STABLE", "UNREVOKED_TASKS", "UNRELEASED_TASKS"]),
        active=_tasks,
        standby=_tasks,
        pending=_tasks,
        pending_standby=_tasks,
    ),
    _form(streams_memberx=_MEMBER),
    _form(streams_targetx=_MEMBER),
    _form(streams_currentx=_MEMBER),
    _form(streams_groupx=1),
    _form(streams_target_epochx=1),
    _form(streams_topologyx=1),
    _form(k2=_EPOCH),
    _form(k2x=True),
)


@st.composite
def operations(draw: st.DrawFn) -> list[Form]:
    """Half of the time what a coordinator would write in one go, with drawn contents, so that
    random logs reach deeper states; else anything.
    """
    member, other, epoch = draw(_MEMBER), draw(_MEMBER), draw(_EPOCH)
    shapes: list[list[Form]] = [
        [
            {
                "k5": member,
                "instance": draw(_instance),
                "client": draw(st.sampled_from(["c1", "c2"])),
                "timeout": 20_000,
            },
            {"k3": epoch},
            {"k7": member, "target": draw(_partitions)},
            {"k6": epoch},
            {"k8": member, "epoch": epoch, "prev": 0, "assigned": draw(_partitions)},
        ],
        [{"k8x": member}, {"k7x": member}, {"k5x": member}, {"k3": epoch}],
        [
            {"k8x": member},
            {"k7x": member},
            {"k5x": member},
            {"k5": other, "instance": "i1"},
            {"k7": other, "target": draw(_partitions)},
            {"k8": other, "epoch": 0, "prev": 0, "assigned": draw(_partitions)},
            {"k5": other, "instance": "i1"},
            {"k8": other, "epoch": epoch, "prev": 0, "assigned": draw(_partitions)},
        ],
        [
            {"k2x": True},
            {"k5": member, "classic": True},
            {"k3": epoch},
            {"k7": member, "target": draw(_partitions)},
            {"k6": epoch},
            {"k8": member, "epoch": epoch, "prev": epoch, "assigned": draw(_partitions)},
            {"k5": other},
            {"k3": epoch + 1},
            {"k8": other, "epoch": epoch, "prev": 0},
        ],
        [
            {"k8x": member},
            {"k7x": member},
            {"k6x": True},
            {"k5x": member},
            {"k3x": True},
            {"k2": epoch, "members": {other: draw(_partitions)}},
        ],
        [{"k6x": True}, {"k4x": True}, {"k3x": True}],
        [
            {"k7": member, "target": draw(_partitions)},
            {"k7": other, "target": draw(_partitions)},
            {"k6": epoch},
        ],
    ]
    return draw(st.one_of(st.sampled_from(shapes), st.lists(_forms, min_size=1, max_size=3)))


@st.composite
def streams_operations(draw: st.DrawFn) -> list[Form]:
    """The same of a streams group."""
    member, epoch = draw(_MEMBER), draw(_EPOCH)
    described = {
        "streams_member": member,
        "process": draw(st.sampled_from(["p1", "p2"])),
        "instance": draw(_instance),
    }
    current = {"streams_current": member, "active": draw(_tasks)}
    gone: list[Form] = [{f"streams_{kind}x": member} for kind in ("current", "target", "member")]
    shapes: list[list[Form]] = [
        [described, {"streams_topology": 0}, {"streams_group": epoch}, current],
        [*gone, {"streams_group": epoch}],
        [
            {"streams_target": member, "active": draw(_tasks), "standby": draw(_tasks)},
            {"streams_target_epoch": epoch},
            {**current, "epoch": epoch, "prev": draw(_EPOCH), "standby": draw(_tasks)},
        ],
        [*gone, described, {**current, "epoch": 0}, {"streams_group": epoch}, current],
        [{"streams_groupx": 1}, {"streams_topologyx": 1}],
        [{"streams_groupx": 1}, {"streams_topologyx": 1}, {"k2": 0}],
        [{"k2x": True}, described, {"streams_group": 2}, current],
    ]
    return draw(
        st.one_of(st.sampled_from(shapes), st.lists(_streams_forms, min_size=1, max_size=3))
    )


@st.composite
def logs(
    draw: st.DrawFn, *, is_ordered: bool = False, length: int = 16, of_streams: bool = False
) -> list[Entry]:
    """A log of one group. is_ordered: no broker's clock goes back in it.

    of_streams: what streams groups write is drawn as well.
    """
    entries: list[Entry] = []
    offset = clock_ms = leader_epoch = 0
    hole = -1
    drawn = st.one_of(streams_operations(), streams_operations(), operations())
    kinds = drawn if of_streams else operations()
    for forms in draw(st.lists(kinds, min_size=1, max_size=length)):
        clock_ms = max(
            0,
            clock_ms
            + draw(st.sampled_from(_STEPS_MS if is_ordered else _STEPS_MS + _BACKWARDS_MS)),
        )
        if draw(st.integers(0, 7)) == 0:
            offset += 1
            hole = offset - 1
        leader_epoch += draw(st.integers(0, 7)) == 0
        base = (
            entries[-1].batch_base_offset
            if entries and draw(st.integers(0, 3)) == 0 and entries[-1].offset == offset - 1
            else offset
        )
        for form in forms:
            entries.append(Entry(offset, clock_ms, leader_epoch, base, hole, record(form, GROUP)))
            offset += 1
    return entries
