import { Switch } from '@mantine/core';
import type { AgentFields } from './agent-fields.ts';

/** Whether the responses of the model are read as a stream. */
export function StreamField({ form, onChange, disabled }: AgentFields) {
  return (
    <Switch
      mt="md"
      label="Stream responses"
      description="Readers of an execution see its text as the model writes it."
      disabled={disabled ?? false}
      checked={form.stream}
      onChange={({ currentTarget }) => onChange({ stream: currentTarget.checked })}
    />
  );
}
