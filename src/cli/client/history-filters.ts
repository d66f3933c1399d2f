import type { ExecutionFilters } from '../../client/index.ts';

/** History filters as command line options. */
export interface FilterOptions
  extends Pick<
    ExecutionFilters,
    'status' | 'source' | 'startDate' | 'endDate' | 'promptVersionId' | 'model' | 'errorCode' | 'q'
  > {
  readonly apiKey?: string;
  /** Variable names and values. */
  readonly var?: readonly (readonly [string, string])[];
}

export function filtersOf({
  apiKey,
  var: variables = [],
  status,
  source,
  startDate,
  endDate,
  promptVersionId,
  model,
  errorCode,
  q,
}: FilterOptions): ExecutionFilters {
  const named = { status, source, startDate, endDate, promptVersionId, model, errorCode, q };
  const byVariable = variables.map(([name, value]) => [`variables.${name}`, value]);
  return { ...named, apiKeyId: apiKey, ...Object.fromEntries(byVariable) } as ExecutionFilters;
}
