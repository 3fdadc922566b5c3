"""The text of a YAML file, local and UTF-8, or a ConfigError that names file and line."""

from __future__ import annotations

from typing import Any

import yaml

from groupreplay.errors import ConfigError


class Loader(yaml.SafeLoader):
    """YAML's safe loader, but a key that stands twice is an error: by itself YAML takes the last
    one silently.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(
                    None, None, f"a key must be a text, found {key!r}", key_node.start_mark
                )
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def read_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise ConfigError(path, "", f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(path, "", "cannot be read: it is not UTF-8") from error


def parse_yaml(text: str, name: str) -> Any:
    try:
        return yaml.load(text, Loader)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise ConfigError(
            name, "", f"{line}{error.problem or error.context or 'it is not YAML'}"
        ) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigError(name, "", "it is not YAML that can be read") from error
