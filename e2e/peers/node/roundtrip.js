'use strict';

/*
 * Produces messages to a topic with the Node client ali-ons and receives them with its push consumer.
 *
 * Arguments: nameserver address, topic, number of messages. The topic has to exist: this client does not let the
 * broker create it. The last line is "OK sent=N received=N duplicates=0"; anything else ends with "FAILED ..." and
 * exit status 1.
 */

const { Consumer, Message, Producer } = require('ali-ons');

const LIMIT_MS = 75_000;
// How long the consumer listens on after the last expected message: only then can a duplicate be seen.
const SETTLE_MS = 1000;

const [nameSrv, topic, countText] = process.argv.slice(2);
const count = Number(countText);

const logger = { info() {}, debug() {}, warn: console.error, error: console.error };
const common = { nameSrv, logger, clientIP: '127.0.0.1' };

const body = i => `message ${i}`;

/** Sends the messages one after the other, each once: a repeated send could be the cause of a duplicate. */
async function produce() {
  const producer = new Producer({ ...common, producerGroup: `${topic}-producers`, retryTimesWhenSendFailed: 0 });
  producer.on('error', console.error);
  await producer.ready();
  for (let i = 0; i < count; i++) {
    const result = await producer.send(new Message(topic, body(i)));
    if (result.sendStatus !== 'SEND_OK') {
      throw new Error(`${body(i)}: ${JSON.stringify(result)}`);
    }
  }
  await producer.close();
}

/** Resolves when all messages have come, and settled, to the number of arrivals that were not expected. */
function consume() {
  const consumer = new Consumer({
    ...common,
    consumerGroup: `${topic}-consumers`,
    consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET',
  });
  consumer.on('error', console.error);
  const missing = new Set(Array.from({ length: count }, (_, i) => body(i)));
  let duplicates = 0;
  return new Promise(resolve => {
    consumer.subscribe(topic, '*', async message => {
      if (!missing.delete(message.body.toString())) {
        duplicates++;
      } else if (missing.size === 0) {
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
  await produce();
  const duplicates = await consume();
  const result = `sent=${count} received=${count} duplicates=${duplicates}`;
  if (duplicates !== 0) {
    fail(result);
  }
  console.log(`OK ${result}`);
  process.exit(0);
}

main().catch(fail);
