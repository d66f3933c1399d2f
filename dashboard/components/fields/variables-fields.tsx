import { ActionIcon, Button, Group, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type DeclaredVariable, defaultValueError } from '../../data/agents/agent-form.ts';
import { Icon } from '../icon.tsx';
import classes from './variables-fields.module.css';

/** Declares an agent's variables and their defaults. */
export function VariablesFields(props: {
  readonly variables: readonly DeclaredVariable[];
  /** Variables of the pinned version, which cannot be removed. */
  readonly requiredByVersion: readonly string[];
  readonly onChange: (variables: readonly DeclaredVariable[]) => void;
  readonly disabled?: boolean;
}) {
  const { variables, requiredByVersion, onChange, disabled = false } = props;
  const [name, setName] = useState('');
  const isValidName = namePattern.test(name) && !variables.some((one) => one.name === name);
  const add = () => {
    onChange([...variables, { name, kind: 'optional', value: '' }]);
    setName('');
  };
  const change = (changed: string, to: Partial<DeclaredVariable>) =>
    onChange(variables.map((one) => (one.name === changed ? { ...one, ...to } : one)));
  return (
    <>
      {variables.length === 0 && <p className="note">No variables declared.</p>}
      <ul className={classes.list}>
        {variables.map((variable) => (
          <li key={variable.name}>
            <code>{variable.name}</code>
            <NativeSelect
              aria-label={`Type of ${variable.name}`}
              data={kinds.map((one) => ({ ...one }))}
              value={variable.kind}
              disabled={disabled}
              onChange={({ currentTarget }) =>
                change(variable.name, { kind: currentTarget.value as DeclaredVariable['kind'] })
              }
            />
            {variable.kind === 'text' || variable.kind === 'json' ? (
              <Textarea
                aria-label={`Default of ${variable.name}`}
                placeholder={variable.kind === 'json' ? '{"any": "JSON"}' : 'Default text'}
                autosize
                minRows={1}
                maxRows={8}
                disabled={disabled}
                value={variable.value}
                error={defaultValueError(variable)}
                onChange={({ currentTarget }) =>
                  change(variable.name, { value: currentTarget.value })
                }
              />
            ) : (
              <span className="note">
                {variable.kind === 'required'
                  ? 'Calls without it fail with 400.'
                  : 'Empty if omitted.'}
              </span>
            )}
            {requiredByVersion.includes(variable.name) || disabled ? (
              <span />
            ) : (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Remove ${variable.name}`}
                onClick={() => onChange(variables.filter((one) => one !== variable))}
              >
                <Icon name="close" size={14} />
              </ActionIcon>
            )}
          </li>
        ))}
      </ul>
      {!disabled && (
        <Group gap="xs" mt="sm" align="flex-start">
          <TextInput
            size="xs"
            aria-label="New variable"
            placeholder="variable_name"
            maxLength={100}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Button size="xs" variant="default" disabled={!isValidName} onClick={add}>
            Add
          </Button>
        </Group>
      )}
    </>
  );
}

const kinds = [
  { value: 'required', label: 'Required' },
  { value: 'optional', label: 'Optional' },
  { value: 'text', label: 'Default text' },
  { value: 'json', label: 'Default JSON' },
] as const;

const namePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;
