"""What bound do the releases of a program prove? A table of programs, wrong twins, and programs that smuggle."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from support import releases as table

import dpaudit as dp
from dpaudit.checker import CertificateError, check_certificate
from dpaudit.errors import UsageError
from dpaudit.evidence.records import Verdict
from dpaudit.privacy.claims import as_claim
from dpaudit.program.fold import Fold
from dpaudit.targets.mechanism import mechanism
from dpaudit.verify.fold import prove_fold
from dpaudit.verify.releases.derive import derive
from dpaudit.verify.releases.read import as_releases

pytest.importorskip("pandas")
SMALL = {"age": (0, 120), "city": list(table.CITIES)}


def derived(program, relation="add-remove", claim="epsilon=1", domain=SMALL, **parameters):
    made = mechanism(program)
    given = made.parameters_with(parameters)
    return derive(made, given, domain=domain, relation=relation, claim=as_claim(claim))


def found_of(row):
    if isinstance(row.program, Fold):
        return prove_fold(row.program, relation=row.relation, runs=12)
    with np.errstate(all="ignore"):
        return derived(row.program, row.relation, row.claim, table.DOMAIN)


def names(row):
    return f"{row.name}-{row.relation}-{row.claim}"


WITHOUT_A_BOUND = {
    table.census, table.partitions_from_five, table.most_common_too_soon, table.truncated_count,
    table.vector_and_its_noise,
}  # fmt: skip
"""Programs that are read, and have no bound of the notion, or at the δ, that is claimed."""
QUICK = {table.count, table.by_city, table.two_stage, table.gaussian_pair}


AT_NIGHT = {table.sampled_sgd, table.top_three}
"""Right programs that take long; their wrong twins are tried in every run."""


def rows(listed, every):
    """Rows of a table: those that are quick, and of others one of some, are tried in every run."""
    for number, row in enumerate(listed):
        is_later = row.program in AT_NIGHT or (number % every and row.program not in QUICK)
        marks = () if row.program in QUICK else (pytest.mark.slow, pytest.mark.nightly)[: 1 + bool(is_later)]
        yield pytest.param(row, id=names(row), marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize("row", list(rows(table.RIGHT, every=10)))
def test_a_right_program_has_exactly_the_bound_of_theory(row):
    found = found_of(row)
    assert found.open_ends == ()
    assert row.is_bound(found.bound)
    assert found.bound <= Fraction(as_claim(row.claim).value)
    assert check_certificate(json.loads(json.dumps(found.certificate))).bound == found.bound


@pytest.mark.parametrize("row", list(rows(table.TWINS, every=6)))
def test_a_wrong_twin_is_refused_or_has_its_own_larger_bound(row):
    found = found_of(row)
    assert row.is_bound(found.bound)
    if row.bound is None:
        assert found.open_ends or row.program in WITHOUT_A_BOUND
        return
    assert found.bound > Fraction(as_claim(row.claim).value)


# --- programs that smuggle ----------------------------------------------------------------------------------


def swallowed(people, noise):
    try:
        return float(len(people))
    except BaseException:
        return 0.0


def kept_default(people, noise, kept=[]):  # noqa: B006
    kept.append(1)
    return len(people) + noise.laplace(len(kept))


PRICE = {}


def cached_price(people, noise):
    scale = PRICE.setdefault("scale", 100)
    PRICE["scale"] = 1
    return len(people) + noise.laplace(scale)


def looks_at_the_type(people, noise):
    return len(people) + noise.laplace(1) if hasattr(people, "tracked_len") else len(people)


def looks_at_the_class(people, noise):
    if type(people).__name__ == "Frame":
        return len(people) + noise.laplace(1)
    return float(len(people))


def hidden_in_a_list(people, noise):
    return {"a": [1, (people["age"].sum(),)]}


def private_in_post(people, noise):
    size = len(people) + noise.laplace(1)
    return noise.post(lambda number: number + people["age"].sum(), size)


def private_default_in_post(people, noise):
    size = len(people) + noise.laplace(1)
    return noise.post(lambda number, secret=people["age"]: number + secret.sum(), size)


class Holder:
    def __init__(self, people):
        self.people = people

    def told(self, number):
        return number + len(self.people)


def private_self_in_post(people, noise):
    return noise.post(Holder(people).told, len(people) + noise.laplace(1))


def private_argument_of_post(people, noise):
    return noise.post(lambda number, rows: number, len(people) + noise.laplace(1), [people])


SEEN = []


def post_that_changes_a_global(people, noise):
    size = len(people) + noise.laplace(1)
    noise.post(lambda number: SEEN.append(number), size)
    return len(people) + noise.laplace(1) if SEEN else 0


def post_that_fills_a_box(people, noise):
    box = []
    noise.post(lambda number: box.append(number), len(people) + noise.laplace(1))
    return [len(people) + noise.laplace(1) for _ in box]


def post_that_draws(people, noise):
    return noise.post(lambda number: number + noise.laplace(1), len(people) + noise.laplace(1))


def same_noise_twice(people, noise):
    drawn = noise.laplace(1)
    return len(people[people["age"] < 18]) + drawn, len(people[people["age"] >= 18]) + drawn


def noise_taken_back(people, noise):
    drawn = noise.laplace(1)
    return (len(people) + drawn) - drawn


def scale_from_the_data(people, noise):
    return len(people) + noise.laplace(len(people))


def scale_of_another_release(people, noise):
    bound = len(people) + noise.laplace(1)
    if bound > 1:
        return people["age"].clip(0, bound).sum() + noise.laplace(bound * bound)
    return 0


def bound_that_may_be_negative(people, noise):
    bound = len(people) + noise.laplace(1)
    return people["age"].clip(0, bound).sum() + noise.laplace(1000)


def text_of_a_token(people, noise):
    size = len(people) + noise.laplace(1)
    return "many" if "9" in f"{size}" else len(people)


def hash_of_a_token(people, noise):
    return {len(people) + noise.laplace(1): 1}


def index_by_a_token(people, noise):
    return [1, 2, 3][len(people) + noise.discrete_laplace(1)]


def order_of_rows(people, noise):
    return list(people["city"].unique())


def labels_of_rows(people, noise):
    return people.index.tolist()


def metadata(people, noise):
    return people.shape[0]


def remembered_len(people, noise, count=len):
    return count(people) + noise.laplace(1)


def rare_branch(people, noise):
    size = len(people) + noise.laplace(1)
    if size > 1e9:
        return len(people)
    return size


def clock(people, noise):
    import time

    return len(people) + noise.laplace(1 if time.time() > 0 else 100)


def global_generator(people, noise):
    np.random.random()  # noqa: NPY002
    return len(people) + noise.laplace(1)


def changes_its_data(people, noise):
    people["age"] = people["age"].clip(0, 1)
    return people["age"].sum() + noise.laplace(1)


HOSTILE = [
    swallowed, kept_default, cached_price, looks_at_the_type, looks_at_the_class, hidden_in_a_list,
    private_in_post, private_default_in_post, private_self_in_post, private_argument_of_post,
    post_that_changes_a_global, same_noise_twice, noise_taken_back, scale_from_the_data, scale_of_another_release,
    bound_that_may_be_negative, text_of_a_token, hash_of_a_token, order_of_rows, labels_of_rows, metadata,
    rare_branch,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("program", HOSTILE, ids=lambda each: each.__name__)
def test_nothing_is_proved_of_a_program_that_smuggles(program):
    with np.errstate(all="ignore"):
        found = derived(program)
    assert found.bound is None
    assert found.certificate is None
    assert found.open_ends


READ = {
    post_that_fills_a_box: 2,
    post_that_draws: 1,
    index_by_a_token: 1,
    remembered_len: 1,
    clock: 1,
    global_generator: 1,
}


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("program", READ, ids=lambda each: each.__name__)
def test_what_looks_like_smuggling_and_is_none_is_paid_for(program):
    assert derived(program).bound == READ[program]


# --- runs on neighbouring frames ----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_reading_by_which_records_move_too_little_disagrees_with_runs(monkeypatch):
    def read(reading):
        found = as_releases(reading)
        return replace(
            found, paths=tuple(tuple(replace(each, scale=2 * each.scale) for each in path) for path in found.paths)
        )

    monkeypatch.setattr("dpaudit.verify.releases.derive.as_releases", read)
    found = derived(table.count)
    assert found.bound is None
    assert "the noise has to shift by more than was read" in found.open_ends[0]


# --- rules that are easily got wrong ------------------------------------------------------------------------


@pytest.mark.slow
def test_two_cuts_of_one_person_are_priced_as_if_they_took_different_rows():
    def release(people, noise):
        young, old = people[people["age"] < 18], people[people["age"] >= 65]
        one, other = young.groupby("person").head(5), old.groupby("person").head(3)
        return len(one) + noise.laplace(1), len(other) + noise.laplace(1)

    domain = {"age": (0, 120), "person": list(range(40))}
    assert derived(release, "add-remove(person=person)", "epsilon=8", domain).bound == 8


@pytest.mark.slow
def test_a_person_who_is_replaced_may_have_no_row_left():
    def release(people, noise):
        old = people[people["age"] >= 65].groupby("person").head(1)
        return len(old) + noise.laplace(1), old["age"].sum() + noise.laplace(120)

    domain = {"age": (0, 120), "person": list(range(40))}
    found = derived(release, "replace(person=person)", "epsilon=2", domain)
    assert (found.open_ends, found.bound) == ((), 2)


@pytest.mark.slow
def test_a_repeated_step_counts_every_time_and_its_sample_is_drawn_every_time():
    def release(people, noise):
        def step(total):
            return total + noise.poisson(people, 0.5)["age"].sum() + noise.laplace(120)

        return noise.repeat(3, step, 0.0)

    found = derived(release, claim="epsilon=2")
    assert float(found.bound) == pytest.approx(3 * np.log(1 + 0.5 * (np.e - 1)), abs=1e-9)
    assert found.bound > 3 * Fraction(str(np.log(1 + 0.5 * (np.e - 1)) - 1e-12))


@pytest.mark.slow
def test_one_sample_outside_of_a_repeated_step_is_amplified_once():
    def release(people, noise):
        some = noise.poisson(people, 0.5)
        return noise.repeat(3, lambda total: total + len(some) + noise.laplace(1), 0.0)

    assert float(derived(release, claim="epsilon=3").bound) == pytest.approx(np.log(1 + 0.5 * (np.e**3 - 1)), abs=1e-9)


@pytest.mark.slow
def test_a_group_pays_for_each_of_its_steps():
    assert derived(table.count, "add-remove(group=3)", "epsilon=3").bound == 3
    assert derived(table.gaussian_pair, "add-remove(group=3)", "rho=2.25").bound == Fraction(9, 4)
    assert derived(table.gaussian_pair, "add-remove(group=3)", "mu=3").bound == pytest.approx(3 / 2**0.5)


@pytest.mark.slow
def test_rho_becomes_epsilon_at_a_delta_for_noise_on_whole_numbers():
    found = derived(table.census, claim="epsilon=4, delta=1e-6")
    assert float(found.bound) == pytest.approx(0.25 + 2 * np.sqrt(0.25 * np.log(1e6)), abs=1e-9)


@pytest.mark.slow
def test_one_rule_has_to_do_for_all_paths():
    """Which path is taken is an output: the better rule of each path by itself would be no theorem."""

    def release(people, noise):
        if len(people) + noise.laplace(4) > 10:
            return len(people) + noise.laplace(1)
        return len(people) + noise.gaussian(2)

    rho = Fraction(1, 32) + Fraction(1, 2)
    found = derived(release, claim="epsilon=4, delta=1e-6")
    assert float(found.bound) == pytest.approx(float(rho) + 2 * np.sqrt(float(rho) * np.log(1e6)), abs=1e-9)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"domain": {"age": (120, 0)}}, "lower end first"),
        ({"domain": {}}, "needs a domain by columns"),
        ({"domain": {"=age": (0, 120)}}, "rename it"),
        ({"domain": {"age": [1, "a"]}}, "lists values of several types"),
        ({"relation": "queries"}, "a proof from records holds under"),
        ({"relation": "add-remove(person=who)"}, "names no column 'who'"),
        ({"length": 5}, "leave out the length"),
    ],
)
def test_bad_input_gets_a_sentence(options, told):
    with pytest.raises(UsageError, match=told):
        dp.prove(table.count, **{"domain": SMALL, "relation": "add-remove", "claim": "epsilon=1", "runs": 0, **options})


def changes_a_column(people, noise):
    people.loc[people["age"] > 100, "age"] = 100
    return people["age"].sum() + noise.laplace(100)


@pytest.mark.slow
@pytest.mark.parametrize("program", [changes_its_data, changes_a_column], ids=lambda each: each.__name__)
def test_a_function_that_changes_its_frame_is_refused_by_its_line(program):
    (why, *_) = derived(program).open_ends
    assert why.startswith("test_releases.py:")
    assert "this changes the caller's data; write instead: df = df.copy() before it" in why


@pytest.mark.slow
def test_half_a_range_is_asked_about_and_a_range_may_have_missing_values():
    with pytest.raises(UsageError, match="has one number and a null: write"):
        derived(table.count, domain={"age": [0, None]})
    found = derived(filled_in, domain={"age": [(0, 120), None]})
    assert (found.open_ends, found.bound) == ((), 121)
    assert derived(filled_in, "replace", domain={"age": [(0, 120), None]}).bound == 115 + 1


def filled_in(people, noise):
    """Missing values count as 5, so that replaced ones move the sum by at most 115."""
    total = people["age"].fillna(5).clip(5, 120).sum() + noise.laplace(1)
    return total, people["age"].count() + noise.laplace(1)


def test_a_column_that_does_not_exist_is_named_with_the_line():
    def release(people, noise):
        return people["agee"].sum() + noise.laplace(1)

    with pytest.raises(UsageError, match=r"test_releases.py:.*no column 'agee'.*--domain 'agee=…', which declares it"):
        derived(release)


# --- the whole way ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("all_pairs")
def test_prove_says_proved_with_a_certificate_and_runs_that_agree():
    evidence = dp.prove(table.count, domain=SMALL, relation="add-remove", claim="epsilon=1", runs=4_000, seed=1)
    assert evidence.verdict is Verdict.PROVED
    assert (evidence.upper.exact, evidence.upper.parameter, evidence.proof.method) == ("1", "epsilon", "releases")
    assert evidence.proof.comparison.runs == 48
    assert evidence.lower.value <= 1


@pytest.mark.slow
def test_prove_audits_the_pair_that_a_failed_derivation_suspects():
    with np.errstate(all="ignore"):
        evidence = dp.prove(
            table.mean_over_the_true_size, domain=SMALL, relation="add-remove", claim="epsilon=1", runs=4_000, seed=1
        )
    assert evidence.verdict is Verdict.VIOLATED
    assert "a quotient by a private number" in evidence.proof.comparison.open_ends[0]
    assert "releases.py:" in evidence.proof.comparison.open_ends[0]


@pytest.mark.slow
def test_a_bound_above_the_claim_is_no_refutation():
    evidence = dp.prove(
        table.sum_of_a_clipped_copy, domain=table.DOMAIN, relation="add-remove", claim="epsilon=19", runs=0, seed=1
    )
    assert evidence.verdict is Verdict.INCONCLUSIVE
    assert evidence.upper.exact == "20"


@pytest.mark.slow
def test_gaussian_noise_is_proved_in_rho_and_in_mu():
    for claim in ("rho=0.25", "mu=0.70711"):
        evidence = dp.prove(table.gaussian_pair, domain=SMALL, relation="add-remove", claim=claim, runs=0, seed=1)
        assert evidence.verdict is Verdict.PROVED
        assert evidence.upper.parameter == claim.partition("=")[0]


@pytest.mark.slow
def test_a_changed_certificate_is_noticed():
    certificate = derived(table.two_stage).certificate
    certificate["releases"][1]["scale"] = "161"
    with pytest.raises(CertificateError, match="the releases show the bound"):
        check_certificate(certificate)
