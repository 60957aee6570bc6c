"""Faults of a service: killed servers, killed clients, a network that loses and repeats.

Each returns a row of counts; ``lost``, ``twice`` and ``invented`` have to be 0.
"""

import http.client
import json
import random
import signal
import socketserver
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from ossb.campaigns import Campaign, open_storage
from ossb.client import Client
from service_process import Server

INSTANCE = {"structure": "classical", "observation": "bernoulli", "n_arms": 3}
NAME = "faults"


def brief(seconds):
    """Backoff for tests: the server is back soon."""
    time.sleep(min(seconds, 0.05))


class Worker(threading.Thread):
    """Asks and tells until it is stopped or has done enough, keeping what was acknowledged."""

    def __init__(self, urls, seed, rounds=None):
        super().__init__(daemon=True)
        self.urls, self.rounds = urls, rounds
        self.random = random.Random(seed)
        self.asked, self.told = [], {}
        self.stopping = threading.Event()
        self.failure = None

    def run(self):
        try:
            self._run()
        except BaseException as error:
            self.failure = error

    def _run(self):
        clients = [
            Client(url, patience=0.3 if len(self.urls) > 1 else 90, sleep=brief, timeout=20)
            for url in self.urls
        ]
        while not self.stopping.is_set() and (self.rounds is None or len(self.told) < self.rounds):
            key = f"{self.random.getrandbits(80):x}"
            decision = self._persist(clients, lambda c, key=key: c.ask(NAME, key=key))[0]
            self.asked.append(decision.id)
            value = self.random.getrandbits(1)
            self._persist(clients, lambda c, d=decision, v=value: c.tell(NAME, d.id, v))
            self.told[decision.id] = value
        for client in clients:
            client.close()

    def _persist(self, clients, call):
        """With several servers: what one does not answer, another does."""
        if len(clients) == 1:
            return call(clients[0])
        from ossb.errors import Unavailable

        deadline = time.monotonic() + 90
        while True:
            try:
                return call(self.random.choice(clients))
            except Unavailable:
                if time.monotonic() > deadline:
                    raise


def compare(storage, workers, strangers=0):
    """What is in the store against what was acknowledged.

    A client that was killed may have asked once more than it could say, and told what it said it
    was about to tell; so may ``strangers`` that asked and were refused.
    """
    store = open_storage(storage)
    try:
        campaign = Campaign(store, NAME)
        campaign.check()
        history = campaign.history()
        stands = campaign.describe()
    finally:
        store.close()
    found = {entry["id"]: entry for entry in history}
    told = {id_: entry["observation"] for id_, entry in found.items() if entry["status"] == "told"}
    asked = [id_ for worker in workers for id_ in worker.asked]
    acknowledged = {id_: value for worker in workers for id_, value in worker.told.items()}
    telling, killed = dict(acknowledged), 0
    for worker in workers:
        if isinstance(worker, Gone):
            telling.update(worker.telling)
            killed += 1
    lost = sum(1 for id_ in asked if id_ not in found)
    lost += sum(1 for id_, value in acknowledged.items() if told.get(id_) != value)
    states = stands["decisions"]
    return {
        "asks": len(asked),
        "tells": len(acknowledged),
        "lost": lost,
        "twice": len(asked) - len(set(asked)) + abs(sum(stands["plays"]) - len(told)),
        "invented": sum(told[id_] != telling.get(id_) for id_ in told)
        + max(0, len(found.keys() - set(asked)) - killed - strangers),
        "unaccounted": len(history) - states["told"] - stands["pending"] - states["expired"],
        "pending": stands["pending"],
        "expired": states["expired"],
    }


def create(url):
    with Client(url, patience=60, sleep=brief) as client:
        client.create(NAME, INSTANCE, "ucb1", 1)


def _finish(workers):
    for worker in workers:
        worker.stopping.set()
    for worker in workers:
        worker.join(120)
        if worker.failure is not None:
            raise worker.failure


def kill_servers(folder, kills, clients, seed=0):
    """kill −9 the server, again and again, under clients that ask and tell."""
    storage = f"sqlite:///{folder / 'campaigns.db'}"
    server = Server(storage, folder / "log").start()
    create(server.url)
    workers = [Worker([server.url], f"{seed}-{i}") for i in range(clients)]
    for worker in workers:
        worker.start()
    moments, slowest = random.Random(seed), 0.0
    for _ in range(kills):
        time.sleep(moments.uniform(0.02, 0.6))
        server.kill()
        server.start(wait=False)
        slowest = max(slowest, server.wait())
    time.sleep(0.3)
    _finish(workers)
    code = server.stop()
    return {
        **compare(storage, workers),
        "kills": kills,
        "recovery_seconds": round(slowest, 2),
        "exit_code": code,
    }


