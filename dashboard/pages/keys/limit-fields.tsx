import { Group, TextInput } from '@mantine/core';
import type { ApiKeyInput } from '../../../src/client/index.ts';

type Limits = Required<NonNullable<ApiKeyInput['rateLimits']>>;
/** As typed; empty is no limit. */
type Typed = Readonly<Record<keyof Limits, string>>;

/** What the server takes where nothing is said. */
export const usualLimits: Typed = {
  requestsPerMinute: '100',
  requestsPerHour: '5000',
  requestsPerDay: '100000',
};

const windows = [
  ['requestsPerMinute', 'Calls a minute'],
  ['requestsPerHour', 'An hour'],
  ['requestsPerDay', 'A day'],
] as const;

export function LimitFields(props: {
  readonly limits: Typed;
  readonly onChange: (limits: Typed) => void;
}) {
  return (
    <Group grow align="flex-end" gap="xs">
      {windows.map(([window, label]) => (
        <TextInput
          key={window}
          label={label}
          placeholder="no limit"
          inputMode="numeric"
          pattern="\d{0,10}"
          value={props.limits[window]}
          onChange={({ currentTarget }) =>
            props.onChange({ ...props.limits, [window]: currentTarget.value })
          }
        />
      ))}
    </Group>
  );
}

export function limitsOf(typed: Typed): Limits {
  const read = (text: string) => (text.trim() === '' ? null : Number(text));
  return {
    requestsPerMinute: read(typed.requestsPerMinute),
    requestsPerHour: read(typed.requestsPerHour),
    requestsPerDay: read(typed.requestsPerDay),
  };
}
