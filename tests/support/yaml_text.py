"""YAML of scenarios, by libyaml where PyYAML was built with it: ten times as fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    _Loader = yaml.SafeLoader
else:
    _Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _OnceLoader(_Loader):
    """Refuses a key that is given twice: YAML would silently keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = {str(key) for key in keys if keys.count(key) > 1}
        if twice:
            raise yaml.constructor.ConstructorError(
                None, None, f"given twice: {sorted(twice)}", node.start_mark
            )
        return super().construct_mapping(node, deep)


def safe_load(text: str) -> Any:
    return yaml.load(text, _OnceLoader)
