"""What a fact says in words, by Python's own formatting: the check of what the tables render."""

from __future__ import annotations

import json

from groupreplay.replay.facts import Anomaly
from groupreplay.report.words.sentences import PARAMETERS, SENTENCES, Kind


def said(fact: Anomaly) -> str:
    """The sentence of the fact. Raises KeyError for a parameter that it lacks."""
    params = {
        name: ", ".join(json.loads(value)) if PARAMETERS[name] is Kind.MEMBERS else value
        for name, value in zip(fact.detail_names, fact.detail_values, strict=True)
    }
    sentence = SENTENCES[fact.detail_code]
    assert isinstance(sentence, str)
    return sentence.format_map(params)
