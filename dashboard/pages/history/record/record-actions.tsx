import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { copyLabels } from '../../../components/code/copy-button.tsx';
import { useCopy } from '../../../components/hooks/use-copy.ts';
import { lazyComponent } from '../../../components/loading/lazy-component.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { agentQuery } from '../../../data/agents/agents.ts';
import { curlSnippet } from '../../../data/agents/call-snippets.ts';
import { serverURL } from '../../../data/client/base-path.ts';
import {
  deleteExecution,
  type ExecutionDetail,
  isInProgress,
  useCancelExecution,
} from '../../../data/executions/executions.ts';
import { keepPlaygroundValues } from '../../../data/prompts/playground-values.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import { ConfirmButton } from '../../../kit/confirm-dialog.tsx';
import { openDialog } from '../../../kit/dialog.tsx';

const RunAgain = lazyComponent(() => import('./run-again.tsx'), true);
const CompareDialog = lazyComponent(() => import('./compare-dialog.tsx'), true);

export function RecordActions(props: {
  readonly execution: ExecutionDetail;
  readonly onDeleted: () => Promise<void>;
  readonly onStarted: (executionId: string) => void;
}) {
  const { execution, onDeleted, onStarted } = props;
  const canEdit = can(useMe(), 'edit');
  const cancel = useCancelExecution(execution.agentId, execution.executionId);
  return (
    <>
      <Group gap="xs">
        {canEdit && isInProgress(execution) && (
          <Button size="xs" loading={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel execution
          </Button>
        )}
        {canEdit && (
          <Button
            size="xs"
            variant="default"
            onClick={() => openDialog(<RunAgain {...{ execution, onStarted }} />)}
          >
            Run again
          </Button>
        )}
        <OpenInPlayground execution={execution} />
        <Button
          size="xs"
          variant="default"
          onClick={() => openDialog(<CompareDialog execution={execution} />)}
        >
          Compare with…
        </Button>
        <CopyAsCurl execution={execution} />
        {canEdit && !isInProgress(execution) && (
          <ConfirmButton
            label="Delete"
            title="Delete this record?"
            action={deleteExecution(execution.agentId, execution.executionId, onDeleted)}
          >
            The record is deleted permanently, with its variables, prompts and output. Statistics
            keep its usage and cost.
          </ConfirmButton>
        )}
      </Group>
      <FormError error={cancel.error} />
    </>
  );
}

/** The version that it executed, with its variables, unless its agent is deleted. */
function OpenInPlayground({ execution }: { readonly execution: ExecutionDetail }) {
  const { agentId, promptVersionId, inputVariables } = execution;
  const canEdit = can(useMe(), 'edit');
  const navigate = useNavigate();
  const agent = useQuery({ ...agentQuery(agentId), enabled: canEdit });
  if (!canEdit || !agent.data) return null;
  const { promptId } = agent.data;
  const open = () => {
    if (inputVariables) keepPlaygroundValues(promptId, inputVariables);
    const search = { versions: promptVersionId };
    void navigate({ to: '/prompts/$promptId/playground', params: { promptId }, search });
  };
  return (
    <Button size="xs" variant="default" onClick={open}>
      Open in playground
    </Button>
  );
}

function CopyAsCurl({ execution }: { readonly execution: ExecutionDetail }) {
  const [copied, copy] = useCopy();
  const { agentId, inputVariables } = execution;
  if (!inputVariables) return null;
  const snippet = () =>
    curlSnippet({ agentId, variables: inputVariables, baseURL: serverURL, key: null });
  return (
    <Button size="xs" variant="default" onClick={() => copy(snippet())}>
      {copied ? copyLabels[copied] : 'Copy as curl'}
    </Button>
  );
}
