'use strict';

/*
 * Produces messages to a topic with the Node client ali-ons and receives them with its push consumer.
 *
 * Arguments: nameserver address, topic, number of messages. The topic has to exist: this client does not let the
 * broker create it. The last line is "OK sent=N received=N duplicates=0"; anything else ends with "FAILED ..." and
 * exit status 1.
 */

const { setTimeout: sleep } = require('node:timers/promises');
const { Consumer, Message, Producer } = require('ali-ons');

const LIMIT_MS = 180_000;
const SEND_LIMIT_MS = 10_000;
// Before a send that failed is repeated.
const PAUSE_MS = 100;
// How long the consumer listens on after the last expected message: only then can a duplicate be seen.
const SETTLE_MS = 1000;

const [nameSrv, topic, countText] = process.argv.slice(2);
const count = Number(countText);

const logger = { info() {}, debug() {}, warn: console.error, error: console.error };
// The client insists on an HTTP client, which it uses only to look up nameservers whose addresses it is not given.
const httpclient = {};
const common = { nameSrv, logger, httpclient, clientIP: '127.0.0.1' };

const body = i => `message ${i}`;

/**
 * Sends the messages one after the other. Resolves to how often each was sent: a slow broker may have stored one whose
 * sender has given up.
 */
async function produce() {
  const producer = new Producer({
    ...common,
    producerGroup: `${topic}-producers`,
    sendMsgTimeout: SEND_LIMIT_MS,
    retryTimesWhenSendFailed: 0,
  });
  producer.on('error', console.error);
  await producer.ready();
  const sends = new Map();
  for (let i = 0; i < count; i++) {
    let stored = false;
    while (!stored) {
      sends.set(body(i), (sends.get(body(i)) ?? 0) + 1);
      stored = await trySend(producer, new Message(topic, body(i)));
    }
  }
  await producer.close();
  return sends;
}

async function trySend(producer, message) {
  try {
    const result = await producer.send(message);
    if (result.sendStatus === 'SEND_OK') {
      return true;
    }
    console.error(result);
  } catch (err) {
    console.error(err);
  }
  await sleep(PAUSE_MS);
  return false;
}

/**
 * Resolves when all messages have come, and settled, to how often one came that had not been sent once more.
 */
function consume(sends) {
  const consumer = new Consumer({
    ...common,
    consumerGroup: `${topic}-consumers`,
    consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET',
  });
  consumer.on('error', console.error);
  const arrivals = new Map();
  let duplicates = 0;
  return new Promise(resolve => {
    consumer.subscribe(topic, '*', async message => {
      const b = message.body.toString();
      const times = (arrivals.get(b) ?? 0) + 1;
      arrivals.set(b, times);
      if (times > (sends.get(b) ?? 0)) {
        duplicates++;
      } else if (times === 1 && [...sends.keys()].every(sent => arrivals.has(sent))) {
        setTimeout(() => resolve(duplicates), SETTLE_MS);
      }
    });
  });
}

function fail(reason) {
  console.log(`FAILED ${reason}`);
  process.exit(1);
}

/** The clients leave timers and sockets behind: every way out is explicit. */
async function main() {
  setTimeout(() => fail(`not within ${LIMIT_MS} ms`), LIMIT_MS);
  const duplicates = await consume(await produce());
  const result = `sent=${count} received=${count} duplicates=${duplicates}`;
  if (duplicates !== 0) {
    fail(result);
  }
  console.log(`OK ${result}`);
  process.exit(0);
}

main().catch(fail);
