"""The logs of a recording of Kafka Streams: what clients say that they were given, what a leader
says of its decisions, what the broker says of generations, epochs and members.

A log of a client is `truth/app-<client id>.log.gz`, the broker's is its debug log. A task is a text,
`0_1`: the second partition of the first subtopology. Times are ms since the epoch, UTC. Source of
the lines: StreamsPartitionAssignor, HighAvailabilityTaskAssignor, TaskManager, StreamTask,
ConsumerCoordinator of the clients; GroupMetadataManager of the broker (Kafka 4.3).
"""

from __future__ import annotations

import datetime as dt
import gzip
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Tasks = frozenset[str]
NONE: Tasks = frozenset()

_STAMP = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] ")
_TASK = re.compile(r"\d+_\d+")
_BROKER_TASK = re.compile(r"(\d+)-(\d+)")

# What a client says of itself.
_GIVEN = re.compile(
    r"stream-thread \[(?P<thread>[^\]]+)\] Handle new assignment with:\s+"
    r"New active tasks: \[(?P<active>[^\]]*)\]\s+New standby tasks: \[(?P<standby>[^\]]*)\]"
)
_SUSPENDED = re.compile(r"task \[(?P<task>\d+_\d+)\] Suspended from ")
_JOINED = re.compile(
    r"clientId=(?P<client>[^,]+), .*Successfully joined group with generation"
    r" Generation\{generationId=(?P<number>\d+), memberId='(?P<member>[^']+)'"
)

# What a leader says while it decides.
_TAKE_PART = re.compile(r"(\d+) client nodes and (\d+) consumers participating")
_KINDS = re.compile(
    r"Assigning stateful tasks: \[([^\]]*)\]\s+and stateless tasks: \[([^\]]*)\]",
)
_DECIDED = re.compile(
    r"(?P<process>[0-9a-f-]{36})=\[activeTasks: \(\[.*?\]\) standbyTasks: \(\[.*?\]\)"
    r" prevActiveTasks: \(\[.*?\]\) prevStandbyTasks: \(\[.*?\]\)"
    r" changelogOffsetTotalsByTask: \(\[(?P<sums>.*?)\]\) taskLagTotals: \(\[(?P<lags>.*?)\]\)"
    r" .*?capacity: (?P<threads>\d+)"
)
_OF_A_CLIENT = re.compile(
    r"Client (?P<process>[0-9a-f-]{36}) per-consumer assignment:(?P<parts>.*)", re.S
)
_ASSIGNED = re.compile(r"assigned (?P<role>active|standby) \{(?P<members>.*?)\}\n", re.S)
_OF_A_MEMBER = re.compile(r"([^\s{},=]+)=\[([^\]]*)\]")
_OWED = re.compile(r"Removing task (\S+) from (\S+) active assignment until it is safely revoked")
_KEPT = re.compile(r"Adding removed stateful active task (\S+) as a standby for (\S+)")
_PROBE = re.compile(r"Requesting followup rebalance be scheduled by (\S+) for (\S+ \S+) Z to probe")
_AT_ONCE = re.compile(r"Requesting followup rebalance be scheduled immediately by (\S+)")
_FINISHED = re.compile(r"Finished assignment for group at generation (\d+): (.*)")

# What the broker says of classic groups.
_PREPARES = re.compile(
    r"Preparing to rebalance group (?P<group>\S+) in state \S+ with old generation \d+"
    r" \(reason: (?P<reason>.*)\)\. \("
)
_STABILIZED = re.compile(r"Stabilized group (?P<group>\S+) generation (?P<number>\d+) with")
_RECEIVED = re.compile(
    r"Assignment received from leader (?P<leader>\S+) for group (?P<group>\S+)"
    r" for generation (?P<number>\d+)\."
)
_EMPTY = re.compile(r"Group (?P<group>\S+) with generation \d+ is now empty")

# What the broker says of streams groups.
_GROUP = r"\[GroupId (?P<group>[^\]]+)\](?:\[MemberId (?P<teller>[^\]]+)\])? "
_STATE = re.compile(
    _GROUP + r"Member's new assignment state: epoch=-?\d+, previousEpoch=-?\d+,"
    r" state=(?P<state>\w+), assignedTasks=\(active=\[(?P<active>.*?)\],"
    r" standby=\[(?P<standby>.*?)\], warmup=\[(?P<warmup>.*?)\]\) and"
    r" tasksPendingRevocation=\(active=\[(?P<asked_active>.*?)\],"
    r" standby=\[(?P<asked_standby>.*?)\], warmup=\[(?P<asked_warmup>.*?)\]\)"
)
_WENT = re.compile(
    _GROUP + r"(?:Streams member|Member) (?P<member>\S+) (?:left the streams group|fenced from)"
)
_IS_OF = re.compile(
    _GROUP + r"Member updated its member metadata to .*clientId=(?P<client>[^,]+),"
    r".*processId=(?P<process>[0-9a-f-]{36})"
)
_BUMPED = re.compile(_GROUP + r"Bumped streams group epoch to (?P<epoch>\d+) ")
_BECAUSE = {
    "JOIN": re.compile(_GROUP + r"Member joins the streams group"),
    "CONFIG": re.compile(_GROUP + r"Assignment configurations changed"),
    "TOPIC_METADATA": re.compile(_GROUP + r"Computed new metadata hash"),
    "MEMBER_METADATA": re.compile(_GROUP + r"Member updated its member metadata"),
    "TOPOLOGY_VALIDATED": re.compile(_GROUP + r".*topology epoch \d+ is now initialized"),
}


