"""What runs may follow one another in a warehouse."""

from __future__ import annotations

from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest

from groupreplay.config.model import PrivacyConfig
from groupreplay.errors import ConfigError
from groupreplay.night.earlier.history import PastNight
from groupreplay.night.earlier.plan_json import from_json, joined_json
from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.night.plans.plan import Plan
from groupreplay.night.plans.privacy_check import check_privacy
from groupreplay.report.words.privacy import HashKeys, hash_keys


def keys(*fields: str, salt: str = "a salt of this test") -> HashKeys | None:
    return hash_keys(PrivacyConfig(hash=fields, salt=salt))


def check(
    before: HashKeys | None, now: HashKeys | None, private: str = "/private", holds: bool = True
) -> None:
    nights = [
        PastNight(
            date(2026, 1, day),
            True,
            RecordsLanding(),
            {},
            hashed=before.fingerprint if before else "",
        )
        for day in (1, 2)
    ]
    warehouse: Any = SimpleNamespace(
        root="/w", private_root=private, cluster="c", exists=lambda _: holds
    )
    check_privacy(warehouse, nights, now)
    check_privacy(warehouse, [], now)


def test_the_same_choice_and_salt_go_on() -> None:
    check(None, None, "/w", holds=False)
    check(keys("client_id", "principal"), keys("principal", "client_id"))


@pytest.mark.parametrize(
    ("before", "now", "says"),
    [
        (
            None,
            keys("client_id"),
            (
                "privacy.hash: the tables of cluster c in /w were written with nothing hashed, and"
                " now it is client_id: give another"
            ),
        ),
        (
            keys("client_id"),
            None,
            (
                "privacy.hash: the tables of cluster c in /w were written with client_id hashed,"
                " and now it is nothing: give"
            ),
        ),
        (
            keys("client_id"),
            keys("client_id", "principal"),
            "with client_id hashed, and now it is client_id, principal",
        ),
        (
            keys("client_id"),
            keys("client_id", salt="another salt of it"),
            "privacy.salt: the tables of cluster c in /w were hashed with another",
        ),
    ],
)
def test_nothing_is_mixed(before: HashKeys | None, now: HashKeys | None, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check(before, now)
    assert says in str(caught.value)
    assert caught.value.exit_code == 2


def test_raw_rows_and_states_must_be_where_they_were() -> None:
    with pytest.raises(
        ConfigError,
        match="private_warehouse: /private holds no raw rows and states of the nights before",
    ):
        check(keys("client_id"), keys("client_id"), holds=False)


def test_plan_remembers_what_was_hashed_and_old_ones_hashed_nothing() -> None:
    plan = Plan((), hashed="client_id/0123")
    assert from_json(Plan, joined_json(plan)) == plan
    assert from_json(Plan, joined_json(plan).replace(',"hashed":"client_id/0123"', "")).hashed == ""
