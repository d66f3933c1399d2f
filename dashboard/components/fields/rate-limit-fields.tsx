import type { Agent } from '../../../src/client/index.ts';
import { fieldError } from '../states/form-error.tsx';
import { NumberField } from './number-field.tsx';

/** Calls allowed per window; null means no limit. */
export type RateLimits = Agent['rateLimits'];

const windows = [
  ['requestsPerMinute', 'Calls per minute'],
  ['requestsPerHour', 'Calls per hour'],
  ['requestsPerDay', 'Calls per day'],
] as const;

/** Three rate limit fields; the parent lays them out. */
export function RateLimitFields(props: {
  readonly limits: RateLimits;
  readonly onChange: (limits: RateLimits) => void;
  readonly error: unknown;
  readonly disabled?: boolean | undefined;
}) {
  const { limits, onChange, error, disabled } = props;
  return windows.map(([window, label]) => (
    <NumberField
      key={window}
      label={label}
      placeholder="no limit"
      value={limits[window]}
      onChange={(calls) => onChange({ ...limits, [window]: calls })}
      error={fieldError(error, `rateLimits.${window}`)}
      disabled={disabled}
    />
  ));
}
