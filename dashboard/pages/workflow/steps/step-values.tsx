import { Autocomplete, Stack, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import fields from '../../../components/fields/fields.module.css';
import { agentQuery } from '../../../data/agents/agents.ts';
import { parse, stringify } from '../../../data/text/exact-json.ts';
import {
  type DefinitionEdit,
  type DefinitionPath,
  setValue,
} from '../../../data/workflows/definition-edit.ts';

/** A value of a definition: text with references. A value that is not text is edited as JSON. */
export function ValueField(props: {
  readonly label: string;
  readonly value: unknown;
  readonly references: readonly string[];
  readonly description?: string | undefined;
  readonly onChange: (value: unknown) => void;
}) {
  const { label, value, references, description, onChange } = props;
  const [isJson] = useState(value !== undefined && value !== null && typeof value !== 'string');
  const text =
    typeof value === 'string'
      ? value
      : value === undefined || value === null
        ? ''
        : stringify(value);
  // A field that is replaced while it is edited loses the focus.
  const [isLong] = useState(text.includes('\n') || text.length > longFrom);
  const change = (typed: string) => {
    if (typed === '') onChange(undefined);
    else onChange(isJson ? jsonOrText(typed) : typed);
  };
  const texts = { label, description, value: text, dir: 'auto' };
  const shared = { ...texts, spellCheck: false, autoComplete: 'off' };
  if (isLong) {
    return (
      <Textarea
        {...shared}
        autosize
        maxRows={10}
        onChange={({ currentTarget }) => change(currentTarget.value)}
      />
    );
  }
  return (
    <Autocomplete
      {...shared}
      data={references.map((reference) => `{{${reference}}}`)}
      onChange={change}
    />
  );
}

const longFrom = 120;

function jsonOrText(typed: string): unknown {
  try {
    return parse(typed);
  } catch {
    return typed;
  }
}

/** The variables of a call: those of the agent, and others that the definition already has. */
export function VariablesFields(props: {
  readonly agentId: string | null;
  readonly path: DefinitionPath;
  readonly values: unknown;
  readonly references: readonly string[];
  readonly onEdit: (edit: DefinitionEdit) => void;
}) {
  const { agentId, path, values, references, onEdit } = props;
  const agent = useQuery({ ...agentQuery(agentId ?? ''), enabled: agentId !== null }).data;
  const required = agent?.requiredVariables ?? [];
  const declared = [...required, ...(agent?.optionalVariables ?? [])];
  const given = typeof values === 'object' && values !== null ? values : {};
  const names = [...new Set([...declared, ...Object.keys(given)])];
  if (names.length === 0) return null;
  return (
    <fieldset className={fields.group}>
      <legend>Variables</legend>
      <Stack gap="xs">
        {names.map((name) => (
          <ValueField
            key={name}
            label={required.includes(name) ? `${name} (required)` : name}
            description={
              agent && !declared.includes(name) ? 'Not a variable of the agent' : undefined
            }
            value={Object.hasOwn(given, name) ? given[name as keyof typeof given] : undefined}
            references={references}
            onChange={(value) => onEdit(setValue([...path, name], value))}
          />
        ))}
      </Stack>
    </fieldset>
  );
}
