import { Button } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { agentQuery } from '../../data/agents.ts';
import { may, useMe } from '../../data/me.ts';
import { execute, useRun } from '../../data/runs.ts';
import { agentFields } from '../../data/value-fields.ts';
import { Card } from '../../parts/card.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { RunResult } from '../../parts/run-result.tsx';
import { submitByKeys } from '../../parts/submit-by-keys.ts';
import { useValues, ValuesCard } from '../../parts/values-card.tsx';
import classes from './run.module.css';

const route = getRouteApi('/app/agents/$agentId');

/** Executes the agent from here, in any stage, and shows what came of it. */
export function RunPage() {
  const { agentId } = route.useParams();
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  const fields = agentFields(agent);
  const values = useValues(`cueline-values-${agentId}`, fields);
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
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (values.given) run.mutate(values.given);
  };
  return (
    <form className={classes.columns} onSubmit={submit} onKeyDown={submitByKeys}>
      <ValuesCard title="Variables" fields={fields} {...values}>
        <Button type="submit" mt="md" loading={run.isPending} disabled={values.given === null}>
          Run
        </Button>
        <p className={classes.note}>
          Runs the version “{agent.promptVersionLabel}” as programs would run it, counts in its
          limits, spends an AI Action, and is recorded with the source <code>dashboard</code>.
        </p>
      </ValuesCard>
      <Card title="Result">
        {run.isIdle && <p className={classes.note}>Nothing was run yet.</p>}
        <RunResult run={run} cancel={cancel} />
      </Card>
    </form>
  );
}
