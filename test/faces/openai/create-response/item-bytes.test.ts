import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { inlineCompute } from '../../../../harness/inline-compute.ts';
import { conversationAgent } from '../../../../harness/openai-agents.ts';
import { testPipelines } from '../../../../harness/pipelines.ts';
import { startService } from '../../../../harness/service.ts';
import { ByteShares } from '../../../../src/core/byte-shares.ts';
import { type Compute, inlineCharsMax } from '../../../../src/core/compute.ts';
import type { Caller } from '../../../../src/core/people/caller.ts';
import { hashKey } from '../../../../src/core/people/key.ts';
import { createSharedReads } from '../../../../src/engine/read/shared-reads.ts';
import { readSent } from '../../../../src/faces/openai/read-sent.ts';
import type { ApiDeps } from '../../../../src/features/api-deps.ts';

/** What looking up the items of a request takes: room for their records, and the compute thread if they are long. */

const service = await startService();
after(service.close);
const pipelines = testPipelines(service.database.connection);
after(() => pipelines.close());
const reads = createSharedReads({ pipelines });
const { key } = await service.key();
await conversationAgent(service, { agentName: 'Many' });
const owner = (await reads.caller(hashKey(key))) as Caller;
const { workspaceId } = owner;
const bytes = new ByteShares(1_000_000);
const callBytes = new ByteShares(1_000_000);

/** The jobs of the compute thread, each with the characters that it was announced with. */
const jobs: [name: string, chars: number][] = [];
const compute: Compute = {
  run(workspace, job, input, chars = 0) {
    jobs.push([job.name, chars]);
    return inlineCompute.run(workspace, job, input);
  },
};
const { db } = service;
const deps = { db, reads, compute, callBytes, callBodyBytes: 200_000, streams: { bytes } };

async function answered(output: string): Promise<string> {
  service.models.script({ text: output });
  const { body } = await service.call('POST', '/v1/responses', {
    ...{ key, body: { model: 'many', input: 'Hi' } },
  });
  return body.output[0].id;
}

/** A short request that refers to these items. */
async function referring(...ids: string[]) {
  const input = ids.map((id) => ({ type: 'item_reference', id }));
  const raw = { kind: 'text', text: JSON.stringify({ model: 'many', input }) } as const;
  const { signal } = new AbortController();
  const reading = { raw, caller: owner, signal, api: 'responses' } as const;
  const sent = await readSent(deps as unknown as ApiDeps, reading);
  assert.ok(sent.kind === 'call' && sent.body.kind === 'unparsed');
  const { whole, free, body } = sent;
  return { parse: () => body.parse(workspaceId), whole, free };
}

test('long items are picked and read in the compute thread, short ones are not', async () => {
  const short = await referring(await answered('short'));
  await short.parse();
  assert.equal(jobs.length, 0);
  const text = 'x'.repeat(inlineCharsMax);
  const long = await referring(await answered(text));
  await long.parse();
  assert.ok(long.whole().conversation.messages.json.includes(text));
  assert.deepEqual(
    jobs.map(([name, chars]) => [name, chars > text.length]),
    [
      ['pickItems', true],
      ['readCall', true],
    ],
  );
  assert.ok(callBytes.used > 2 * text.length, 'what was found is held');
  short.free();
  long.free();
  assert.equal(callBytes.used, 0);
});

test('a record is read once there is room for it', async (t) => {
  const { parse, free } = await referring(await answered('x'.repeat(30_000)));
  const others = bytes.tryHold(workspaceId, bytes.workspaceMax);
  assert.ok(others);
  const waits = Promise.withResolvers<string>();
  const { hold } = bytes;
  t.mock.method(bytes, 'hold', (...asked: Parameters<typeof hold>) => {
    waits.resolve('waits');
    return hold.apply(bytes, asked);
  });
  const parsed = parse();
  assert.equal(await Promise.race([waits.promise, parsed.then(({ kind }) => kind)]), 'waits');
  others();
  assert.equal((await parsed).kind, 'conversation');
  assert.equal(bytes.used, 0);
  free();
});

test('items that are too long are refused, and nothing is held', async () => {
  const text = 'x'.repeat(120_000);
  const { parse, free } = await referring(await answered(text), await answered(text));
  const refused = await parse();
  assert.ok(refused.kind === 'invalid-parameter');
  assert.match(refused.message, /more than 200000 characters/);
  free();
  assert.deepEqual([bytes.used, callBytes.used], [0, 0]);
});
