import { fieldError } from '../states/form-error.tsx';
import type { AgentFields } from './agent-fields.ts';
import { CostField } from './cost-field.tsx';
import classes from './fields.module.css';
import { NumberField } from './number-field.tsx';
import { RateLimitFields } from './rate-limit-fields.tsx';

/** Rate limits, concurrency, cost, attempts and timeout of an agent. */
export function LimitFields(props: AgentFields) {
  const { form, onChange, error, disabled } = props;
  return (
    <div className={classes.thirds}>
      <RateLimitFields
        limits={form.rateLimits}
        onChange={(rateLimits) => onChange({ rateLimits })}
        error={error}
        disabled={disabled}
      />
      <NumberField
        label="Max concurrency"
        placeholder="no limit"
        min={1}
        value={form.maxConcurrency}
        onChange={(maxConcurrency) => onChange({ maxConcurrency })}
        error={fieldError(error, 'agentConfig.maxConcurrency')}
        disabled={disabled}
      />
      <CostField
        value={form.maxCostUSD}
        onChange={(maxCostUSD) => onChange({ maxCostUSD })}
        error={fieldError(error, 'agentConfig.maxCostUSD')}
        disabled={disabled}
      />
      <NumberField
        label="Max attempts"
        placeholder="3"
        min={1}
        max={5}
        value={form.maxAttempts}
        onChange={(maxAttempts) => onChange({ maxAttempts })}
        error={fieldError(error, 'agentConfig.maxAttempts')}
        disabled={disabled}
      />
      <NumberField
        label="Timeout (seconds)"
        placeholder="300"
        min={1}
        decimals={3}
        value={form.timeoutMs === null ? null : form.timeoutMs / 1_000}
        onChange={(seconds) =>
          onChange({ timeoutMs: seconds === null ? null : Math.round(seconds * 1_000) })
        }
        error={fieldError(error, 'agentConfig.timeoutMs')}
        disabled={disabled}
      />
    </div>
  );
}
