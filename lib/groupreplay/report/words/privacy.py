"""Named step: what names a client (its id, address, principal) is replaced by a hash in the tables
that analysts read.

A value becomes `h:` and 24 hex digits of sha256(key || value), where key = HMAC-SHA256(salt, field)
in hex: the same value has the same hash in every table and night, and the salt itself is in no
plan, log or table. Sentences of this package are made again of hidden parameters. What cannot be
replaced for sure is left out: raw bytes, and quotes that are none of Kafka's own texts as a whole.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, BinaryType, DataType, StringType, StructType

from groupreplay.config.model import PRIVATE_FIELDS, PrivacyConfig
from groupreplay.replay.decisions.identities import CLIENT, INSTANCE, MEMBER
from groupreplay.report.table_spec import TableSpec
from groupreplay.report.words.quotes import FAULTS, QUOTES, shown_quote
from groupreplay.report.words.sentences import Kind, is_of_kind, rendered

DIGITS: Final = 24
"""Hex digits of a hash: 96 bits, so that of a billion values no two are alike."""

NAMES: Final = ("client_id", "instance_id")
"""Fields that a member id can begin with. They share a key: whose id it begins with cannot be told
from the id.
"""

FIELDS: Final = frozenset(PRIVATE_FIELDS)
MEMBERS: Final = frozenset(
    {
        *(
            "member_id",
            "cause_member_id",
            "trigger_member_id",
            "granted_to",
            "next_member_id",
            "replaced_by",
            "process_id",
        ),
        *("blocked_by", "waiting_on", "members_missing", "members_dropped"),
    }
)
"""Columns of one member id, or of an array of them, in whatever table. A spec names others that its
table alone has. Ids of Kafka Streams processes are random uuids, which stay as those of members do;
one of another form was chosen by a client.
"""

LEFT_OUT: Final = ".."
"""Stands for a text, or a part of one, that is not shown."""

ASSIGNORS: Final = (
    *("range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "stream", "None"),
)
"""Names that Kafka's own clients give; another one is what a client calls itself."""

_UUID: Final = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_UUID_CHARS: Final = 36
_RANDOM_ID: Final = r"^(?=.*[0-9])(?=.*[A-Z])(?=.*[a-z])[A-Za-z0-9+/_-]{21}[AQgw]\z"
"""16 bytes in base64, as members of the consumer protocol name themselves. One in thirty is not
told from a word and is hashed, always the same.
"""

_PROCESS: Final = rf"(?s)^{CLIENT}(.*) ([^ ]*)\z"
"""An identity of client id and host: no host has a space, and a client id may."""

_LOGGER: Final = r"^[A-Za-z_][A-Za-z0-9_$]*(?:\.[A-Za-z0-9_$]+)*\z"


@dataclass(frozen=True, slots=True)
class HashKeys:
    """fields: what is hashed.
    keys: field -> its key, in hex.
    fingerprint: differs for every choice and salt, and gives neither key nor salt away.
    """

    fields: frozenset[str]
    keys: Mapping[str, str] = field(repr=False)
    fingerprint: str

    def hashed(self, name: str, value: Column) -> Column:
        """The hash of a value of the field; NULL stays NULL."""
        key = self.keys["client_id" if name in NAMES else name]
        return sf.concat(
            sf.lit("h:"), sf.substring(sf.sha2(sf.concat(sf.lit(key), value), 256), 1, DIGITS)
        )

    @property
    def hides_members(self) -> bool:
        return not self.fields.isdisjoint(NAMES)


def hash_keys(privacy: PrivacyConfig) -> HashKeys | None:
    """None where nothing is hashed."""
    if not privacy.hash or privacy.salt is None:
        return None

    def derived(purpose: str) -> str:
        return hmac.new((privacy.salt or "").encode(), purpose.encode(), hashlib.sha256).hexdigest()

    names = sorted(privacy.hash)
    return HashKeys(
        frozenset(names),
        {name: derived(name) for name in FIELDS},
        f"{','.join(names)}/{derived('fingerprint')[:16]}",
    )


