import { setTimeout as delay } from 'node:timers/promises';
import { addAgent } from '../../harness/agents.ts';
import { addMember, addWorkspace } from '../../harness/people.ts';
import type { CuelineProcess } from '../../harness/process.ts';
import { toId } from '../../src/core/id.ts';
import { ask } from '../access/ask.ts';
import type { ProofEnvironment } from '../environment.ts';
import { metricOf } from '../metric.ts';
import type { Targets } from './attack.ts';

/** The targets of attacks, and the health of the process afterwards. */

/** One resource of each kind in a separate workspace. Attacks may revoke the key in `apiKeyId`, but use another one. */
export async function createTargets(environment: ProofEnvironment, url: string): Promise<Targets> {
  const { db } = environment;
  const { workspaceId, ownerId: userId } = await addWorkspace(db);
  const { key } = await environment.key({ workspaceId, userId });
  const headers = { authorization: `Bearer ${key}` };
  const call = async (method: string, path: string, body?: object) =>
    JSON.parse((await ask(url + path, method, headers, body)).text);
  const { promptId } = await call('POST', '/api/v1/prompts', { name: 'Prompt' });
  const version = { user: 'Hello {{name}}', model: 'cueline/echo' };
  const { promptVersionId } = await call('POST', `/api/v1/prompts/${promptId}/versions`, version);
  const pin = { agentName: 'Agent', promptId, promptVersionId };
  const { agentId } = await call('POST', '/api/v1/agents', pin);
  for (const action of ['enable-api', 'deploy']) {
    await call('POST', `/api/v1/agents/${agentId}/lifecycle`, { action });
  }
  const path = `/api/v1/agents/${agentId}/execute`;
  const { executionId } = await call('POST', path, { variables: { name: 'you' } });
  const { apiKeyId } = await environment.key({ workspaceId, userId });
  const memberId = toId('user', await addMember(db, workspaceId, 'viewer'));
  return { key, agentId, executionId, promptId, promptVersionId, apiKeyId, userId: memberId };
}

/** False once it has crashed, even if its end is not known yet. */
export function responds({ url }: CuelineProcess): Promise<boolean> {
  return fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** The resident memory of the process, from its metrics; null if it has ended. */
export async function memoryKiB(process: CuelineProcess): Promise<number | null> {
  if (!(await responds(process))) return null;
  return Math.round((await metricOf(process.url, 'process_resident_memory_bytes')) / 1024);
}

/** Checks that another workspace in the same process and database still works. */
export async function checkHealth(
  environment: ProofEnvironment,
  process: CuelineProcess,
): Promise<string[]> {
  const { child, url } = process;
  if (!(await responds(process))) {
    return [`the process does not respond: ${child.exitCode ?? child.signalCode ?? 'it runs'}`];
  }
  const { db } = environment;
  const { workspaceId, ownerId } = await addWorkspace(db);
  const { key } = await environment.key({ workspaceId, userId: ownerId });
  const { path } = await addAgent({ db, workspaceId, ownerId });
  const headers = { authorization: `Bearer ${key}` };
  const found: string[] = [];
  const call = async (method: string, at: string, expected: number, body?: object) => {
    const { status, text } = await ask(url + at, method, headers, body);
    if (status !== expected) found.push(`afterwards ${method} ${at} returns ${status}: ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  };
  // A polluted prototype would add a description that was not sent.
  const prompt = await call('POST', '/api/v1/prompts', 201, { name: 'Calm' });
  if (prompt.description !== null) found.push(`a prototype is polluted: ${prompt.description}`);
  // Variables with special names are stored unchanged.
  const variables = { ['__proto__']: { a: 1 }, constructor: 'c', name: 'you', toString: null };
  const { statusUrl } = await call('POST', `${path}/execute`, 202, { variables });
  for (let tries = 0; tries < triesMax && found.length === 0; tries++) {
    const record = await call('GET', `${String(statusUrl)}?wait=20`, 200);
    if (record.status === 'processing') {
      await delay(pauseMs);
      continue;
    }
    if (record.output !== 'Hello you')
      found.push(`an execution ended as ${JSON.stringify(record)}`);
    const stored = JSON.stringify(record.inputVariables);
    if (stored !== JSON.stringify(variables)) found.push(`variables were stored as ${stored}`);
    return found;
  }
  return found.length > 0 ? found : ['an execution did not end'];
}

const triesMax = 5;
const pauseMs = 100;
