import { Box, Button } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useValues, ValuesCard } from '../../components/executions/values-card.tsx';
import { CostField } from '../../components/fields/cost-field.tsx';
import { LabelFields, useLabels } from '../../components/fields/label-fields.tsx';
import { submitOnCtrlEnter } from '../../components/hooks/submit-on-ctrl-enter.ts';
import { EmptyState } from '../../components/states/empty-state.tsx';
import { FormError, fieldError } from '../../components/states/form-error.tsx';
import { valueFields } from '../../data/agents/value-fields.ts';
import { useStartWorkflow } from '../../data/workflows/workflow-runs.ts';
import { workflowQuery } from '../../data/workflows/workflows.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import classes from './start.module.css';

const route = getRouteApi('/app/workflows/$workflowId/run');

/** Starts a workflow run and navigates to it. */
export function StartPage() {
  const { workflowId } = route.useParams();
  const navigate = route.useNavigate();
  const { data: workflow } = useSuspenseQuery(workflowQuery(workflowId));
  const fields = valueFields(workflow.definition.input);
  const values = useValues(`cueline-values-${workflowId}`, fields);
  const start = useStartWorkflow(workflowId);
  const whom = useLabels();
  const [maxCostUSD, setMaxCostUSD] = useState<number | null>(null);
  if (!can(useMe(), 'edit')) {
    return (
      <EmptyState icon="lock" title="Running requires the editor role">
        You can view its workflow runs.
      </EmptyState>
    );
  }
  if (!workflow.enabled) {
    return (
      <EmptyState icon="lock" title="This workflow is disabled">
        Enable it to start workflow runs.
      </EmptyState>
    );
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!values.input || !whom.labels) return;
    const onSuccess = ({ workflowRunId }: { readonly workflowRunId: string }) =>
      void navigate({
        to: '/workflows/$workflowId/runs/$workflowRunId',
        params: { workflowId, workflowRunId },
      });
    start.mutate({ input: values.input, labels: whom.labels, maxCostUSD }, { onSuccess });
  };
  return (
    <form className={classes.form} onSubmit={submit} onKeyDown={submitOnCtrlEnter}>
      <ValuesCard title="Input" fields={fields} {...values}>
        <LabelFields {...whom} />
        <Box mt="xs">
          <CostField
            label="Max cost of the run (USD)"
            value={maxCostUSD}
            onChange={setMaxCostUSD}
            error={fieldError(start.error, 'maxCostUSD')}
          />
        </Box>
        <div className={classes.foot}>
          <FormError error={start.error} />
          <Button
            type="submit"
            loading={start.isPending}
            disabled={values.input === null || whom.labels === null}
          >
            Run
          </Button>
          <p className="small-note">
            Runs the pinned version “{workflow.workflowVersionLabel}”. Each step execution uses one
            AI Action. Form values are sent as text; switch to JSON for lists and objects.
          </p>
        </div>
      </ValuesCard>
    </form>
  );
}
