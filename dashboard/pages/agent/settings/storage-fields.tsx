import { Stack, Switch } from '@mantine/core';
import fields from '../../../components/fields/fields.module.css';
import { NumberField } from '../../../components/fields/number-field.tsx';
import { fieldError } from '../../../components/states/form-error.tsx';
import type { AgentForm } from '../../../data/agents/agent-form.ts';

const retentionFields = [
  ['recordsDays', 'Keep records (days)'],
  ['bodiesDays', 'Keep bodies (days)'],
] as const;

/** Whether bodies are stored, and retention periods. Only owners may change the periods or turn storage on again. */
export function StorageFields(props: {
  readonly form: AgentForm;
  readonly onChange: (change: Partial<AgentForm>) => void;
  readonly error: unknown;
  readonly disabled: boolean;
  readonly owner: boolean;
}) {
  const { form, onChange, error, disabled, owner } = props;
  return (
    <Stack gap="md">
      <Switch
        label="Store bodies: variables, prompts and output"
        description={`When disabled, new executions store no bodies; their output stays readable for 15 minutes.${owner ? '' : ' Only an owner can enable this again.'}`}
        checked={form.storeBodies}
        disabled={disabled}
        onChange={({ currentTarget }) => onChange({ storeBodies: currentTarget.checked })}
      />
      <div className={fields.halves}>
        {retentionFields.map(([name, label]) => (
          <NumberField
            key={name}
            label={label}
            placeholder="Workspace default"
            min={1}
            value={form.retention[name]}
            onChange={(days) => onChange({ retention: { ...form.retention, [name]: days } })}
            error={fieldError(error, `retention.${name}`)}
            disabled={disabled || !owner}
          />
        ))}
      </div>
    </Stack>
  );
}
