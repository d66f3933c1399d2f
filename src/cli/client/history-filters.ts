import type { ExecutionFilters } from '../../client/index.ts';

/** What narrows a history down, as the command line has it. */
export interface FilterOptions
  extends Pick<
    ExecutionFilters,
    'status' | 'source' | 'startDate' | 'endDate' | 'promptVersionId' | 'model' | 'errorCode' | 'q'
  > {
  readonly apiKey?: string;
  /** Names of variables and their values. */
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
