import { Stack, Switch, Textarea } from '@mantine/core';
import type { Agent } from '../../../src/client/index.ts';
import { fieldProblem } from '../../components/form-error.tsx';
import type { AgentForm } from '../../data/agents/agent-form.ts';

/** Whether programs are let in, and from which pages. */
export function ApiFields(props: {
  readonly agent: Agent;
  readonly form: AgentForm;
  readonly onChange: (change: Partial<AgentForm>) => void;
  readonly error: unknown;
  readonly disabled: boolean;
}) {
  const { agent, form, onChange, error, disabled } = props;
  const open = agent.status === 'Testing' || agent.status === 'Deployed';
  return (
    <Stack gap="md">
      <Switch
        label="Programs may call it"
        description={
          open && !agent.archived
            ? 'Switched off and saved, every call is answered 403.'
            : 'Only in Testing and Deployed: its lifecycle is on the overview.'
        }
        checked={form.apiEnabled}
        disabled={disabled || !open || agent.archived}
        onChange={({ currentTarget }) => onChange({ apiEnabled: currentTarget.checked })}
      />
      <Textarea
        label="Origins that may call it from a browser (CORS)"
        description="One on each line, compared exactly. None means no browser page may."
        placeholder="https://app.example.com"
        autosize
        minRows={2}
        maxRows={12}
        spellCheck={false}
        disabled={disabled}
        value={form.origins}
        error={fieldProblem(error, 'allowedOrigins')}
        onChange={({ currentTarget }) => onChange({ origins: currentTarget.value })}
      />
    </Stack>
  );
}
