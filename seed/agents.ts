import { toId, unknownId, uuid7 } from '../src/core/id.ts';
import type { Caller } from '../src/core/people/caller.ts';
import { readClock } from '../src/db/clock.ts';
import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { changeAgent } from '../src/features/agents/verbs/change-agent.ts';
import { moveAgent } from '../src/features/agents/verbs/change-stage.ts';
import { createAgent } from '../src/features/agents/verbs/create-agent.ts';
import { issueKey } from '../src/features/people/verbs/issue-key.ts';
import { createPrompt } from '../src/features/prompts/verbs/change-prompt.ts';
import { createVersion } from '../src/features/prompts/verbs/create-version.ts';
import type { SeededAgent, SeededVersion } from './population.ts';

/** Seeded agents: one new agent per call, and 1,000 others that are created once. */

export interface CreatedAgent extends SeededAgent {
  /** The `agentId` of the API. */
  readonly wireId: string;
  /** Secret of a key for this agent, with the permissions to execute and read. */
  readonly key: string;
}

/** Creates and deploys the agent as a member would. Its model needs no provider. */
export async function createSeededAgent(
  db: Db,
  owner: Caller,
  label: string,
): Promise<CreatedAgent> {
  const name = `Customer support ${label}`;
  const { promptId, versions } = await createVersions(db, owner, name);
  const [first, ...later] = versions;
  const { id } = await createAgent(db, owner, {
    name,
    promptId,
    promptVersionId: first?.id ?? unknownId,
    config: { model },
    visibility: 'public',
    project: 'seeded',
  });
  for (const version of later) {
    await changeAgent(db, owner, id, { change: {}, promptVersionId: version.id }, () => true);
  }
  await moveAgent(db, owner, id, 'enable-api');
  await moveAgent(db, owner, id, 'deploy');
  await extendRetention(db, [id]);
  const issue = (of: string) =>
    issueKey(db, owner, {
      name: `${name}, ${of}`,
      agentIds: [id],
      permissions: ['execute', 'read'],
      rateLimits: noLimits,
      expiresAtMs: null,
      allowedOrigins: [],
    });
  const printed = await issue('printed');
  const keyIds = [printed, await issue('website'), await issue('nightly job')].map(
    ({ row }) => row.id,
  );
  return {
    ...withOwner(owner, { id, name, versions, keyIds }),
    wireId: toId('agent', id),
    ...printed,
  };
}

/** Finds or creates the 1,000 other agents. `created` is false if an earlier call created them. */
export async function otherAgents(
  db: Db,
  owner: Caller,
): Promise<{ agents: SeededAgent[]; created: boolean }> {
  const found = await findOthers(db, owner);
  if (found.length > 0) return { agents: found, created: false };
  const { promptId, versions } = await createVersions(db, owner, othersName);
  await issueKey(db, owner, {
    name: othersName,
    agentIds: null,
    permissions: ['execute'],
    rateLimits: {},
    expiresAtMs: null,
    allowedOrigins: [],
  });
  const nowMs = await readClock(db);
  const ids = Array.from({ length: othersCount }, () => uuid7(nowMs)).sort();
  const pins = ids.map(() => uuid7(nowMs));
  const pinned = versions.at(-1)?.id;
  // One transaction: four transactions per agent would take half a minute.
  await sql`
    with made as (
      insert into agents (id, workspace_id, name, prompt_id, prompt_version_id, config, required_variables,
        optional_variables, default_variable_values, stage, api_enabled, visibility, project, created_by)
      select id, ${owner.workspaceId}, 'Support of branch ' || lpad(position::text, 4, '0'), ${promptId}, ${pinned},
        ${JSON.stringify({ model })}, '{customer,question}', '{}', '{}', 'Deployed', true, 'public',
        ${othersProject}, ${owner.userId}
      from unnest(${ids}::uuid[]) with ordinality as one (id, position)
      returning id),
    counted as (insert into limits (subject) select id from made),
    named as (
      insert into slugs (workspace_id, slug, subject) select ${owner.workspaceId}, 'branch-' || id, id from made)
    insert into pins (id, agent_id, prompt_version_id, pinned_by)
    select pin, one.id, ${pinned}, ${owner.userId}
    from unnest(${ids}::uuid[], ${pins}::uuid[]) as one (id, pin)`.execute(db);
  await extendRetention(db, ids);
  return { agents: await findOthers(db, owner), created: true };
}

const model = 'cueline/echo';
const noLimits = { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null };
const othersCount = 1_000;
const othersName = 'Branch support';
const othersProject = 'seeded-others';

/** Extends the retention, which would otherwise delete the oldest seeded days. */
async function extendRetention(db: Db, agentIds: readonly string[]): Promise<void> {
  await sql`update agents set records_days = 36500 where id = any (${agentIds}::uuid[])`.execute(
    db,
  );
}

async function createVersions(db: Db, owner: Caller, name: string) {
  const description = 'Answers questions about orders, deliveries and returns.';
  const { id: promptId } = await createPrompt(db, owner, {
    ...{ name, description },
    visibility: 'public',
  });
  const versions: SeededVersion[] = [];
  for (const user of userTemplates) {
    const texts = { system, user };
    const { id, label } = await createVersion(db, owner, promptId, {
      ...texts,
      label: null,
      notes: null,
      model,
      temperature: 0.2,
      maxTokens: null,
      topP: null,
      settings: {},
      ...{ messages: null, tools: null, toolChoice: null },
    });
    versions.push({ id, label, ...texts });
  }
  return { promptId, versions };
}

const system = `You answer customers of a shop for furniture and household goods.
Be friendly and brief. Name the next step and who takes it. Never promise a date that you do not know.
If you cannot help, say that a colleague will write within one working day.`;

const userTemplates = [
  'A question from {{customer}}: {{question}}',
  'The customer {{customer}} writes: {{question}}',
  'Answer {{customer}} in a few sentences. They write: {{question}}',
];

async function findOthers(db: Db, owner: Caller): Promise<SeededAgent[]> {
  const { workspaceId } = owner;
  const { rows } = await sql<{ id: string; name: string; promptId: string }>`
    select id, name, prompt_id from agents
    where workspace_id = ${workspaceId} and project = ${othersProject} and deleted_at is null
    order by id`.execute(db);
  const { rows: versions } = await sql<SeededVersion>`
    select id, label, system_template as system, user_template as "user" from prompt_versions
    where prompt_id = ${rows[0]?.promptId ?? null} order by number`.execute(db);
  const { rows: keys } = await sql<{ id: string }>`
    select id from api_keys where workspace_id = ${workspaceId} and name = ${othersName}
    order by id limit 1`.execute(db);
  const keyIds = keys.map(({ id }) => id);
  return rows.map(({ id, name }) => withOwner(owner, { id, name, versions, keyIds }));
}

function withOwner(
  { workspaceId, userId }: Caller,
  agent: Pick<SeededAgent, 'id' | 'name' | 'versions' | 'keyIds'>,
): SeededAgent {
  return { ...agent, workspaceId, ownerId: userId ?? '' };
}
