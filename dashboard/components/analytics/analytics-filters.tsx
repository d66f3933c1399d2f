import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { agentsQuery } from '../../data/agents/agents.ts';
import type { AnalyticsSearch } from '../../data/analytics/analytics-search.ts';
import { useKeyNames } from '../../data/workspace/key-names.ts';
import { focusFilters } from '../tables/focus-filters.ts';

type Filters = Pick<AnalyticsSearch, 'agent' | 'model' | 'key' | 'user' | 'tag'>;

/** Filters of all figures on the page. */
export function AnalyticsFilters(props: {
  readonly agentId: string | undefined;
  readonly search: Filters;
  readonly onChange: (change: Filters) => void;
}) {
  const { agentId, search, onChange } = props;
  const { agent = '', model, key = '', user, tag } = search;
  const agents = useQuery({ ...agentsQuery({ limit: 100 }), enabled: agentId === undefined });
  const keys = useKeyNames();
  const isFiltered = Boolean(agent || model || key || user || tag);
  const listed = (agents.data?.agents ?? []).map((one) => [one.agentId, one.agentName] as const);
  return (
    <Group component="search" gap="xs" align="flex-end">
      {agentId === undefined && (
        <NativeSelect
          size="xs"
          w="12rem"
          aria-label="Agent"
          value={agent}
          data={options('All agents', listed, agent)}
          onChange={({ currentTarget }) => onChange({ agent: currentTarget.value || undefined })}
        />
      )}
      <NativeSelect
        size="xs"
        w="12rem"
        aria-label="Key"
        value={key}
        data={options('All keys', [...(keys ?? [])], key)}
        onChange={({ currentTarget }) => onChange({ key: currentTarget.value || undefined })}
      />
      <TextFilter label="Model" value={model} onChange={(text) => onChange({ model: text })} />
      <TextFilter label="User" value={user} onChange={(text) => onChange({ user: text })} />
      <TextFilter label="Tag" value={tag} onChange={(text) => onChange({ tag: text })} />
      {isFiltered && (
        <Button
          size="xs"
          variant="default"
          onClick={(event) => {
            focusFilters(event);
            onChange({
              ...{ agent: undefined, model: undefined, key: undefined },
              ...{ user: undefined, tag: undefined },
            });
          }}
        >
          Clear filters
        </Button>
      )}
    </Group>
  );
}

/** Also the chosen one, which may not be listed. */
function options(all: string, listed: readonly (readonly [string, string])[], chosen: string) {
  const isListed = chosen === '' || listed.some(([value]) => value === chosen);
  return [
    { value: '', label: all },
    ...listed.map(([value, label]) => ({ value, label })),
    ...(isListed ? [] : [{ value: chosen, label: chosen }]),
  ];
}

/** Applies with Enter, or when it is left. */
function TextFilter(props: {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (text: string | undefined) => void;
}) {
  const { label, value = '', onChange } = props;
  const [typed, setTyped] = useState<string | null>(null);
  const apply = (event?: FormEvent) => {
    event?.preventDefault();
    if (typed !== null && typed !== value) onChange(typed.trim() || undefined);
    setTyped(null);
  };
  return (
    <form onSubmit={apply}>
      <TextInput
        size="xs"
        w="8rem"
        aria-label={label}
        placeholder={label}
        value={typed ?? value}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        onBlur={() => apply()}
      />
    </form>
  );
}
