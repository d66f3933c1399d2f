/** The states and sources of an execution. */

export const endStatuses = [
  'success',
  'failed',
  'rate_limited',
  'canceled',
  'unauthorized',
] as const;
/** The final states of an execution. */
export type EndStatus = (typeof endStatuses)[number];
/** `processing` from the 202 until the end; a refused call ends immediately. */
export type ExecutionStatus = 'processing' | EndStatus;

/** The maximum latency a record can hold, in milliseconds; longer ones are stored as this. */
export const latencyMsMax = 2_147_483_647;

export const sources = ['dashboard', 'api', 'workflow'] as const;
export type Source = (typeof sources)[number];
