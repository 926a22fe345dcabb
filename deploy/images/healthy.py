"""Exits with 0 when the service in this container answers that it serves: a container's HEALTHCHECK.

`python healthy.py gateway` asks /readyz, any other service its gRPC health. Kubernetes asks by itself.
"""

import os
import sys
import urllib.request

ANSWER_S_MAX = 2.0


def http(port: str) -> bool:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=ANSWER_S_MAX) as answer:
        return bool(answer.status == 200)


def rpc(port: str) -> bool:
    import grpc
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        health = health_pb2_grpc.HealthStub(channel)
        answer = health.Check(health_pb2.HealthCheckRequest(), timeout=ANSWER_S_MAX, wait_for_ready=True)
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not os.environ.get("PORT"):
        sys.exit("healthy: PORT must be set, and the service named")  # 1: Docker keeps all other codes
    ask = http if sys.argv[1] == "gateway" else rpc
    sys.exit(0 if ask(os.environ["PORT"]) else 1)
