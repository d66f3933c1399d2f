import { useNavigate } from '@tanstack/react-router';
import type { Labels } from '../../../../src/client/index.ts';
import { RunAgainDialog } from '../../../components/dialogs/run-again-dialog.tsx';
import { useStartWorkflow, type WorkflowRunDetail } from '../../../data/workflows/workflow-runs.ts';

/** Starts the currently pinned version with the same or other input. */
export default function RunAgain(props: {
  readonly run: WorkflowRunDetail;
  readonly onClose: () => void;
}) {
  const { run, onClose } = props;
  const again = useStartWorkflow(run.workflowId);
  const navigate = useNavigate();
  const start = (input: Record<string, unknown>, labels: Labels) =>
    again.mutate(
      { input, labels },
      {
        onSuccess: ({ workflowId, workflowRunId }) => {
          onClose();
          void navigate({
            to: '/workflows/$workflowId/runs/$workflowRunId',
            params: { workflowId, workflowRunId },
          });
        },
      },
    );
  return (
    <RunAgainDialog
      title="Run again"
      label="Input"
      description="A JSON object of input names and values"
      values={run.input}
      labels={run}
      pending={again.isPending}
      error={again.error}
      onRun={start}
      onClose={onClose}
    >
      Runs the currently pinned version. Each step execution uses one AI Action.
    </RunAgainDialog>
  );
}
