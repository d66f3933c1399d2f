import type pg from 'pg';
import { uuid7, uuid7Time } from '../src/core/id.ts';
import { maxAttemptsDefault, type RunSettings, timeoutMsDefault } from '../src/core/settings.ts';
import { copyIn } from './copy.ts';
import { models } from './outcomes.ts';
import { customer, type SeededAgent } from './record.ts';
import { textOf } from './words.ts';
import type { Writing } from './write-day.ts';

/**
 * Runs that wait, accepted within the last minute. They wait as after a failed attempt and for a year, so that they stay
 * where they are though a worker is running.
 */
export async function writeQueue(
  client: pg.Client,
  agent: SeededAgent,
  { count, nowMs }: { count: number; nowMs: number },
  { signal, onRows }: Writing,
): Promise<void> {
  const pinned = agent.versions.at(-1);
  const before = [agent.workspaceId, agent.id, pinned?.id, agent.keyIds[0], agent.ownerId];
  const after = ['processing', 'api', agent.name, pinned?.label, models[0].name];
  const until = new Date(nowMs + yearMs).toISOString();
  for (let from = 0; from < count; from += batchRows) {
    const ids: string[] = [];
    for (let at = from; at < Math.min(count, from + batchRows); at++) {
      ids.push(uuid7(nowMs - spreadMs + (at * spreadMs) / count));
    }
    await client.query('begin');
    try {
      const records = ids.map((id) => {
        const executedAt = new Date(uuid7Time(id)).toISOString();
        const variables = `{"customer":"${customer(0)}","question":"${textOf(100)}"}`;
        return line([id, ...before, executedAt, ...after, variables, settings]);
      });
      await copyIn(client, `copy executions (${recordColumns}) from stdin`, records, signal);
      const places = ids.map((id) => line([id, agent.workspaceId, agent.id, 1, until, 1]));
      await copyIn(client, `copy run_queue (${queueColumns}) from stdin`, places, signal);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback').catch(() => {});
      throw error;
    }
    onRows(ids.length);
  }
}

const batchRows = 20_000;
const spreadMs = 60_000;
const yearMs = 365 * 86_400_000;
const recordColumns = `id, workspace_id, agent_id, prompt_version_id, api_key_id, executed_by, executed_at, status,
  source, agent_name, prompt_version_label, model, input_variables, settings`;
const queueColumns = 'id, workspace_id, agent_id, tag, available_at, failures';

const settings = JSON.stringify({
  maxTokens: null,
  topP: null,
  maxAttempts: maxAttemptsDefault,
  timeoutMs: timeoutMsDefault,
  maxConcurrency: null,
  defaults: {},
} satisfies RunSettings);

function line(fields: readonly unknown[]): string {
  return `${fields.join('\t')}\n`;
}
