import { Button, Group, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { Execution } from '../../data/executions/executions.ts';
import { Time } from '../figures/time.tsx';
import { ExecutionBadge } from '../states/status-badge.tsx';
import classes from './execution-choices.module.css';

/** Executions to choose from. */
export function ExecutionChoices<One extends Execution>(props: {
  readonly executions: readonly One[];
  /** Shown instead of executions; null while they load. */
  readonly empty: string | null;
  /** What tells them apart, beside status, time and version. */
  readonly detailOf: (execution: One) => ReactNode;
  readonly onChoose: (execution: One) => void;
  readonly disabled?: boolean;
}) {
  const { executions, empty, detailOf, onChoose, disabled } = props;
  return (
    <ul className={classes.choices} aria-label="Recent executions">
      {executions.map((one) => (
        <li key={one.executionId}>
          <button type="button" disabled={disabled} onClick={() => onChoose(one)}>
            <ExecutionBadge execution={one} />
            <Time at={one.executedAt} />
            <code>{one.promptVersionLabel}</code>
            {detailOf(one)}
          </button>
        </li>
      ))}
      {executions.length === 0 && empty !== null && <li>{empty}</li>}
    </ul>
  );
}

/** Takes the identifier of any execution. */
export function ExecutionIdForm(props: {
  readonly action: string;
  readonly onChoose: (executionId: string) => void;
  readonly loading?: boolean;
}) {
  const { action, onChoose, loading } = props;
  const [typed, setTyped] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed.trim() !== '') onChoose(typed.trim());
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="xs">
        <TextInput
          className="grow"
          label="Execution ID"
          placeholder="exe_…"
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <Button type="submit" variant="default" loading={loading} disabled={typed.trim() === ''}>
          {action}
        </Button>
      </Group>
    </form>
  );
}
