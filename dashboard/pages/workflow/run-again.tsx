import { useNavigate } from '@tanstack/react-router';
import { RunAgainDialog } from '../../components/dialogs/run-again-dialog.tsx';
import { useStartWorkflow, type WorkflowRunDetail } from '../../data/workflows/workflow-runs.ts';

/** The same input or another, in the version that the workflow has pinned now. */
export default function RunAgain(props: {
  readonly run: WorkflowRunDetail;
  readonly onClose: () => void;
}) {
  const { run, onClose } = props;
  const again = useStartWorkflow(run.workflowId);
  const navigate = useNavigate();
  const start = (input: Record<string, unknown>) =>
    again.mutate(input, {
      onSuccess: ({ workflowId, workflowRunId }) => {
        onClose();
        void navigate({
          to: '/workflows/$workflowId/runs/$workflowRunId',
          params: { workflowId, workflowRunId },
        });
      },
    });
  return (
    <RunAgainDialog
      title="Run it again"
      label="Input"
      description="A JSON object: input name to value"
      values={run.input}
      pending={again.isPending}
      error={again.error}
      onRun={start}
      onClose={onClose}
    >
      It carries out the version that is pinned now. Each execution of a step spends an AI Action.
    </RunAgainDialog>
  );
}
