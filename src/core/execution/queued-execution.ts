import type { ExecutionSettings, WorkflowStepOf } from '../agent/model-settings.ts';
import type { Variables } from '../agent/variables.ts';
import type { BatchLineOf } from '../batch/batch.ts';
import type { ExecutionErrorCode } from '../failure.ts';
import type { Labels } from '../labels.ts';
import type { CostSource, ModelSetup } from '../model/model-port.ts';
import type { StoredSource } from './execution.ts';

/** Tokens and cost of finished attempts; `known` is false if the usage of one of them is unknown. */
export interface Spent {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: string;
  readonly costKnown: boolean;
  /** Of the last attempt with a known cost. */
  readonly costSource: CostSource | null;
  /** Of the same attempt, if the workspace has set it. */
  readonly priceId: number | null;
  /** The bounds of calls whose cost is unknown: under a limit of cost they count as spent. */
  readonly keptUsd: string;
}

export const nothingSpent: Spent = {
  inputTokens: 0,
  outputTokens: 0,
  costUsd: '0',
  costKnown: true,
  costSource: null,
  priceId: null,
  keptUsd: '0',
};
export const unknownSpent: Spent = { ...nothingSpent, costKnown: false };

/** The properties fixed at acceptance: the record and the statistics use them. */
export interface AcceptedAs {
  readonly source: StoredSource;
  readonly promptVersionId: string;
  /** After a fallback, the model that is called now. */
  readonly model: string;
  readonly apiKeyId: string | null;
  readonly labels: Labels | null;
  /** The line of a batch that it belongs to. */
  readonly batchLine?: BatchLineOf | null;
}

/**
 * Sums of the input and of the output tokens of all attempts stop here, so that both together are an `integer`. A larger sum
 * could not be stored, and the execution could never end.
 */
export const tokenSumMax = 1_073_741_823;

/** An execution that has not ended, with what its end needs. */
export interface LiveExecution extends AcceptedAs {
  readonly id: string;
  /** If false, its record keeps only the output, and only for a short time. */
  readonly storeBodies: boolean;
  /** Its agent, if that has a `maxConcurrency`: an end locks its slots first. */
  readonly slotAgentId: string | null;
  /** The step of a workflow run that it belongs to. */
  readonly workflow: WorkflowStepOf | null;
}

/** The claim of a worker: the fence that each write specifies. */
export interface Claim {
  readonly worker: string;
  /** How often the execution was claimed. */
  readonly attempt: number;
}

/** One claimed execution. */
export interface QueuedExecution extends LiveExecution, Claim {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly failures: number;
  readonly losses: number;
  /** Calls that the provider rejected before any work. They are no attempts. */
  readonly rejections: number;
  /** Why the execution waits for its provider: its error code if the deadline comes first. */
  readonly waitCode: ExecutionErrorCode | null;
  /** Whether an earlier attempt may have called the model. */
  readonly called: boolean;
  /** Whether an earlier attempt ended with `EMPTY_OUTPUT`, which is retried once. */
  readonly emptied: boolean;
  /** Why an earlier output did not match its schema, which is retried once; null if none did. */
  readonly mismatch: string | null;
  readonly temperature: number | null;
  readonly setup: ModelSetup;
  /** US dollars that earlier calls have cost, or may have: those whose cost is unknown count with their bound. */
  readonly spentUsd: string;
  /** The bound of the next call as the queue has it; null if it has none. */
  readonly callBoundUsd: string | null;
  /** The variables with references to their files: the compact JSON text of an object. */
  readonly inputVariables: string;
  /** These files, as JSON; null if there are none. */
  readonly fileData: string | null;
  /** The memory of what the caller sent, in bytes. */
  readonly inputBytes: number;
  /** The variables by name, if this process has just accepted them and they have no files. */
  readonly variableValues?: Variables['values'];
  readonly settings: ExecutionSettings;
  /** Whether budgets of the workspace, or the limit of its workflow run, must be asked before the next call. */
  readonly mustReserve: boolean;
  /** What they have reserved for it, as decimal text; null if nothing. */
  readonly reservedUsd: string | null;
  /** Finished turns that called tools; null if its version executes none. */
  readonly turns: number | null;
  /** Since the first start of work, by the database's clock. */
  readonly elapsedMs: number;
}

/** What an execution has that no worker has called a model for. */
export const neverCalled = {
  ...{ failures: 0, losses: 0, rejections: 0, waitCode: null },
  ...{ called: false, emptied: false, mismatch: null, elapsedMs: 0, spentUsd: '0' },
  mustReserve: false,
};

/** What an end takes from the settings. */
export function endSettings(
  agentId: string,
  { storeBodies, maxConcurrency }: ExecutionSettings,
): Pick<LiveExecution, 'storeBodies' | 'slotAgentId'> {
  return {
    storeBodies: storeBodies ?? true,
    slotAgentId: maxConcurrency === null ? null : agentId,
  };
}

/**
 * The slots of the process's worker (`engine/run/worker.ts`). Admission asks them whether an accepted execution can be born
 * claimed: leased to this process and started from memory after the commit.
 */
export interface Slots {
  /** The lease for executions born claimed; null while this process has none. */
  lease(): string | null;
  /** Reserves a slot, and room for its input, for an execution of that workspace; false if none is free. */
  reserve(workspaceId: string, inputBytes: number): boolean;
  /** Whether an execution of that workspace could reserve a slot. */
  hasFree(workspaceId: string): boolean;
  /** Whether an execution of that workspace holds a slot. */
  holds(workspaceId: string): boolean;
  /** Releases a reserved slot in which nothing was started. */
  release(execution: Pick<QueuedExecution, 'workspaceId' | 'inputBytes'>): void;
  /** Starts an execution in its reserved slot. */
  start(execution: QueuedExecution): void;
}
