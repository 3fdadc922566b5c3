"""How layouts are written down."""

from __future__ import annotations

from groupreplay.wire.records.schema import Field, dict_struct, snake_case


def test_a_field_is_in_the_versions_from_its_first_to_its_last() -> None:
    field = Field("memberId", "string", since=2, until=4)
    assert [version for version in range(7) if field.is_in(version)] == [2, 3, 4]
    assert Field("groupId", "string").is_in(0)


def test_names_become_those_of_python() -> None:
    names = {
        "groupId": "group_id",
        "previousMemberEpoch": "previous_member_epoch",
        "topics": "topics",
        "userEndpointV2Host": "user_endpoint_v2_host",
    }
    assert {name: snake_case(name) for name in names} == names


def test_a_struct_without_a_class_is_a_dict() -> None:
    struct = dict_struct(Field("sourceTopics", "[string]"), Field("epoch", "int32"))
    assert struct.build(("foo",), 3) == {"source_topics": ("foo",), "epoch": 3}
