import { Checkbox, Group, NativeSelect, TextInput } from '@mantine/core';
import fields from '../../../components/fields/fields.module.css';
import { NumberField } from '../../../components/fields/number-field.tsx';
import {
  lastDay,
  minuteIntervals,
  type Repeat,
  type RepeatKind,
  shortWeekdayName,
  weekOrder,
  writeRepeat,
} from '../../../data/workflows/repeat.ts';

/** How often a schedule repeats: by choice, or as a cron expression. */
export function RepeatFields(props: {
  readonly repeat: Repeat;
  readonly onChange: (repeat: Repeat) => void;
  /** A problem with the expression, shown at the field for it. */
  readonly error: string | undefined;
}) {
  const { repeat, onChange, error } = props;
  const choose = (kind: RepeatKind) =>
    // The expression starts as what was chosen before.
    onChange({ ...repeat, kind, ...(kind === 'cron' && { cron: writeRepeat(repeat) }) });
  return (
    <>
      <div className={fields.halves}>
        <NativeSelect
          label="Repeat"
          data-autofocus
          data={kinds}
          value={repeat.kind}
          onChange={({ currentTarget }) => choose(currentTarget.value as RepeatKind)}
        />
        <Details repeat={repeat} change={(change) => onChange({ ...repeat, ...change })} />
      </div>
      {repeat.kind === 'weekly' && (
        <Checkbox.Group
          label="Days"
          value={repeat.weekdays.map(String)}
          error={repeat.weekdays.length === 0 ? 'Select at least one day.' : undefined}
          onChange={(days) => onChange({ ...repeat, weekdays: days.map(Number) })}
        >
          <Group gap="sm" mt={4}>
            {weekOrder.map((day) => (
              <Checkbox key={day} size="xs" value={String(day)} label={shortWeekdayName(day)} />
            ))}
          </Group>
        </Checkbox.Group>
      )}
      {repeat.kind === 'cron' && (
        <TextInput
          label="Cron expression"
          description="Minute, hour, day of month, month, day of week"
          placeholder="*/15 8-18 * * MON-FRI"
          required
          withAsterisk={false}
          maxLength={200}
          spellCheck={false}
          styles={{ input: { fontFamily: 'var(--mono)' } }}
          value={repeat.cron}
          error={error}
          onChange={({ currentTarget }) => onChange({ ...repeat, cron: currentTarget.value })}
        />
      )}
    </>
  );
}

const kinds: { value: RepeatKind; label: string }[] = [
  { value: 'minutes', label: 'Every few minutes' },
  { value: 'hourly', label: 'Hourly' },
  { value: 'daily', label: 'Daily' },
  { value: 'weekdays', label: 'On weekdays' },
  { value: 'weekly', label: 'Weekly' },
  { value: 'monthly', label: 'Monthly' },
  { value: 'cron', label: 'Cron expression' },
];

function Details(props: {
  readonly repeat: Repeat;
  readonly change: (change: Partial<Repeat>) => void;
}) {
  const { repeat, change } = props;
  if (repeat.kind === 'cron') return null;
  if (repeat.kind === 'minutes') {
    return (
      <NativeSelect
        label="Every"
        data={minuteIntervals.map((count) => ({
          value: String(count),
          label: count === 1 ? '1 minute' : `${count} minutes`,
        }))}
        value={repeat.everyMinutes}
        onChange={({ currentTarget }) => change({ everyMinutes: Number(currentTarget.value) })}
      />
    );
  }
  if (repeat.kind === 'hourly') {
    return (
      <NumberField
        label="Minute of the hour"
        max={59}
        value={repeat.minute}
        error={repeat.minute > 59 ? 'At most 59.' : undefined}
        onChange={(minute) => change({ minute: minute ?? 0 })}
      />
    );
  }
  const time = <TimeOfDay repeat={repeat} change={change} />;
  if (repeat.kind !== 'monthly') return time;
  return (
    <Group grow gap="xs" align="flex-start">
      <NativeSelect
        label="Day"
        data={monthDays}
        value={repeat.monthDay}
        description={Number(repeat.monthDay) > 28 ? 'Skips shorter months' : undefined}
        onChange={({ currentTarget }) => change({ monthDay: currentTarget.value })}
      />
      {time}
    </Group>
  );
}

function TimeOfDay(props: {
  readonly repeat: Repeat;
  readonly change: (change: Partial<Repeat>) => void;
}) {
  const { repeat, change } = props;
  const digits = (count: number) => String(count).padStart(2, '0');
  return (
    <TextInput
      label="Time"
      type="time"
      required
      withAsterisk={false}
      value={`${digits(repeat.hour)}:${digits(repeat.minute)}`}
      onChange={({ currentTarget }) => {
        const [hour, minute] = currentTarget.value.split(':').map(Number);
        // A cleared field has no value, and the last one stays.
        if (hour !== undefined && minute !== undefined) change({ hour, minute });
      }}
    />
  );
}

const monthDays = [
  ...Array.from({ length: 31 }, (_, at) => ({ value: String(at + 1), label: String(at + 1) })),
  { value: lastDay, label: 'Last day' },
];
