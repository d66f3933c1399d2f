import { TagsInput } from '@mantine/core';
import { useState } from 'react';
import { useKnownModels } from '../../data/agents/models.ts';
import { fieldError } from '../states/form-error.tsx';
import type { AgentFields } from './agent-fields.ts';
import { suggestionsMax } from './model-input.tsx';

/** The models that are called after the agent's model has failed. */
export function FallbackField(props: AgentFields) {
  const { form, onChange, error, disabled } = props;
  const [asks, setAsks] = useState(false);
  const models = useKnownModels(asks);
  const chosen = form.fallbackModels.split(/\s+/).filter((model) => model !== '');
  return (
    <TagsInput
      mt="md"
      label="Fallback models"
      description="Called in this order after an outage, a timeout, exhausted credit, a long rate limit or a prompt that is too long."
      placeholder={chosen.length === 0 ? 'provider/model' : 'Add another model'}
      data={[...models]}
      limit={suggestionsMax}
      splitChars={[' ', '\n']}
      isDuplicate={(model, others) => others.includes(model)}
      withPillsReorder
      onFocus={() => setAsks(true)}
      spellCheck={false}
      disabled={disabled ?? false}
      value={chosen}
      error={fieldError(error, 'agentConfig.models')}
      onChange={(next) => onChange({ fallbackModels: next.join('\n') })}
    />
  );
}
