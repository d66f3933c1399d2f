import type pg from 'pg';
import {
  type ExecutionSettings,
  maxAttemptsDefault,
  timeoutMsDefault,
} from '../src/core/agent/model-settings.ts';
import { models } from './outcomes.ts';
import type { SeededAgent } from './population.ts';
import { questions, textOf } from './texts.ts';
import type { Writing } from './write-day.ts';

/**
 * Queued executions, accepted within the last minute. They are retries that are due in a year, so that no worker claims
 * them.
 */
export async function writeQueue(
  client: pg.Client,
  agent: SeededAgent,
  { count, nowMs }: { count: number; nowMs: number },
  { signal, addRows }: Writing,
): Promise<void> {
  const pinned = agent.versions.at(-1);
  const texts = Array.from({ length: textsMax }, () => textOf(questions, 100));
  for (let from = 0; from < count; from += batchRows) {
    signal.throwIfAborted();
    const upTo = Math.min(count, from + batchRows);
    await client.query(enqueue, [
      from,
      upTo - 1,
      count,
      nowMs - spreadMs,
      spreadMs,
      agent.id,
      agent.workspaceId,
      agent.ownerId,
      agent.name,
      agent.keyIds[0],
      pinned?.id,
      pinned?.label,
      models[0].name,
      settings,
      texts,
      new Date(nowMs + yearMs).toISOString(),
    ]);
    addRows(upTo - from);
  }
}

const batchRows = 20_000;
const textsMax = 1_024;
const spreadMs = 60_000;
const yearMs = 365 * 86_400_000;
const settings = JSON.stringify({
  maxTokens: null,
  topP: null,
  maxAttempts: maxAttemptsDefault,
  timeoutMs: timeoutMsDefault,
  maxConcurrency: null,
  defaults: {},
} satisfies ExecutionSettings);

const enqueue = `
  with texts as materialized (
    select position - 1 as position, text from unnest($15::text[]) with ordinality as one (text, position)),
  made as materialized (
    select ms, ('0' || to_hex(ms) || '7' || substr(gen_random_uuid()::text, 16))::uuid as id,
      floor(random() * cardinality($15::text[])) as position
    from generate_series($1::bigint, $2::bigint) as n
    cross join lateral (select $4::bigint + n * $5::bigint / $3::bigint as ms) as at)
  insert into execution_queue (id, workspace_id, agent_id, prompt_version_id, api_key_id, executed_by, executed_at, source,
    agent_name, prompt_version_label, model, input_variables, settings, tag, available_at, failures)
  select id, $7::uuid, $6::uuid, $11::uuid, $10::uuid, $8::uuid, to_timestamp(ms / 1000.0::float8), 'api', $9, $12, $13,
    ('{"customer":"customer-0000","question":"' || text || '"}')::json, $14::json, 1, $16::timestamptz, 1
  from made join texts using (position)`;
