import { Autocomplete } from '@mantine/core';
import type { ModelSettings } from '../../data/agents/model-settings.ts';
import { useKnownModels } from '../../data/agents/models.ts';
import { fieldError } from '../form-error.tsx';
import classes from './fields.module.css';
import { NumberField } from './number-field.tsx';

/** Model, temperature, top P and max tokens. Placeholders show the inherited values of empty fields. */
export function ModelFields(props: {
  readonly value: ModelSettings;
  readonly onChange: (change: Partial<ModelSettings>) => void;
  readonly inherited?: ModelSettings | undefined;
  readonly error?: unknown;
  /** The prefix of these fields in the server's messages, for example `agentConfig.`. */
  readonly prefix?: string;
  readonly disabled?: boolean | undefined;
}) {
  const { value, onChange, inherited, error, prefix = '', disabled } = props;
  const models = useKnownModels();
  const placeholderOf = (name: keyof ModelSettings) =>
    typeof inherited?.[name] === 'number' ? `${inherited[name]} (version)` : 'default';
  const problem = (name: keyof ModelSettings) => fieldError(error, `${prefix}${name}`);
  return (
    <div className={classes.stack}>
      <Autocomplete
        label="Model"
        placeholder={inherited?.model ? `${inherited.model} (version)` : 'provider/model'}
        data={[...models]}
        value={value.model ?? ''}
        onChange={(model) => onChange({ model: model || null })}
        error={problem('model')}
        disabled={disabled ?? false}
        maxLength={256}
        autoComplete="off"
        spellCheck={false}
      />
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
    </div>
  );
}
