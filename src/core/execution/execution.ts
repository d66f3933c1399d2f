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

/**
 * The source as rows and statistics store it: whether the execution was marked as one of a playground is part of it. So the
 * mark needs no column of its own, in the largest index of the history and in every key of the statistics.
 */
export const storedSources = [...sources, 'dashboard_playground', 'api_playground'] as const;
export type StoredSource = (typeof storedSources)[number];

const suffix = '_playground';

export function storedSource(source: Source, playground: boolean): StoredSource {
  if (!playground) return source;
  const marked = storedSources.find((one) => one === source + suffix);
  if (!marked) throw new Error(`executions with the source ${source} have no playground`);
  return marked;
}

export function sourceOf(stored: StoredSource): Source {
  return (isPlayground(stored) ? stored.slice(0, -suffix.length) : stored) as Source;
}

export function isPlayground(stored: StoredSource): boolean {
  return stored.endsWith(suffix);
}
