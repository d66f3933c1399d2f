import type { ExecutionFilters } from '../../client/index.ts';

/** History filters as command line options. */
export interface FilterOptions
  extends Pick<
    ExecutionFilters,
    | 'status'
    | 'source'
    | 'playground'
    | 'user'
    | 'session'
    | 'tag'
    | 'startDate'
    | 'endDate'
    | 'promptVersionId'
    | 'model'
    | 'errorCode'
    | 'q'
  > {
  readonly apiKey?: string;
  /** Variable names and values. */
  readonly var?: readonly (readonly [string, string])[];
  /** Names and values of the metadata. */
  readonly metadata?: readonly (readonly [string, string])[];
}

export function filtersOf({
  apiKey,
  var: variables = [],
  metadata = [],
  user,
  session,
  tag,
  status,
  source,
  playground,
  startDate,
  endDate,
  promptVersionId,
  model,
  errorCode,
  q,
}: FilterOptions): ExecutionFilters {
  const labels = { user, session, tag };
  const named = {
    ...labels,
    status,
    source,
    playground,
    startDate,
    endDate,
    promptVersionId,
    model,
    errorCode,
    q,
  };
  const byVariable = variables.map(([name, value]) => [`variables.${name}`, value]);
  const byMetadata = metadata.map(([name, value]) => [`metadata.${name}`, value]);
  return {
    ...named,
    apiKeyId: apiKey,
    ...Object.fromEntries([...byVariable, ...byMetadata]),
  } as ExecutionFilters;
}
