"""``python -m dpaudit`` is the command ``dpaudit``; both begin here, where nothing but Python itself is needed."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; an installation that cannot be imported is exit code 2, for 1 would mean VIOLATED."""
    try:
        from dpaudit.cli.main import main as run
    except BaseException as error:
        why = f"{type(error).__name__}: {error}"
        print(f"dpaudit: it cannot start ({why}); install it again: pip install --upgrade dpaudit", file=sys.stderr)
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 2)
    run()


if __name__ == "__main__":
    main()
