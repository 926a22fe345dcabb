"""Events delivered twice, late and in the wrong order: copies of what JetStream holds, published anew."""

import asyncio
import random

import nats
import nats.errors
import nats.js.errors

from services.kit.bus_events import STREAM

COPIES = 200
ASK_S_MAX = 3.0


async def _heals_by_itself(error: Exception) -> None:
    """NATS may be away: that is another fault's doing."""


async def deliver_again(url: str, rng: random.Random) -> int:
    """Publishes copies of random stored events without a message id, so that nothing removes them as doubles.

    Returns how many. With NATS away there is nothing to deliver.
    """
    copied = 0
    try:
        async with asyncio.timeout(ASK_S_MAX * 3):
            client = await nats.connect(
                url, connect_timeout=2, max_reconnect_attempts=1, error_cb=_heals_by_itself
            )
            try:
                jetstream = client.jetstream(timeout=ASK_S_MAX)
                state = (await jetstream.stream_info(STREAM)).state
                for _ in range(COPIES):
                    number = rng.randint(state.first_seq, max(state.first_seq, state.last_seq))
                    message = await jetstream.get_msg(STREAM, number)
                    await client.publish(message.subject or "", message.data or b"")
                    copied += 1
                await client.flush(timeout=2)
            finally:
                await client.close()
    except (TimeoutError, OSError, nats.errors.Error, nats.js.errors.Error):
        pass
    return copied
