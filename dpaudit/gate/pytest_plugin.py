"""Does a release keep its claim, as one test among others? The fixture and the marker ``dp_audit`` of pytest.

    def test_release(dp_audit):
        dp_audit(noisy_count, claim="epsilon=1", pairs=PAIRS)

    @pytest.mark.dp_audit(noisy_count, claim="epsilon=1", pairs=PAIRS)
    def test_release(): ...

    @pytest.mark.dp_audit(noisy_count, claim="epsilon=1", pairs=PAIRS, trace=True)  # a few runs first, and their lines
    def test_release(): ...

    @pytest.mark.dp_audit(noisy_count, claim="epsilon=1", domain={"age": (0, 120)}, require="proved")
    def test_release(): ...

    @pytest.mark.dp_audit(account="plan.toml")  # releases to account for: nothing is run, and PROVED is required
    def test_training(): ...

Every audit has a fresh seed, which a failure reports; --dp-seed fixes it. As in any audit, the rule of two looks
(`dpaudit.stats.two_looks`) decides what is a violation: a mechanism that keeps its claim is called violated with a
probability of at most 0.001, or --dp-false-alarm. Only this file of dpaudit is imported before the first audit.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import re
import shlex
import textwrap
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence
    from dpaudit.neighbours import Relation
    from dpaudit.privacy import Claim
    from dpaudit.report.view import View

_PAGES = ".dpaudit/pytest"  # under the root folder of the tests
_UNCONFIRMED = "dpaudit-unconfirmed"
_BESIDE = "dpaudit-beside"
_WIDTH, _LABEL = 100, 12
_EXPECTED, _POLICIES, _REQUIRED = ("not violated", "violated"), ("fail", "pass"), ("audited", "proved")


def _read_count(text: str) -> int:
    """Read a whole number, also as 1e6 or 1_000_000."""
    try:
        number = float(text)
        return int(text) if text.strip().replace("_", "").isdigit() else _exactly(number)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number; write 100000, 1e5 or 100_000") from None


def _exactly(number: float) -> int:
    if number < 0 or number != int(number):
        raise ValueError(number)
    return int(number)


def _confidence(text: str) -> float:
    from dpaudit.decimals import refuse_confidence

    return _chance(text, refuse_confidence)


def _false_alarm(text: str) -> float:
    from dpaudit.decimals import refuse_false_alarm

    return _chance(text, refuse_false_alarm)


def _chance(text: str, refuse: Callable[[Any], None]) -> float:
    """Read a confidence, or the probability of a false alarm."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} does not lie between 0 and 1; write 0.95, or 0.001") from None
    try:
        refuse(number)
    except ValueError as error:  # a `UsageError` is one
        raise argparse.ArgumentTypeError(str(error)) from None
    return number


def _policy(text: str) -> str:
    """Read the policy for tests with an inconclusive audit."""
    if text not in _POLICIES:
        raise argparse.ArgumentTypeError(f"{text!r} is neither 'fail' nor 'pass'")
    return text


_SETTINGS: dict[str, tuple[Callable[[str], Any], Any, str]] = {
    "runs": (_read_count, 100_000, "executions of each audit in all"),
    "seed": (_read_count, None, "the root of every random draw; by default a fresh one, which a failure states"),
    "confidence": (_confidence, 0.95, "confidence of each audit's bounds"),
    "false_alarm": (_false_alarm, 1e-3, "chance that a mechanism that keeps its claim is called VIOLATED"),
    "inconclusive": (_policy, "fail", "what becomes of a test whose runs could not have shown a violation: fail, pass"),
    "html": (str, None, f"write the page of every audit into this folder (of failures alone: {_PAGES})"),
}


def _option(name: str) -> str:
    return f"--dp-{name.replace('_', '-')}"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --dp-runs, --dp-seed, … and the same as ini options, dp_runs, dp_seed, …."""
    group = parser.getgroup("dpaudit", "audits of differential privacy")
    for name, (read, default, meaning) in _SETTINGS.items():
        usual = "" if default is None else f" (default: {default})"
        group.addoption(_option(name), type=read, metavar=name.upper(), help=meaning + usual)
        parser.addini(f"dp_{name}", f"{meaning}; {_option(name)} overrides it{usual}", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and refuse invalid settings."""
    config.addinivalue_line(
        "markers",
        "dp_audit(target, *, claim, pairs, …): audit a mechanism before the test's body runs; takes what the fixture "
        "dp_audit takes. A function that stands alone in the marker is given as target=…",
    )
    for name in _SETTINGS:
        _setting(config, name)


