#!/usr/bin/env bash
# ./spark-submit.sh JOB [options]: bundles the package and runs jobs/JOB.py by spark-submit. The
# same line serves a laptop and a cluster.
#
#   GROUPREPLAY_MASTER      where to run, over what the properties say: local[4],
#                           spark://host:7077, yarn, k8s://...
#   GROUPREPLAY_SPARK_CONF  properties file (conf/spark-local.conf)
#   GROUPREPLAY_JARS        folder with the Delta jars (what make setup fetched); empty: the
#                           cluster has them
#   GROUPREPLAY_KAFKA_JARS  folder with the jars of Spark's Kafka source (from make kafka-jars), for
#                           sources that ask a cluster; empty: as above
#   GROUPREPLAY_LOG4J2      logging of the JVM (conf/log4j2.properties; with --log-format json
#                           conf/log4j2-json.properties)
#   GROUPREPLAY_CLASSES     archive of Java's classes that make setup recorded: a start is seconds
#                           shorter with it, and nothing else differs
#   GROUPREPLAY_JAVA        more options for the driver's JVM
#   GROUPREPLAY_COMPILED    0: the pure core runs as Python; else a folder of compiled cores
#                           (.cache/compiled, from make setup)
#   GROUPREPLAY_ARCHIVE     compiled cores for executors (dist/groupreplay-compiled.tar.gz, from
#                           make compiled); empty: none
#   SPARK_HOME              a Spark of your own; else that of .venv
set -euo pipefail

home="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
job="${1:-}"
if [ -z "$job" ] || [ ! -f "$home/jobs/$job.py" ]; then
    {
        echo "usage: spark-submit.sh JOB --config FILE [options]; JOB --help says more." \
            "JOB is one of:"
        PYTHONPATH="$home/lib" python3 -m groupreplay.cli.job_list "$home/jobs"
    } >&2
    exit 2
fi
shift

# pip's spark-submit looks for Spark with the python3 on PATH, and workers must run the Python that
# has pandas.
if [ -x "$home/.venv/bin/python" ]; then
    export PATH="$home/.venv/bin:$PATH"
    export PYSPARK_PYTHON="${PYSPARK_PYTHON:-$home/.venv/bin/python}"
fi
submit="${SPARK_HOME:+$SPARK_HOME/bin/}spark-submit"
if ! command -v "$submit" >/dev/null; then
    echo "spark-submit was not found: run make setup, or set SPARK_HOME." >&2
    exit 2
fi

# A bundle is named for what it holds, so that no run changes the bundle of one under way; what none
# has used for a week goes.
dist="$home/dist"
if ! { mkdir -p "$dist" 2>/dev/null && [ -w "$dist" ]; }; then
    dist="${TMPDIR:-/tmp}/groupreplay-$(id -u)"
    mkdir -p "$dist"
fi
files() {
    (cd "$home/lib" && find -L groupreplay -type f ! -path '*/__pycache__/*' | LC_ALL=C sort)
}
digest() { sha256sum 2>/dev/null || shasum -a 256; }
holds="$({ python3 -V && files && (cd "$home/lib" && files | xargs cat); } | digest)"
bundle="$dist/groupreplay-${holds:0:16}.zip"
if [ -s "$bundle" ]; then
    touch "$bundle"
else
    made="$(mktemp -d "$dist/made.XXXXXX")/groupreplay.zip"
    (cd "$home/lib" && python3 -m zipfile -c "$made" groupreplay)
    # A copy of this folder that was made without .ci starts as well, only later.
    [ ! -x "$home/.ci/compile_zips" ] || "$home/.ci/compile_zips" "$made"
    mv -f "$made" "$bundle"
    find "$dist" -mindepth 1 -mtime +7 ! -name 'groupreplay-compiled*' ! -name '*.whl' -delete
    rmdir "${made%/*}"
fi

# 1 asks for what is there anyway; workers have to be told where.
if [ "${GROUPREPLAY_COMPILED:-1}" = 1 ] && [ -d "$home/.cache/compiled" ]; then
    export GROUPREPLAY_COMPILED="$home/.cache/compiled"
fi
# All that depends on the configuration, the properties and the environment.
python="$home/lib/groupreplay/cli/spark_options.py"
options="$(PYTHONPATH="$home/lib" python3 "$python" "$home" "$job" "$@")"
eval "options=($options)"

exec "$submit" --name "groupreplay $job" --py-files "$bundle" "${options[@]}" \
    "$home/jobs/$job.py" "$@"
