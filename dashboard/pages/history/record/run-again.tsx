import { RunAgainDialog } from '../../../components/dialogs/run-again-dialog.tsx';
import { type ExecutionDetail, runAgain } from '../../../data/executions/executions.ts';

/** Runs the agent's currently pinned version with the same or other variables. */
export default function RunAgain(props: {
  readonly execution: ExecutionDetail;
  readonly onStarted: (executionId: string) => void;
  readonly onClose?: () => void;
}) {
  const { execution, onStarted, onClose } = props;
  return (
    <RunAgainDialog
      title={`Run ${execution.agentName} again`}
      intro="Executes the currently pinned version, uses one AI Action, and is recorded with the source “dashboard”."
      label="Variables"
      description="A JSON object of variable names and values"
      values={execution.inputVariables}
      labels={execution}
      action={runAgain(execution)}
      onClose={onClose}
      onDone={({ executionId }) => onStarted(executionId)}
    />
  );
}
