/** Batches: uploaded files of lines, each of which becomes one execution as limits and free slots allow. */

/** A line of a batch. */
export interface BatchLineOf {
  readonly batchId: string;
  /** From 1, in the order of the file. */
  readonly line: number;
}

/** An upload becomes a batch once all its lines are stored. */
export const batchStatuses = ['processing', 'completed', 'canceled'] as const;
export type BatchStatus = (typeof batchStatuses)[number];

export const lineStatuses = [
  'waiting',
  'processing',
  'success',
  'failed',
  'canceled',
  'refused',
] as const;
export type LineStatus = (typeof lineStatuses)[number];

/** Lines by status. They add up in every snapshot: a line is moved in the transaction that changes its status. */
export type BatchCounts = Readonly<Record<'total' | LineStatus, number>>;

/** Why no line of a batch can start now. */
export const waitReasons = ['agent_paused', 'quota', 'rate_limit', 'budget'] as const;
export type WaitReason = (typeof waitReasons)[number];

/** By a person or key, or because what it acts for may no longer call the agent. */
export const batchCancelReasons = [
  'requested',
  'key_ended',
  'permission_lost',
  'agent_deleted',
  'budget_exhausted',
] as const;
export type BatchCancelReason = (typeof batchCancelReasons)[number];

/** The error of a line that was canceled while it waited. */
export const canceledText: Readonly<Record<BatchCancelReason, string>> = {
  requested: 'The batch was canceled.',
  key_ended: 'The API key of the batch has ended.',
  permission_lost: 'The batch lost the permission to execute the agent.',
  agent_deleted: 'The agent was deleted.',
  budget_exhausted: 'A budget that never resets is spent.',
};

export const batchLinesMax = 50_000;
export const batchBytesMax = 104_857_600;
/** What the batches of a workspace may keep in the database before it runs. */
export interface BatchStorageLimits {
  /** Lines that wait. */
  readonly linesMax: number;
  /** Their ids, variables and labels. */
  readonly bytesMax: number;
}

/** Lines of the last 24 hours in a workspace that were refused or canceled: they leave a row, and no limit of calls counts them. */
export const unrunLinesMax = 1_000_000;

/** Characters of the id of a line. */
export const lineIdMax = 200;
/** Hours after which an unfinished upload is removed. */
export const uploadHours = 24;
