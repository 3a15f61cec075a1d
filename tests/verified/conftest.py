"""What runs the checker with a theorem: node; tests are skipped, with the reason, where there is none."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files

import pytest

SCRIPT = files("dpaudit.report.html").joinpath("checker.js")
_ASK = """
require(process.argv[1]);
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(texts.map(text => {
  const started = process.cpuUsage(), said = globalThis.dpaudit_check(text), spent = process.cpuUsage(started);
  return [...said, (spent.user + spent.system) / 1e6];
})));
"""


@pytest.fixture(scope="session")
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed (on Debian: apt install nodejs)")
    return found


@pytest.fixture(scope="session")
def ask(node):
    """Return what the script says of texts or documents: (word, sentence, seconds of CPU time) each."""

    def asked(*given):
        texts = [each if isinstance(each, str) else json.dumps(each) for each in given]
        ran = subprocess.run([node, "-e", _ASK, str(SCRIPT)], input=json.dumps(texts), capture_output=True, text=True)
        assert not ran.stderr, ran.stderr
        return [tuple(each) for each in json.loads(ran.stdout)]

    return asked
