import { Button, NativeSelect, Popover } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Icon } from '../../components/icon.tsx';
import { SearchInput } from '../../components/search-input.tsx';
import { formatTime } from '../../data/text/format.ts';
import classes from './history.module.css';
import { MoreFilters } from './more-filters.tsx';
import { type HistorySearch, isFiltered, sources, statuses } from './search.ts';

/** The filters of the list: common ones inline, others in a popover, active ones as pills. */
export function HistoryFilters(props: {
  readonly search: HistorySearch;
  readonly agentId: string | undefined;
  readonly onChange: (change: Partial<HistorySearch>) => void;
  readonly onClear: () => void;
}) {
  const { search, onChange } = props;
  const [opened, { toggle, close }] = useDisclosure();
  const pills = Object.entries(search).filter(
    ([name, value]) => value !== undefined && !inlineFilters.includes(name),
  );
  return (
    <search className={classes.filters}>
      <SearchInput
        label="Search outputs and variables"
        value={search.q ?? ''}
        onChange={(q) => onChange({ q: q || undefined })}
      />
      <NativeSelect
        aria-label="Status"
        value={search.status ?? ''}
        onChange={({ currentTarget: { value } }) =>
          onChange({ status: statuses.find((one) => one === value) })
        }
        data={[
          { value: '', label: 'All statuses' },
          ...statuses.map((one) => ({ value: one, label: one.replace('_', ' ') })),
        ]}
      />
      <NativeSelect
        aria-label="Source"
        value={search.source ?? ''}
        onChange={({ currentTarget: { value } }) =>
          onChange({ source: sources.find((one) => one === value) })
        }
        data={[{ value: '', label: 'All sources' }, ...sources]}
      />
      <Popover
        opened={opened}
        onClose={close}
        position="bottom-start"
        width={340}
        trapFocus
        withinPortal={false}
      >
        <Popover.Target>
          <Button variant="default" onClick={toggle} rightSection={<Icon name="down" size={12} />}>
            More filters
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label="More filters">
          <MoreFilters
            search={search}
            agentId={props.agentId}
            onApply={(change) => {
              onChange(change);
              close();
            }}
          />
        </Popover.Dropdown>
      </Popover>
      {pills.map(([name, value]) => (
        <Button
          key={name}
          variant="default"
          className={classes.pill}
          aria-label={`Remove filter ${name} ${value}`}
          rightSection={<Icon name="close" size={12} />}
          onClick={() => onChange({ [name]: undefined })}
        >
          {filterLabels[name] ?? name} {displayValue(name, String(value))}
        </Button>
      ))}
      {isFiltered(search) && (
        <Button variant="subtle" color="gray" onClick={props.onClear}>
          Clear filters
        </Button>
      )}
    </search>
  );
}

function displayValue(name: string, value: string): string {
  const isTime = /Date$/.test(name) && value.includes('T') && !Number.isNaN(Date.parse(value));
  return isTime ? formatTime(value) : value;
}

/** Filters whose own control shows the value. */
const inlineFilters = ['q', 'status', 'source', 'offset'];

const filterLabels: Readonly<Record<string, string>> = {
  startDate: 'from',
  endDate: 'until',
  promptVersionId: 'version',
  model: 'model',
  apiKeyId: 'key',
  errorCode: 'error',
  latencyMsMin: 'ms ≥',
  latencyMsMax: 'ms ≤',
  costUSDMin: '$ ≥',
  costUSDMax: '$ ≤',
};
