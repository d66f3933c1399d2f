import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Icon } from '../../../components/icon.tsx';
import { FilterPopover } from '../../../components/tables/filter-popover.tsx';
import { periods } from '../../../data/executions/periods.ts';
import { fromTimeInputs, toTimeInputs } from '../../../data/text/day-range.ts';
import classes from '../history.module.css';
import type { HistorySearch } from '../search.ts';
import { timeText } from './filter-names.ts';

interface TimeProps {
  readonly search: HistorySearch;
  readonly onChange: (change: Partial<HistorySearch>) => void;
}

const noTime = { period: undefined, startDate: undefined, endDate: undefined };

/** Presets that move with the clock, or certain days or times. */
export function TimeFilter({ search, onChange }: TimeProps) {
  const [opened, setOpened] = useState(false);
  const apply = (time: Partial<HistorySearch>) => {
    onChange({ ...noTime, ...time });
    setOpened(false);
  };
  const preset = periods.find(({ value }) => value === search.period);
  const text = timeText(search) ?? preset?.label ?? 'Any time';
  return (
    <FilterPopover
      label="Time"
      width={280}
      opened={opened}
      onChange={setOpened}
      target={
        <Button
          variant="default"
          size="xs"
          aria-label={`Time: ${text}`}
          rightSection={<Icon name="down" size={12} />}
          onClick={() => setOpened(!opened)}
        >
          {text}
        </Button>
      }
    >
      <div className={classes.fields}>
        <button
          type="button"
          className={classes.field}
          aria-pressed={text === 'Any time'}
          onClick={() => apply({})}
        >
          Any time
        </button>
        {periods.map(({ value, label }) => (
          <button
            key={value}
            type="button"
            className={classes.field}
            aria-pressed={search.period === value}
            onClick={() => apply({ period: value })}
          >
            {label}
          </button>
        ))}
      </div>
      <Days search={search} onApply={apply} />
    </FilterPopover>
  );
}

function Days(props: {
  readonly search: HistorySearch;
  readonly onApply: (time: Partial<HistorySearch>) => void;
}) {
  const { startDate: from = '', endDate: until = '' } = props.search;
  const [typed, setTyped] = useState({
    from: toTimeInputs(from, 'start'),
    until: toTimeInputs(until, 'end'),
  });
  const startDate = fromTimeInputs(typed.from, 'start', from);
  const endDate = fromTimeInputs(typed.until, 'end', until);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (startDate === null || endDate === null) return;
    props.onApply({ startDate: startDate || undefined, endDate: endDate || undefined });
  };
  const edge = (name: 'from' | 'until', label: string, read: string | null) => (
    <Group grow gap="xs" align="flex-start">
      <TextInput
        type="date"
        size="xs"
        label={label}
        error={read === null && 'Invalid date.'}
        value={typed[name].day}
        onChange={({ currentTarget }) =>
          setTyped({ ...typed, [name]: { ...typed[name], day: currentTarget.value } })
        }
      />
      <TextInput
        type="time"
        size="xs"
        label={`${label}, time`}
        value={typed[name].time}
        onChange={({ currentTarget }) =>
          setTyped({ ...typed, [name]: { ...typed[name], time: currentTarget.value } })
        }
      />
    </Group>
  );
  return (
    <form onSubmit={submit} className={classes.days}>
      <Stack gap="xs">
        {edge('from', 'From', startDate)}
        {edge('until', 'Until', endDate)}
        <Button type="submit" size="xs" variant="default">
          Apply
        </Button>
      </Stack>
    </form>
  );
}
