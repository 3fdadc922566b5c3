"""What of a configuration may be shown."""

from __future__ import annotations

import json

from groupreplay.config.shown import shown


def test_what_names_a_secret_is_hidden_at_any_depth() -> None:
    tree = {
        "options": {
            "ssl.keystore.password": "x",
            "sasl.jaas.config": "y",
            "client.id": "z",
            "aws.access.key": 7,
        },
        "tokens": [{"a": "x"}, None],
    }
    assert json.loads(shown(tree)) == {
        "options": {
            "ssl.keystore.password": "(hidden)",
            "sasl.jaas.config": "(hidden)",
            "client.id": "z",
            "aws.access.key": "(hidden)",
        },
        "tokens": [{"a": "(hidden)"}, None],
    }
    assert (
        shown({"password": "${env:P}", "token": "a${env:P}"})
        == '{"password":"${env:P}","token":"(hidden)"}'
    )
