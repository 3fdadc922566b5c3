"""Named step: what names a client (its id, address, principal) is replaced by a hash in the tables
that analysts read.

A value becomes `h:` and 24 hex digits of sha256(key || value), where key = HMAC-SHA256(salt, field)
in hex: the same value has the same hash in every table and night, and the salt itself is in no
plan, log or table. What cannot be replaced for sure is left out: raw bytes, and in free text every
word that neither Kafka nor this package writes there itself.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, BinaryType, DataType, StringType, StructType

from groupreplay.config.model import PRIVATE_FIELDS, PrivacyConfig
from groupreplay.report.joins.private_words import WORDS
from groupreplay.report.table_spec import TableSpec

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
        ),
        *("blocked_by", "waiting_on", "members_missing", "members_dropped"),
    }
)
"""Columns of one member id, or of an array of them, in whatever table. A spec names others that its
table alone has.
"""

LEFT_OUT: Final = ".."
"""Stands for words of a text that are not shown."""

RULES_OF_PARTITIONS: Final = ("I1", "I2", "I14", "I17")
"""Rules whose anomaly's detail begins with <topic>-<partition>."""

_UUID: Final = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_UUID_CHARS: Final = 36
_RANDOM_ID: Final = r"^(?=.*[0-9])(?=.*[A-Z])(?=.*[a-z])[A-Za-z0-9+/_-]{21}[AQgw]\z"
"""16 bytes in base64, as members of the consumer protocol name themselves. One in thirty is not
told from a word and is hashed, always the same.
"""

_LOGGER: Final = r"^[A-Za-z_][A-Za-z0-9_$]*(?:\.[A-Za-z0-9_$]+)*\z"
_WORD: Final = r"(?s)^([(\[]*)(.*?)([,.:;)\]]*)\z"
_NUMBER: Final = r"^-?[0-9]+(?:ms)?\z"
_HASHED: Final = rf"^h:[0-9a-f]{{{DIGITS}}}(?:-{_UUID})?\z"
_OF_PARTITION: Final = r"(?s)^([A-Za-z0-9._-]+-[0-9]+) (.*)\z"


@dataclass(frozen=True, slots=True)
class HashKeys:
    """fields: what is hashed.
    keys: field -> its key, in hex.
    fingerprint: tells this choice and salt from every other, and gives neither key nor salt away.
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
    return frame.withColumns(changed) if changed else frame


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
    if (spec.name, name) == ("anomalies", "detail"):
        begins = beside("rule").isin(*RULES_OF_PARTITIONS) & value.rlike(_OF_PARTITION)
        rest = _text(sf.regexp_extract(value, _OF_PARTITION, 2), keys)
        return sf.when(
            begins, sf.concat_ws(" ", sf.regexp_extract(value, _OF_PARTITION, 1), rest)
        ).otherwise(_text(value, keys))
    if name in spec.texts:
        return _text(value, keys)
    if isinstance(kind, BinaryType):
        return sf.lit(None).cast(kind)
    if name == "loggers":
        return sf.map_filter(value, lambda logger, _: logger.rlike(_LOGGER))
    return None


def _replaced_structs(
    spec: TableSpec, value: Column, kind: StructType, keys: HashKeys
) -> Column | None:
    strings = [each.name for each in kind if isinstance(each.dataType, StringType)]
    if (FIELDS | MEMBERS | spec.members).isdisjoint(strings):
        return None

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


def _asker(
    value: Column,
    beside: Callable[[str], Column],
    columns: set[str],
    keys: HashKeys,
    otherwise: Column,
) -> Column:
    """Where who has no member id yet is named by its client or instance id, that decides, whatever
    the id looks like.
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


def _text(value: Column, keys: HashKeys) -> Column:
    """A text with only the words that are known, numbers, and member ids as in every other
    column.
    """

    def shown(word: Column) -> Column:
        core = sf.regexp_extract(word, _WORD, 2)
        member = sf.concat(
            sf.regexp_extract(word, _WORD, 1),
            _member(core, keys) if keys.hides_members else core,
            sf.regexp_extract(word, _WORD, 3),
        )
        is_known = core.isin(*sorted(WORDS)) | core.rlike(_NUMBER) | core.rlike(_HASHED)
        return (
            sf.when(is_known, word)
            .when(_has_name(core) | core.rlike(_RANDOM_ID), member)
            .otherwise(LEFT_OUT)
        )

    words = sf.transform(sf.split(value, r"\s+"), shown)
    told = sf.regexp_replace(
        sf.array_join(words, " "), r"(?<![^ ])\.\.(?: \.\.(?![^ ]))+", LEFT_OUT
    )
    return sf.when(value.isNotNull(), told)
