"""Sentences are made again of their parameters, each hidden as what it is."""

from __future__ import annotations

import json
import re
from typing import Any

from pyspark.sql import SparkSession

from groupreplay.report.words.privacy import (
    LEFT_OUT,
)
from groupreplay.report.words.sentences import (
    OF_CODES,
    PARAMETERS,
    SENTENCES,
    Kind,
)
from tests.report.words.hiding import HOSTILE, RANDOM, SAID, UUID, hashed, keys, named, shown, told


def test_sentences_are_rendered_of_hidden_parameters(spark: SparkSession) -> None:
    member, orders = f"billing-{UUID}", {"topic": "orders", "partition": "7"}
    found = told(spark, "GRANTED_WHILE_HELD", {**orders, "member": member, "holder": RANDOM})
    assert found == (
        {**orders, "member": named("billing"), "holder": RANDOM},
        f"orders-7 reaches {named('billing')} while {RANDOM} holds it",
    )
    epochs = {"epoch": "3", "before": "4"}
    whole = hashed("client_id", "billing-7")
    assert told(spark, "MEMBER_EPOCH_FALLS", {"member": "billing-7", **epochs}) == (
        {"member": whole, **epochs},
        f"{whole}: epoch 3 after 4",
    )
    in_clear = told(
        spark, "MEMBER_EPOCH_FALLS", {"member": member, **epochs}, using=keys("principal")
    )
    assert in_clear == ({"member": member, **epochs}, f"{member}: epoch 3 after 4")
    sync = {"assignor": "ann's", "member": "", "members": "2"}
    assert told(spark, "SYNC_INCOMPLETE", sync) == (
        {**sync, "assignor": ".."},
        "protocol .., leader  of 2 members",
    )
    assert told(spark, "SYNC_INCOMPLETE", {**sync, "assignor": "range"})[1] == (
        "protocol range, leader  of 2 members"
    )


def test_no_name_of_a_client_is_in_a_sentence(spark: SparkSession) -> None:
    """Whatever a client calls itself, in every parameter that names one."""
    shown_as_it_is = (Kind.CLEAR, Kind.LIST)
    lists = (Kind.MEMBERS, Kind.HOSTS)
    rows: list[tuple[Any, ...]] = []
    wanted: list[tuple[Any, ...]] = []
    for value in HOSTILE:
        becomes = hashed("client_id", value)
        if value.endswith(f"-{UUID}"):
            becomes = named(value.removesuffix(f"-{UUID}"))
        for code in SENTENCES:
            kinds = {
                name: OF_CODES.get((code, name)) or PARAMETERS[name] for name in parameters_of(code)
            }
            params = {
                name: json.dumps([value, "b"]) if kind in lists else value
                for name, kind in kinds.items()
                if kind not in shown_as_it_is
            }
            hosts = [hashed("client_host", each) for each in (value, "b")]
            hides = {
                Kind.MEMBER: becomes,
                Kind.MEMBERS: json.dumps([becomes, hashed("client_id", "b")]).replace(" ", ""),
                Kind.HOSTS: json.dumps(hosts).replace(" ", ""),
                Kind.ASSIGNOR: value if value == "range" else LEFT_OUT,
                Kind.QUOTE: LEFT_OUT,
            }
            clear = {name: "7" for name in kinds if name not in params}
            hidden_params = {name: hides[kinds[name]] for name in params}
            rows.append((code, {**params, **clear}, "in clear"))
            texts = {
                name: ", ".join(json.loads(each)) if kinds[name] in lists else each
                for name, each in hidden_params.items()
            }
            sentence = SENTENCES[code]
            between, *clauses = ("", sentence) if isinstance(sentence, str) else sentence
            said = between.join(clauses).format_map({**texts, **clear})
            wanted.append((code, {**hidden_params, **clear}, said))
    found = shown(spark, "anomalies", SAID, *rows)
    assert [each for each, want in zip(found, wanted, strict=True) if each != want] == []


def test_every_parameter_of_a_sentence_has_a_kind() -> None:
    used = {name for code in SENTENCES for name in parameters_of(code)}
    assert used == set(PARAMETERS)
    assert all(name in parameters_of(code) for code, name in OF_CODES)


def test_what_no_sentence_knows_is_left_out(spark: SparkSession) -> None:
    assert told(spark, "GENERATION_FALLS", {"epoch": "3", "before": "4", "who": "ann"}) == (
        {"epoch": "3", "before": "4", "who": ".."},
        "generation 3 after 4",
    )
    assert told(spark, "NO_SUCH_CODE", {"member": "ann"})[1] == ".."
    assert told(spark, "GENERATION_FALLS", {"epoch": "3"})[1] == ".."


def test_a_parameter_is_what_its_sentence_takes_it_for(spark: SparkSession) -> None:
    """`members` counts them but in one sentence, which names them."""
    lower = json.dumps([f"app-{UUID}", RANDOM])
    params = {"lowest": "10", "highest": "11", "members": lower}
    assert told(spark, "VERSIONS", params)[1] == (
        f"metadata versions 10 and 11; the lower one: {named('app')}, {RANDOM}"
    )
    found = told(spark, "VERSIONS", params, using=keys("principal"))
    assert found[1].endswith(f"app-{UUID}, {RANDOM}")
    assert told(spark, "TWO_HOSTS", {"process": UUID, "hosts": '["/a"]'})[1] == (
        f"process {UUID} is on {hashed('client_host', '/a')}"
    )
    clear = told(spark, "TWO_HOSTS", {"process": UUID, "hosts": '["/a"]'}, using=keys("client_id"))
    assert clear[1] == f"process {UUID} is on /a"
    assert told(spark, "LEARNERS", {"learners": '["0_1","0_2"]'}) == (
        {"learners": '["0_1","0_2"]'},
        "still learning: 0_1, 0_2",
    )
    assert told(spark, "FALLBACK_ASSIGNOR", {})[1] == (
        "fallback: the leader could not fetch the lags of tasks"
    )


def parameters_of(code: str) -> list[str]:
    """Names of the parameters of a sentence, in its order."""
    return re.findall(r"\{(\w+)\}", "".join(SENTENCES[code]))
