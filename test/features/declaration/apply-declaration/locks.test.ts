import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addBudget } from '../../../../harness/budgets.ts';
import { during } from '../../../../harness/locks.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId, toId } from '../../../../src/core/id.ts';
import type { Trx } from '../../../../src/db/database.ts';
import { sql } from '../../../../src/db/sql.ts';
import { lockDeclaration } from '../../../../src/features/declaration/statements/declaration-statements.ts';

/** Which requests a declaration waits for: admitted executions lock the limits of their agent. */

const service = await startService();
after(service.close);
const { db, workspaceId } = service;
const { key } = await service.key();
const path = '/api/v1/declaration';

interface Declared {
  readonly tags?: readonly string[];
  readonly text?: string;
  readonly input?: object;
}

const agentNames = ['First', 'Second'] as const;

function declared({ tags = [], text = 'a', input = {} }: Declared = {}) {
  const agent = { prompt: 'P', version: text, stage: 'Deployed' };
  return {
    prompts: [
      {
        name: 'P',
        description: text,
        versions: [{ label: text, user: text, model: 'cueline/echo' }],
      },
    ],
    agents: [
      { ...agent, name: agentNames[0], tags },
      { ...agent, name: agentNames[1], version: 'a' },
    ],
    workflows: [{ name: 'W', input, steps: [{ name: 's', agent: 'First' }] }],
  };
}

async function apply(declaration: object, dryRun = false) {
  return service.call('POST', path, { key, body: { declaration, dryRun } });
}

const { status } = await apply(declared());
assert.equal(status, 200);
const { body: listed } = await service.call('GET', '/api/v1/agents', { key });
const idOf = new Map<string, string>(
  listed.agents.map((one: { agentName: string; agentId: string }) => [
    one.agentName,
    fromId('agent', one.agentId) ?? '',
  ]),
);
const [first = '', second = ''] = agentNames.map((name) => idOf.get(name));

const holdLimits = (trx: Trx, subject: string) =>
  sql`select from limits where subject = ${subject} for update`.execute(trx);

/** Runs with everything in the workspace locked and an uncommitted workflow, which is rolled back. */
async function withAllLocked<T>(work: () => Promise<T>): Promise<T> {
  const trx = await db.begin('read committed');
  try {
    await lockDeclaration(trx, workspaceId);
    await sql`select from limits for update`.execute(trx);
    for (const table of [
      'agents',
      'prompts',
      'workflows',
      'prompt_versions',
      'workflow_versions',
    ]) {
      await sql`select from ${sql.table(table)} for update`.execute(trx);
    }
    await sql`insert into workflows (id, workspace_id, name) values (gen_random_uuid(), ${workspaceId}, 'New')`.execute(
      trx,
    );
    return await work();
  } finally {
    await trx.rollback();
  }
}

test('a dry run takes no locks', async () => {
  const other = declared({ tags: ['x'], text: 'b', input: { required: ['q'] } });
  other.workflows.push({ ...declared().workflows[0], name: 'New' } as never);
  other.prompts.push({ name: 'Q', description: 'q', versions: [] });
  other.agents.push({ ...declared().agents[1], name: 'Third' } as never);
  const dry = await withAllLocked(() => apply(other, true));
  assert.equal(dry.status, 200);
  const applied = await apply(other);
  assert.deepEqual(applied.body.changes, dry.body.changes);
  const kinds = dry.body.changes.map((one: Record<string, string>) => `${one.kind} ${one.action}`);
  assert.deepEqual(kinds, [
    'prompt change',
    'prompt add-version',
    'prompt create',
    'agent change',
    'agent pin',
    'agent create',
    'agent move',
    'workflow pin',
    'workflow create',
  ]);
  assert.equal((await apply(declared())).status, 200);
});

test('applying waits only for executions of the agents that change', async () => {
  const other = declared({ tags: ['y'] });
  const applied = await db.transaction(async (trx) => {
    await holdLimits(trx, second);
    return apply(other);
  });
  assert.deepEqual(applied.body.changes.length, 1);
  const unchanged = await db.transaction(async (trx) => {
    await holdLimits(trx, first);
    await holdLimits(trx, second);
    return apply(other);
  });
  assert.deepEqual(unchanged.body, { applied: true, changes: [] });
});

