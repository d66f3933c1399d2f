import type { Execution } from '../../core/execution/execution-fields.ts';
import type { Caller } from '../../core/people/caller.ts';
import type { Pipelines, Send } from '../../db/pipeline.ts';
import { callerOfKey } from '../admit/admission-mapping.ts';
import {
  type AgentName,
  type AgentView,
  readAgentViews,
  readCallerKeys,
  readNamedAgents,
} from '../admit/caller-reads.ts';
import { batcher } from '../transaction/batcher.ts';
import { transactBatch } from '../transaction/retry-transaction.ts';
import { type ExecutionKey, readExecutions } from './executions.ts';

/**
 * Batched reads of what polling callers request: the key, the agent in the path, the record. Requests that arrive during
 * a read share the next one, so each result is at least as recent as its request.
 */
export interface SharedReads {
  /** The caller of a key, by its hash; null if the key does not exist. */
  caller(keyHash: string): Promise<Caller | null>;
  /** In any workspace: the caller must check access. The same holds for the agent of an execution. */
  agent(agentId: string): Promise<AgentView | null>;
  /** The agent with this slug or alias, whether the caller sees it or not. */
  agentNamed(name: AgentName): Promise<AgentView | null>;
  /** Requests for one execution share its row: many readers of a stream read its end at once. */
  execution(request: ExecutionKey): Promise<FoundExecution>;
}

export interface FoundExecution {
  /** The agent that the request names. */
  readonly agent: AgentView | null;
  readonly execution: Execution | null;
}

export interface SharedReadsDeps {
  readonly pipelines: Pipelines;
  readonly onBatch?: (size: number) => void;
}

/** Keys and agents are small. */
const identitiesMax = 250;
/** Records are long. They have their own batches, so they delay no other reads. */
const recordsMax = 64;
const inFlightMax = 2;

interface IdentityRequest {
  readonly keyHash?: string;
  readonly agentId?: string;
  readonly agentName?: AgentName;
}

interface Identity {
  readonly caller: Caller | null;
  readonly agent: AgentView | null;
}

export function createSharedReads({ pipelines, onBatch }: SharedReadsDeps): SharedReads {
  const batched = <Request, Result>(
    sizeMax: number,
    read: (send: Send, requests: readonly Request[]) => Promise<Result[]>,
  ) =>
    batcher<Request, Result>({
      ...{ sizeMax, inFlightMax },
      weight: () => 0,
      run: (requests) =>
        transactBatch(requests, (some) => pipelines.use((send) => read(send, some))),
      ...(onBatch && { onBatch }),
    }).add;
  /** Those of which the read has not begun. */
  const queued = new Map<string, Promise<FoundExecution | 'over budget'>>();
  const keyOf = ({ agentId, executionId }: ExecutionKey) => `${agentId} ${executionId}`;
  const queue = (request: ExecutionKey) => {
    const reading = readRecord(request);
    queued.set(keyOf(request), reading);
    const forget = () => {
      if (queued.get(keyOf(request)) === reading) queued.delete(keyOf(request));
    };
    reading.then(forget, forget);
    return reading;
  };
  const readIdentity = batched(identitiesMax, readIdentities);
  const readRecord = batched(recordsMax, (send, requests: readonly ExecutionKey[]) => {
    for (const request of requests) queued.delete(keyOf(request));
    return readRecords(send, requests);
  });
  return {
    caller: async (keyHash) => (await readIdentity({ keyHash })).caller,
    agent: async (agentId) => (await readIdentity({ agentId })).agent,
    agentNamed: async (agentName) => (await readIdentity({ agentName })).agent,
    async execution(request) {
      for (;;) {
        const found = await (queued.get(keyOf(request)) ?? queue(request));
        if (found !== 'over budget') return found;
      }
    },
  };
}

async function readIdentities(
  send: Send,
  requests: readonly IdentityRequest[],
): Promise<Identity[]> {
  const hashes = new Set(requests.flatMap(({ keyHash }) => keyHash ?? []));
  const agentIds = new Set(requests.flatMap(({ agentId }) => agentId ?? []));
  const names = new Map(
    requests.flatMap(({ agentName }) => (agentName ? [[nameKey(agentName), agentName]] : [])),
  );
  const [keys, views, named] = await Promise.all([
    hashes.size === 0 ? [] : readCallerKeys(send, [...hashes]),
    agentIds.size === 0 ? [] : readAgentViews(send, [...agentIds]),
    names.size === 0 ? [] : readNamedAgents(send, [...names.values()]),
  ]);
  const callers = new Map(keys.map((row) => [row.hash, callerOfKey(row)]));
  const agents = new Map<string, AgentView>(views.map((row) => [row.id, row]));
  for (const row of named) agents.set(nameKey(row), row);
  return requests.map(({ keyHash, agentId, agentName }) => ({
    caller: (keyHash && callers.get(keyHash)) || null,
    agent: agents.get(agentName ? nameKey(agentName) : (agentId ?? '')) ?? null,
  }));
}

/** No identifier has this form. */
function nameKey({ workspaceId, name }: AgentName): string {
  return `${workspaceId} ${name}`;
}

/** `over budget` for records that exceed the size of one batch: they are read again. */
async function readRecords(
  send: Send,
  requests: readonly ExecutionKey[],
): Promise<(FoundExecution | 'over budget')[]> {
  const [views, { rows, left }] = await Promise.all([
    readAgentViews(send, [...new Set(requests.map(({ agentId }) => agentId))]),
    readExecutions(send, requests),
  ]);
  const agents = new Map(views.map((row) => [row.id, row]));
  return requests.map(({ agentId }, at) => {
    if (left.has(at)) return 'over budget';
    return { agent: agents.get(agentId) ?? null, execution: rows.get(at) ?? null };
  });
}
