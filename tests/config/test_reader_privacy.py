"""Privacy: the salt stays out of everything that is shown or kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groupreplay.config.model import (
    PrivacyConfig,
)
from groupreplay.config.reader import load_config
from groupreplay.errors import ConfigError
from tests.config.conftest import GOOD

SALT = "0123456789abcdef"

PRIVATE = (
    GOOD + "private_warehouse: /private\nprivacy: {hash: [principal, client_id, principal], salt:"
    " '${env:GROUPREPLAY_SALT}'}\n"
)


def test_salt_comes_from_the_environment_and_shows_nowhere(
    write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPREPLAY_SALT", SALT)
    config = load_config(write(PRIVATE))
    assert config.privacy == PrivacyConfig(hash=("client_id", "principal"), salt=SALT)
    assert config.private_warehouse == "/private"
    assert SALT not in repr(config)
    monkeypatch.setenv("GROUPREPLAY_SALT", SALT[::-1])
    assert load_config(write(PRIVATE)).config_hash == config.config_hash
    monkeypatch.delenv("GROUPREPLAY_SALT")
    assert load_config(write(PRIVATE), only_reads=True).privacy.salt is None


@pytest.mark.parametrize(
    ("text", "key", "says"),
    [
        (
            PRIVATE.replace("principal, ", "user, ", 1),
            "privacy.hash",
            "there is no field 'user' that could be hashed",
        ),
        (
            PRIVATE.replace("principal, ", "client_ip, ", 1),
            "privacy.hash",
            "that could be hashed; did you mean 'client_id'?",
        ),
        (
            PRIVATE.replace("[principal, client_id, principal]", "client_id"),
            "privacy.hash",
            "expected a list of client_host, client_id",
        ),
        (
            PRIVATE.replace("${env:GROUPREPLAY_SALT}", "0123456789abcdef0"),
            "privacy.salt",
            "expected ${env:NAME}: a secret stands in the environment",
        ),
        (
            PRIVATE.replace("${env:GROUPREPLAY_SALT}", "0123456789abcdef${env:HOME}"),
            "privacy.salt",
            "expected ${env:NAME}",
        ),
        (
            PRIVATE.replace("'${env:GROUPREPLAY_SALT}'", "12345678901234567890"),
            "privacy.salt",
            "expected ${env:NAME}",
        ),
        (
            PRIVATE.replace("GROUPREPLAY_SALT", "GROUPREPLAY_SHORT"),
            "privacy.salt",
            "at least 16 characters in the variable 'GROUPREPLAY_SHORT'",
        ),
        (
            PRIVATE.replace("GROUPREPLAY_SALT", "GROUPREPLAY_NOT_SET"),
            "privacy.salt",
            "has no variable 'GROUPREPLAY_NOT_SET'",
        ),
        (
            GOOD + "private_warehouse: /private\nprivacy: {hash: [principal]}\n",
            "privacy.salt",
            "is missing, expected ${env:NAME}",
        ),
        (
            PRIVATE.replace("private_warehouse: /private\n", ""),
            "private_warehouse",
            "is missing, expected a directory or URI",
        ),
        (
            PRIVATE.replace("/private", "/data/groupreplay/"),
            "private_warehouse",
            "neither in the warehouse /data/groupreplay nor around it",
        ),
        (
            PRIVATE.replace("/private", "file:///data/groupreplay/private"),
            "private_warehouse",
            "neither in the warehouse",
        ),
        (PRIVATE.replace("/private", "/data"), "private_warehouse", "neither in the warehouse"),
        (
            GOOD + "private_warehouse: /private\n",
            "private_warehouse",
            "it is used only where privacy.hash names what to hide",
        ),
    ],
)
def test_privacy_that_would_not_hold_is_refused_without_the_salt(
    write: Any, monkeypatch: pytest.MonkeyPatch, text: str, key: str, says: str
) -> None:
    monkeypatch.setenv("GROUPREPLAY_SALT", SALT)
    monkeypatch.setenv("GROUPREPLAY_SHORT", SALT[1:])
    with pytest.raises(ConfigError) as caught:
        load_config(write(text))
    assert caught.value.key == key
    assert says in str(caught.value)
    assert SALT[1:] not in str(caught.value)
    assert "1234567890" not in str(caught.value)


def test_salt_given_as_an_argument_is_refused_and_not_repeated(write: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(write(GOOD), [f"privacy.salt={SALT}"])
    assert str(caught.value).startswith("--set privacy.salt: privacy.salt: expected ${env:NAME}")
    assert SALT not in str(caught.value)


def test_configuration_in_force_is_shown_without_secrets(
    write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPREPLAY_SALT", SALT)
    config = load_config(
        write(PRIVATE.replace("hdfs://nn/logs/", "s3a://AKIA:pass@bucket/logs/")), ["report.top=7"]
    )
    told = json.loads(config.in_force)
    assert told["privacy"]["salt"] == "${env:GROUPREPLAY_SALT}"
    assert told["sources"][0]["path"] == "s3a://(hidden)@bucket/logs/"
    assert (told["report"]["top"], told["thresholds"]["static_limbo_ms"]) == (7, 10_000)
    assert "AKIA" not in config.in_force
    assert SALT not in config.in_force
