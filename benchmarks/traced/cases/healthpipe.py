"""Uses of healthpipe."""

from __future__ import annotations

import sys
from types import ModuleType

from case import Case
from pydantic import BaseModel


class PrivacyBudget(BaseModel):
    """Stands in for the release's own, with which it imports under no version of pydantic; there is no noise in it."""

    total_epsilon: float = 1.0
    epsilon_remaining: float = 1.0

    def spend(self, epsilon: float, description: str = "") -> None:
        """Note nothing."""


budget = ModuleType("healthpipe.privacy.budget")
budget.PrivacyBudget = PrivacyBudget
sys.modules["healthpipe.privacy.budget"] = budget

from healthpipe.deidentify.safe_harbor import DeidentifiedDataset  # noqa: E402
from healthpipe.ingest.schema import ClinicalDataset, ClinicalRecord  # noqa: E402
from healthpipe.privacy.differential import Count, Histogram, Mean, private_stats  # noqa: E402

DISTRIBUTION = "healthpipe"


def ask(query):
    def release(data):
        records = [ClinicalRecord(resource_type="Patient", data=each) for each in data]
        return private_stats(DeidentifiedDataset(dataset=ClinicalDataset(records=records)), epsilon=1.0,
                             queries=[query]).results  # fmt: skip

    return release


AGES = ([{"age": 30.0}, {"age": 40.0}], [{"age": 30.0}, {"age": 90.0}])
CASES = [
    Case("Histogram", ask(Histogram(field="ward")), ([{"ward": "a"}], [{"ward": "a"}, {"ward": "b"}]),
         mistake="keys that come from the data", relation="add-remove"),
    Case("Mean, records added", ask(Mean(field="age", clamp_range=(0, 100))), ([{"age": 5.0}], [{"age": 5.0}] * 2),
         mistake="noise for the number of records that is there", relation="add-remove"),
    Case("Mean, a field that is missing", ask(Mean(field="age", clamp_range=(0, 100))),
         ([{"age": 100.0}, {}, {}, {}], [{"age": 0.0}, {}, {}, {}]),
         mistake="divided by fewer records than the noise is made for"),
    Case("Count", ask(Count(field="patient")), ([{}], [{}, {}]), relation="add-remove"),
    Case("Mean", ask(Mean(field="age", clamp_range=(0, 100))), AGES),
]  # fmt: skip
