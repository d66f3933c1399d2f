import { MultiSelect } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { agentQuery, agentsQuery } from '../../data/agents/agents.ts';
import { queryClient } from '../../data/client/query-client.ts';

/** Selects agents; an empty selection means all. The server does the searching. */
export function AgentsField(props: {
  readonly description: string;
  readonly chosen: readonly string[];
  readonly onChange: (chosen: string[]) => void;
}) {
  const { chosen, onChange } = props;
  const [typed, setTyped] = useState('');
  const [query] = useDebouncedValue(typed.trim(), 200);
  const found = useQuery(agentsQuery({ limit: 50, ...(query && { q: query }) })).data?.agents ?? [];
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const foundNames = new Map(found.map((agent) => [agent.agentId, agent.agentName]));
  // Keep the names of selected agents that the current search does not return.
  const nameOf = (id: string) =>
    foundNames.get(id) ??
    names.get(id) ??
    queryClient.getQueryData(agentQuery(id).queryKey)?.agentName ??
    id;
  const offered = [...new Set([...chosen, ...foundNames.keys()])];
  return (
    <MultiSelect
      label="Agents"
      description={props.description}
      placeholder={chosen.length === 0 ? 'All agents' : ''}
      data={offered.map((id) => ({ value: id, label: nameOf(id) }))}
      value={[...chosen]}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      maxDropdownHeight={220}
      nothingFoundMessage="No matches"
      onChange={(ids) => {
        setNames(new Map(ids.map((id) => [id, nameOf(id)])));
        onChange(ids);
      }}
    />
  );
}
