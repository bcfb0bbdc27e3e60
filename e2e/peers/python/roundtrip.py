"""Produces messages to a topic with RocketMQ's C++ client, through its Python binding, and receives them with a push
consumer.

Arguments: nameserver address, topic, number of messages. The last line is "OK sent=N received=N duplicates=0"; anything
else ends with "FAILED ..." and exit status 1.
"""

import queue
import sys
import time

from rocketmq.client import Message, Producer, PushConsumer, SendStatus

# Seconds for all receiving, and how long the consumer listens on after the last expected message: only then can a
# duplicate be seen.
RECEIVE_LIMIT = 75
SETTLE = 1


def body(i):
    return "message %d" % i


def produce(nameserver, topic, count):
    producer = Producer(topic + "-producers")
    producer.set_namesrv_addr(nameserver)
    producer.start()
    for i in range(count):
        message = Message(topic)
        message.set_body(body(i))
        result = producer.send_sync(message)
        if result.status != SendStatus.OK:
            raise RuntimeError("%s: %s" % (body(i), result))
    producer.shutdown()


def consume(nameserver, topic, count):
    """Returns how many of the messages came, and how many arrivals were of messages that had come before or were
    never sent."""
    arrived = queue.Queue()
    consumer = PushConsumer(topic + "-consumers")
    consumer.set_namesrv_addr(nameserver)
    consumer.subscribe(topic, lambda message: arrived.put(message.body.decode()))
    consumer.start()
    missing = {body(i) for i in range(count)}
    duplicates = 0
    deadline = time.monotonic() + RECEIVE_LIMIT
    while (left := deadline - time.monotonic()) > 0:
        try:
            b = arrived.get(timeout=left)
        except queue.Empty:
            break
        if b not in missing:
            duplicates += 1
            continue
        missing.remove(b)
        if not missing:
            deadline = time.monotonic() + SETTLE
    consumer.shutdown()
    return count - len(missing), duplicates


def main():
    nameserver, topic, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    produce(nameserver, topic, count)
    received, duplicates = consume(nameserver, topic, count)
    ok = received == count and duplicates == 0
    print("%s sent=%d received=%d duplicates=%d" % ("OK" if ok else "FAILED", count, received, duplicates))
    return 0 if ok else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception as failure:
        print("FAILED %r" % failure)
        sys.exit(1)
