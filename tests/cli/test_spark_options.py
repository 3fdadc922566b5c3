"""What spark-submit is given, by properties, environment, and what the job needs."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from groupreplay.cli.spark_options import (
    BOTH_COMPILERS,
    KAFKA,
    CannotStart,
    jars_in,
    main,
    property_of,
    spark_options,
)

CORE = "spark.executorEnv.GROUPREPLAY_COMPILED=0"


@pytest.fixture
def home(tmp_path: Path) -> str:
    """A folder with properties and nothing else."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-local.conf").write_text("spark.master  local[*]\n")
    return str(tmp_path)


def options(
    home: str, *arguments: str, needs: tuple[str, ...] = (), **environment: str
) -> dict[str, str]:
    """What is given to each option."""
    named = {f"GROUPREPLAY_{name}": value for name, value in environment.items()}
    given = spark_options(home, arguments, named, needs)
    return dict(zip(given[::2], given[1::2], strict=True))


def test_a_laptop_without_anything_gets_properties_and_logging(home: str) -> None:
    assert options(home) == {
        "--properties-file": f"{home}/conf/spark-local.conf",
        "--driver-java-options": (
            f'"-Dlog4j2.configurationFile=file:{home}/conf/log4j2.properties"'
        ),
    }


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("spark.master yarn", "yarn"),
        ("spark.master=yarn", "yarn"),
        ("spark.master : yarn", "yarn"),
        ("spark.master\tk8s://h:1", "k8s://h:1"),
        ("#spark.master yarn", ""),
        (" spark.master yarn", ""),
        ("spark.masters yarn", ""),
        ("spark.master\nyarn", ""),
        ("spark.master a\nspark.master b", "b"),
    ],
)
def test_the_last_value_of_a_property_counts(tmp_path: Path, line: str, value: str) -> None:
    path = tmp_path / "p.conf"
    path.write_text(f"spark.x 1\n{line}\nspark.y 2\n")
    assert property_of(str(path), "spark.master") == value


def test_properties_that_are_not_there_are_named(home: str) -> None:
    with pytest.raises(CannotStart, match=r"^/no/where cannot be read: No such file"):
        options(home, SPARK_CONF="/no/where")
    assert options(home, SPARK_CONF="/no/where", MASTER="local[4]")["--master"] == "local[4]"


def test_a_cluster_gets_the_archive_of_compiled_cores(home: str, tmp_path: Path) -> None:
    archive = tmp_path / "dist" / "groupreplay-compiled.tar.gz"
    assert "--archives" not in options(home, MASTER="yarn")
    archive.parent.mkdir()
    archive.write_text("")
    assert "--archives" not in options(home, MASTER="yarn"), "nothing is in it"
    archive.write_text("cores")
    own = f"{archive}#groupreplay-compiled"
    assert options(home, MASTER="yarn")["--archives"] == own
    assert "--archives" not in options(home)
    assert "--archives" not in options(home, MASTER="yarn", ARCHIVE="")
    properties = tmp_path / "p.conf"
    properties.write_text("spark.master yarn\nspark.archives env.tar.gz#env\n")
    assert options(home, SPARK_CONF=str(properties))["--archives"] == f"env.tar.gz#env,{own}"
    off = options(home, SPARK_CONF=str(properties), COMPILED="0")
    assert (off["--conf"], off.get("--archives")) == (CORE, None)


@pytest.mark.parametrize("given", [("--log-format", "json"), ("--log-format=json",)])
def test_lines_of_the_jvm_are_json_too_where_the_job_is_asked_to(
    home: str, given: tuple[str, ...]
) -> None:
    assert "log4j2-json.properties" in options(home, *given)["--driver-java-options"]
    own = options(home, *given, LOG4J2="/mine")["--driver-java-options"]
    assert own == '"-Dlog4j2.configurationFile=file:/mine"'


def test_options_of_java_are_in_order(home: str, tmp_path: Path) -> None:
    classes = tmp_path / "c.jsa"
    classes.write_text("classes")
    java = options(home, needs=(BOTH_COMPILERS,), CLASSES=str(classes), JAVA="-Xss2m")
    assert java["--driver-java-options"].split(" ", 1)[1] == (
        f'"-XX:SharedArchiveFile={classes}" -Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off'
        " -XX:TieredStopAtLevel=4 -Xss2m"
    )


def test_jars_go_to_both_class_paths_and_those_of_kafka_to_one(home: str, tmp_path: Path) -> None:
    for name in ("own/b.jar", "own/a.jar", "own/readme.txt", "kafka/k.jar"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    own, kafka = jars_in(str(tmp_path / "own")), str(tmp_path / "kafka" / "k.jar")
    assert own == [f"{tmp_path}/own/a.jar", f"{tmp_path}/own/b.jar"]
    assert jars_in(kafka) == [kafka]
    assert jars_in("") == jars_in("/no/where") == jars_in("/no/where.jar") == []
    folder = str(tmp_path / "own")
    found = options(home, needs=(KAFKA,), JARS=folder, KAFKA_JARS=str(tmp_path / "kafka"))
    assert found["--driver-class-path"] == ":".join(own)
    assert found["--jars"] == ",".join([*own, kafka])
    assert options(home, needs=(KAFKA,), JARS=folder, KAFKA_JARS="")["--jars"] == ",".join(own)
    with pytest.raises(CannotStart, match="run make kafka-jars"):
        options(home, needs=(KAFKA,), JARS=folder)


def test_it_prints_words_of_a_shell(
    home: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("COMPILED", "JARS", "CLASSES", "SPARK_CONF", "LOG4J2", "MASTER"):
        monkeypatch.delenv(f"GROUPREPLAY_{name}", raising=False)
    monkeypatch.setenv("GROUPREPLAY_JAVA", "-Da='b  c'")
    assert main(home, "run_nightly", "--config", "/no/where.yaml") == 0
    assert shlex.split(capsys.readouterr().out)[-1].endswith(" -Da='b  c'")
    monkeypatch.setenv("GROUPREPLAY_SPARK_CONF", "/no/where")
    assert main(home, "run_nightly") == 2
    assert capsys.readouterr().err == "/no/where cannot be read: No such file or directory.\n"
