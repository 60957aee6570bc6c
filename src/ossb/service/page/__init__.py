"""The live page: one shell for all paths, its script and style, and signing in by token."""

from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ossb.service.call import Call
from ossb.service.routes import Route
from ossb.service.tokens import SESSION_SECONDS, Grant, Tokens

COOKIE = "ossb_session"
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
    b"it may have been taken back, or have ended.</p>",
}
SIGNED_IN = (
    b"<!-- signed in -->",
    b'<form method="post" action="/logout"><button type="submit">Sign out</button></form>',
)
ASSETS = ("app.js", "shown.js", "charts.js", "tips.js", "files.js", "style.css", "icon.svg")


def token_of(request: Request) -> str | None:
    """The token that a caller sends."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token else None


def session_of(request: Request) -> str | None:
    """The session of who has signed in; it only lets one look."""
    return request.cookies.get(COOKIE) if request.method in ("GET", "HEAD") else None


def grant_of(request: Request, tokens: Tokens) -> Grant | None:
    """What a caller may do, by token or by session."""
    token, session = token_of(request), session_of(request)
    if token is not None:
        return tokens.grant_of(token)
    return None if session is None else tokens.session_grant(session)


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
    content = _content("index.html")
    session = session_of(call.request)
    if session is not None and call.service.tokens.session_grant(session) is not None:
        content = content.replace(*SIGNED_IN)
    return _answer(content, ".html")


async def login_form(call: Call) -> Response:
    return _file("login.html")


def _refused() -> Response:
    """The form once more, saying why."""
    content = _content("login.html")
    for old, new in REFUSED.items():
        content = content.replace(old, new)
    return _answer(content, ".html", status=401)


async def login(call: Call) -> Response:
    """Begin a session, kept in a cookie that scripts cannot read and other sites cannot send."""
    form = parse_qs((await call.body(4096)).decode("latin-1"))
    tokens = call.service.tokens
    grant = tokens.grant_of(form.get("token", [""])[0].strip())
    if grant is None:
        return _refused()
    call.grant = grant  # whose doing it is
    session = await call.work(tokens.sign_in, grant)
    response = RedirectResponse("/", 303)
    # a proxy that ends TLS says so; who makes it up only keeps the cookie from himself
    forwarded = call.request.headers.get("x-forwarded-proto", "")
    secure = "https" in (call.request.url.scheme, forwarded.split(",")[0].strip().lower())
    options: dict[str, Any] = {"httponly": True, "samesite": "strict", "secure": secure}
    response.set_cookie(COOKIE, session, int(SESSION_SECONDS), **options)
    return response


async def logout(call: Call) -> Response:
    """End the session, here and in the browser."""
    session = call.request.cookies.get(COOKIE)
    tokens = call.service.tokens
    if session is not None:
        call.grant = tokens.session_grant(session) or call.grant
        await call.work(tokens.sign_out, session)
        call.service.registry.wake_all()  # streams that it opened end now
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
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
    ("POST", "/logout"): Route(logout, None),
    **{("GET", f"/page/{name}"): _asset(name) for name in ASSETS},
}
