import { useQuery } from '@tanstack/react-query';
import { useAgentNames } from '../../../data/agents/agent-names.ts';
import { agentsQuery } from '../../../data/agents/agents.ts';
import { type Facet, facetQuery } from '../../../data/executions/facets.ts';
import { useVersionNames } from '../../../data/prompts/version-names.ts';
import { keyNamesQuery, useKeyNames } from '../../../data/workspace/key-names.ts';
import { errorCodes } from '../error-remedies.ts';
import { type ListName, sources, statuses, valuesOf } from '../search.ts';
import type { FilterProps } from './filter-bar.tsx';

/** A value that a filter offers. */
export interface Option {
  readonly value: string;
  readonly label: string;
  /** How often it occurs in the time range; undefined if that is not counted. */
  readonly count?: number;
}

/** What a filter offers: known values and those that occur in the time range of the list. */
export function useFilterOptions(
  name: ListName,
  props: FilterProps,
): {
  /** Undefined while loading. */
  readonly options: readonly Option[] | undefined;
  /** Why some are missing. */
  readonly error: unknown;
} {
  const { agentId, search, filters } = props;
  const nameOf = useFilterNames(props);
  const facet = facetOf(name);
  const agentIds = agentId === undefined ? valuesOf(search.agentId) : [agentId];
  const scope = facet === 'agentId' ? [] : agentIds;
  const facets = useQuery({
    ...facetQuery(facet ?? 'model', scope, filters),
    enabled: facet !== null,
  });
  const agents = useQuery({ ...agentsQuery({ limit: 100 }), enabled: name === 'agentId' });
  const keys = useQuery({ ...keyNamesQuery, enabled: name === 'apiKeyId' });
  const fixed = fixedOptions(name);
  if (fixed) return { options: fixed, error: null };
  // Those that are not enabled would be pending for ever.
  const lookups = [
    facets,
    ...(name === 'agentId' ? [agents] : []),
    ...(name === 'apiKeyId' ? [keys] : []),
  ];
  if (lookups.some(({ isPending }) => isPending)) return { options: undefined, error: null };
  const failed = lookups.find(({ data }) => data === undefined);
  const options = withKnown(facets.data ?? [], [
    ...(name === 'errorCode' ? errorCodes.map((value) => ({ value, label: value })) : []),
    ...(name === 'agentId' ? toOptions(agents.data?.agents) : []),
    ...(name === 'apiKeyId'
      ? [...(keys.data ?? [])].map(([value, label]) => ({ value, label }))
      : []),
    ...valuesOf(search[name]).map((value) => ({ value, label: nameOf(name, value) })),
  ]);
  return { options, error: failed?.error };
}

function fixedOptions(name: ListName): Option[] | null {
  if (name === 'status') return statuses.map((value) => ({ value, label: statusText(value) }));
  if (name === 'source') return sources.map((value) => ({ value, label: value }));
  if (name !== 'playground') return null;
  return ['true', 'false'].map((value) => ({ value, label: markText(value) }));
}

const facets = ['errorCode', 'model', 'promptVersionId', 'apiKeyId', 'user', 'agentId'] as const;

function facetOf(name: ListName): Facet | null {
  return facets.find((one) => one === name) ?? null;
}

function toOptions(agents: readonly { agentId: string; agentName: string }[] = []): Option[] {
  return agents.map(({ agentId, agentName }) => ({ value: agentId, label: agentName }));
}

/** The counted values, most frequent first, by their known names, and then the other known values. */
function withKnown(counted: readonly Option[], known: readonly Option[]): Option[] {
  const names = new Map(known.toReversed().map(({ value, label }) => [value, label]));
  const values = new Set(counted.map(({ value }) => value));
  const named = counted.map((one) => {
    const known = names.get(one.value);
    return known === undefined || known === one.value ? one : { ...one, label: known };
  });
  const others = [...names].filter(([value]) => !values.has(value));
  return [...named, ...others.map(([value, label]) => ({ value, label }))];
}

/** Names of the values of the active filters. */
export function useFilterNames({
  agentId,
  search,
  filters,
}: FilterProps): (name: ListName, value: string) => string {
  const agentName = useAgentNames(valuesOf(search.agentId));
  const keys = useKeyNames();
  const agentIds = agentId === undefined ? valuesOf(search.agentId) : [agentId];
  const versions = useQuery({
    ...facetQuery('promptVersionId', agentIds, filters),
    enabled: search.promptVersionId !== undefined,
  });
  const counted = new Set(versions.data?.map(({ value }) => value));
  // Those that did not occur in the time range.
  const versionName = useVersionNames(
    versions.isPending ? [] : valuesOf(search.promptVersionId).filter((id) => !counted.has(id)),
  );
  return (name, value) => {
    if (name === 'status') return statusText(value);
    if (name === 'playground') return markText(value);
    if (name === 'agentId') return agentName(value) ?? value;
    if (name === 'apiKeyId') return keys?.get(value) ?? value;
    if (name !== 'promptVersionId') return value;
    return versions.data?.find((one) => one.value === value)?.label ?? versionName(value) ?? value;
  };
}

function markText(mark: string): string {
  return mark === 'true' ? 'yes' : 'no';
}

function statusText(status: string): string {
  return status.replace('_', ' ');
}
