"""Two players, one match of Make Way! or Wayfare, played to its end with random legal moves.

Run it against `make run`: python3 docs/first_match.py [title] [url]. Standard library only.
"""

import json
import random
import sys
import time
import urllib.error
import urllib.request
import uuid

TITLE = sys.argv[1] if len(sys.argv) > 1 else "wayfare"
API = (sys.argv[2] if len(sys.argv) > 2 else "http://127.0.0.1:8080") + "/v1"


def ask(method, path, token="", body=None):
    """The JSON of the answer. Asks again, under the same key, while the answer is "later" or missing."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": uuid.uuid4().hex}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(API + path, data=data, method=method, headers=headers)
    for _ in range(60):
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as refused:
            problem = refused.read().decode()
            if refused.code not in (429, 503, 504):
                sys.exit(f"{method} {path} was refused: {problem}")
        except OSError as error:
            problem = str(error)
        time.sleep(0.5)
    sys.exit(f"{method} {path} got no answer: {problem}")


def main():
    tokens = [ask("POST", "/players")["token"] for _ in range(2)]
    match = ask("POST", "/matches", tokens[0], {"title": TITLE})["match"]
    ask("POST", f"/matches/{match}/seats", tokens[1], {})
    view = ask("GET", f"/matches/{match}", tokens[0])
    while view["status"] == "starting":
        time.sleep(0.1)
        view = ask("GET", f"/matches/{match}", tokens[0])
    while view["status"] != "over":
        token = tokens[view["to_act"][0]]
        page = ask("GET", f"/matches/{match}/legal-moves", token)
        chosen = random.choice(page["choices"])
        print(f"version {page['version']}: seat {page['seat']} plays {chosen['notation']}")
        move = {"move": chosen["move"], "expected_version": page["version"]}
        view = ask("POST", f"/matches/{match}/moves", token, move)["view"]
    print(f"over: {view['outcome']}")
    print(f"look at it again: make replay MATCH={match}")


main()
