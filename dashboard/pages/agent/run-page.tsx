import { Button } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { Card } from '../../components/card.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { RunResult } from '../../components/execution-result.tsx';
import { submitByKeys } from '../../components/hooks/submit-on-ctrl-enter.ts';
import { useValues, ValuesCard } from '../../components/values-card.tsx';
import { agentQuery } from '../../data/agents/agents.ts';
import { agentFields } from '../../data/agents/value-fields.ts';
import { execute, useRun } from '../../data/executions/start-execution.ts';
import { may, useMe } from '../../data/workspace/me.ts';
import classes from './run.module.css';

const route = getRouteApi('/app/agents/$agentId');

/** Executes the agent in any stage and shows the result. */
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
      <EmptyState icon="lock" title="Running requires the editor role">
        You can view its executions.
      </EmptyState>
    );
  }
  if (agent.archived) {
    return (
      <EmptyState icon="lock" title="This agent is archived">
        Restore it to execute it.
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
          Executes version “{agent.promptVersionLabel}”. Counts toward the agent's limits, uses one
          AI Action, and is recorded with the source <code>dashboard</code>.
        </p>
      </ValuesCard>
      <Card title="Result">
        {run.isIdle && <p className={classes.note}>No result yet.</p>}
        <RunResult run={run} cancel={cancel} />
      </Card>
    </form>
  );
}
