import type { Caller } from '../core/admission.ts';
import { type AgentView, readAgentViews, readCallerKeys } from '../store/callers.ts';
import {
  type ExecutionAsked,
  type ExecutionDetailRow,
  readExecutions,
} from '../store/executions.ts';
import type { Pipelines, Send } from '../store/pipeline.ts';
import { callerOfKey } from './admission-words.ts';
import { batcher } from './batch.ts';

/**
 * What a caller reads again and again until its run has ended: the key that calls, the agent in the path, the record. Those
 * that are asked for together are read together, in one round trip and one statement for each kind; each is told what stands
 * there after it asked.
 */
export interface Reads {
  /** Whom a key stands for, by its hash; null for one that was never issued. */
  caller(keyHash: string): Promise<Caller | null>;
  agent(workspaceId: string, agentId: string): Promise<AgentView | null>;
  /** A record, with the agent that it is asked for as one of. */
  execution(workspaceId: string, asked: ExecutionAsked): Promise<FoundExecution>;
}

export interface FoundExecution {
  readonly agent: AgentView | null;
  /** Null where there is no such agent, too. */
  readonly execution: ExecutionDetailRow | null;
}

interface Question {
  readonly keyHash?: string;
  readonly agentId?: string;
  readonly execution?: ExecutionAsked;
}

/** The answer to a question: null is also what it did not ask for. */
interface Found extends FoundExecution {
  readonly caller: Caller | null;
}

/** A record may be large. */
const questionsMax = 64;
/** A second one, so that one that hangs keeps nobody waiting for all of its time. */
const tripsInFlightMax = 2;

export function createReads(pipelines: Pipelines): Reads {
  const { add } = batcher<Question, Found>({
    sizeMax: questionsMax,
    inFlightMax: tripsInFlightMax,
    weight: () => 0,
    run: (questions) => pipelines.use((send) => answer(send, questions)),
  });
  return {
    caller: async (keyHash) => (await add({ keyHash })).caller,
    async agent(workspaceId, agentId) {
      const { agent } = await add({ agentId });
      return agent?.workspaceId === workspaceId ? agent : null;
    },
    async execution(workspaceId, asked) {
      const { agent, execution } = await add({ agentId: asked.agentId, execution: asked });
      const found = agent?.workspaceId === workspaceId;
      return found ? { agent, execution } : { agent: null, execution: null };
    },
  };
}

async function answer(send: Send, questions: readonly Question[]): Promise<Found[]> {
  const hashes = new Set(questions.flatMap(({ keyHash }) => keyHash ?? []));
  const agentIds = new Set(questions.flatMap(({ agentId }) => agentId ?? []));
  const asked = new Map(
    questions.flatMap(({ execution }) => (execution ? [[nameOf(execution), execution]] : [])),
  );
  const [keys, views, records] = await Promise.all([
    hashes.size === 0 ? [] : readCallerKeys(send, [...hashes]),
    agentIds.size === 0 ? [] : readAgentViews(send, [...agentIds]),
    asked.size === 0 ? [] : readExecutions(send, [...asked.values()]),
  ]);
  const callers = new Map(keys.map((row) => [row.hash, callerOfKey(row)]));
  const agents = new Map(views.map((row) => [row.id, row]));
  const executions = new Map(
    records.map((row) => [nameOf({ agentId: row.agentId, executionId: row.id }), row]),
  );
  return questions.map(({ keyHash = '', agentId = '', execution }) => ({
    caller: callers.get(keyHash) ?? null,
    agent: agents.get(agentId) ?? null,
    execution: (execution && executions.get(nameOf(execution))) ?? null,
  }));
}

function nameOf({ agentId, executionId }: ExecutionAsked): string {
  return `${agentId} ${executionId}`;
}