def _setting(config: pytest.Config, name: str) -> Any:
    """Return a setting from the command line, else from the ini file, else its default."""
    read, default, _ = _SETTINGS[name]
    given, text = config.getoption(f"dp_{name}"), str(config.getini(f"dp_{name}"))
    try:
        return given if given is not None else read(text) if text else default
    except argparse.ArgumentTypeError as error:
        raise pytest.UsageError(f"dp_{name}: {error}") from None


@contextmanager
def _shown_warnings() -> Iterator[None]:
    """Show warnings only: with -W error one would become an output of the mechanism."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        yield


class Auditor:
    """Audits the mechanisms of one test; the value of the fixture ``dp_audit``.

    Attributes:
        evidence: of the last audit in this test, or None before the first.
    """

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._count = 0  # the number of audits so far, to distinguish their pages
        self.evidence: Evidence | None = None

    def __call__(
        self,
        target: Any = None,
        *,
        account: Any = None,
        training: Any = None,
        trace: bool = False,
        claim: Claim | str | Sequence[Claim | str] | None = None,
        pairs: Sequence[tuple[Any, Any]] | None = None,
        parameters: Mapping[str, Any] | None = None,
        relation: str | Relation | None = None,
        runs: int | float | None = None,
        confidence: float | None = None,
        false_alarm: float | None = None,
        seed: int | None = None,
        expect: str = "not violated",
        require: str = "audited",
        inconclusive: str | None = None,
        **options: Any,
    ) -> Evidence:
        """Audit a mechanism, or account for releases, and fail the test unless it ends as expected."""
        from dpaudit.evidence.evidence import against
        from dpaudit.report.view import view

        asked = {
            **options,
            "parameters": parameters,
            "claim": claim,
            "pairs": pairs,
            "relation": relation,
            "runs": self._own("runs", runs),
            "confidence": self._own("confidence", confidence),
            "false_alarm": self._own("false_alarm", false_alarm),
            "seed": self._own("seed", seed),
        }
        if account is not None:
            own = {"pairs": pairs, "parameters": parameters, "runs": runs, "confidence": confidence}
            own |= {"target": target, "false_alarm": false_alarm, "seed": seed}
            asked = {**options, "claim": claim, "relation": relation}
            asked |= {name: value for name, value in own.items() if value is not None}
        elif training is not None:
            asked = {name: value for name, value in asked.items() if value is not None and name != "runs"}
            asked |= {} if target is None else {"target": target}
        elif target is None:
            self._refuse(
                "give a target, or account=… with releases to account for, or training=… with a function that trains"
            )
        tolerated = self._own("inconclusive", inconclusive)
        if expect not in _EXPECTED:
            self._refuse(f"expect is 'not violated' or 'violated', not {expect!r}")
        if tolerated not in _POLICIES:
            self._refuse(f"inconclusive is 'fail' or 'pass', not {tolerated!r}")
        if trace and account is not None:
            self._refuse("nothing of releases is run, so that there is nothing to trace")
        if training is not None and (trace or account is not None):
            self._refuse("a training loop is watched by itself: leave trace and account out")
        if require not in _REQUIRED:
            self._refuse(f"require is 'audited' or 'proved', not {require!r}")
        proved, unproved = require == "proved" and expect != "violated", ""
        if proved and (trace or training is not None):
            what = "a trace" if trace else "a watched loop"
            self._refuse(f"{what} proves nothing, and require is 'proved'; leave one of the two out")
        if training is not None:
            evidence = self._train(training, asked)
        elif account is not None:
            evidence = self._account(account, asked)
        elif proved:
            evidence, unproved = self._prove(target, asked)
        else:
            evidence = self._audit(target, asked, trace)
        if account is None and training is None:
            asked["seed"] = evidence.seed
        self.evidence = evidence
        self._item.user_properties.append(("dpaudit", evidence.id))
        shown = view(evidence)
        told = [(_BESIDE, f"{evidence.target.name}: {_on_one_line(line)}") for line in shown.pressing_lines]
        told += [
            (_UNCONFIRMED, f"seed {evidence.seed}: {_on_one_line(row.line)}")
            for row in shown.stated
            if row.key == "doubt"
        ]
        if evidence.proof is not None and evidence.proof.given and str(evidence.verdict) == "proved":
            told.append((_BESIDE, f"{evidence.target.name}: {shown.headline.word}"))
        self._item.user_properties += told
        passes = "proved" if proved or (account is not None and expect == "not violated") else expect
        tolerates = (expect, tolerated) == ("not violated", "pass") and (account is not None or not proved)
        accepted = {passes, "proved"} if passes == "not violated" else {passes}  # a proof is more than was asked for
        accepted |= {"inconclusive"} if tolerates else set()
        spoken = expect == "not violated" and bool(against(evidence))  # no test passes beside what speaks against it
        failed = str(evidence.verdict) not in accepted or spoken
        page = self._page(evidence) if failed or _setting(self._item.config, "html") is not None else None
        if failed:
            more = [("run alone", self._alone(asked)), ("page", page or "")]
            why = (
                "" if not proved or account is not None else f"This test requires a proof{unproved and ': '}{unproved}."
            )
            self._fail(_message(shown, expect, target is None or _can_be_named(target), more, why))
        return evidence

    def _own(self, name: str, given: Any) -> Any:
        return given if given is not None else _setting(self._item.config, name)

    def _audit(self, target: Any, asked: dict[str, Any], traced: bool) -> Evidence:
        from dpaudit.auditing.trace import trace
        from dpaudit.verify.answer import audit

        conduct = trace if traced else audit
        known = inspect.signature(conduct).parameters
        self._take(asked, known, f"{'a trace' if traced else 'an audit'} takes no {{name!r}}")
        with self._refusing(), _shown_warnings():
            evidence = conduct(target, **asked)
        return self._claiming(evidence)

    def _take(self, asked: Mapping[str, Any], known: Collection[str], refusal: str) -> None:
        """Refuse the first option that is not known, by a sentence with its name."""
        from dpaudit.errors import nearest

        if other := next((name for name in asked if name not in known), None):
            self._refuse(f"{refusal.format(name=other)}; {nearest(other, known)}")

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Let the test fail for what is a `UsageError` inside, without its traceback."""
        from dpaudit.errors import UsageError

        try:
            yield
        except UsageError as error:
            why = str(error)
        else:
            return
        self._refuse(why)

    def _claiming(self, evidence: Evidence) -> Evidence:
        if evidence.claim is None:
            self._refuse(
                f"there is no claim to hold {evidence.target.name} against, so this test could not fail; "
                "give one, such as claim='epsilon=1' (dpaudit.audit makes evidence without a claim)"
            )
        self._count += 1
        return evidence

    def _prove(self, target: Any, asked: dict[str, Any]) -> tuple[Evidence, str]:
        """Return a proof; or an audit, on the data that the test gives, and why there is no proof."""
        from dpaudit.errors import UsageError
        from dpaudit.request import AuditRequest, ProofRequest, options_of
        from dpaudit.verify.answer import prove

        audits, proofs = options_of(AuditRequest), options_of(ProofRequest)
        self._take(asked, [*audits, *proofs], "neither a proof nor an audit takes {name!r}")
        data = asked.get("data") if isinstance(asked.get("domain"), Mapping) else None
        given = {name: value for name, value in asked.items() if name in proofs}
        try:
            with _shown_warnings():
                evidence = prove(target, **{**given, "data": data})
        except UsageError as error:
            why = str(error)
        else:
            return self._claiming(evidence), ""
        if asked.get("given") is not None or (asked.get("pairs") is None and asked.get("data") is None):
            self._refuse(why)
        beside = {"length"} if asked.get("pairs") is None else {"length", "domain"}
        return self._audit(target, {name: value for name, value in asked.items() if name not in beside}, False), why

    def _train(self, training: Any, asked: dict[str, Any]) -> Evidence:
        from dpaudit.request import TrainingRequest, options_of
        from dpaudit.training.watch import watched

        known = [name for name in options_of(TrainingRequest) if name != "keep_data"]
        self._take(asked, known, "{name} has no meaning beside training")
        if "claim" not in asked:
            self._refuse("give a claim to hold it to: claim='epsilon=8, delta=1e-5'")
        with self._refusing():
            own = getattr(training, "__name__", type(training).__name__)
            evidence, raised = watched(training, {"name": own, **asked})
        if raised is not None:
            raise raised  # what the training raised is what the test raises
        self._count += 1
        return evidence

    def _account(self, account: Any, asked: Mapping[str, Any]) -> Evidence:
        from dpaudit.accounts.account import carry_out
        from dpaudit.accounts.plan import is_plan_file, settings_plan
        from dpaudit.request import AccountRequest, options_of

        self._take(asked, options_of(AccountRequest), "{name} has no meaning beside account, for nothing is run")
        events, file = account, account if isinstance(account, str) and is_plan_file(account) else None
        with self._refusing():
            if file is not None or (isinstance(account, Mapping) and not {"history", "class_name"} & set(account)):
                events = settings_plan(account, self._item.path.parent)
            evidence = carry_out(AccountRequest(events, **{"alone": True, **asked}))
            evidence = evidence if file is None else evidence.with_files([str(self._item.path.parent / file)])
        if evidence.claim is None:
            self._refuse(
                "there is no claim to hold the releases against, so this test could not fail; give one, such as "
                "claim='epsilon=3, delta=1e-5'"
            )
        self._count += 1
        return evidence

    def _refuse(self, why: str) -> NoReturn:
        self._fail(f"dpaudit cannot audit this: {why}")

    def _fail(self, message: str) -> NoReturn:
        pytest.fail(message, pytrace=False)

    def _page(self, evidence: Evidence) -> str:
        """Write the page atomically; a failure to write it must not hide the verdict."""
        from dpaudit.errors import UsageError

        config = self._item.config
        asked = _setting(config, "html")
        folder = config.rootpath / _PAGES if asked is None else config.invocation_params.dir / asked
        name = re.sub(r"[^\w.-]+", "-", self._item.nodeid).strip("-")[-80:]
        known = hashlib.sha256(f"{self._item.nodeid} {self._count}".encode()).hexdigest()[:8]
        place = folder / f"{name}-{known}.html"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if asked is None:
                (folder / ".gitignore").write_text("*\n", encoding="utf-8")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                evidence.to_html(place)
        except (OSError, UsageError) as error:
            return f"could not be written: {error}"
        here = config.invocation_params.dir
        return str(place.relative_to(here) if place.is_relative_to(here) else place)

    def _alone(self, asked: Mapping[str, Any]) -> str:
        words = ["pytest", self._item.nodeid]
        for name in ("seed", "runs", "confidence", "false_alarm"):
            words += [_option(name), str(asked[name])] if name in asked else []
        return shlex.join(words)


