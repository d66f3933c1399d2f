import { ActionIcon, Button, Group, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type DeclaredVariable, defaultProblem } from '../../data/agents/agent-form.ts';
import { Icon } from '../icon.tsx';
import classes from './variables-fields.module.css';

/** Which variables an agent takes, and what stands in where a call leaves one out. */
export function VariablesFields(props: {
  readonly variables: readonly DeclaredVariable[];
  /** Those of the pinned version, which cannot be taken away. */
  readonly needed: readonly string[];
  readonly onChange: (variables: readonly DeclaredVariable[]) => void;
  readonly disabled?: boolean;
}) {
  const { variables, needed, onChange, disabled = false } = props;
  const [name, setName] = useState('');
  const fits = namePattern.test(name) && !variables.some((one) => one.name === name);
  const add = () => {
    onChange([...variables, { name, kind: 'optional', value: '' }]);
    setName('');
  };
  const change = (changed: string, to: Partial<DeclaredVariable>) =>
    onChange(variables.map((one) => (one.name === changed ? { ...one, ...to } : one)));
  return (
    <>
      {variables.length === 0 && <p className={classes.none}>It takes no variables.</p>}
      <ul className={classes.list}>
        {variables.map((variable) => (
          <li key={variable.name}>
            <code>{variable.name}</code>
            <NativeSelect
              aria-label={`How ${variable.name} is given`}
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
                placeholder={variable.kind === 'json' ? '{"any": "JSON"}' : 'The default'}
                autosize
                minRows={1}
                maxRows={8}
                disabled={disabled}
                value={variable.value}
                error={defaultProblem(variable)}
                onChange={({ currentTarget }) =>
                  change(variable.name, { value: currentTarget.value })
                }
              />
            ) : (
              <span className={classes.none}>
                {variable.kind === 'required'
                  ? 'A call without it is answered 400.'
                  : 'Left out, nothing stands in its place.'}
              </span>
            )}
            {needed.includes(variable.name) || disabled ? (
              <span />
            ) : (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Take ${variable.name} away`}
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
            aria-label="Another variable"
            placeholder="another_variable"
            maxLength={100}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Button size="xs" variant="default" disabled={!fits} onClick={add}>
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
  { value: 'text', label: 'Else a text' },
  { value: 'json', label: 'Else JSON' },
] as const;

const namePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;