@dataclass(frozen=True, slots=True)
class Given:
    """What a thread was told to run, and to keep a replica of."""

    at: int
    thread: str
    active: Tasks
    standby: Tasks


@dataclass(frozen=True, slots=True)
class Joined:
    """A thread is in a generation, under a member id."""

    at: int
    number: int
    member: str


@dataclass(frozen=True, slots=True)
class ProcessSaid:
    """What a leader knows of a process.

    sums: offsets that it reported, by task: -2 for a task that it runs. lags: records that it lacks.
    """

    threads: int
    sums: dict[str, int]
    lags: dict[str, int]


@dataclass(slots=True)
class Decision:
    """What a leader says of one generation.

    processes, members: how many take part.
    told: what it knew of each process; {} where it decided without the assignor.
    process_of: of each member. active, standby: what each member gets, before tasks are withheld.
    owed: (task, member) of what is withheld until its owner let go of it.
    kept: (task, member): replicas that stand for what is owed, until then.
    probe_at, probe_by: the appointment that it makes. at_once_by: who is to join again at once.
    """

    processes: int
    members: int
    number: int = 0
    ended_at: int = 0
    stateful: Tasks = NONE
    stateless: Tasks = NONE
    told: dict[str, ProcessSaid] = field(default_factory=dict)
    process_of: dict[str, str] = field(default_factory=dict)
    active: dict[str, Tasks] = field(default_factory=dict)
    standby: dict[str, Tasks] = field(default_factory=dict)
    owed: set[tuple[str, str]] = field(default_factory=set)
    kept: set[tuple[str, str]] = field(default_factory=set)
    probe_at: int | None = None
    probe_by: str | None = None
    at_once_by: set[str] = field(default_factory=set)


@dataclass(slots=True)
class ClientLog:
    """joins: by client id of the thread's consumer. suspended: when it let go of a task, by task."""

    given: list[Given] = field(default_factory=list)
    joins: dict[str, list[Joined]] = field(default_factory=lambda: defaultdict(list))
    suspended: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    decisions: list[Decision] = field(default_factory=list)


@dataclass(slots=True)
class Generation:
    """A generation of a classic group. reason: the broker's words for what began it.

    joined_at: when the join phase ended. decided_at: when the leader's decision came; None: never.
    """

    group: str
    number: int
    reason: str
    joined_at: int
    decided_at: int | None = None
    leader: str = ""


@dataclass(frozen=True, slots=True)
class MemberState:
    """What a member of a streams group has. asked: what it has to let go of, and has yet."""

    at: int
    state: str
    active: Tasks = NONE
    standby: Tasks = NONE
    warmup: Tasks = NONE
    asked_active: Tasks = NONE
    asked_standby: Tasks = NONE
    asked_warmup: Tasks = NONE

    @property
    def is_gone(self) -> bool:
        return self.state == "GONE"

    @property
    def runs(self) -> Tasks:
        return self.active | self.asked_active

    @property
    def keeps(self) -> Tasks:
        return self.standby | self.asked_standby


@dataclass(frozen=True, slots=True)
class EpochSaid:
    """An epoch of a streams group, and all that the broker says led to it."""

    at: int
    epoch: int
    causes: frozenset[str]