# --- what a failure says ----------------------------------------------------------------------------------


def _message(shown: View, expect: str, named: bool, more: Sequence[tuple[str, str]], required: str = "") -> str:
    """Return the verdict, what was audited, which event showed most on which pair, and how to reproduce it."""
    from dpaudit.evidence.evidence import against
    from dpaudit.report.document import Importance

    head = shown.headline
    sentences = [f"{head.word}: {head.sentence}", head.caution, *filter(None, [required])]
    if expect == "violated":
        sentences.append("This test expects that a violation is found.")
    if str(shown.evidence.verdict) == "inconclusive" and expect != "violated" and shown.evidence.accounting is not None:
        sentences.append("Give the test a smaller tolerance=…, or inconclusive='pass' to let it pass as it is.")
    elif against(shown.evidence):
        sentences.append("More runs do not answer a finding: look at its line, or claim what it costs.")
    elif str(shown.evidence.verdict) == "inconclusive" and expect != "violated" and not required:
        sentences.append("Give the test more runs, or inconclusive='pass' to let it pass as it is.")
    lines = [line for text in sentences for line in textwrap.wrap(_on_one_line(text), _WIDTH)]
    unnamed = () if named else ("reproduce", "note")
    rows = [
        (row.label, row.line) for row in shown.select(Importance.BRIEF, "decided", "pair") if row.key not in unnamed
    ]
    return "\n".join([*lines, *(f"  {label:<{_LABEL}}{_on_one_line(text)}" for label, text in [*rows, *more])])


