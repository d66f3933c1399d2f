import { NativeSelect, Pill } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { FilterChange } from '../../components/hooks/use-filters.ts';
import { focusFilters } from '../../components/tables/focus-filters.ts';
import list from '../../components/tables/list.module.css';
import { SearchInput } from '../../components/tables/search-input.tsx';
import { promptQuery } from '../../data/prompts/prompts.ts';
import { useVersionNames } from '../../data/prompts/version-names.ts';
import { MoreFilters } from './more-filters.tsx';
import { type AgentsSearch, sorts, stages } from './search.ts';

/** Filters that are shown as pills. */
const pillNames = ['project', 'tag', 'model', 'promptId', 'promptVersionId'] as const;
type PillName = (typeof pillNames)[number];
const labels: Readonly<Record<PillName, string>> = {
  project: 'Project',
  tag: 'Tag',
  model: 'Model',
  promptId: 'Prompt',
  promptVersionId: 'Version',
};

export function AgentFilters(props: {
  readonly filters: AgentsSearch;
  readonly onChange: (change: FilterChange<AgentsSearch>) => void;
}) {
  const { filters, onChange } = props;
  const nameOf = usePillNames(filters);
  const chooseStage = (chosen: string) =>
    onChange({
      archived: chosen === 'Archived' ? true : undefined,
      status: stages.find((stage) => stage === chosen),
    });
  return (
    <search className={list.filters}>
      <SearchInput
        label="Search agents"
        value={filters.q ?? ''}
        onChange={(q) => onChange({ q: q || undefined })}
      />
      <NativeSelect
        aria-label="Stage"
        value={filters.archived ? 'Archived' : (filters.status ?? '')}
        onChange={({ currentTarget }) => chooseStage(currentTarget.value)}
        data={[
          { value: '', label: 'All stages' },
          ...stages.map((stage) => ({ value: stage, label: stage })),
          { value: 'Archived', label: 'Archived' },
        ]}
      />
      <NativeSelect
        aria-label="Sort"
        value={filters.sort ?? ''}
        onChange={({ currentTarget }) =>
          onChange({ sort: sorts.find(({ value }) => value === currentTarget.value)?.value })
        }
        data={[{ value: '', label: 'Newest first' }, ...sorts]}
      />
      <MoreFilters filters={filters} onChange={onChange} />
      {pillNames.map((name) => {
        const value = filters[name];
        if (value === undefined) return null;
        const text = nameOf(name, value);
        return (
          <Pill
            key={name}
            size="md"
            withRemoveButton
            removeButtonProps={{
              'aria-label': `Remove filter ${labels[name]} ${text}`,
              'aria-hidden': false,
              tabIndex: 0,
              onClick: focusFilters,
            }}
            onRemove={() => onChange({ [name]: undefined })}
          >
            {labels[name]}: <bdi>{text}</bdi>
          </Pill>
        );
      })}
    </search>
  );
}

/** What the pills show: names instead of identifiers. */
function usePillNames({ promptId, promptVersionId }: AgentsSearch) {
  const prompt = useQuery({ ...promptQuery(promptId ?? ''), enabled: promptId !== undefined });
  const versionName = useVersionNames(promptVersionId === undefined ? [] : [promptVersionId]);
  return (name: PillName, value: string): string => {
    if (name === 'promptId') return prompt.data?.name ?? value;
    return (name === 'promptVersionId' && versionName(value)) || value;
  };
}
