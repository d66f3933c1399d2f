import type { TestAgent } from '../harness/agents.ts';
import type { TestKey } from '../harness/people.ts';
import {
  agentLimits,
  keyLimits,
  noLimits,
  type RateLimits,
  type ScopedLimit,
} from '../src/core/execution/limits.ts';
import { toId, uuid7 } from '../src/core/id.ts';
import { generateKey } from '../src/core/people/key.ts';
import type { Call } from './calls.ts';
import type { Ground } from './ground.ts';

/**
 * Calls of all kinds to a few keys and agents with limits by chance: what each of them spends, and how it ends where no
 * limit ends it before.
 */

/** A key or an agent: whatever calls are counted for. */
export interface Subject {
  readonly id: string;
  readonly limits: readonly ScopedLimit[];
}

export interface Planned {
  readonly call: Call;
  /** Whose limit it reaches; an agent's only once the key's has let it past. */
  readonly key: Subject | null;
  readonly agent: Subject | null;
  readonly ends: { readonly status: number; readonly code: string | null };
  /** The agent in whose statistics a refusal counts; null where there is none, or nobody that was refused. */
  readonly agentId: string | null;
}

/** As `CUELINE_TESTING_LIMITS` has them: low enough, and close enough to each other, for each of them to bind. */
export const testingLimits: RateLimits = {
  requestsPerMinute: 7,
  requestsPerHour: 9,
  requestsPerDay: 11,
};

export async function planMixture(ground: Ground, count: number): Promise<Planned[]> {
  const { random } = ground;
  const limited = () => limitsByChance(random);
  const agents = await Promise.all([
    agent(ground, 'Deployed', limited()),
    agent(ground, 'Testing', limited()),
    agent(ground, 'Testing', noLimits),
    agent(ground, 'Deployed', noLimits),
  ]);
  const [first, , , open] = agents as [Target, Target, Target, Target];
  const paused = await ground.agent({ stage: 'Paused' });
  const keys = await Promise.all([
    caller(ground, limited()),
    caller(ground, limited()),
    // A limit nobody reaches: its answers tell the time all the same.
    caller(ground, { ...noLimits, requestsPerDay: 1_000_000 }),
  ]);
  const tied = await caller(ground, limited(), { agentIds: [first.agent.agentId] });
  const readOnly = await caller(ground, limited(), { permissions: ['read'] });
  const revoked = await ground.key({ revokedAt: new Date('2020-01-01') });
  const unknownPath = `/api/v1/agents/${toId('agent', uuid7(0))}`;

  const broken = [
    { body: '{"variables":', ends: { status: 400, code: 'MALFORMED_BODY' } },
    { body: { variables: {} }, ends: { status: 400, code: 'MISSING_VARIABLES' } },
    { body: { variables: 5 }, ends: { status: 400, code: 'INVALID_REQUEST' } },
    {
      body: good,
      headers: { 'content-type': 'text/plain' },
      ends: { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' },
    },
  ];
  const unknown = { status: 401, code: 'UNAUTHORIZED' };

  function one(): Planned {
    const key = chosen(keys);
    const target = chosen(agents);
    const call = { path: target.agent.path, key: key.key.key, body: good };
    const agentId = target.subject.id;
    const nothing = { key: null, agent: null, agentId: null };
    const atKey = { key: key.subject, agent: null, agentId };
    const chance = random();
    if (chance < 0.03) return { ...nothing, call: { ...call, key: generateKey() }, ends: unknown };
    if (chance < 0.06) {
      return { ...nothing, agentId, call: { ...call, key: revoked.key }, ends: unknown };
    }
    if (chance < 0.09) {
      const headers = { 'idempotency-key': 'x'.repeat(300) };
      return {
        ...atKey,
        call: { ...call, headers },
        ends: { status: 400, code: 'INVALID_REQUEST' },
      };
    }
    if (chance < 0.12) {
      const elsewhere = { ...call, path: unknownPath };
      return { ...atKey, agentId: null, call: elsewhere, ends: notFound };
    }
    if (chance < 0.15) {
      return {
        ...atKey,
        key: tied.subject,
        agentId: open.subject.id,
        call: { ...call, key: tied.key.key, path: open.agent.path },
        ends: unknown,
      };
    }
    if (chance < 0.18) {
      const ends = { status: 403, code: 'PERMISSION_DENIED' };
      return { ...atKey, key: readOnly.subject, call: { ...call, key: readOnly.key.key }, ends };
    }
    if (chance < 0.21) {
      const ends = { status: 403, code: 'AGENT_NOT_ACTIVE' };
      return { ...atKey, agentId: paused.id, call: { ...call, path: paused.path }, ends };
    }
    const reached = { key: key.subject, agent: target.subject, agentId };
    if (chance < 0.31) {
      const { ends, ...sent } = chosen(broken);
      return { ...reached, call: { ...call, ...sent }, ends };
    }
    if (chance < 0.36) {
      const headers = { 'idempotency-key': `again ${Math.floor(random() * 3)}` };
      return { ...reached, call: { ...call, headers }, ends: accepted };
    }
    return { ...reached, call, ends: accepted };
  }

  function chosen<T>(some: readonly T[]): T {
    return some[Math.floor(random() * some.length)] as T;
  }

  return Array.from({ length: count }, one);
}

const good = { variables: { name: 'you' } };
const accepted = { status: 202, code: null };
const notFound = { status: 404, code: 'NOT_FOUND' };

interface Target {
  readonly agent: TestAgent;
  readonly subject: Subject;
}

async function agent(
  ground: Ground,
  stage: 'Testing' | 'Deployed',
  rateLimits: RateLimits,
): Promise<Target> {
  const made = await ground.agent({ stage, rateLimits });
  const cap = stage === 'Testing' ? testingLimits : noLimits;
  return { agent: made, subject: { id: made.id, limits: agentLimits(rateLimits, cap) } };
}

async function caller(
  ground: Ground,
  rateLimits: RateLimits,
  options: Parameters<Ground['key']>[0] = {},
): Promise<{ key: TestKey; subject: Subject }> {
  const key = await ground.key({ ...options, rateLimits });
  return { key, subject: { id: key.id, limits: keyLimits(rateLimits) } };
}

/** Any of the windows may be the one that binds. */
function limitsByChance(random: () => number): RateLimits {
  const upTo = (most: number) => 1 + Math.floor(random() * most);
  return {
    requestsPerMinute: random() < 0.3 ? null : upTo(20),
    requestsPerHour: random() < 0.3 ? null : upTo(40),
    // Some limit each has: without one an answer says nothing of the time.
    requestsPerDay: upTo(80),
  };
}
