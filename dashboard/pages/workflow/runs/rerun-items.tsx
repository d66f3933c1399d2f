import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { randomKey } from '../../../data/text/random-key.ts';
import {
  rerunItems,
  type WorkflowRunDetail,
  type WorkflowRunStep,
} from '../../../data/workflows/workflow-runs.ts';
import { FormDialog } from '../../../kit/form-dialog.tsx';

/** Starts a run of the items of a step that have not succeeded, and opens it. */
export function RerunItems(props: {
  readonly run: WorkflowRunDetail;
  /** Those with failed items. */
  readonly steps: readonly WorkflowRunStep[];
}) {
  const { run, steps } = props;
  const navigate = useNavigate();
  const [key] = useState(randomKey);
  const [step] = steps;
  const named = step && steps.length === 1 ? `“${step.name}”` : 'The step';
  return (
    <FormDialog
      title="Run failed items again"
      intro={`A new workflow run takes over the results of the other steps. ${named} runs the items that have not succeeded; the steps that wait for it run for these items only. Each execution uses one AI Action.`}
      start={{ step: step?.name ?? '' }}
      fields={() => [
        steps.length > 1 && {
          ...{ name: 'step', label: 'Step', options: steps.map(({ name }) => name) },
        },
      ]}
      action={rerunItems(run, key)}
      input={(values) => values}
      submit="Run"
      onDone={({ workflowId, workflowRunId }) =>
        void navigate({
          to: '/workflows/$workflowId/runs/$workflowRunId',
          params: { workflowId, workflowRunId },
        })
      }
    />
  );
}
