import { ActionIcon, Menu } from '@mantine/core';
import { useState } from 'react';
import type { Workflow } from '../../../src/client/index.ts';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { RenameDialog } from '../../components/dialogs/rename-dialog.tsx';
import { useNavigateFrom } from '../../components/hooks/use-navigate-from.ts';
import { Icon } from '../../components/icon.tsx';
import { useChangeWorkflow, useDeleteWorkflow } from '../../data/workflows/workflows.ts';
import { can, useMe } from '../../data/workspace/me.ts';

/** Actions on the whole workflow. */
export function WorkflowActions({ workflow }: { readonly workflow: Workflow }) {
  const [dialog, setDialog] = useState<'rename' | 'switch' | 'delete' | null>(null);
  const change = useChangeWorkflow(workflow.workflowId);
  const navigateFrom = useNavigateFrom(workflow.workflowId);
  const remove = useDeleteWorkflow(workflow.workflowId, () =>
    navigateFrom({ to: '/workflows', replace: true }),
  );
  if (!can(useMe(), 'edit')) return null;
  const openDialog = (name: 'rename' | 'switch' | 'delete') => {
    change.reset();
    remove.reset();
    setDialog(name);
  };
  const close = () => setDialog(null);
  const { enabled } = workflow;
  const verb = enabled ? 'Disable' : 'Enable';
  return (
    <>
      <Menu>
        <Menu.Target>
          <ActionIcon variant="default" size="input-sm" aria-label="Workflow actions">
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => openDialog('rename')}>Edit details</Menu.Item>
          <Menu.Item onClick={() => openDialog('switch')}>{verb}</Menu.Item>
          <Menu.Item color="var(--bad)" onClick={() => openDialog('delete')}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'rename' && (
        <RenameDialog
          named={workflow}
          pending={change.isPending}
          error={change.error}
          onSave={(about) => change.mutate(about, { onSuccess: close })}
          onClose={close}
        />
      )}
      <ConfirmDialog
        opened={dialog === 'switch'}
        title={`${verb} ${workflow.name}?`}
        confirmLabel={verb}
        mutation={change}
        onClose={close}
        onConfirm={() => change.mutate({ enabled: !enabled }, { onSuccess: close })}
      >
        {enabled
          ? 'API calls, schedules and events can no longer start it. Workflow runs in progress continue.'
          : 'API calls, schedules and events can start it again. Times and events missed meanwhile are not caught up.'}
      </ConfirmDialog>
      <ConfirmDialog
        opened={dialog === 'delete'}
        title={`Delete ${workflow.name}?`}
        confirmLabel="Delete"
        destructive
        mutation={remove}
        onClose={close}
        onConfirm={() => remove.mutate()}
      >
        Deletes the workflow with its schedules and webhooks. This cannot be undone. Workflow runs
        in progress continue; execution records stay until their retention period ends.
      </ConfirmDialog>
    </>
  );
}
