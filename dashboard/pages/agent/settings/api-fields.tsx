import { Stack, Switch, TagsInput, Textarea } from '@mantine/core';
import type { Agent } from '../../../../src/client/index.ts';
import { fieldError } from '../../../components/states/form-error.tsx';
import type { AgentForm } from '../../../data/agents/agent-form.ts';

/** Whether the API of an agent is enabled, what callers may add, the versions that they may name, and its allowed browser origins. */
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
        label="API enabled"
        description={
          open && !agent.archived
            ? 'When disabled, every call fails with 403.'
            : 'Available in Testing and Deployed. Change the stage on the overview.'
        }
        checked={form.apiEnabled}
        disabled={disabled || !open || agent.archived}
        onChange={({ currentTarget }) => onChange({ apiEnabled: currentTarget.checked })}
      />
      <Switch
        label="Callers may add instructions"
        description="OpenAI clients may send instructions and system messages. When disabled, they get 400."
        checked={form.allowInstructions}
        disabled={disabled}
        onChange={({ currentTarget }) => onChange({ allowInstructions: currentTarget.checked })}
      />
      <Switch
        label="Callers may add tools"
        description="OpenAI clients may send function tools, which they execute themselves. When disabled, they get 400."
        checked={form.allowTools}
        disabled={disabled}
        onChange={({ currentTarget }) => onChange({ allowTools: currentTarget.checked })}
      />
      <TagsInput
        label="Version aliases"
        description="The label of a version for each version number that OpenAI clients send, such as 1=v3."
        placeholder={form.versionAliases.length === 0 ? 'number=label' : ''}
        maxTags={100}
        splitChars={['\n']}
        isDuplicate={(text, others) => others.includes(text)}
        spellCheck={false}
        disabled={disabled}
        value={[...form.versionAliases]}
        error={fieldError(error, 'versionAliases')}
        onChange={(versionAliases) => onChange({ versionAliases })}
      />
      <Textarea
        label="Allowed browser origins (CORS)"
        description="One origin per line, matched exactly. Leave empty to block all browser calls."
        placeholder="https://app.example.com"
        autosize
        minRows={2}
        maxRows={12}
        spellCheck={false}
        disabled={disabled}
        value={form.origins}
        error={fieldError(error, 'allowedOrigins')}
        onChange={({ currentTarget }) => onChange({ origins: currentTarget.value })}
      />
    </Stack>
  );
}
