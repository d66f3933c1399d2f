import { Button, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Suspense } from 'react';
import { copyLabels } from '../../components/copy-button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { FormError } from '../../components/form-error.tsx';
import { useCopy } from '../../components/hooks/use-copy.ts';
import { lazyComponent } from '../../components/lazy-component.tsx';
import { serverURL } from '../../data/client/base-path.ts';
import {
  type ExecutionDetail,
  isInProgress,
  useCancelExecution,
  useDeleteExecution,
} from '../../data/executions/executions.ts';
import { curlSnippet } from '../../data/text/call-snippets.ts';
import { can, useMe } from '../../data/workspace/me.ts';

const RunAgain = lazyComponent(() => import('./run-again.tsx'), true);

export function RecordActions(props: {
  readonly execution: ExecutionDetail;
  readonly onDeleted: () => Promise<void>;
  readonly onStarted: (executionId: string) => void;
}) {
  const { execution, onDeleted, onStarted } = props;
  const canEdit = can(useMe(), 'edit');
  const [copied, copy] = useCopy();
  const cancel = useCancelExecution(execution.agentId, execution.executionId);
  const remove = useDeleteExecution(execution.agentId, execution.executionId, onDeleted);
  const [isConfirming, { open: openConfirm, close: closeConfirm }] = useDisclosure();
  const [isRunAgainOpen, { open: openRunAgain, close: closeRunAgain }] = useDisclosure();
  return (
    <>
      <Group gap="xs">
        {canEdit && isInProgress(execution) && (
          <Button size="xs" loading={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel execution
          </Button>
        )}
        {canEdit && (
          <Button size="xs" variant="default" onClick={openRunAgain}>
            Run again
          </Button>
        )}
        {execution.inputVariables && (
          <Button
            size="xs"
            variant="default"
            onClick={() =>
              copy(
                curlSnippet({
                  agentId: execution.agentId,
                  variables: execution.inputVariables ?? {},
                  baseURL: serverURL,
                  key: null,
                }),
              )
            }
          >
            {copied ? copyLabels[copied] : 'Copy as curl'}
          </Button>
        )}
        {canEdit && !isInProgress(execution) && (
          <Button size="xs" variant="default" onClick={openConfirm}>
            Delete
          </Button>
        )}
      </Group>
      <FormError error={cancel.error} />
      <ConfirmDialog
        opened={isConfirming}
        title="Delete this record?"
        confirmLabel="Delete"
        destructive
        mutation={remove}
        onClose={closeConfirm}
        onConfirm={() => remove.mutate()}
      >
        The record is deleted permanently, with its variables, prompts and output. Statistics keep
        its usage and cost.
      </ConfirmDialog>
      <Suspense>
        {isRunAgainOpen && (
          <RunAgain execution={execution} onClose={closeRunAgain} onStarted={onStarted} />
        )}
      </Suspense>
    </>
  );
}
