import { Button } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { EmptyState } from '../../components/empty-state.tsx';
import { FormProblem } from '../../components/form-error.tsx';
import { submitByKeys } from '../../components/hooks/submit-on-ctrl-enter.ts';
import { useValues, ValuesCard } from '../../components/values-card.tsx';
import { valueFields } from '../../data/agents/value-fields.ts';
import { useStartWorkflow } from '../../data/workflows/workflow-runs.ts';
import { workflowQuery } from '../../data/workflows/workflows.ts';
import { may, useMe } from '../../data/workspace/me.ts';
import classes from './start.module.css';

const route = getRouteApi('/app/workflows/$workflowId/run');

/** Starts a run from here, and leads to it. */
export function StartPage() {
  const { workflowId } = route.useParams();
  const navigate = route.useNavigate();
  const { data: workflow } = useSuspenseQuery(workflowQuery(workflowId));
  const fields = valueFields(workflow.definition.input);
  const values = useValues(`cueline-values-${workflowId}`, fields);
  const start = useStartWorkflow(workflowId);
  if (!may(useMe(), 'edit')) {
    return (
      <EmptyState icon="lock" title="Running takes an editor">
        What it has done is in its runs.
      </EmptyState>
    );
  }
  if (!workflow.enabled) {
    return (
      <EmptyState icon="lock" title="It is switched off">
        Nobody can start a run of it until it is switched on.
      </EmptyState>
    );
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!values.given) return;
    start.mutate(values.given, {
      onSuccess: ({ workflowRunId }) =>
        void navigate({
          to: '/workflows/$workflowId/runs/$workflowRunId',
          params: { workflowId, workflowRunId },
        }),
    });
  };
  return (
    <form className={classes.form} onSubmit={submit} onKeyDown={submitByKeys}>
      <ValuesCard title="Input" fields={fields} {...values}>
        <div className={classes.foot}>
          <FormProblem error={start.error} />
          <Button type="submit" loading={start.isPending} disabled={values.given === null}>
            Run
          </Button>
          <p className={classes.note}>
            Carries out the version “{workflow.workflowVersionLabel}”, which is pinned. Each
            execution of a step spends an AI Action. What is typed in the form is sent as text;
            lists and objects are written as JSON.
          </p>
        </div>
      </ValuesCard>
    </form>
  );
}
