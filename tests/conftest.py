"""Settings that every test runs under.

Generated tests are not judged by time: a timing on a shared machine says nothing about the code, and
`timeout` in pyproject.toml still ends a test that hangs. The rest is hypothesis' own choice, which
under CI draws the same examples in every run.
"""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "springtide",
    parent=settings(),
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("springtide")
