"""Configuration that the pages show for other software: read, and tried where that is installed."""

import configparser
import http.client
import json
import shutil
import ssl
import subprocess

import pytest

from docs_pages import blocks, free_port, wait_for
from service_process import SCRIPT, Server

PAGE = "docs/guides/production.md"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


def shown(title):
    (text,) = (block.text for block in blocks(PAGE) if block.title == title)
    return text


def test_the_unit_file_can_be_read():
    unit = configparser.ConfigParser(strict=False)
    unit.optionxform = str
    unit.read_string(shown("ossb.service"))
    assert unit["Service"]["ExecStart"].split()[1:] == ["serve", "--port", "8090"]
    assert unit["Service"]["Environment"].startswith("OSSB_STORAGE=sqlite:////")


def test_braces_of_the_proxies_match():
    for title in ("ossb.conf", "Caddyfile"):
        text, depth = shown(title), 0
        for letter in text:
            depth += (letter == "{") - (letter == "}")
            assert depth >= 0
        assert depth == 0
        assert "127.0.0.1:8090" in text


@pytest.fixture
def proxied(tmp_path):
    """The service behind nginx as the page configures it; yields the TLS port and a token."""
    if NGINX is None or shutil.which("openssl") is None:
        pytest.skip("nginx or openssl is not installed")
    storage = f"sqlite:///{tmp_path / 'campaigns.db'}"
    token = json.loads(
        subprocess.run(
            [SCRIPT, "token", "create", "--scope", "admin", "--json"] + ["--storage", storage],
            check=True,
            capture_output=True,
        ).stdout
    )["token"]
    certificate = ["-newkey", "rsa:2048", "-nodes", "-subj", "/CN=bandits.example.org", "-x509"]
    files = ["-keyout", tmp_path / "key.pem", "-out", tmp_path / "certificate.pem"]
    subprocess.run(["openssl", "req", *certificate, *files], check=True, capture_output=True)
    secure, plain = free_port(), free_port()
    text = shown("ossb.conf")
    server = Server(storage, tmp_path / "log").start()
    for old, new in {
        "listen 443 ssl": f"listen 127.0.0.1:{secure} ssl",
        "listen 80": f"listen 127.0.0.1:{plain}",
        "/etc/ssl/certs/bandits.pem": str(tmp_path / "certificate.pem"),
        "/etc/ssl/private/bandits.key": str(tmp_path / "key.pem"),
        "127.0.0.1:8090": f"127.0.0.1:{server.port}",
    }.items():
        assert old in text
        text = text.replace(old, new)
    kept = "".join(
        f"{kind}_temp_path {tmp_path}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    configuration = tmp_path / "nginx.conf"
    configuration.write_text(
        f"daemon off;\npid {tmp_path}/pid;\nerror_log {tmp_path}/errors;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{kept}{text}}}\n"
    )
    proxy = subprocess.Popen(
        [NGINX, "-p", tmp_path, "-e", tmp_path / "errors", "-c", configuration]
    )
    wait_for(secure, proxy)
    yield int(secure), token
    proxy.terminate()
    proxy.wait(30)
    server.kill()


def call(port, method, path, token=None, body=None, origin=None):
    """A call over TLS; the answer is not read yet."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=context)
    headers = {"Content-Type": "application/json", "Idempotency-Key": "one"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    if origin is not None:
        headers["Origin"] = origin
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    return connection, connection.getresponse()


def status(*arguments, **options):
    connection, answer = call(*arguments, **options)
    answer.read()
    connection.close()
    return answer.status


def test_a_campaign_runs_through_nginx(proxied):
    port, token = proxied
    instance = {"structure": "classical", "observation": "bernoulli", "n_arms": 3}
    body = {"name": "headlines", "instance": instance, "policy": {"name": "hgl"}, "seed": 1}
    assert status(port, "GET", "/healthz") == 200
    assert status(port, "POST", "/v1/campaigns", None, body) == 401
    assert status(port, "POST", "/v1/campaigns", token, body) in (200, 201)
    ours, other = f"https://127.0.0.1:{port}", "https://elsewhere.example"
    assert status(port, "GET", "/v1/campaigns", token, origin=ours) == 200
    assert status(port, "GET", "/v1/campaigns", token, origin=other) == 403
    connection, stream = call(port, "GET", "/v1/campaigns/headlines/events", token)
    assert b"created" in read_until(stream, b"created")
    assert status(port, "POST", "/v1/campaigns/headlines/ask", token, {"n": 1}) == 200
    # not buffered: the event comes while the stream stays open
    assert b"asked" in read_until(stream, b"asked")
    stream.close()
    connection.close()


def read_until(stream, word):
    """The lines of a stream up to one with a word in it; a time-out where none comes."""
    seen = b""
    while word not in seen:
        seen += stream.readline()
    return seen
