import { Button, Group, Popover, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { TimeRange } from '../../data/analytics/time-range.ts';
import { fromDateInput, toDateInput } from '../../data/text/day-range.ts';
import { type PopupProps, PopupTarget } from '../loading/loaded-on-press.tsx';

interface CustomRangeProps {
  readonly range: TimeRange;
  readonly onApply: (from: string, to: string) => void;
}

/** Asks for the first and the last day, under the button that opens it. */
export default function CustomRange({
  range,
  onApply,
  button,
  ...popup
}: CustomRangeProps & PopupProps) {
  const apply = (from: string, to: string) => {
    onApply(from, to);
    popup.onChange(false);
  };
  return (
    <Popover
      {...popup}
      position="bottom-end"
      width={300}
      trapFocus
      returnFocus
      withinPortal={false}
    >
      <Popover.Target>
        <PopupTarget button={button} />
      </Popover.Target>
      <Popover.Dropdown aria-label="Custom range">
        <Days range={range} onApply={apply} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Days(props: CustomRangeProps) {
  const { startMs, endMs } = props.range;
  const [first, setFirst] = useState(() => toDateInput(new Date(startMs).toISOString()));
  const [last, setLast] = useState(() => toDateInput(new Date(endMs ?? Date.now()).toISOString()));
  const [from, to] = [fromDateInput(first, 'start', ''), fromDateInput(last, 'end', '')];
  const reversed = from && to && from > to;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (from && to && !reversed) props.onApply(from, to);
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Group grow gap="xs" align="flex-start">
          <TextInput
            type="date"
            label="First day"
            required
            withAsterisk={false}
            value={first}
            onChange={({ currentTarget }) => setFirst(currentTarget.value)}
          />
          <TextInput
            type="date"
            label="Last day"
            required
            withAsterisk={false}
            value={last}
            error={reversed ? 'Before the first day' : undefined}
            onChange={({ currentTarget }) => setLast(currentTarget.value)}
          />
        </Group>
        <Button type="submit" size="xs">
          Show
        </Button>
      </Stack>
    </form>
  );
}
