import { useNavigate } from '@tanstack/react-router';
import { RunAgainDialog } from '../../../components/dialogs/run-again-dialog.tsx';
import { formatCost } from '../../../data/text/format.ts';
import { startAgain, type WorkflowRunDetail } from '../../../data/workflows/workflow-runs.ts';

/** Starts the currently pinned version with the same or other input. */
export default function RunAgain({ run }: { readonly run: WorkflowRunDetail }) {
  const navigate = useNavigate();
  return (
    <RunAgainDialog
      title="Run again"
      intro={`Runs the currently pinned version. Each step execution uses one AI Action.${limitText(run)}`}
      label="Input"
      description="A JSON object of input names and values"
      values={run.input}
      labels={run}
      action={startAgain(run)}
      onDone={({ workflowId, workflowRunId }) =>
        void navigate({
          to: '/workflows/$workflowId/runs/$workflowRunId',
          params: { workflowId, workflowRunId },
        })
      }
    />
  );
}

function limitText({ maxCostUSD }: WorkflowRunDetail): string {
  return maxCostUSD === undefined ? '' : ` It may cost at most ${formatCost(maxCostUSD)}.`;
}