def hidden(spec: TableSpec, frame: DataFrame, keys: HashKeys | None) -> DataFrame:
    """The frame of a table that analysts read, with everything replaced that the configuration
    names; the same columns in the same order.

    It is called once for what is in clear: a hash would be hashed again.
    """
    if keys is None:
        return frame
    changed = {}
    for column in frame.schema:
        replaced = _replaced(
            spec,
            column.name,
            sf.col(column.name),
            column.dataType,
            sf.col,
            set(frame.columns),
            keys,
        )
        if replaced is not None:
            changed[column.name] = replaced
    for said in spec.sentences:
        changed[said.params] = _params(sf.col(said.code), sf.col(said.params), keys)
    if changed:
        frame = frame.withColumns(changed)
    # A step of its own: within one, Spark may take a name in a lambda for the column that is new.
    for said in spec.sentences:
        again = sf.coalesce(rendered(sf.col(said.code), sf.col(said.params)), sf.lit(LEFT_OUT))
        frame = frame.withColumn(said.text, sf.when(sf.col(said.text).isNotNull(), again))
    return frame


def _params(code: Column, params: Column, keys: HashKeys) -> Column:
    """Parameters of a sentence, each hidden as what it is. One of no known kind is left out."""

    def listed(value: Column, hide: Callable[[Column], Column]) -> Column:
        shown = sf.to_json(sf.transform(sf.from_json(value, "array<string>"), hide))
        return sf.coalesce(shown, sf.lit("[]"))

    def members(value: Column) -> Column:
        return listed(value, lambda member: _member(member, keys))

    def hosts(value: Column) -> Column:
        return listed(value, lambda host: keys.hashed("client_host", host))

    def shown(name: Column, value: Column) -> Column:
        known = is_of_kind(code, name, Kind.CLEAR, Kind.LIST) | (
            is_of_kind(code, name, Kind.ASSIGNOR) & value.isin(*ASSIGNORS)
        )
        if not keys.hides_members:
            known |= is_of_kind(code, name, Kind.MEMBER, Kind.MEMBERS)
        if "client_host" not in keys.fields:
            known |= is_of_kind(code, name, Kind.HOSTS)
        return (
            sf.when(known, value)
            .when(is_of_kind(code, name, Kind.MEMBER), _member(value, keys))
            .when(is_of_kind(code, name, Kind.MEMBERS), members(value))
            .when(is_of_kind(code, name, Kind.HOSTS), hosts(value))
            .when(is_of_kind(code, name, Kind.QUOTE), _quote(value, keys, QUOTES))
            .otherwise(LEFT_OUT)
        )

    return sf.transform_values(params, shown)


def _replaced(
    spec: TableSpec,
    name: str,
    value: Column,
    kind: DataType,
    beside: Callable[[str], Column],
    columns: set[str],
    keys: HashKeys,
) -> Column | None:
    """What stands for a column or a field of a struct; None: itself.

    beside: the columns next to it, by name.
    columns: their names.
    """
    if isinstance(kind, ArrayType) and isinstance(kind.elementType, StructType):
        return _replaced_structs(spec, value, kind.elementType, keys)
    if name in FIELDS:
        return keys.hashed(name, value) if name in keys.fields else None
    if name in spec.hosts:
        return _hosts(value, kind, keys)
    if name in spec.assignors:
        return _assignors(value, kind)
    if name in spec.tags:
        return _tags(value, keys)
    if name in spec.identities:
        return _identity(value, keys)
    if name in MEMBERS | spec.members:
        if not keys.hides_members:
            return None
        if isinstance(kind, ArrayType):
            return sf.transform(value, lambda each: _member(each, keys))
        return _asker(value, beside, columns, keys, _member(value, keys))
    if name == "subject":
        member = _member(value, keys) if keys.hides_members else value
        instance = keys.hashed("instance_id", value) if "instance_id" in keys.fields else value
        known = sf.when(value == beside("instance_id"), instance).otherwise(member)
        return _asker(value, beside, columns, keys, known)
    if name in spec.quotes:
        return _quote(value, keys, QUOTES)
    if name in spec.faults:
        return _quote(value, keys, FAULTS)
    if isinstance(kind, BinaryType):
        return sf.lit(None).cast(kind)
    if name == "loggers":
        return sf.map_filter(value, lambda logger, _: logger.rlike(_LOGGER))
    return None


def _replaced_structs(
    spec: TableSpec, value: Column, kind: StructType, keys: HashKeys
) -> Column | None:
    if (FIELDS | MEMBERS | spec.members).isdisjoint(_texts_in(kind)):
        return None
    strings = [each.name for each in kind if isinstance(each.dataType, StringType)]

    def replaced(element: Column) -> Column:
        fields: list[Any] = []
        for each in kind:
            own = _replaced(
                spec,
                each.name,
                element[each.name],
                each.dataType,
                lambda name: element[name],
                set(strings),
                keys,
            )
            fields.append((element[each.name] if own is None else own).alias(each.name))
        return sf.struct(*fields)

    return sf.transform(value, replaced)


