import type { Labels, Variables } from '../../../../src/client/index.ts';
import { RunAgainDialog } from '../../../components/dialogs/run-again-dialog.tsx';
import { type ExecutionDetail, useRunAgain } from '../../../data/executions/executions.ts';

/** Runs the agent's currently pinned version with the same or other variables. */
export default function RunAgain(props: {
  readonly execution: ExecutionDetail;
  readonly onClose: () => void;
  readonly onStarted: (executionId: string) => void;
}) {
  const { execution, onClose, onStarted } = props;
  const again = useRunAgain(execution);
  const start = (variables: Variables, labels: Labels) =>
    again.mutate(
      { variables, labels },
      {
        onSuccess: ({ executionId }) => {
          onClose();
          onStarted(executionId);
        },
      },
    );
  return (
    <RunAgainDialog
      title={`Run ${execution.agentName} again`}
      label="Variables"
      description="A JSON object of variable names and values"
      values={execution.inputVariables}
      labels={execution}
      pending={again.isPending}
      error={again.error}
      onRun={start}
      onClose={onClose}
    >
      Executes the currently pinned version, uses one AI Action, and is recorded with the source
      “dashboard”.
    </RunAgainDialog>
  );
}