class BrokerLog:
    """generations, empties: of classic groups. The others: of streams groups.

    states: by (group, member). process_of, client_of: by member.
    """

    def __init__(self) -> None:
        self.generations: dict[str, list[Generation]] = defaultdict(list)
        self.empties: dict[str, list[int]] = defaultdict(list)
        self.states: dict[tuple[str, str], list[MemberState]] = defaultdict(list)
        self.process_of: dict[str, str] = {}
        self.client_of: dict[str, str] = {}
        self.epochs: dict[str, list[EpochSaid]] = defaultdict(list)
        self._reasons: dict[str, str] = {}
        self._causes: dict[str, set[str]] = defaultdict(set)

    def read(self, path: Path) -> None:
        for at, text in entries(path):
            if "[GroupId " in text:
                self._of_streams(at, text)
            else:
                self._of_classic(at, text)

    def _of_classic(self, at: int, text: str) -> None:
        if told := _PREPARES.search(text):
            self._reasons.setdefault(told["group"], told["reason"])
        elif told := _STABILIZED.search(text):
            reason = self._reasons.pop(told["group"], "")
            new = Generation(told["group"], int(told["number"]), reason, at)
            self.generations[told["group"]].append(new)
        elif told := _RECEIVED.search(text):
            last = self.generations[told["group"]][-1]
            if last.number == int(told["number"]) and last.decided_at is None:
                last.decided_at, last.leader = at, told["leader"]
        elif told := _EMPTY.search(text):
            self.empties[told["group"]].append(at)

    def _of_streams(self, at: int, text: str) -> None:
        if told := _STATE.search(text):
            roles = ("active", "standby", "warmup", "asked_active", "asked_standby", "asked_warmup")
            has = (_broker_tasks(told[role]) for role in roles)
            self.states[told["group"], told["teller"]].append(MemberState(at, told["state"], *has))
        elif told := _WENT.search(text):
            self.states[told["group"], told["member"]].append(MemberState(at, "GONE"))
        elif told := _BUMPED.search(text):
            causes = frozenset(self._causes.pop(told["group"], ()))
            self.epochs[told["group"]].append(EpochSaid(at, int(told["epoch"]), causes))
        else:
            if told := _IS_OF.search(text):
                self.process_of[told["teller"]] = told["process"]
                self.client_of[told["teller"]] = told["client"]
            for cause, line in _BECAUSE.items():
                if told := line.search(text):
                    self._causes[told["group"]].add(cause)


def read_client_log(path: Path) -> ClientLog:
    log = ClientLog()
    deciding: Decision | None = None
    for at, text in entries(path):
        if told := _GIVEN.search(text):
            log.given.append(
                Given(at, told["thread"], _tasks(told["active"]), _tasks(told["standby"]))
            )
        elif told := _SUSPENDED.search(text):
            log.suspended[told["task"]].append(at)
        elif told := _JOINED.search(text):
            log.joins[told["client"]].append(Joined(at, int(told["number"]), told["member"]))
        elif told := _TAKE_PART.search(text):
            deciding = Decision(int(told[1]), int(told[2]))
        elif deciding is not None and (told := _FINISHED.search(text)):
            deciding.number, deciding.ended_at = int(told[1]), at
            for member in re.findall(r"([^\s{},=]+)=Assignment\(", told[2]):
                deciding.active.setdefault(member, NONE)
            log.decisions.append(deciding)
            deciding = None
        elif deciding is not None:
            _hear(deciding, text)
    return log


def _hear(decision: Decision, text: str) -> None:
    """One entry of a leader's log while it decides."""
    if told := _KINDS.search(text):
        decision.stateful, decision.stateless = _tasks(told[1]), _tasks(told[2])
    elif "Decided on assignment:" in text:
        for each in _DECIDED.finditer(text):
            said = ProcessSaid(int(each["threads"]), _numbers(each["sums"]), _numbers(each["lags"]))
            decision.told[each["process"]] = said
    elif told := _OF_A_CLIENT.search(text):
        for part in _ASSIGNED.finditer(told["parts"]):
            given = decision.active if part["role"] == "active" else decision.standby
            for member, tasks in _OF_A_MEMBER.findall(part["members"]):
                decision.process_of[member] = told["process"]
                given[member] = _tasks(tasks)
    elif told := _OWED.search(text):
        decision.owed.add((told[1], told[2]))
    elif told := _KEPT.search(text):
        decision.kept.add((told[1], told[2]))
    elif told := _PROBE.search(text):
        decision.probe_by, decision.probe_at = told[1], _ms(told[2])
    elif told := _AT_ONCE.search(text):
        decision.at_once_by.add(told[1])


def entries(path: Path) -> Iterator[tuple[int, str]]:
    """(time, text) of each entry of a log, with the lines that continue it."""
    at, text = 0, ""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if told := _STAMP.match(line):
                if text:
                    yield at, text
                at, text = _ms(told[1]), line
            else:
                text += line
    if text:
        yield at, text


def _tasks(text: str) -> Tasks:
    return frozenset(_TASK.findall(text))


def _broker_tasks(text: str) -> Tasks:
    """Tasks as the broker writes them: `0-1@3`, the epoch last."""
    return frozenset(f"{subtopology}_{p}" for subtopology, p in _BROKER_TASK.findall(text))


def _numbers(text: str) -> dict[str, int]:
    return {task: int(n) for task, n in (each.split("=") for each in text.split(", ") if each)}


def _ms(text: str) -> int:
    stamp = dt.datetime.strptime(text.replace(".", ","), "%Y-%m-%d %H:%M:%S,%f")
    return round(stamp.replace(tzinfo=dt.UTC).timestamp() * 1000)