def _texts_in(kind: StructType) -> Iterator[str]:
    """Names of the texts of a struct, and of structs in arrays in it."""
    for each in kind:
        if isinstance(each.dataType, StringType):
            yield each.name
        elif isinstance(each.dataType, ArrayType) and isinstance(
            each.dataType.elementType, StructType
        ):
            yield from _texts_in(each.dataType.elementType)


def _hosts(value: Column, kind: DataType, keys: HashKeys) -> Column | None:
    if "client_host" not in keys.fields:
        return None
    if isinstance(kind, ArrayType):
        return sf.transform(value, lambda each: keys.hashed("client_host", each))
    return keys.hashed("client_host", value)


def _identity(value: Column, keys: HashKeys) -> Column:
    """Identity of a process, each part hidden as the column that holds the same; the host stands
    last. What is of no known form is hashed whole.
    """

    def after(prefix: str) -> Column:
        return sf.substr(value, sf.lit(len(prefix) + 1))

    def part(name: str, of: Column) -> Column:
        return keys.hashed(name, of) if name in keys.fields else of

    def found(group: int) -> Column:
        return sf.regexp_extract(value, _PROCESS, group)

    member = _member(after(MEMBER), keys) if keys.hides_members else after(MEMBER)
    client = sf.concat(
        sf.lit(CLIENT), part("client_id", found(1)), sf.lit(" "), part("client_host", found(2))
    )
    instance = sf.concat(sf.lit(INSTANCE), part("instance_id", after(INSTANCE)))
    return (
        sf.when(value.startswith(INSTANCE), instance)
        .when(value.startswith(MEMBER), sf.concat(sf.lit(MEMBER), member))
        .when(value.rlike(_PROCESS), client)
        .otherwise(keys.hashed("client_id", value))
    )


def _assignors(value: Column, kind: DataType) -> Column:
    """As in sentences: a name that is not Kafka's own is what a client calls itself."""

    def shown(each: Column) -> Column:
        return sf.when(each.isNull() | each.isin(*ASSIGNORS), each).otherwise(LEFT_OUT)

    return sf.transform(value, shown) if isinstance(kind, ArrayType) else shown(value)


def _tags(value: Column, keys: HashKeys) -> Column:
    """Racks and zones as a rule, so hashed as hosts are; but a client may say anything there, so
    whatever is hidden, they are.
    """

    def each(entry: Column) -> Column:
        return sf.struct(
            keys.hashed("client_host", entry["key"]), keys.hashed("client_host", entry["value"])
        )

    return sf.map_from_entries(sf.transform(sf.map_entries(value), each))


def _asker(
    value: Column,
    beside: Callable[[str], Column],
    columns: set[str],
    keys: HashKeys,
    otherwise: Column,
) -> Column:
    """The hash of the row's client id or instance id, where the value is that id: a request without
    a member id is named so. `otherwise` for any other value.
    """
    for name in NAMES:
        if name in keys.fields and name in columns:
            otherwise = sf.when(value == beside(name), keys.hashed(name, value)).otherwise(
                otherwise
            )
    return otherwise


def _member(value: Column, keys: HashKeys) -> Column:
    """A member id: the name that it begins with is hashed, a random part stays, and what is of no
    known form is hashed whole.
    """
    begins = value.substr(sf.lit(1), sf.length(value) - (_UUID_CHARS + 1))
    named = sf.concat(
        keys.hashed("client_id", begins), sf.lit("-"), sf.right(value, sf.lit(_UUID_CHARS))
    )
    is_random = (value == "") | value.rlike(rf"^{_UUID}\z") | value.rlike(_RANDOM_ID)
    return (
        sf.when(_has_name(value), named)
        .when(is_random, value)
        .otherwise(keys.hashed("client_id", value))
    )


def _has_name(value: Column) -> Column:
    return value.rlike(rf"(?s)^.+-{_UUID}\z")


def _quoted_member(value: Column, keys: HashKeys) -> Column:
    """A member id in a quote. Where ids are not hidden it stays if it has the form of one: a client
    can put anything in its place.
    """
    if keys.hides_members:
        return _member(value, keys)
    is_id = _has_name(value) | value.rlike(_RANDOM_ID)
    return sf.when(is_id, value).otherwise(LEFT_OUT)


def _quote(value: Column, keys: HashKeys, known: tuple[str, ...]) -> Column:
    return shown_quote(value, known, lambda member: _quoted_member(member, keys), LEFT_OUT)
