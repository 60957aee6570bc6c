"""A service in this process, called without a network."""

import asyncio

import httpx

INSTANCE = {"structure": "classical", "observation": "bernoulli", "n_arms": 3}
BODY = {"name": "first", "instance": INSTANCE, "policy": {"name": "ucb1"}, "seed": 1}


class Local:
    """Calls a service in this process, without a network."""

    def __init__(self, service):
        self.service = service
        self.loop = asyncio.new_event_loop()

    def __call__(self, method, path, *, host="127.0.0.1:8090", token=None, headers=(), **body):
        async def call():
            transport = httpx.ASGITransport(self.service, raise_app_exceptions=False)
            url = "http://127.0.0.1:8090"
            async with httpx.AsyncClient(transport=transport, base_url=url) as client:
                given = {"host": host, **dict(headers)}
                if token:
                    given["authorization"] = f"Bearer {token}"
                return await client.request(method, path, headers=given, **body)

        return self.loop.run_until_complete(call())

    def get(self, path, **more):
        return self("GET", path, **more)

    def post(self, path, body=None, **more):
        if isinstance(body, bytes):
            return self("POST", path, content=body, **more)
        return self("POST", path, **more) if body is None else self("POST", path, json=body, **more)

    def close(self):
        self.loop.run_until_complete(self.service.end())
        assert not asyncio.all_tasks(self.loop)
        self.service.close()
        self.loop.close()
