import { Autocomplete, type AutocompleteProps, type OptionsFilter } from '@mantine/core';
import { useState } from 'react';
import { useKnownModels } from '../../data/agents/models.ts';

/** The name of a model, with the models that providers list as suggestions. They are asked once the field has the focus. */
export function ModelInput(props: {
  /** Default: Model. */
  readonly label?: string;
  readonly value: string;
  readonly onChange: (model: string) => void;
  /** Suggests only the models of this provider. */
  readonly provider?: string;
  readonly description?: string;
  readonly placeholder?: string;
  readonly error?: AutocompleteProps['error'];
  readonly required?: boolean;
  readonly disabled?: boolean;
}) {
  const { provider, ...input } = props;
  const [asks, setAsks] = useState(false);
  const models = useKnownModels(asks);
  const suggested = models.filter(
    (model) => provider === undefined || model.startsWith(`${provider}/`),
  );
  return (
    <Autocomplete
      label="Model"
      data={suggested}
      limit={suggestionsMax}
      filter={offered}
      onFocus={() => setAsks(true)}
      withAsterisk={false}
      maxLength={256}
      autoComplete="off"
      spellCheck={false}
      {...input}
    />
  );
}

/** Typing narrows the list. A known model does not: it is the one to be replaced. */
const offered: OptionsFilter = ({ options, search, limit }) => {
  const typed = search.trim().toLowerCase();
  const names = options.flatMap((option) => ('value' in option ? option : []));
  const isKnown = names.some(({ value }) => value.toLowerCase() === typed);
  const found = names.filter(({ value }) => value.toLowerCase().includes(typed));
  return (isKnown ? names : found).slice(0, limit);
};

export const suggestionsMax = 100;
