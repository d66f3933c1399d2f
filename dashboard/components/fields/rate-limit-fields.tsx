import type { Agent } from '../../../src/client/index.ts';
import { fieldProblem } from '../form-error.tsx';
import { NumberField } from './number-field.tsx';

/** Calls let past in each window; null is no limit. */
export type RateLimits = Agent['rateLimits'];

const windows = [
  ['requestsPerMinute', 'Calls a minute'],
  ['requestsPerHour', 'Calls an hour'],
  ['requestsPerDay', 'Calls a day'],
] as const;

/** How often an agent or a key may be called: three fields, side by side as their surroundings put them. */
export function WindowFields(props: {
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
      error={fieldProblem(error, `rateLimits.${window}`)}
      disabled={disabled}
    />
  ));
}
