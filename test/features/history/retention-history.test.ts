import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { addAgent } from '../../../harness/agents.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { miscounted } from '../../../harness/records.ts';
import { startService } from '../../../harness/service.ts';
import { sql } from '../../../src/db/sql.ts';
import { retentionRound } from '../../../src/features/history/verbs/retention-round.ts';

/**
 * Random histories: executions end, are canceled or refused; records are deleted, erased or overdue, all
 * concurrently. In any order, the statistics afterwards equal a plain count.
 */

const service = await startService();
after(service.close);
const { db, call, database } = service;
const { key } = await service.key({
  rateLimits: { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null },
});
const user = await service.member('owner');

type Move =
  | { readonly kind: 'run'; readonly customer: number; readonly cancel: boolean }
  | { readonly kind: 'refuse' }
  | { readonly kind: 'delete'; readonly place: number }
  | { readonly kind: 'age'; readonly share: number }
  | { readonly kind: 'erase'; readonly customer: number }
  | { readonly kind: 'round' };

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('run' as const),
      customer: fc.integer({ min: 0, max: 3 }),
      cancel: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'refuse' } as const) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('delete' as const), place: fc.nat({ max: 30 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('age' as const),
      share: fc.double({ min: 0.1, max: 0.6, noNaN: true }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('erase' as const),
      customer: fc.integer({ min: 0, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'round' } as const) },
);

test('statistics equal the remaining records, whatever happens concurrently', async () => {
  const agents = [
    await addAgent(service, { optionalVariables: ['customer'] }),
    await addAgent(service, { optionalVariables: ['customer'], config: { maxConcurrency: 2 } }),
  ];
  const idle = await addAgent(service, { stage: 'Paused' });
  const pipelines = testPipelines(database.connection);
  const { signal } = new AbortController();
  const round = () => retentionRound({ db, pipelines, signal, rest: 0 });
  const started: { path: string; executionId: string }[] = [];

  const doers: Record<Move['kind'], (move: never, n: number) => Promise<unknown>> = {
    async run({ customer, cancel }: Extract<Move, { kind: 'run' }>, n) {
      const { path } = agents[n % 2] ?? idle;
      const variables = { name: 'you', customer: `c${customer}` };
      const { status, body } = await call('POST', `${path}/execute`, { key, body: { variables } });
      assert.equal(status, 202);
      started.push({ path, executionId: body.executionId });
      if (cancel) await call('POST', `${path}/executions/${body.executionId}/cancel`, { key });
    },
    refuse: () => call('POST', `${idle.path}/execute`, { key, body: { variables: { name: 'x' } } }),
    async delete({ place }: Extract<Move, { kind: 'delete' }>) {
      const one = started.at(-1 - place);
      if (!one) return;
      const path = `${one.path}/executions/${one.executionId}`;
      assert.ok([204, 404, 409].includes((await call('DELETE', path, { key })).status));
    },
    /**
     * Inserts old records with their statistics, because time does not pass in a test. The breakdown is written last, as
     * by a removal of records.
     */
    async age({ share }: Extract<Move, { kind: 'age' }>) {
      const count = Math.ceil(share * 40);
      await sql`
        with made as (
          insert into executions (id, workspace_id, agent_id, prompt_version_id, executed_at, completed_at, status, source,
            agent_name, prompt_version_label, model, error_code, error, input_variables)
          select (left(id_floor(at)::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid,
            ${service.workspaceId}, ${agents[0]?.id}, ${service.workspaceId}, at, at, 'canceled', 'api', 'A', 'v1',
            'cueline/echo', 'CANCELED', 'Canceled.', '{"customer":"c1"}'
          from (select clock_timestamp() - (80 + random() * 20) * interval '1 day' as at
            from generate_series(1, ${count}::int)) as times
          returning *),
        broken_down as (
          insert into breakdown as b (agent_id, level, bucket, status, source, prompt_version_id, model, api_key_id,
            error_code, occurred, recorded, input_tokens, output_tokens, cost_usd, latency)
          select agent_id, level, date_bin(step, id_time(id), 'epoch') as bucket, status, source, prompt_version_id, model,
            api_key_id, error_code, count(*), count(*), 0, 0, 0, '{}'
          from made cross join (values ('quarter', interval '15 minutes'), ('day', interval '1 day')) as l (level, step)
          group by 1, 2, 3, 4, 5, 6, 7, 8, 9 order by 1, 2, 3, 4, 5
          on conflict (agent_id, level, bucket, status, source, prompt_version_id, model, api_key_id, error_code) do update
            set occurred = b.occurred + excluded.occurred, recorded = b.recorded + excluded.recorded)
        insert into statistics as s (agent_id, level, bucket, status, source, occurred, recorded, input_tokens,
          output_tokens, cost_usd, latency)
        select agent_id, level, date_trunc(level, id_time(id), 'UTC') as bucket, status, source, count(*), count(*), 0, 0, 0, '{}'
        from made cross join unnest(array['minute', 'hour', 'day']) as level group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
        on conflict (agent_id, level, bucket, status, source) do update
          set occurred = s.occurred + excluded.occurred, recorded = s.recorded + excluded.recorded`.execute(
        db,
      );
    },
    async erase({ customer }: Extract<Move, { kind: 'erase' }>) {
      const body = { variable: 'customer', value: `c${customer}` };
      assert.equal((await call('POST', '/api/v1/erasures', { user, body })).status, 202);
    },
    round,
  };

  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 10, maxLength: 40 }), async (moves) => {
      await Promise.all(moves.map((one, n) => doers[one.kind](one as never, n)));
      for (;;) {
        const { rows } = await sql`select from execution_queue limit 1`.execute(db);
        if (rows.length === 0) break;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await round();
      assert.deepEqual(await miscounted(db), []);
      const { rows: overdue } = await sql`
        select from executions where id < id_floor(clock_timestamp() - interval '90 days')`.execute(
        db,
      );
      assert.equal(overdue.length, 0);
      const { rows: open } = await sql`select from erasures where completed_at is null`.execute(db);
      assert.equal(open.length, 0);
    }),
    { numRuns: 12 },
  );
  const { rows } = await sql<{ deadlocks: number }>`
    select deadlocks from pg_stat_database where datname = current_database()`.execute(db);
  assert.equal(rows[0]?.deadlocks, 0);
  await pipelines.close();
});
