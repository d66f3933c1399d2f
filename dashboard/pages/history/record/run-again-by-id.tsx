import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { lazyComponent } from '../../../components/loading/lazy-component.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { announceSave } from '../../../data/client/saves.ts';
import { executionQuery } from '../../../data/executions/executions.ts';
import { Dialog } from '../../../kit/dialog.tsx';
import { useTypedAhead } from '../../../shell/shortcuts/use-typed-ahead.ts';

const RunAgain = lazyComponent(() => import('./run-again.tsx'), true);

/** Runs an execution of the list again: reads its record first. The list announces the new execution. */
export function RunAgainById(props: {
  readonly agentId: string;
  readonly executionId: string;
  readonly onClose: () => void;
}) {
  const { agentId, executionId, onClose } = props;
  const record = useQuery(executionQuery(agentId, executionId));
  useTypedAhead(1);
  if (record.isError && !record.data) {
    return (
      <Dialog title="Run again" onClose={onClose}>
        <ErrorState error={record.error} onRetry={() => void record.refetch()} />
      </Dialog>
    );
  }
  if (!record.data) return null;
  return (
    <Suspense>
      <RunAgain
        execution={record.data}
        onClose={onClose}
        onStarted={() => announceSave('Started')}
      />
    </Suspense>
  );
}
