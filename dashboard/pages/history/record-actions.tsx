import { Button, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Suspense } from 'react';
import { copyWords } from '../../components/copy-button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { FormProblem } from '../../components/form-error.tsx';
import { useCopy } from '../../components/hooks/use-copy.ts';
import { lazyPart } from '../../components/lazy-component.tsx';
import {
  type ExecutionDetail,
  isRunning,
  useCancelExecution,
  useDeleteExecution,
} from '../../data/executions/executions.ts';
import { curlOf } from '../../data/text/call-snippets.ts';
import { may, useMe } from '../../data/workspace/me.ts';

const RunAgain = lazyPart(() => import('./run-again.tsx'), true);

export function RecordActions(props: {
  readonly run: ExecutionDetail;
  readonly onGone: () => Promise<void>;
  readonly onStarted: (executionId: string) => void;
}) {
  const { run, onGone, onStarted } = props;
  const mayEdit = may(useMe(), 'edit');
  const [copied, copy] = useCopy();
  const cancel = useCancelExecution(run.agentId, run.executionId);
  const remove = useDeleteExecution(run.agentId, run.executionId, onGone);
  const [asked, { open: ask, close: dismiss }] = useDisclosure();
  const [again, { open: openAgain, close: closeAgain }] = useDisclosure();
  return (
    <>
      <Group gap="xs">
        {mayEdit && isRunning(run) && (
          <Button size="xs" loading={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel execution
          </Button>
        )}
        {mayEdit && (
          <Button size="xs" variant="default" onClick={openAgain}>
            Run again
          </Button>
        )}
        {run.inputVariables && (
          <Button
            size="xs"
            variant="default"
            onClick={() => copy(curlOf(run.agentId, run.inputVariables ?? {}, location.origin))}
          >
            {copied ? copyWords[copied] : 'Copy as curl'}
          </Button>
        )}
        {mayEdit && !isRunning(run) && (
          <Button size="xs" variant="default" onClick={ask}>
            Delete
          </Button>
        )}
      </Group>
      <FormProblem error={cancel.error} />
      <ConfirmDialog
        opened={asked}
        title="Delete this record?"
        verb="Delete"
        destructive
        order={remove}
        onClose={dismiss}
        onConfirm={() => remove.mutate()}
      >
        The record is deleted permanently, with its variables, prompts and output. Statistics keep
        its usage and cost.
      </ConfirmDialog>
      <Suspense>
        {again && <RunAgain run={run} onClose={closeAgain} onStarted={onStarted} />}
      </Suspense>
    </>
  );
}
