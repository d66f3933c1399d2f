import { Button, SegmentedControl, Textarea } from '@mantine/core';
import { useSessionStorage } from '@mantine/hooks';
import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { agentQuery } from '../../data/agents.ts';
import { objectOf, textsOf } from '../../data/json-object.ts';
import { may, useMe } from '../../data/me.ts';
import { own } from '../../data/own.ts';
import { execute, useRun } from '../../data/runs.ts';
import { Card } from '../../parts/card.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { RunResult } from '../../parts/run-result.tsx';
import { type ValueField, ValuesFields } from '../../parts/values-fields.tsx';
import classes from './run.module.css';

const route = getRouteApi('/app/agents/$agentId');

/** Executes the agent from here, in any stage, and shows what came of it. */
export function RunPage() {
  const { agentId } = route.useParams();
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  const [values, setValues] = useSessionStorage<Record<string, string>>({
    key: `cueline-values-${agentId}`,
    defaultValue: {},
    getInitialValueInEffect: false,
  });
  const [json, setJson] = useSessionStorage<string | null>({
    key: `cueline-values-json-${agentId}`,
    defaultValue: null,
    getInitialValueInEffect: false,
  });
  const [stuck, setStuck] = useState(false);
  const { run, cancel } = useRun((variables: Record<string, unknown>) =>
    execute(agentId, variables),
  );
  if (!may(useMe(), 'edit')) {
    return (
      <EmptyState icon="lock" title="Running takes an editor">
        What it has done is in its history.
      </EmptyState>
    );
  }
  if (agent.archived) {
    return (
      <EmptyState icon="lock" title="It is archived">
        Nobody can execute it until it is restored.
      </EmptyState>
    );
  }
  const fields = fieldsOf(agent);
  // What was left empty counts as not given.
  const given = Object.fromEntries(
    fields.flatMap(({ name }) => (own(values, name) ? [[name, own(values, name)]] : [])),
  );
  const parsed = json === null ? given : objectOf(json);
  const choose = (way: string) => {
    if (way === 'JSON') return setJson(JSON.stringify(given, null, 2));
    const names = fields.map(({ name }) => name);
    const texts = parsed && textsOf(parsed, names);
    setStuck(texts === null);
    if (texts === null) return;
    setValues(texts);
    setJson(null);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (parsed) run.mutate(parsed);
  };
  return (
    <form className={classes.columns} onSubmit={submit}>
      <Card
        title="Variables"
        actions={
          <SegmentedControl
            size="xs"
            aria-label="How they are written"
            data={['Form', 'JSON']}
            value={json === null ? 'Form' : 'JSON'}
            onChange={choose}
          />
        }
      >
        {json !== null ? (
          <Textarea
            aria-label="Variables as JSON"
            classNames={{ input: classes.json ?? '' }}
            autosize
            minRows={6}
            maxRows={24}
            spellCheck={false}
            value={json}
            error={parsed === null && 'This is not a JSON object.'}
            onChange={({ currentTarget }) => {
              setStuck(false);
              setJson(currentTarget.value);
            }}
          />
        ) : fields.length === 0 ? (
          <p className={classes.note}>It takes none.</p>
        ) : (
          <ValuesFields fields={fields} values={values} onChange={setValues} />
        )}
        {json !== null && stuck && (
          <div className={classes.note} role="status">
            The form holds texts only, for the variables that are declared.{' '}
            <Button size="compact-xs" variant="default" onClick={() => setJson(null)}>
              Go back to it without this JSON
            </Button>
          </div>
        )}
        <Button type="submit" mt="md" loading={run.isPending} disabled={parsed === null}>
          Run
        </Button>
        <p className={classes.note}>
          Runs the version “{agent.promptVersionLabel}” as programs would run it, counts in its
          limits, spends an AI Action, and is recorded with the source <code>dashboard</code>.
        </p>
      </Card>
      <Card title="Result">
        {run.isIdle && <p className={classes.note}>Nothing was run yet.</p>}
        <RunResult run={run} cancel={cancel} />
      </Card>
    </form>
  );
}

function fieldsOf(agent: Agent): ValueField[] {
  const { requiredVariables, optionalVariables, defaultVariableValues: defaults } = agent;
  const others = new Set([...optionalVariables, ...Object.keys(defaults)]);
  for (const name of requiredVariables) others.delete(name);
  return [
    ...requiredVariables.map((name) => ({ name, required: true })),
    ...[...others].map((name) => ({ name, otherwise: textOf(own(defaults, name)) })),
  ];
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
