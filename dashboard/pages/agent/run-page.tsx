import { Button } from '@mantine/core';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { ExecutionResult } from '../../components/executions/execution-result.tsx';
import { useValues, ValuesCard } from '../../components/executions/values-card.tsx';
import { LabelFields, useLabels } from '../../components/fields/label-fields.tsx';
import { submitOnCtrlEnter } from '../../components/hooks/submit-on-ctrl-enter.ts';
import { Card } from '../../components/layout/card.tsx';
import { EmptyState } from '../../components/states/empty-state.tsx';
import { agentQuery } from '../../data/agents/agents.ts';
import { agentFields } from '../../data/agents/value-fields.ts';
import { execute, useStartExecution } from '../../data/executions/start-execution.ts';
import { versionQuery } from '../../data/prompts/prompts.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import classes from './run.module.css';

const route = getRouteApi('/app/agents/$agentId');

/** Executes the agent in any stage and shows the result. */
export function RunPage() {
  const { agentId } = route.useParams();
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  const version = useQuery(versionQuery(agent.promptId, agent.promptVersionId)).data;
  const fields = agentFields(agent, version);
  const values = useValues(`cueline-values-${agentId}`, fields);
  const whom = useLabels();
  const { text, execution, cancel } = useStartExecution((variables: Record<string, unknown>) =>
    execute(agentId, variables, whom.labels ?? {}),
  );
  if (!can(useMe(), 'edit')) {
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
    if (values.input) execution.mutate(values.input);
  };
  return (
    <form className={classes.columns} onSubmit={submit} onKeyDown={submitOnCtrlEnter}>
      <ValuesCard title="Variables" fields={fields} {...values}>
        <LabelFields {...whom} />
        <Button
          type="submit"
          mt="md"
          loading={execution.isPending}
          disabled={values.input === null || whom.labels === null}
        >
          Run
        </Button>
        <p className={classes.note}>
          Executes version “{agent.promptVersionLabel}”. Counts toward the agent's limits, uses one
          AI Action, and is recorded with the source <code>dashboard</code>.
        </p>
      </ValuesCard>
      <Card title="Result">
        {execution.isIdle && <p className={classes.note}>No result yet.</p>}
        <ExecutionResult text={text} execution={execution} cancel={cancel} />
      </Card>
    </form>
  );
}
