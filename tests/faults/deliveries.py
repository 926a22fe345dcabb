"""Events delivered twice, late and in the wrong order: copies of what JetStream holds, published anew."""

import asyncio
import random

import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.js import JetStreamContext

from services.kit.bus_events import STREAM

COPIES = 200
AT_ONCE = 25
ASK_S_MAX = 5.0
ALL_S_MAX = 20.0


async def _heals_by_itself(error: Exception) -> None:
    """NATS may be away: that is another fault's doing."""


async def deliver_again(url: str, rng: random.Random) -> int:
    """Publishes copies of random stored events without a message id, so that nothing removes them as doubles.

    Returns how many. With NATS away there is nothing to deliver.
    """
    copied = 0
    try:
        async with asyncio.timeout(ALL_S_MAX):
            client = Client()
            try:
                await client.connect(
                    url, connect_timeout=2, max_reconnect_attempts=1, error_cb=_heals_by_itself
                )
                jetstream = client.jetstream(timeout=ASK_S_MAX)
                state = (await jetstream.stream_info(STREAM)).state
                for _ in range(COPIES // AT_ONCE):
                    numbers = [rng.randint(state.first_seq, state.last_seq) for _ in range(AT_ONCE)]
                    copied += sum(
                        await asyncio.gather(*(_copy(jetstream, client, number) for number in numbers))
                    )
                    await client.flush(timeout=int(ASK_S_MAX))
            finally:
                await client.close()
    except (TimeoutError, OSError, ValueError, nats.errors.Error, nats.js.errors.Error):
        pass
    return copied


async def _copy(jetstream: JetStreamContext, client: Client, number: int) -> bool:
    """Whether the message with that number was there to be copied."""
    try:
        message = await jetstream.get_msg(STREAM, number)
    except nats.js.errors.NotFoundError:
        return False
    await client.publish(message.subject or "", message.data or b"")
    return True
