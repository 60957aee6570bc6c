"""A client to be killed: says what it is about to do, and what was acknowledged, as it goes.

``python service_client.py URL CAMPAIGN SEED``
"""

import random
import sys
import time

from ossb.client import Client


def main(url, name, seed):
    chance = random.Random(seed)
    lease = chance.choice((0.05, 3600.0))  # what some leave behind expires while others ask
    print("begun", flush=True)
    with Client(url, sleep=lambda seconds: time.sleep(min(seconds, 0.05))) as client:
        while True:
            decision = client.ask(name, lease_seconds=lease)[0]
            print("asked", decision.id, flush=True)
            time.sleep(chance.uniform(0, 0.005))
            value = chance.getrandbits(1)
            print("telling", decision.id, value, flush=True)
            client.tell(name, decision.id, value)
            print("told", decision.id, value, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
