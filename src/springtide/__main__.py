"""`python -m springtide`: the same program as the `springtide` command."""

from springtide.cli.main import main

if __name__ == "__main__":
    main()
