import { Group, NativeSelect, TextInput } from '@mantine/core';
import { fromDateInput } from '../../data/text/day-range.ts';

/** `choice` is a number of days, `day` for a given day, or empty for never. */
interface Expiry {
  readonly choice: string;
  readonly day: string;
}

export const noExpiry: Expiry = { choice: '', day: '' };

const choices = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
  { value: 'day', label: 'On a date…' },
];

export function ExpiryField(props: {
  readonly expiry: Expiry;
  readonly onChange: (expiry: Expiry) => void;
}) {
  const { expiry, onChange } = props;
  return (
    <Group grow align="flex-end" gap="xs">
      <NativeSelect
        label="Expires"
        data={choices}
        value={expiry.choice}
        onChange={({ currentTarget }) => onChange({ ...expiry, choice: currentTarget.value })}
      />
      {expiry.choice === 'day' && (
        <TextInput
          type="date"
          label="Date"
          required
          withAsterisk={false}
          value={expiry.day}
          error={endOf(expiry.day) === null && 'Invalid date.'}
          onChange={({ currentTarget }) => onChange({ ...expiry, day: currentTarget.value })}
        />
      )}
    </Group>
  );
}

const endOf = (day: string) => fromDateInput(day, 'end', '') ?? null;

/** Null for never. Throws for an invalid date, which must not mean never. */
export function expiryOf({ choice, day }: Expiry): string | null {
  if (choice === '') return null;
  if (choice !== 'day') return new Date(Date.now() + Number(choice) * 86_400_000).toISOString();
  const end = endOf(day);
  if (end === null) throw new Error('The date of expiry is invalid.');
  return end;
}
