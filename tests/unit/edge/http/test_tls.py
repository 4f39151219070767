"""Certificates: whom a client trusts, by which name, and what it shows."""

import ssl
from pathlib import Path

import pytest
import trustme

from springtide.edge.http import Exchange, HttpFault, Server, Unreachable, Unusable, client_context
from springtide.model.scheduler import ExtenderTLSConfig
from tests.serving import Extender, Reply, serving

LONG_S = 20.0
AUTHORITY = trustme.CA()
STRANGER = trustme.CA()
CA = AUTHORITY.cert_pem.bytes()
CLIENT = AUTHORITY.issue_cert("client@example.com")
CERTIFICATE = CLIENT.cert_chain_pems[0].bytes()
KEY = CLIENT.private_key_pem.bytes()


def context(*names: str, asks_client: bool = False) -> ssl.SSLContext:
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    AUTHORITY.issue_cert(*names).configure_cert(made)
    if asks_client:
        AUTHORITY.configure_trust(made)
        made.verify_mode = ssl.CERT_REQUIRED
    return made


def post(extender: Extender, settings: ExtenderTLSConfig, *, url: str = "") -> bytes | HttpFault:
    server = Server(
        url=url or extender.url, tls=client_context(settings), name=settings.server_name
    )
    with Exchange(server) as exchange:
        return exchange.post_all([b"{}"], timeout_s=LONG_S)[0]


def ok(*_: object) -> Reply:
    return Reply(body=b"{}")


@pytest.mark.parametrize("by_file", [True, False])
def test_a_server_of_the_given_ca_is_trusted(*, by_file: bool, tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.write_bytes(CA)
    settings = ExtenderTLSConfig(ca_file=str(path)) if by_file else ExtenderTLSConfig(ca_data=CA)

    with serving(ok, tls=context("127.0.0.1")) as extender:
        answer = post(extender, settings)

    assert answer == b"{}"


def test_data_goes_before_files() -> None:
    settings = ExtenderTLSConfig(ca_file="nowhere.pem", ca_data=CA)

    with serving(ok, tls=context("127.0.0.1")) as extender:
        answer = post(extender, settings)

    assert answer == b"{}"


@pytest.mark.parametrize(
    "settings", [ExtenderTLSConfig(ca_data=STRANGER.cert_pem.bytes()), ExtenderTLSConfig()]
)
def test_a_server_of_another_ca_is_not_trusted(settings: ExtenderTLSConfig) -> None:
    with serving(ok, tls=context("127.0.0.1")) as extender:
        fault = post(extender, settings)

    assert isinstance(fault, Unreachable)
    assert "certificate is not valid" in str(fault)
    assert not extender.asked


def test_a_server_of_another_name_is_not_trusted() -> None:
    with serving(ok, tls=context("extender.example.com")) as extender:
        fault = post(extender, ExtenderTLSConfig(ca_data=CA))

    assert isinstance(fault, Unreachable)
    assert not extender.asked


def test_the_server_name_is_the_one_that_is_checked() -> None:
    settings = ExtenderTLSConfig(ca_data=CA, server_name="extender.example.com")

    with serving(ok, tls=context("extender.example.com")) as extender:
        answer = post(extender, settings)

    assert answer == b"{}"


def test_a_server_name_that_the_certificate_lacks_is_a_mismatch() -> None:
    settings = ExtenderTLSConfig(ca_data=CA, server_name="other.example.com")

    with serving(ok, tls=context("127.0.0.1")) as extender:
        fault = post(extender, settings)

    assert isinstance(fault, Unreachable)
    assert not extender.asked


def test_an_insecure_client_trusts_everybody() -> None:
    with serving(ok, tls=context("elsewhere.example.com")) as extender:
        answer = post(extender, ExtenderTLSConfig(insecure=True))

    assert answer == b"{}"


@pytest.mark.parametrize("by_file", [True, False])
def test_a_client_shows_its_certificate(*, by_file: bool, tmp_path: Path) -> None:
    settings = ExtenderTLSConfig(ca_data=CA, cert_data=CERTIFICATE, key_data=KEY)
    if by_file:
        for name, data in (("cert.pem", CERTIFICATE), ("key.pem", KEY)):
            (tmp_path / name).write_bytes(data)
        settings = ExtenderTLSConfig(
            ca_data=CA, cert_file=str(tmp_path / "cert.pem"), key_file=str(tmp_path / "key.pem")
        )

    with serving(ok, tls=context("127.0.0.1", asks_client=True)) as extender:
        answer = post(extender, settings)

    assert answer == b"{}"


@pytest.mark.parametrize(
    "settings",
    [ExtenderTLSConfig(ca_data=CA), ExtenderTLSConfig(ca_data=CA, cert_data=CERTIFICATE)],
)
def test_without_certificate_and_key_a_client_shows_nothing(settings: ExtenderTLSConfig) -> None:
    with serving(ok, tls=context("127.0.0.1", asks_client=True)) as extender:
        fault = post(extender, settings)

    assert isinstance(fault, Unreachable)
    assert not extender.asked


def test_at_least_tls_1_2_is_spoken() -> None:
    assert client_context(ExtenderTLSConfig()).minimum_version is ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize(
    ("settings", "field", "words"),
    [
        (
            ExtenderTLSConfig(insecure=True, ca_data=CA),
            "insecure",
            "specifying a root certificates file with the insecure flag is not allowed",
        ),
        (ExtenderTLSConfig(server_name=".x"), "serverName", "cannot start with a dot"),
        (ExtenderTLSConfig(ca_file="nowhere.pem"), "caFile", "No such file or directory"),
        (ExtenderTLSConfig(ca_data=b"no PEM"), "caData", "no certificate in it"),
        (ExtenderTLSConfig(ca_data=b"\xff"), "caData", "no certificate in it"),
        (
            ExtenderTLSConfig(cert_file="nowhere.pem", key_data=KEY),
            "certFile",
            "No such file or directory",
        ),
        (
            ExtenderTLSConfig(cert_data=CERTIFICATE, key_data=b"no PEM"),
            "certData",
            "no pair of PEM certificate and key",
        ),
        (
            ExtenderTLSConfig(
                cert_data=CERTIFICATE,
                key_data=AUTHORITY.issue_cert("b@example.com").private_key_pem.bytes(),
            ),
            "certData",
            "no pair of PEM certificate and key",
        ),
    ],
)
def test_settings_that_cannot_work_are_named(
    settings: ExtenderTLSConfig, field: str, words: str
) -> None:
    with pytest.raises(Unusable, match=words) as caught:
        client_context(settings)

    assert caught.value.field == field
