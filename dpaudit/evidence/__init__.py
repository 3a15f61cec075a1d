"""What did an audit or a proof find? A record that anyone can cite and check."""

__all__ = ["build", "canonical_json", "event", "evidence", "further_records", "records", "registered"]
