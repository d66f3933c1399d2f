import { ActionIcon, Button, FocusTrap } from '@mantine/core';
import { useState } from 'react';
import type { ExecutionFilters } from '../../../../src/client/index.ts';
import { Icon } from '../../../components/icon.tsx';
import { FilterPopover } from '../../../components/tables/filter-popover.tsx';
import { focusFilters } from '../../../components/tables/focus-filters.ts';
import { SearchInput } from '../../../components/tables/search-input.tsx';
import classes from '../history.module.css';
import { type HistorySearch, isFiltered } from '../search.ts';
import { FilterEditor } from './filter-editor.tsx';
import { type Chip, chipsOf, type FilterName, offered } from './filter-names.ts';
import { useFilterNames } from './filter-options.ts';
import { TimeFilter } from './time-filter.tsx';

export interface FilterProps {
  readonly search: HistorySearch;
  readonly agentId: string | undefined;
  /** As the list was loaded. */
  readonly filters: ExecutionFilters;
  readonly onChange: (change: Partial<HistorySearch>) => void;
}

/**
 * The filters of the list: words, time, and a chip for each other filter, which opens its editor. The buttons come before
 * the chips and the editors have a fixed size: nothing under the pointer moves while lists load.
 */
export function FilterBar(props: FilterProps & { readonly onClear: () => void }) {
  const { search, onChange, onClear } = props;
  const nameOf = useFilterNames(props);
  return (
    <search className={classes.filters}>
      <SearchInput
        label="Search outputs and variables"
        value={search.q ?? ''}
        onChange={(q) => onChange({ q: q || undefined })}
      />
      <TimeFilter search={search} onChange={onChange} />
      <AddFilter {...props} />
      {chipsOf(search, nameOf).map((chip) => (
        <FilterChip key={chip.label} chip={chip} {...props} />
      ))}
      {isFiltered(search) && (
        <Button
          variant="subtle"
          color="gray"
          size="xs"
          onClick={(event) => {
            focusFilters(event);
            onClear();
          }}
        >
          Clear filters
        </Button>
      )}
    </search>
  );
}

function AddFilter(props: FilterProps) {
  const [opened, setOpened] = useState(false);
  const [name, choose] = useState<FilterName | null>(null);
  const fields = offered.filter(([one]) => one !== 'agentId' || props.agentId === undefined);
  const toggle = () => {
    choose(null);
    setOpened(!opened);
  };
  return (
    <FilterPopover
      label="Filter"
      width={300}
      opened={opened}
      onChange={setOpened}
      target={
        <Button
          variant="default"
          size="xs"
          leftSection={<Icon name="plus" size={12} />}
          onClick={toggle}
        >
          Filter
        </Button>
      }
    >
      {name === null ? (
        <div className={classes.fields}>
          {fields.map(([one, label]) => (
            <button key={one} type="button" className={classes.field} onClick={() => choose(one)}>
              {label}
            </button>
          ))}
        </div>
      ) : (
        // The chosen field had the focus and is gone.
        <FocusTrap>
          <div>
            <FilterEditor name={name} {...props} onDone={() => setOpened(false)} />
          </div>
        </FocusTrap>
      )}
    </FilterPopover>
  );
}

function FilterChip({ chip, ...props }: FilterProps & { readonly chip: Chip }) {
  const [opened, setOpened] = useState(false);
  const isFixed = ['executionId', 'rerunOf', 'batchId'].includes(chip.name);
  const text = (
    <>
      {chip.label}
      <span className={classes.chipValue} dir="auto">
        {chip.value}
      </span>
    </>
  );
  return (
    <span className={classes.chip}>
      {isFixed ? (
        <span className={classes.chipText}>{text}</span>
      ) : (
        <FilterPopover
          label={`Filter ${chip.label}`}
          width={300}
          opened={opened}
          onChange={setOpened}
          target={
            <button type="button" className={classes.chipText} onClick={() => setOpened(!opened)}>
              {text}
            </button>
          }
        >
          <FilterEditor name={chip.name} {...props} onDone={() => setOpened(false)} />
        </FilterPopover>
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={`Remove filter ${chip.label} ${chip.value}`}
        onClick={(event) => {
          focusFilters(event);
          props.onChange(chip.without);
        }}
      >
        <Icon name="close" size={12} />
      </ActionIcon>
    </span>
  );
}
