import type { TestAgent } from '../harness/agents.ts';
import type { TestKey } from '../harness/people.ts';
import {
  agentLimits,
  keyLimits,
  noLimits,
  type RateLimits,
  type ScopedLimit,
} from '../src/core/agent/limits.ts';
import { toId, uuid7 } from '../src/core/id.ts';
import { generateKey } from '../src/core/people/key.ts';
import type { Call } from './calls.ts';
import type { ProofEnvironment } from './environment.ts';

/** Random calls with a few keys and agents with random limits, and the expected cost and response of each call. */

/** A key or an agent: a subject of limits. */
export interface Subject {
  readonly id: string;
  readonly limits: readonly ScopedLimit[];
}

export interface Planned {
  readonly call: Call;
  /** The key and the agent whose limits the call reaches. It reaches the agent's if the key's limit admits it. */
  readonly key: Subject | null;
  readonly agent: Subject | null;
  /** The response if no limit refuses the call. */
  readonly ends: { readonly status: number; readonly code: string | null };
  /** The agent whose statistics count a refusal; null if there is none. */
  readonly agentId: string | null;
}

/** For `CUELINE_TESTING_LIMITS`: low and close together, so that calls reach each of them. */
export const testingLimits: RateLimits = {
  requestsPerMinute: 7,
  requestsPerHour: 9,
  requestsPerDay: 11,
};

export async function planCallMix(
  environment: ProofEnvironment,
  count: number,
): Promise<Planned[]> {
  const { random } = environment;
  const limited = () => randomLimits(random);
  const agents = await Promise.all([
    agent(environment, 'Deployed', limited()),
    agent(environment, 'Testing', limited()),
    agent(environment, 'Testing', noLimits),
    agent(environment, 'Deployed', noLimits),
  ]);
  const [first, , , open] = agents as [Target, Target, Target, Target];
  const paused = await environment.agent({ stage: 'Paused' });
  const keys = await Promise.all([
    caller(environment, limited()),
    caller(environment, limited()),
    // A limit that no call reaches still adds the headers that reveal the time.
    caller(environment, { ...noLimits, requestsPerDay: 1_000_000 }),
  ]);
  const tied = await caller(environment, limited(), { agentIds: [first.agent.agentId] });
  const readOnly = await caller(environment, limited(), { permissions: ['read'] });
  const revoked = await environment.key({ revokedAt: new Date('2020-01-01') });
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
    const key = choose(keys);
    const target = choose(agents);
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
      const { ends, ...sent } = choose(broken);
      return { ...reached, call: { ...call, ...sent }, ends };
    }
    if (chance < 0.36) {
      const headers = { 'idempotency-key': `again ${Math.floor(random() * 3)}` };
      return { ...reached, call: { ...call, headers }, ends: accepted };
    }
    return { ...reached, call, ends: accepted };
  }

  function choose<T>(some: readonly T[]): T {
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
  environment: ProofEnvironment,
  stage: 'Testing' | 'Deployed',
  rateLimits: RateLimits,
): Promise<Target> {
  const agent = await environment.agent({ stage, rateLimits });
  const cap = stage === 'Testing' ? testingLimits : noLimits;
  return { agent, subject: { id: agent.id, limits: agentLimits(rateLimits, cap) } };
}

async function caller(
  environment: ProofEnvironment,
  rateLimits: RateLimits,
  options: Parameters<ProofEnvironment['key']>[0] = {},
): Promise<{ key: TestKey; subject: Subject }> {
  const key = await environment.key({ ...options, rateLimits });
  return { key, subject: { id: key.id, limits: keyLimits(rateLimits) } };
}

/** Calls may reach any of the windows first. */
function randomLimits(random: () => number): RateLimits {
  const upTo = (most: number) => 1 + Math.floor(random() * most);
  return {
    requestsPerMinute: random() < 0.3 ? null : upTo(20),
    requestsPerHour: random() < 0.3 ? null : upTo(40),
    // Without any limit, a response does not reveal the time.
    requestsPerDay: upTo(80),
  };
}
