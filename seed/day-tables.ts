import type pg from 'pg';
import { models, outcomes } from './outcomes.ts';
import { agentsOf, originsOf, type Population } from './population.ts';
import type { Snippets } from './snippets.ts';

/**
 * Temporary tables of the transaction that writes a day. They are dropped with it, because behind a
 * pooler the next transaction may use another session. They are small enough to be created each
 * time.
 */

const create = `
  create temp table seed_agents (position int, id uuid, name text, workspace_id uuid) on commit drop;
  create temp table seed_versions (position int, id uuid, label text, system text, before_customer text,
    before_question text, after_question text, system_tokens int, user_chars int) on commit drop;
  create temp table seed_origins (position int, first_of_source int, source execution_source, key_id uuid, user_id uuid, user_agent text)
    on commit drop;
  create temp table seed_outcomes (position int, first_of_status int, status execution_status, error_code text, error text,
    started double precision, attempts smallint, latency_ms int, called boolean, keeps_variables boolean,
    keeps_prompts boolean) on commit drop;
  create temp table seed_models (position int, name text, latency_ms int, input_price bigint, output_price bigint)
    on commit drop;
  create temp table seed_snippets (position int, text text, chars int) on commit drop;
  -- The rows of a piece: random values, and values derived from them.
  create temp table seed_rows (id uuid, ms bigint, agent int, outcome int, origin int, version int, model int,
    customer int, question int, answer int, question_reference int, answer_reference int, input_tokens int,
    output_tokens int, cost bigint, cost_known boolean, started_ms bigint, latency_ms int, bin int)
    on commit drop;
  -- Counts per minute or quarter and latency bin. In minutes, the first outcome of a status and the first origin of a
  -- source represent all.
  create temp table seed_minutes (agent int, ms bigint, outcome int, origin int, bin int,
    records bigint, input_tokens bigint, output_tokens bigint, cost bigint, cost_unknown bigint) on commit drop;
  create temp table seed_quarters (agent int, ms bigint, outcome int, origin int, version int, model int, bin int,
    records bigint, input_tokens bigint, output_tokens bigint, cost bigint, cost_unknown bigint) on commit drop;`;

/** Forces hash joins: the planner has no statistics of these new tables. */
const settings = `
  set local synchronous_commit = off;
  set local work_mem = '128MB';
  set local jit = off;
  set local enable_mergejoin = off;
  set local enable_nestloop = off;`;

export async function createDayTables(
  client: pg.Client,
  population: Population,
  { texts }: Snippets,
): Promise<void> {
  await client.query(settings + create);
  const { own, others } = population;
  const origins = [own, ...others.slice(0, 1)].flatMap(originsOf);
  const fill = (table: string, rows: readonly object[]) =>
    client.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [
      JSON.stringify(rows),
    ]);
  await fill(
    'seed_agents',
    agentsOf(population).map(({ id, name, workspaceId }, position) => ({
      position,
      id,
      name,
      workspace_id: workspaceId,
    })),
  );
  await fill('seed_versions', versionRows(population));
  await fill(
    'seed_origins',
    origins.map(({ source, keyId, userId, userAgent }, position) => ({
      position,
      first_of_source: origins.findIndex((origin) => origin.source === source),
      source,
      key_id: keyId,
      user_id: userId,
      user_agent: userAgent,
    })),
  );
  await fill('seed_outcomes', outcomeRows());
  await fill(
    'seed_models',
    models.map((one, position) => ({
      position,
      name: one.name,
      latency_ms: one.latencyMs,
      input_price: one.inputPrice,
      output_price: one.outputPrice,
    })),
  );
  await client.query(
    `insert into seed_snippets
     select position - 1, text, length(text) from unnest($1::text[]) with ordinality as one (text, position)`,
    [texts],
  );
}

function versionRows({ own, others }: Population): object[] {
  const versions = [own, ...others.slice(0, 1)].flatMap((agent) => agent.versions);
  return versions.map(({ id, label, system, user }, position) => {
    const [before = '', between = '', after = ''] = user.split(/\{\{\w+\}\}/);
    return {
      position,
      id,
      label,
      system,
      before_customer: before,
      before_question: between,
      after_question: after,
      system_tokens: Math.ceil(system.length / charsEachToken),
      user_chars: before.length + between.length + after.length,
    };
  });
}

function outcomeRows(): object[] {
  return outcomes.map((one, position) => ({
    position,
    first_of_status: outcomes.findIndex(({ status }) => status === one.status),
    status: one.status,
    error_code: one.errorCode,
    error: one.error,
    started: one.started,
    attempts: one.attempts,
    latency_ms: one.latencyMs,
    called: one.called,
    keeps_variables: one.keepsVariables,
    keeps_prompts: one.keepsPrompts,
  }));
}

export const charsEachToken = 4.2;
