import { Button, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Workflow } from '../../../../src/client/index.ts';
import { FormError } from '../../../components/states/form-error.tsx';
import { pinVerb } from '../../../components/versions/pin-button.tsx';
import { changeWorkflow } from '../../../data/workflows/workflow-actions.ts';
import { workflowVersionQuery } from '../../../data/workflows/workflows.ts';
import { Dialog, DialogCloseButton } from '../../../kit/dialog.tsx';
import { useAction } from '../../../kit/resource.ts';
import { DefinitionDiff } from './definition-diff.tsx';

/** Shows the differences of another version before it is pinned. */
export function PinDialog(props: {
  readonly workflow: Workflow;
  readonly workflowVersionId: string;
  readonly onClose: () => void;
}) {
  const { workflow, workflowVersionId, onClose } = props;
  const { workflowId, workflowVersionLabel: pinned } = workflow;
  const version = useQuery(workflowVersionQuery(workflowId, workflowVersionId));
  const pin = useAction(changeWorkflow(workflowId));
  const label = version.data?.workflowVersionLabel ?? '…';
  const verb = pinVerb({ id: workflowVersionId, label }, workflow.workflowVersionId);
  return (
    <Dialog locked={pin.isPending} onClose={onClose} width="large" title={`${verb}?`}>
      <Stack gap="lg">
        <p>
          New workflow runs will use “{label}” instead of “{pinned}”. Workflow runs in progress keep
          their version; schedules, webhooks and keys stay.
        </p>
        <DefinitionDiff
          workflowId={workflowId}
          before={workflow.workflowVersionId}
          after={workflowVersionId}
        />
        <FormError error={pin.error} />
        <Group justify="flex-end" gap="xs">
          <DialogCloseButton>Keep {pinned}</DialogCloseButton>
          <Button
            loading={pin.isPending}
            disabled={!version.data}
            onClick={() => pin.mutate({ workflowVersionId }, { onSuccess: onClose })}
          >
            {verb}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
