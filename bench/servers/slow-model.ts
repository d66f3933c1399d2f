import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { epochMs } from '../load/schedule.ts';

/**
 * An OpenAI-compatible provider whose models respond after `AFTER_MS`; a stream begins then, and ends as much later. `GET /arrivals` returns when each prompt arrived,
 * as Unix time in milliseconds, and clears the list. It is a separate process, so that pauses elsewhere do not count.
 */

const afterMs = Number(process.env.AFTER_MS);
let arrivals: Record<string, number> = {};

const server = createServer(async (request, response) => {
  const atMs = performance.now();
  if (request.method === 'GET') {
    const epoch = epochMs();
    const times = Object.entries(arrivals).map(([prompt, ms]) => [prompt, epoch + ms]);
    response.end(JSON.stringify(Object.fromEntries(times)));
    arrivals = {};
    return;
  }
  const { messages, stream } = JSON.parse(await text(request));
  arrivals[messages.at(-1).content] = atMs;
  await delay(afterMs);
  if (stream) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ role: 'assistant', content: 'Do' }));
    await delay(afterMs);
    response.write(chunk({ content: 'ne.' }));
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
    return;
  }
  response.setHeader('content-type', 'application/json');
  response.end(completion);
});

function chunk(delta: object, finish_reason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason }];
  const event = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: 'slow' };
  return `data: ${JSON.stringify({ ...event, choices })}\n\n`;
}

const message = { role: 'assistant', content: 'Done.' };
const completion = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 0,
  model: 'slow',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  usage: { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 },
});

server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
process.once('SIGTERM', () => process.exit());
