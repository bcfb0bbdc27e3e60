"""Produces messages to a topic with RocketMQ's C++ client, through its Python binding, and receives them with a push
consumer.

Arguments: nameserver address, topic, number of messages. The last line is "OK sent=N received=N duplicates=0"; anything
else ends with "FAILED ..." and exit status 1.
"""

import collections
import queue
import sys
import time

from rocketmq.client import Message, Producer, PushConsumer, SendStatus
from rocketmq.exceptions import RocketMQException

# In seconds: for all of it; before a send that failed is repeated; how long the consumer listens on after the last
# expected message, since only then can a duplicate be seen.
LIMIT = 180
PAUSE = 0.1
SETTLE = 1
# Seconds after which the client itself repeats a send.
SEND_LIMIT = 10


def body(i):
    return "message %d" % i


def produce(nameserver, topic, count, deadline):
    """Returns how often each message was sent: a slow broker may have stored one whose sender has given up."""
    producer = Producer(topic + "-producers", timeout=SEND_LIMIT * 1000)
    producer.set_namesrv_addr(nameserver)
    producer.start()
    sends = collections.Counter()
    for i in range(count):
        stored = False
        while not stored:
            if time.monotonic() > deadline:
                raise TimeoutError("sent %d of %d" % (i, count))
            started = time.monotonic()
            stored = try_send(producer, topic, body(i))
            sends[body(i)] += 1 + int((time.monotonic() - started) / SEND_LIMIT)
    producer.shutdown()
    return sends


def try_send(producer, topic, b):
    message = Message(topic)
    message.set_body(b)
    try:
        result = producer.send_sync(message)
        if result.status == SendStatus.OK:
            return True
    except RocketMQException as failure:
        result = failure
    print("%s: %r" % (b, result), file=sys.stderr)
    time.sleep(PAUSE)
    return False


def consume(nameserver, topic, sends, deadline):
    """Returns how many of the messages came, and how often one came that had not been sent once more."""
    bodies = queue.Queue()
    consumer = PushConsumer(topic + "-consumers")
    consumer.set_namesrv_addr(nameserver)
    consumer.subscribe(topic, lambda message: bodies.put(message.body.decode()))
    consumer.start()
    arrivals = collections.Counter()
    received = duplicates = 0
    while (left := deadline - time.monotonic()) > 0:
        try:
            b = bodies.get(timeout=left)
        except queue.Empty:
            break
        arrivals[b] += 1
        if arrivals[b] > sends[b]:
            duplicates += 1
        elif arrivals[b] == 1:
            received += 1
            if received == len(sends):
                deadline = time.monotonic() + SETTLE
    consumer.shutdown()
    return received, duplicates


def main():
    nameserver, topic, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    deadline = time.monotonic() + LIMIT
    sends = produce(nameserver, topic, count, deadline)
    received, duplicates = consume(nameserver, topic, sends, deadline)
    ok = received == count and duplicates == 0
    print("%s sent=%d received=%d duplicates=%d" % ("OK" if ok else "FAILED", count, received, duplicates))
    return 0 if ok else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception as failure:
        print("FAILED %r" % failure)
        sys.exit(1)
