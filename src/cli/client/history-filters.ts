import type { ExecutionFilters } from '../../client/index.ts';

/** History filters as command line options. */
export interface FilterOptions extends ExecutionFilters {
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
  ...filters
}: FilterOptions): ExecutionFilters {
  const byVariable = variables.map(([name, value]) => [`variables.${name}`, value]);
  const byMetadata = metadata.map(([name, value]) => [`metadata.${name}`, value]);
  return { ...filters, apiKeyId: apiKey, ...Object.fromEntries([...byVariable, ...byMetadata]) };
}
