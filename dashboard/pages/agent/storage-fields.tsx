import { Stack, Switch } from '@mantine/core';
import fields from '../../components/fields/fields.module.css';
import { NumberField } from '../../components/fields/number-field.tsx';
import { fieldProblem } from '../../components/form-error.tsx';
import type { AgentForm } from '../../data/agents/agent-form.ts';

const kept = [
  ['recordsDays', 'Days that records stay'],
  ['bodiesDays', 'Days that bodies stay'],
] as const;

/** Whether bodies are kept at all, and how long. Only owners say how long, and switch keeping on again. */
export function KeepFields(props: {
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
        label="Keep bodies: variables, prompts and output"
        description={`Switched off, later runs leave none; the output can be read for 15 minutes.${owner ? '' : ' Only an owner may switch it on again.'}`}
        checked={form.storeBodies}
        disabled={disabled}
        onChange={({ currentTarget }) => onChange({ storeBodies: currentTarget.checked })}
      />
      <div className={fields.halves}>
        {kept.map(([name, label]) => (
          <NumberField
            key={name}
            label={label}
            placeholder="as the workspace says"
            min={1}
            value={form.retention[name]}
            onChange={(days) => onChange({ retention: { ...form.retention, [name]: days } })}
            error={fieldProblem(error, `retention.${name}`)}
            disabled={disabled || !owner}
          />
        ))}
      </div>
    </Stack>
  );
}
