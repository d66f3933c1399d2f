import type { Caller } from '../../core/execution/caller.ts';
import { type AgentView, readAgentViews, readCallerKeys } from '../../store/admission/callers.ts';
import type { Pipelines, Send } from '../../store/connection/pipeline.ts';
import {
  type ExecutionDetailRow,
  type ExecutionKey,
  readExecutions,
} from '../../store/execution/executions.ts';
import { callerOfKey } from '../admission/admission-mapping.ts';
import { batcher } from '../admission/batcher.ts';
import { transactBatch } from '../admission/retry-transaction.ts';

/**
 * What callers ask for again and again until their run has ended: the key that calls, the agent in the path, the record.
 * Those who ask while a read is under way share the next one, so that each is told what stands there after they asked.
 */
export interface SharedReads {
  /** Whom a key stands for, by its hash; null for one that was never issued. */
  caller(keyHash: string): Promise<Caller | null>;
  /** In whatever workspace it is; so is the one of an execution. */
  agent(agentId: string): Promise<AgentView | null>;
  execution(asked: ExecutionKey): Promise<FoundExecution>;
}

export interface FoundExecution {
  /** The agent that the execution is said to be one of. */
  readonly agent: AgentView | null;
  readonly execution: ExecutionDetailRow | null;
}

export interface SharedReadsDeps {
  readonly pipelines: Pipelines;
  readonly onBatch?: (size: number) => void;
}

/** Of keys and agents, which are small. */
const whoMax = 250;
/** Of records as many come at once as fit. They keep nobody waiting who asks for none. */
const recordsMax = 64;
const inFlightMax = 2;

interface WhoAsked {
  readonly keyHash?: string;
  readonly agentId?: string;
}

interface WhoFound {
  readonly caller: Caller | null;
  readonly agent: AgentView | null;
}

export function createSharedReads({ pipelines, onBatch }: SharedReadsDeps): SharedReads {
  const together = <Asked, Found>(
    sizeMax: number,
    read: (send: Send, asked: readonly Asked[]) => Promise<Found[]>,
  ) =>
    batcher<Asked, Found>({
      ...{ sizeMax, inFlightMax },
      weight: () => 0,
      run: (asked) => transactBatch(asked, (some) => pipelines.use((send) => read(send, some))),
      ...(onBatch && { onBatch }),
    }).add;
  const who = together(whoMax, readWho);
  const record = together(recordsMax, readRecords);
  return {
    caller: async (keyHash) => (await who({ keyHash })).caller,
    agent: async (agentId) => (await who({ agentId })).agent,
    async execution(asked) {
      for (;;) {
        const found = await record(asked);
        if (found !== 'again') return found;
      }
    },
  };
}

async function readWho(send: Send, asked: readonly WhoAsked[]): Promise<WhoFound[]> {
  const hashes = new Set(asked.flatMap(({ keyHash }) => keyHash ?? []));
  const agentIds = new Set(asked.flatMap(({ agentId }) => agentId ?? []));
  const [keys, views] = await Promise.all([
    hashes.size === 0 ? [] : readCallerKeys(send, [...hashes]),
    agentIds.size === 0 ? [] : readAgentViews(send, [...agentIds]),
  ]);
  const callers = new Map(keys.map((row) => [row.hash, callerOfKey(row)]));
  const agents = new Map(views.map((row) => [row.id, row]));
  return asked.map(({ keyHash, agentId }) => ({
    caller: (keyHash && callers.get(keyHash)) || null,
    agent: (agentId && agents.get(agentId)) || null,
  }));
}

/** `again` for those whose record did not fit. */
async function readRecords(
  send: Send,
  asked: readonly ExecutionKey[],
): Promise<(FoundExecution | 'again')[]> {
  const [views, { rows, left }] = await Promise.all([
    readAgentViews(send, [...new Set(asked.map(({ agentId }) => agentId))]),
    readExecutions(send, asked),
  ]);
  const agents = new Map(views.map((row) => [row.id, row]));
  return asked.map(({ agentId }, at) => {
    if (left.has(at)) return 'again';
    return { agent: agents.get(agentId) ?? null, execution: rows.get(at) ?? null };
  });
}
