"""The live page: one shell for all paths, its script and style, and signing in by token."""

from functools import cache
from pathlib import Path
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ossb.service.call import Call
from ossb.service.routes import Route

COOKIE = "ossb_token"
FOLDER = Path(__file__).parent
TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
REFUSED = {
    b"<title>Sign in": b"<title>Token not known",
    b"<!-- refused -->": b'<p role="alert" class="warning">This token is not known here; '
    b"it may have been taken back.</p>",
}
ASSETS = ("app.js", "charts.js", "style.css", "icon.svg")


def token_of(request: Request) -> str | None:
    """The caller's token; the page's cookie only lets one look."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token:
        return token.strip()
    if request.method in ("GET", "HEAD"):
        return request.cookies.get(COOKIE)
    return None


@cache
def _content(name: str) -> bytes:
    return (FOLDER / name).read_bytes()


def _answer(content: bytes, suffix: str, status: int = 200) -> Response:
    kind = TYPES[suffix] + "; charset=utf-8"
    return Response(content, status, {"Cache-Control": "no-cache", "Content-Type": kind})


def _file(name: str) -> Response:
    return _answer(_content(name), Path(name).suffix)


async def shell(call: Call) -> Response:
    """The page itself; what it shows it asks the programming interface for."""
    return _file("index.html")


async def login_form(call: Call) -> Response:
    return _file("login.html")


def _refused() -> Response:
    """The form once more, saying why."""
    content = _content("login.html")
    for old, new in REFUSED.items():
        content = content.replace(old, new)
    return _answer(content, ".html", status=401)


async def login(call: Call) -> Response:
    """Keep a token as a cookie that scripts cannot read and other sites cannot send."""
    form = parse_qs((await call.body(4096)).decode("latin-1"))
    token = form.get("token", [""])[0].strip()
    if call.service.tokens.grant_of(token) is None:
        return _refused()
    response = RedirectResponse("/", 303)
    # a proxy that ends TLS says so; who makes it up only keeps the cookie from himself
    forwarded = call.request.headers.get("x-forwarded-proto", "")
    secure = "https" in (call.request.url.scheme, forwarded.split(",")[0].strip().lower())
    response.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=secure)
    return response


def _asset(name: str) -> Route:
    async def answer(call: Call) -> Response:
        return _file(name)

    return Route(answer, None)


ROUTES: dict[tuple[str, str], Route] = {
    ("GET", "/"): Route(shell, None),
    ("GET", "/campaigns/{name}"): Route(shell, None),
    ("GET", "/login"): Route(login_form, None),
    ("POST", "/login"): Route(login, None),
    **{("GET", f"/page/{name}"): _asset(name) for name in ASSETS},
}