def _on_one_line(text: str) -> str:
    from dpaudit.report.text.phrases import one_line

    return one_line(text)


def _can_be_named(target: Any) -> bool:
    """Whether the command line can load the target."""
    from dpaudit.loading import load

    return load(target).reference is not None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report what passed tests do not show: unconfirmed bounds above a claim, and findings beside a verdict."""
    titles = {
        _UNCONFIRMED: "bounds above the claim that are no violation",
        _BESIDE: "found beside the verdict",
    }
    reports = [report for reports_of in terminalreporter.stats.values() for report in reports_of]
    for key, title in titles.items():
        told = [
            (report.nodeid, text)
            for report in reports
            if getattr(report, "when", None) == "call"
            for name, text in report.user_properties
            if name == key
        ]
        if told:
            terminalreporter.section(f"dpaudit: {title}")
            for test, text in dict.fromkeys(told):
                terminalreporter.line(f"{test}: {text}")


# --- where pytest finds it --------------------------------------------------------------------------------

_AUDITOR = pytest.StashKey[Auditor]()


def _auditor(item: pytest.Item) -> Auditor:
    """Return the auditor of a test, which its markers and its fixture share."""
    return item.stash.setdefault(_AUDITOR, Auditor(item))


@pytest.fixture
def dp_audit(request: pytest.FixtureRequest) -> Auditor:
    """Audit mechanisms: to call it with a target, a claim and pairs fails the test unless the claim is kept."""
    return _auditor(request.node)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Carry out the audits of the test's markers before the test itself."""
    for mark in item.iter_markers("dp_audit"):
        if len(mark.args) + sum(name in mark.kwargs for name in ("target", "account", "training")) != 1:
            pytest.fail(
                "the marker dp_audit is given one target, account=… or training=…, and the rest by name: claim=…, "
                "pairs=…",
                pytrace=False,
            )
        _auditor(item)(*mark.args, **mark.kwargs)
