import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { putRecords } from '../../harness/records.ts';
import { insertStatistics, tally } from '../../harness/statistics.ts';
import type { Tally } from '../../src/core/history/statistics.ts';
import { sql } from '../../src/db/sql.ts';
import { openPages } from './in-dom.ts';

const { service, visit } = await openPages();
const { workspaceId } = service;
const [minuteMs, dayMs] = [60_000, 86_400_000];

interface Call extends Pick<Tally, 'status' | 'errorCode'> {
  readonly ago: number;
  /** False for one that was counted only. */
  readonly recorded?: boolean;
}

const failure = { status: 'failed', errorCode: 'MODEL_TIMEOUT' } as const;
const refusal = { status: 'rate_limited', errorCode: 'RATE_LIMIT_EXCEEDED' } as const;

/** An agent with these calls, so many milliseconds ago. */
async function agentWith(calls: readonly Call[]) {
  const agent = await addAgent(service);
  const now = Date.now();
  for (const { ago, recorded = true, status, errorCode } of calls) {
    const atMs = now - ago;
    if (recorded) {
      const [id] = await putRecords(service.db, [{ workspaceId, agentId: agent.id, atMs, status }]);
      await sql`update executions set error_code = ${errorCode} where id = ${id}`.execute(
        service.db,
      );
    }
    await insertStatistics(service.db, [
      tally({ agentId: agent.id, executedAtMs: atMs, status, errorCode, recorded }),
    ]);
  }
  return agent;
}

async function chipsOf(path: string, count: number) {
  const { page, check } = await visit(path, { as: 'viewer' });
  const codes = page.getByRole('group', { name: 'Error codes' }).getByRole('button');
  await codes.nth(count - 1).waitFor();
  const texts = [];
  for (let n = 0; n < (await codes.count()); n++) texts.push(await codes.nth(n).innerText());
  return { texts, check };
}

test('the failures by code are those with the statuses of the list', async () => {
  const { agentId } = await agentWith([
    { ago: minuteMs, ...failure },
    { ago: minuteMs, ...refusal },
  ]);
  const path = `/agents/${agentId}/history`;
  const { texts, check } = await chipsOf(`${path}?status=failed`, 1);
  assert.deepEqual(texts, ['MODEL_TIMEOUT1']);
  await check();
  const both = await chipsOf(`${path}?status=failed,rate_limited`, 2);
  assert.equal(both.texts.length, 2);
});

test('the failures by code count what the list shows: its period, and only records', async () => {
  const { agentId } = await agentWith([
    { ago: minuteMs, ...failure },
    { ago: minuteMs, ...failure, recorded: false },
    // Outside of the last hour, though mostly in the quarter of an hour in which it starts.
    { ago: 60 * minuteMs + 1_000, ...failure },
    { ago: 200 * dayMs, ...failure },
    { ago: 200 * dayMs, ...refusal },
  ]);
  const path = `/agents/${agentId}/history`;
  const hour = await chipsOf(`${path}?status=failed&period=1h`, 1);
  assert.deepEqual(hour.texts, ['MODEL_TIMEOUT1']);
  const all = await chipsOf(`${path}?status=failed,rate_limited`, 2);
  assert.deepEqual(all.texts, ['MODEL_TIMEOUT3', 'RATE_LIMIT_EXCEEDED1']);
});

test('a workspace without executions leads to its agents, an agent without any to its snippets', async () => {
  const { ownerId: userId } = await service.workspace();
  const { page } = await visit('/history', { as: { userId } });
  await page.getByRole('link', { name: 'Show agents' }).waitFor();
  const { agentId } = await addAgent(service);
  const own = await visit(`/agents/${agentId}/history`, { as: 'viewer' });
  await own.page.getByRole('link', { name: 'Call this agent' }).click();
  await own.page.getByRole('heading', { name: 'Call this agent' }).waitFor();
});
