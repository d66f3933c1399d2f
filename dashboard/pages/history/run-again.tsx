import { RunAgainDialog } from '../../components/dialogs/run-again-dialog.tsx';
import { type ExecutionDetail, useRunAgain } from '../../data/executions/executions.ts';

/** The same values or others, in the version that the agent has pinned now. */
export default function RunAgain(props: {
  readonly run: ExecutionDetail;
  readonly onClose: () => void;
  readonly onStarted: (executionId: string) => void;
}) {
  const { run, onClose, onStarted } = props;
  const again = useRunAgain(run.agentId);
  const start = (variables: Record<string, unknown>) =>
    again.mutate(variables, {
      onSuccess: ({ executionId }) => {
        onClose();
        onStarted(executionId);
      },
    });
  return (
    <RunAgainDialog
      title={`Run ${run.agentName} again`}
      label="Variables"
      description="A JSON object: variable name to value"
      values={run.inputVariables}
      pending={again.isPending}
      error={again.error}
      onRun={start}
      onClose={onClose}
    >
      It runs with the version that is pinned now, spends an AI Action, and is recorded with the
      source “dashboard”.
    </RunAgainDialog>
  );
}
