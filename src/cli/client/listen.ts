import { setTimeout as delay } from 'node:timers/promises';
import { CuelineError, type CuelineEvent } from '../../client/index.ts';
import { type EventType, eventTypes } from '../../core/event/event.ts';
import { signedHeaders } from '../../core/event/sign.ts';
import { CommandFailure } from './command-failure.ts';
import { print, printNotice } from './print.ts';
import type { Call } from './run-call.ts';

/** `cueline listen`: reads the events of a pull endpoint and forwards them, signed, to a local receiver. */

export interface ListenOptions {
  readonly forwardTo: string;
  /** All but `ping` by default, which arrives anyway. */
  readonly type?: readonly string[];
}

const pollMs = 1_000;
const answerMsMax = 15_000;
const batchMax = 100;
/** The server deletes an endpoint that nobody reads for ten minutes. */
const keepAliveMs = 60_000;

export async function listen(call: Call, { forwardTo, type = [] }: ListenOptions): Promise<void> {
  const url = URL.parse(forwardTo);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new CommandFailure('--forward-to must be a URL, such as http://localhost:3000/events.');
  }
  const { endpoints } = call.cueline;
  const chosen = (type.length > 0 ? type : eventTypes) as EventType[];
  const endpoint = await endpoints.create({
    url: null,
    eventTypes: [...chosen],
    description: `cueline listen to ${url.origin}`,
  });
  const { endpointId, secret } = endpoint;
  const created = { endpointId, secret, forwardTo: url.href };
  if (call.json) await print(JSON.stringify(created));
  else {
    await print(secret);
    printNotice(`Forwarding events to ${url.href}, signed with this secret. Press Ctrl-C to stop.`);
  }
  try {
    await forwardAll(call, endpoint, url);
  } finally {
    // Without this, the server deletes it after ten minutes.
    await endpoints.delete(endpointId).catch(() => {});
  }
}

async function forwardAll(
  { cueline, signal, json }: Call,
  { endpointId, secret, createdAt }: { endpointId: string; secret: string; createdAt: string },
  url: URL,
): Promise<void> {
  let after: string | undefined;
  // Reading also keeps the endpoint: the receiver may take long for each of many events.
  const keepAlive = setInterval(() => {
    const query = { endpointId, limit: 1, ...(after !== undefined && { after }) };
    cueline.events(query, { signal }).catch(() => {});
  }, keepAliveMs);
  keepAlive.unref();
  signal.addEventListener('abort', () => clearInterval(keepAlive), { once: true });
  while (!signal.aborted) {
    const query = { endpointId, limit: batchMax, ...(after !== undefined && { after }) };
    const events = await cueline.events(query, { signal }).catch((error: unknown) => {
      if (signal.aborted || (error instanceof CuelineError && error.status < 500)) throw error;
      printNotice('The server does not answer. Trying again.');
      return [];
    });
    for (const event of events) {
      // Other endpoints may have caused older events to be kept.
      if (event.timestamp >= createdAt) {
        const answer = await forward(event, { secret, url, signal });
        const { eventId, type } = event;
        await print(
          json ? JSON.stringify({ eventId, type, answer }) : `${eventId} ${type} ${answer}`,
        );
      }
      after = event.eventId;
    }
    if (events.length < batchMax) await delay(pollMs, undefined, { signal });
  }
}

/** The status of the receiver, or why it did not answer. */
async function forward(
  { eventId, type, timestamp, data }: CuelineEvent,
  { secret, url, signal }: { secret: string; url: URL; signal: AbortSignal },
): Promise<number | string> {
  const body = JSON.stringify({ type, timestamp, data });
  const headers = {
    'content-type': 'application/json',
    ...signedHeaders({ id: eventId, atMs: Date.now(), body }, [secret]),
  };
  try {
    const late = AbortSignal.any([signal, AbortSignal.timeout(answerMsMax)]);
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      signal: late,
      redirect: 'manual',
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    signal.throwIfAborted();
    const { cause, message } = error as Error & { cause?: { message?: string } };
    return cause?.message ?? message;
  }
}
