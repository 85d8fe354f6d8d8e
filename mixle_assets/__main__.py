"""``python -m mixle_assets`` and the ``mixle-assets`` command."""

from mixle_assets.cli import main

if __name__ == "__main__":
    main()
