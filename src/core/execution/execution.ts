/** The states of an execution and where a call came from. */

export const endStatuses = [
  'success',
  'failed',
  'rate_limited',
  'canceled',
  'unauthorized',
] as const;
/** How an execution can end; each is final. */
export type EndStatus = (typeof endStatuses)[number];
/** `processing` from the 202 until the end; a refused call is born ended. */
export type ExecutionStatus = 'processing' | EndStatus;

/** The most milliseconds that a record can tell: what takes longer tells as much. */
export const latencyMsMax = 2_147_483_647;

export const sources = ['dashboard', 'api', 'workflow'] as const;
export type Source = (typeof sources)[number];
