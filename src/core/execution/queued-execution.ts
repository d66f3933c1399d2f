import type { ExecutionSettings } from '../agent/model-settings.ts';
import type { ModelSetup } from '../model/model-port.ts';
import type { Source } from './execution.ts';

/** What attempts have used and cost; `known` is false where one of them ended without telling. */
export interface Spent {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: string;
  readonly costKnown: boolean;
}

export const nothingSpent: Spent = {
  inputTokens: 0,
  outputTokens: 0,
  costUsd: '0',
  costKnown: true,
};
export const unknownSpent: Spent = { ...nothingSpent, costKnown: false };

/** What a run was accepted as: so it stands in its record, and so the statistics tell it from others. */
export interface AcceptedAs {
  readonly source: Source;
  readonly promptVersionId: string;
  readonly model: string;
  readonly apiKeyId: string | null;
}

/** One run as a worker holds it: leased, with the fence that each of its writes names. */
export interface QueuedExecution extends AcceptedAs {
  readonly id: string;
  readonly workspaceId: string;
  readonly agentId: string;
  /** The process that holds the lease, and how often the run has been claimed: together the fence. */
  readonly worker: string;
  readonly attempt: number;
  readonly failures: number;
  readonly losses: number;
  /** Whether its model may have been called before. */
  readonly called: boolean;
  readonly temperature: number | null;
  readonly setup: ModelSetup;
  /** The variables as they were sent: the compact JSON text of an object. */
  readonly inputVariables: string;
  readonly settings: ExecutionSettings;
  /** Since the first start of work, by the database's clock. */
  readonly elapsedMs: number;
}

/**
 * The slots of the process that works. Admission asks them whether an accepted run can be born claimed: leased to
 * this very process, which starts it from memory after the commit.
 */
export interface Slots {
  /** The lease under which runs may be born; null while this process has none. */
  lease(): string | null;
  /** Takes a slot for a run of that workspace, or says no. */
  reserve(workspaceId: string): boolean;
  /** Gives a slot back that no run was started in. */
  release(workspaceId: string): void;
  /** Starts a run in a slot that was taken for it. */
  start(run: QueuedExecution): void;
}
