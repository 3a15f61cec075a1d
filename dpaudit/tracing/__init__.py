"""What do a few recorded and replayed runs of a release show? Its noise is followed from the draw to the output."""

__all__ = ["certain", "findings", "forms", "laws", "noises", "pair", "recording", "released", "runs", "search"]
