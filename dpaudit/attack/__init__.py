"""Which outputs tell the two datasets apart? Learning runs in, frozen events out; no measuring run is seen here."""

from dpaudit.attack.choose import Choice, choose, halves
from dpaudit.attack.partition import Partition, count_event

__all__ = ["Choice", "Partition", "choose", "count_event", "halves"]