def listen(port, after, count):
    """The events of a stream that goes on after a number, until there are so many."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Last-Event-ID": str(after)}
    found = []
    try:
        connection.request("GET", f"/v1/campaigns/{NAME}/events", headers=headers)
        answer = connection.getresponse()
        while len(found) < count:
            line = answer.readline()
            if line.startswith(b"data: "):
                found.append(json.loads(line.removeprefix(b"data: ")))
    finally:
        connection.close()
    return found


class Gone:
    """What a client that was killed had said."""

    def __init__(self, said):
        whole = said.decode().split("\n")[:-1]  # the last line may be cut short
        lines = [line.split() for line in whole]
        self.asked = [line[1] for line in lines if line[0] == "asked"]
        self.told = {line[1]: float(line[2]) for line in lines if line[0] == "told"}
        self.telling = {line[1]: float(line[2]) for line in lines if line[0] == "telling"}


def kill_clients(folder, kills, seed=0):
    """kill −9 clients at any moment between their ask and their tell."""
    storage = f"sqlite:///{folder / 'campaigns.db'}"
    server = Server(storage, folder / "log").start()
    create(server.url)
    moments, gone = random.Random(seed), []
    program = Path(__file__).with_name("service_client.py")
    for i in range(kills):
        client = subprocess.Popen(
            [sys.executable, program, server.url, NAME, str(i)], stdout=subprocess.PIPE
        )
        said = client.stdout.readline()  # it has begun
        time.sleep(moments.uniform(0.005, 0.06))
        client.send_signal(signal.SIGKILL)
        said += client.stdout.read()
        client.wait()
        client.stdout.close()
        gone.append(Gone(said))
    code = server.stop()
    return {**compare(storage, gone), "kills": kills, "exit_code": code}


def bad_network(folder, tells, clients, seed=0):
    """A proxy that drops answers, doubles requests, delays them and repeats them later."""
    storage = f"sqlite:///{folder / 'campaigns.db'}"
    server = Server(storage, folder / "log").start()
    create(server.url)
    proxy = Proxy(server.port, seed)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{proxy.server_address[1]}"
    workers = [Worker([url], f"{seed}-{i}", -(-tells // clients)) for i in range(clients)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    _finish(workers)
    proxy.shutdown()
    proxy.settle()
    proxy.server_close()
    code = server.stop()
    return {**compare(storage, workers), **proxy.done, "exit_code": code}


class Proxy(socketserver.ThreadingTCPServer):
    """Forwards requests, badly."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port, seed):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.port, self.random, self.lock = port, random.Random(seed), threading.Lock()
        self.done = dict.fromkeys(("passed", "dropped", "refused", "doubled", "repeated"), 0)
        self.later = []

    def fate(self):
        with self.lock:
            chosen = self.random.choices(list(self.done), (70, 10, 5, 8, 7))[0]
            self.done[chosen] += 1
            return chosen, self.random.uniform(0, 0.02)

    def forward(self, request):
        upstream = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            upstream.connect()
            upstream.sock.sendall(request)
            answer = http.client.HTTPResponse(upstream.sock)
            answer.begin()
            body = answer.read()
            lines = [f"HTTP/1.1 {answer.status} {answer.reason}"]
            kept = ("content-type", "retry-after")
            lines += [f"{k}: {v}" for k, v in answer.getheaders() if k.lower() in kept]
            lines += [f"Content-Length: {len(body)}", "", ""]
            return "\r\n".join(lines).encode() + body
        finally:
            upstream.close()

    def repeat_later(self, request):
        def again():
            with suppress(OSError, http.client.HTTPException):
                self.forward(request)

        timer = threading.Timer(0.1, again)
        timer.start()
        self.later.append(timer)

    def settle(self):
        for timer in self.later:
            timer.join()


class _Handler(socketserver.StreamRequestHandler):
    def handle(self):
        with suppress(OSError):
            while request := self._request():
                fate, delay = self.server.fate()
                time.sleep(delay)
                if fate == "refused":
                    return
                answer = self.server.forward(request)
                if fate == "dropped":
                    return
                if fate == "doubled":
                    answer = self.server.forward(request)
                if fate == "repeated":
                    self.server.repeat_later(request)
                self.wfile.write(answer)

    def _request(self):
        head, length = b"", 0
        while line := self.rfile.readline():
            head += line
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            if line == b"\r\n":
                return head + self.rfile.read(length)
        return b""


def several_servers(folder, storage, kills, clients, seed=0):
    """Two servers on one PostgreSQL; one of them is killed, again and again."""
    servers = [Server(storage, folder / f"log{i}").start() for i in (0, 1)]
    create(servers[0].url)
    workers = [Worker([s.url for s in servers], f"{seed}-{i}") for i in range(clients)]
    for worker in workers:
        worker.start()
    moments = random.Random(seed)
    for i in range(kills):
        time.sleep(moments.uniform(0.2, 0.6))
        servers[i % 2].kill()
        time.sleep(moments.uniform(0.1, 0.4))
        servers[i % 2].start()
    time.sleep(0.3)
    _finish(workers)
    codes = [server.stop() for server in servers]
    return {**compare(storage, workers), "kills": kills, "exit_code": max(codes)}


def kill_postgresql(folder, postgresql, storage, kills, clients, seed=0):
    """PostgreSQL itself is killed; the server goes on."""
    server = Server(storage, folder / "log").start()
    create(server.url)
    workers = [Worker([server.url], f"{seed}-{i}") for i in range(clients)]
    for worker in workers:
        worker.start()
    refused = otherwise = 0
    for _ in range(kills):
        time.sleep(0.3)
        postgresql.kill()
        status, retry_after = _ask_once(server.port)
        refused += status == 503 and retry_after is not None
        otherwise += status != 503 or retry_after is None
        postgresql.start()
    time.sleep(0.5)
    _finish(workers)
    crashed = server.process.poll() is not None
    code = server.stop()
    return {
        **compare(storage, workers, strangers=kills),
        "kills": kills,
        "refused": refused,
        "otherwise": otherwise,
        "crashed": crashed,
        "exit_code": code,
    }


def _ask_once(port):
    """An ask without retries: its status, and when it says to come back."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", f"/v1/campaigns/{NAME}/ask", "{}")
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.getheader("Retry-After")
    finally:
        connection.close()
