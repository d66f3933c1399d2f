import { Autocomplete, Button, Select, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { FilterChange } from '../../components/hooks/use-filters.ts';
import { Icon } from '../../components/icon.tsx';
import { FilterPopover } from '../../components/tables/filter-popover.tsx';
import { agentsQuery } from '../../data/agents/agents.ts';
import { useKnownModels } from '../../data/agents/models.ts';
import { promptsQuery } from '../../data/prompts/prompts.ts';
import type { AgentsSearch } from './search.ts';

interface MoreFiltersProps {
  readonly filters: AgentsSearch;
  readonly onChange: (change: FilterChange<AgentsSearch>) => void;
}

/** Filters by project, tag, model and prompt, which also appear as pills. */
export function MoreFilters(props: MoreFiltersProps) {
  const [opened, setOpened] = useState(false);
  return (
    <FilterPopover
      label="Filter agents"
      width={300}
      opened={opened}
      onChange={setOpened}
      target={
        <Button
          variant="default"
          leftSection={<Icon name="plus" size={12} />}
          onClick={() => setOpened(!opened)}
        >
          Filter
        </Button>
      }
    >
      <FilterForm {...props} onDone={() => setOpened(false)} />
    </FilterPopover>
  );
}

const texts = ['project', 'tag', 'model'] as const;
const labels = { project: 'Project', tag: 'Tag', model: 'Model' } as const;

function FilterForm({ filters, onChange, onDone }: MoreFiltersProps & { onDone: () => void }) {
  const { project = '', tag = '', model = '', promptId } = filters;
  const [typed, setTyped] = useState({ project, tag, model });
  const [chosen, setChosen] = useState(promptId ?? null);
  const offered = useOffered();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const given = texts.map((name) => [name, typed[name].trim() || undefined] as const);
    onChange({ ...Object.fromEntries(given), promptId: chosen ?? undefined });
    onDone();
  };
  // Inside the popover: a click on an option outside would close it.
  const comboboxProps = { withinPortal: false };
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        {texts.map((name, index) => (
          <Autocomplete
            key={name}
            size="xs"
            data-autofocus={index === 0 || undefined}
            label={labels[name]}
            data={[...offered[name]]}
            limit={50}
            maxLength={256}
            autoComplete="off"
            comboboxProps={comboboxProps}
            value={typed[name]}
            onChange={(text) => setTyped({ ...typed, [name]: text })}
          />
        ))}
        <Select
          size="xs"
          label="Prompt"
          data={[...offered.prompts]}
          limit={50}
          searchable
          clearable
          nothingFoundMessage="No matches"
          comboboxProps={comboboxProps}
          value={chosen}
          onChange={setChosen}
        />
        <Button type="submit" size="xs">
          Apply
        </Button>
      </Stack>
    </form>
  );
}

/** Values of the newest agents and prompts; others can be typed, and a prompt can be found on its page. */
function useOffered() {
  const agents = useQuery(agentsQuery({ limit: 100 })).data?.agents ?? [];
  const prompts = useQuery(promptsQuery({ limit: 100 })).data?.prompts ?? [];
  const known = useKnownModels(false).filter((model) => !model.endsWith('/'));
  const used = agents.flatMap(({ agentConfig }) => agentConfig.model ?? []);
  return {
    project: sorted(agents.flatMap(({ project }) => project ?? [])),
    tag: sorted(agents.flatMap(({ tags }) => tags)),
    model: sorted([...used, ...known]),
    prompts: prompts.map(({ promptId, name }) => ({ value: promptId, label: name })),
  };
}

function sorted(values: readonly string[]): string[] {
  return [...new Set(values)].sort((one, other) => one.localeCompare(other));
}