test('a change during the wait is planned again', async () => {
  assert.equal((await apply(declared())).status, 200);
  const applied = await during(
    db,
    async (trx) => {
      await holdLimits(trx, first);
      await sql`
        update agents set tags = '{else}', description = 'Other', revision = revision + 1
        where id = ${first}`.execute(trx);
    },
    () => apply(declared({ tags: ['z'] })),
  );
  assert.deepEqual(applied.body.changes, [
    {
      kind: 'agent',
      name: 'First',
      action: 'change',
      field: 'description',
      from: 'Other',
      to: null,
    },
    { kind: 'agent', name: 'First', action: 'change', field: 'tags', from: ['else'], to: ['z'] },
  ]);
  const { body } = await service.call('GET', path, { key });
  const agent = body.declaration.agents.find((one: { name: string }) => one.name === 'First');
  assert.deepEqual([agent.tags, agent.description], [['z'], undefined]);
});

const daily = { per: 'none', period: 'day', limitUSD: 1 };
const unbounded = { providerOptions: { openai: { maxTokens: 200 } } };

test('an option that an agent gets during the wait refuses a budget that would count its calls', async () => {
  const agent = `/api/v1/agents/${toId('agent', second)}`;
  const change = (agentConfig: object) =>
    service.call('PATCH', agent, { key, body: { agentConfig } });
  for (const scope of [{}, { agents: ['Second'] }]) {
    const declaration = { budgets: [{ ...daily, name: 'Counting', scope }] };
    const { status, body } = await during(
      db,
      (trx) => holdLimits(trx, workspaceId),
      () => apply(declaration),
      async () => assert.equal((await change(unbounded)).status, 200),
    );
    assert.deepEqual([status, body.code], [409, 'CONFLICT']);
    assert.match(body.message, /"Second".*"providerOptions\.openai\.maxTokens"/);
    assert.equal((await apply(declaration, true)).status, 409);
    assert.equal((await change({ providerOptions: {} })).status, 200);
  }
});

test('a budget that is created during the wait refuses an option of an agent whose calls it counts', async () => {
  const { prompts, agents } = declared();
  const declaration = { prompts, agents: [{ ...agents[0], agentConfig: unbounded }] };
  const budget = { ...daily, name: 'New', scope: { agentIds: [toId('agent', first)] } };
  const { status, body } = await during(
    db,
    (trx) => holdLimits(trx, first),
    () => apply(declaration),
    async () => {
      const created = await service.call('POST', '/api/v1/budgets', { key, body: budget });
      assert.equal(created.status, 201);
    },
  );
  assert.deepEqual([status, body.code], [409, 'CONFLICT']);
  assert.match(body.message, /"First".*"providerOptions\.openai\.maxTokens"/);
  assert.equal((await apply(declaration, true)).status, 409);
  await sql`delete from budgets`.execute(db);
});

test('a budget that changes during the wait is planned again', async () => {
  const declaration = (limitUSD: number) => ({ budgets: [{ ...daily, name: 'Total', limitUSD }] });
  assert.equal((await apply(declaration(1))).status, 200);
  const { body } = await during(
    db,
    async (trx) => {
      await holdLimits(trx, workspaceId);
      await sql`update budgets set enabled = false, revision = revision + 1`.execute(trx);
    },
    () => apply(declaration(2)),
  );
  const change = { kind: 'budget', name: 'Total', action: 'change' };
  assert.deepEqual(body.changes, [
    { ...change, field: 'limitUSD', from: 1, to: 2 },
    { ...change, field: 'enabled', from: false, to: true },
  ]);
  await sql`delete from budgets`.execute(db);
});

test('budgets that are created during the wait count among those that match a call', async () => {
  const declaration = { budgets: [{ name: 'Sixth', per: 'none', period: 'day', limitUSD: 1 }] };
  const { status, body } = await during(
    db,
    async (trx) => {
      await holdLimits(trx, workspaceId);
      for (let n = 0; n < 5; n++) await addBudget({ db: trx, workspaceId }, { limitUSD: 1 });
    },
    () => apply(declaration),
  );
  assert.deepEqual([status, body.code], [409, 'CONFLICT']);
  assert.match(body.message, /could match 6 enabled budgets/);
  assert.equal((await apply(declaration, true)).status, 409);
});
