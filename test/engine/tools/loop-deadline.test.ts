import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type AgentOptions, startExecution } from '../../../harness/agents.ts';
import { unlimited } from '../../../harness/batches.ts';
import { startReceiver, toReceivers } from '../../../harness/receiver.ts';
import { type Service, startService } from '../../../harness/service.ts';
import {
  addToolAgent,
  calling,
  executedTool,
  loseWorker,
  scriptedTools,
  stepsOf,
} from '../../../harness/tool-agents.ts';
import { addToolServer } from '../../../harness/tool-server.ts';
import { fromId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';

/** `timeoutMs` of executions whose calls wait. No test waits for a deadline: it moves the start of the execution. */

const tools = scriptedTools();
const service = await startService({ tools });
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });

const body = { variables: { text: 'go' } };

async function startAgent(options: AgentOptions = {}) {
  const agent = await addToolAgent(service, [executedTool()], options);
  return startExecution(service, agent, key, body);
}

/** Once it waits in the queue for the server of a tool. */
async function waiting({ db }: Service, id: string): Promise<void> {
  for (;;) {
    const { rows } = await sql`
      select from execution_queue where id = ${fromId('execution', id)} and worker is null
        and wait_code = 'TOOL_SERVER_ERROR'`.execute(db);
    if (rows.length > 0) return;
    await wait(5);
  }
}

async function passDeadline({ db }: Service, id: string): Promise<void> {
  await sql`
    update execution_queue set started_at = started_at - interval '1 hour',
      available_at = case when worker is null then clock_timestamp() end
    where id = ${fromId('execution', id)}`.execute(db);
}

test('a call that waits for Retry-After ends at the deadline as an error of its server, and was not sent', async () => {
  const sent = tools.requests.length;
  service.models.script(calling(['act', {}]));
  tools.script({ kind: 'refused', retryAfterMs: 3_600_000, problem: 'busy' });
  const { id, end } = await startAgent();
  await waiting(service, id);
  await passDeadline(service, id);
  const record = await end();
  assert.deepEqual([record.errorCode, record.turns], ['TOOL_SERVER_ERROR', 1]);
  assert.match(
    record.error,
    /^The server of a tool refused its calls, or did not answer them, until the timeout of \d+ ms\.$/,
  );
  assert.equal(tools.requests.length - sent, 1);
  assert.deepEqual((await stepsOf(service, id)).at(-1), [1, 1, 'canceled', 0, null]);
});

test('a call that waits for a slot of its server ends at the deadline likewise', async () => {
  const real = await startService({ config: toReceivers });
  const { key: own } = await real.key();
  const receiver = await startReceiver(() => {});
  const { toolServerId } = await addToolServer(real, { url: receiver.url, maxConcurrency: 1 });
  const refund = {
    name: 'refund',
    tool: 'refund',
    server: fromId('toolServer', toolServerId) ?? '',
  };
  const agentWith = (timeoutMs: number) =>
    addToolAgent(real, [executedTool({ ...refund, timeoutMs })]);
  const [patient, hasty] = [await agentWith(300_000), await agentWith(2)];
  const asked = calling(['refund', {}]);
  real.models.script(asked, asked);
  const first = await startExecution(real, patient, own, body);
  await receiver.received(1);
  const second = await startExecution(real, hasty, own, body);
  await waiting(real, second.id);
  await passDeadline(real, second.id);
  assert.equal((await second.end()).errorCode, 'TOOL_SERVER_ERROR');
  assert.deepEqual((await stepsOf(real, second.id)).at(-1), [1, 1, 'canceled', 0, null]);
  assert.equal(receiver.requests.length, 1);
  await receiver.close();
  assert.equal((await first.end()).errorCode, 'TOOL_OUTCOME_UNKNOWN');
  await real.close();
});

test('all turns together have the time of the execution', async () => {
  const from = service.models.calls.length;
  service.models.script(calling(['act', {}]));
  const second = service.models.hold();
  const { id, end } = await startAgent();
  await second.arrived;
  await passDeadline(service, id);
  await loseWorker(service, id);
  const record = await end();
  second.release();
  assert.deepEqual([record.errorCode, record.turns], ['MODEL_TIMEOUT', 1]);
  assert.equal(service.models.calls.length - from, 2);
});
