import { NativeSelect, Pill } from '@mantine/core';
import type { FilterChange } from '../../components/hooks/use-filters.ts';
import list from '../../components/list.module.css';
import { SearchInput } from '../../components/search-input.tsx';
import { type AgentsSearch, stages } from './search.ts';

export function AgentFilters(props: {
  readonly filters: AgentsSearch;
  readonly onChange: (change: FilterChange<AgentsSearch>) => void;
}) {
  const { filters, onChange } = props;
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
      {(['project', 'tag'] as const).map(
        (name) =>
          filters[name] !== undefined && (
            <Pill
              key={name}
              size="md"
              withRemoveButton
              removeButtonProps={{ 'aria-label': `Remove filter ${name} ${filters[name]}` }}
              onRemove={() => onChange({ [name]: undefined })}
            >
              {name}: {filters[name]}
            </Pill>
          ),
      )}
    </search>
  );
}
