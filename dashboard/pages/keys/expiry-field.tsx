import { Group, NativeSelect, TextInput } from '@mantine/core';
import { timeOf } from '../../data/text/day-range.ts';

/** In so many days, on the day that is given, or never. */
interface Expiry {
  readonly choice: string;
  readonly day: string;
}

export const noExpiry: Expiry = { choice: '', day: '' };

const choices = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'day', label: 'At the end of a day…' },
];

export function ExpiryField(props: {
  readonly expiry: Expiry;
  readonly onChange: (expiry: Expiry) => void;
}) {
  const { expiry, onChange } = props;
  return (
    <Group grow align="flex-end" gap="xs">
      <NativeSelect
        label="It expires"
        data={choices}
        value={expiry.choice}
        onChange={({ currentTarget }) => onChange({ ...expiry, choice: currentTarget.value })}
      />
      {expiry.choice === 'day' && (
        <TextInput
          type="date"
          label="Day"
          required
          withAsterisk={false}
          value={expiry.day}
          error={expiryOf(expiry) === undefined && 'There is no such day.'}
          onChange={({ currentTarget }) => onChange({ ...expiry, day: currentTarget.value })}
        />
      )}
    </Group>
  );
}

/** Null for never; undefined where there is no such day, which must not mean the same. */
export function expiryOf({ choice, day }: Expiry): string | null | undefined {
  if (choice === '') return null;
  if (choice === 'day') return timeOf(day, 'end', '') ?? undefined;
  return new Date(Date.now() + Number(choice) * 86_400_000).toISOString();
}
