import type { ModelSettings } from '../../data/agents/model-settings.ts';
import { fieldError } from '../states/form-error.tsx';
import classes from './fields.module.css';
import { ModelInput } from './model-input.tsx';
import { NumberField } from './number-field.tsx';

interface ModelFieldsProps {
  readonly value: ModelSettings;
  readonly onChange: (change: Partial<ModelSettings>) => void;
  readonly inherited?: ModelSettings | undefined;
  readonly error?: unknown;
  /** The prefix of these fields in the server's messages, for example `agentConfig.`. */
  readonly prefix?: string;
  readonly disabled?: boolean | undefined;
}

/** Model, temperature, top P and max tokens. Placeholders show the inherited values of empty fields. */
export function ModelFields(props: ModelFieldsProps) {
  return (
    <div className="stack-small">
      <ModelField {...props} />
      <SamplingFields {...props} />
    </div>
  );
}

export function ModelField(props: ModelFieldsProps) {
  const { value, onChange, inherited, error, prefix = '', disabled } = props;
  return (
    <ModelInput
      placeholder={inherited?.model ? `${inherited.model} (version)` : 'provider/model'}
      value={value.model ?? ''}
      onChange={(model) => onChange({ model: model || null })}
      error={fieldError(error, `${prefix}model`)}
      disabled={disabled ?? false}
    />
  );
}

/** Temperature, top P and max tokens. */
export function SamplingFields(props: ModelFieldsProps) {
  const { value, onChange, inherited, error, prefix = '', disabled } = props;
  const placeholderOf = (name: keyof ModelSettings) =>
    typeof inherited?.[name] === 'number' ? `${inherited[name]} (version)` : 'default';
  const problem = (name: keyof ModelSettings) => fieldError(error, `${prefix}${name}`);
  return (
    <div className={classes.grid}>
      <NumberField
        label="Temperature"
        placeholder={placeholderOf('temperature')}
        value={value.temperature}
        onChange={(temperature) => onChange({ temperature })}
        max={2}
        decimals={2}
        error={problem('temperature')}
        disabled={disabled}
      />
      <NumberField
        label="Top P"
        placeholder={placeholderOf('topP')}
        value={value.topP}
        onChange={(topP) => onChange({ topP })}
        max={1}
        decimals={2}
        error={problem('topP')}
        disabled={disabled}
      />
      <NumberField
        label="Max tokens"
        placeholder={placeholderOf('maxTokens')}
        value={value.maxTokens}
        onChange={(maxTokens) => onChange({ maxTokens })}
        min={1}
        error={problem('maxTokens')}
        disabled={disabled}
      />
    </div>
  );
}
