"""Counters in Prometheus's text format."""

from bisect import bisect_left
from collections import Counter

EDGES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """What a server has done since it started; changed on the event loop only."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._durations: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()
        self.streams = 0
        self.running = 0

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests[method, route, status] += 1
        counts = self._durations.setdefault(route, [0] * (len(EDGES) + 1))
        counts[bisect_left(EDGES, seconds)] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]

    def text(self, campaigns: int) -> str:
        lines = [
            "# HELP ossb_requests_total Answers by method, route and status.",
            "# TYPE ossb_requests_total counter",
        ]
        for (method, route, status), count in sorted(self._requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            lines.append(f"ossb_requests_total{{{labels}}} {count}")
        lines += [
            "# HELP ossb_request_seconds Time from request to answer.",
            "# TYPE ossb_request_seconds histogram",
        ]
        for route, counts in sorted(self._durations.items()):
            total = 0
            for edge, count in zip((*EDGES, "+Inf"), counts, strict=True):
                total += count
                lines.append(f'ossb_request_seconds_bucket{{route="{route}",le="{edge}"}} {total}')
            lines.append(f'ossb_request_seconds_sum{{route="{route}"}} {self._seconds[route]:.6f}')
            lines.append(f'ossb_request_seconds_count{{route="{route}"}} {total}')
        for name, help_, value in (
            ("ossb_campaigns", "Campaigns in the store.", campaigns),
            ("ossb_event_streams", "Event streams that are open.", self.streams),
            ("ossb_requests_running", "Requests that are being answered.", self.running),
        ):
            lines += [f"# HELP {name} {help_}", f"# TYPE {name} gauge", f"{name} {value}"]
        return "\n".join(lines) + "\n"
