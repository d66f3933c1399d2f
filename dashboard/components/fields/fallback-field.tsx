import { Textarea } from '@mantine/core';
import { fieldError } from '../form-error.tsx';
import type { AgentFields } from './agent-fields.ts';

/** The models that are called after the agent's model has failed. */
export function FallbackField(props: AgentFields) {
  const { form, onChange, error, disabled } = props;
  return (
    <Textarea
      mt="md"
      label="Fallback models"
      description="One per line, called in this order after an outage, a timeout, exhausted credit, a long rate limit or a prompt that is too long."
      placeholder="provider/model"
      autosize
      minRows={1}
      maxRows={10}
      spellCheck={false}
      disabled={disabled ?? false}
      value={form.fallbackModels}
      error={fieldError(error, 'agentConfig.models')}
      onChange={({ currentTarget }) => onChange({ fallbackModels: currentTarget.value })}
    />
  );
}
