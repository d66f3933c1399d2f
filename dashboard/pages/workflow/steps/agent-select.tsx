import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Agent } from '../../../../src/client/index.ts';
import { useAgentNames } from '../../../data/agents/agent-names.ts';
import { agentsQuery } from '../../../data/agents/agents.ts';

/** Selects a deployed agent by name. The server does the searching. */
export function AgentSelect(props: {
  readonly label: string;
  /** Null if none is selected. */
  readonly agentId: string | null;
  /** Shown instead of the selected agent, for example a name that no agent has. */
  readonly placeholder?: string | undefined;
  readonly error?: string | undefined;
  readonly onSelect: (agent: Agent) => void;
}) {
  const { label, agentId, placeholder, error, onSelect } = props;
  const nameOf = useAgentNames(agentId === null ? [] : [agentId]);
  const selectedName = agentId === null ? '' : (nameOf(agentId) ?? agentId);
  const [typed, setTyped] = useState('');
  const [settled] = useDebouncedValue(typed.trim(), 200);
  const q = settled === selectedName ? '' : settled;
  const agents = useQuery(agentsQuery({ status: 'Deployed', limit: 50, ...(q && { q }) }));
  const found = agents.data?.agents ?? [];
  const isSearching = typed.trim() !== settled || agents.isPending || agents.isPlaceholderData;
  const options = found.map((one) => ({ value: one.agentId, label: one.agentName }));
  const isListed = found.some((one) => one.agentId === agentId);
  return (
    <Select
      label={label}
      placeholder={placeholder ?? 'Select an agent'}
      data={
        agentId === null || isListed
          ? options
          : [{ value: agentId, label: selectedName }, ...options]
      }
      value={agentId}
      error={error}
      searchable
      allowDeselect={false}
      onSearchChange={setTyped}
      maxDropdownHeight={260}
      nothingFoundMessage={
        isSearching
          ? 'Searching…'
          : agents.data
            ? 'No deployed agent matches'
            : 'Could not search the agents'
      }
      onChange={(id) => {
        const agent = found.find((one) => one.agentId === id);
        if (agent) onSelect(agent);
      }}
    />
  );
}
