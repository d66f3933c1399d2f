import { Group } from '@mantine/core';
import type { ApiKeyInput } from '../../../src/client/index.ts';
import { NumberField } from '../../parts/number-field.tsx';

/** Null is no limit. */
type Limits = Required<NonNullable<ApiKeyInput['rateLimits']>>;

/** What the server takes where nothing is said. */
export const usualLimits: Limits = {
  requestsPerMinute: 100,
  requestsPerHour: 5_000,
  requestsPerDay: 100_000,
};

const windows = [
  ['requestsPerMinute', 'Calls a minute'],
  ['requestsPerHour', 'An hour'],
  ['requestsPerDay', 'A day'],
] as const;

/** How often a key may call. */
export function LimitFields(props: {
  readonly limits: Limits;
  readonly onChange: (limits: Limits) => void;
}) {
  return (
    <Group grow align="flex-end" gap="xs">
      {windows.map(([window, label]) => (
        <NumberField
          key={window}
          label={label}
          placeholder="no limit"
          value={props.limits[window]}
          onChange={(calls) => props.onChange({ ...props.limits, [window]: calls })}
        />
      ))}
    </Group>
  );
}
