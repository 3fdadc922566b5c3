"""Topic ids and names, as one group knows them."""

from __future__ import annotations

from collections.abc import Mapping

from groupreplay.replay.life import Life


class Names:
    """Topic id -> name, for one group: as given from outside, then as this group's own records
    taught. Given names win.
    """

    def __init__(self, given: Mapping[str, str], life: Life) -> None:
        self._given = given
        self._life = life
        self._ids: dict[str, list[str]] = {}
        self._known: set[str] = set()
        for topic_id in life.seen_topics:
            self._index(topic_id)
        for topic_id in life.topic_names:
            self.see(topic_id)

    def name(self, topic_id: str) -> str | None:
        return self._given.get(topic_id) or self._life.topic_names.get(topic_id)

    def ids(self, name: str) -> list[str]:
        """Ids of that name that this group has held, oldest first."""
        return self._ids.get(name, [])

    def given_id(self, name: str) -> str | None:
        """The one id that is given for a name, which the group need not have held; None where
        there is none, or several.
        """
        given = [topic_id for topic_id, of_id in self._given.items() if of_id == name]
        return given[0] if len(given) == 1 else None

    def see(self, topic_id: str) -> None:
        """Takes note that the group deals with a topic id."""
        if topic_id not in self._known and self.name(topic_id) is not None:
            self._life.seen_topics.append(topic_id)
            self._index(topic_id)

    def _index(self, topic_id: str) -> None:
        self._known.add(topic_id)
        if (name := self.name(topic_id)) is not None:
            self._ids.setdefault(name, []).append(topic_id)

    def learn(self, topic_id: str, name: str) -> bool:
        """Takes a name from a record; True where it was new to the group."""
        if topic_id in self._life.topic_names:
            return False
        self._life.topic_names[topic_id] = name
        self.see(topic_id)
        return True
