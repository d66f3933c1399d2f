import { ActionIcon, Menu } from '@mantine/core';
import { useState } from 'react';
import type { Workflow } from '../../../src/client/index.ts';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { RenameDialog } from '../../components/dialogs/rename-dialog.tsx';
import { useLeave } from '../../components/hooks/use-navigate-from.ts';
import { Icon } from '../../components/icon.tsx';
import { useChangeWorkflow, useDeleteWorkflow } from '../../data/workflows/workflows.ts';
import { may, useMe } from '../../data/workspace/me.ts';

/** Actions on the whole workflow. */
export function WorkflowActions({ workflow }: { readonly workflow: Workflow }) {
  const [asked, setAsked] = useState<'rename' | 'switch' | 'delete' | null>(null);
  const change = useChangeWorkflow(workflow.workflowId);
  const leave = useLeave(workflow.workflowId);
  const remove = useDeleteWorkflow(workflow.workflowId, () =>
    leave({ to: '/workflows', replace: true }),
  );
  if (!may(useMe(), 'edit')) return null;
  const ask = (what: 'rename' | 'switch' | 'delete') => {
    change.reset();
    remove.reset();
    setAsked(what);
  };
  const close = () => setAsked(null);
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
          <Menu.Item onClick={() => ask('rename')}>Edit details</Menu.Item>
          <Menu.Item onClick={() => ask('switch')}>{verb}</Menu.Item>
          <Menu.Item color="var(--bad)" onClick={() => ask('delete')}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asked === 'rename' && (
        <RenameDialog
          named={workflow}
          pending={change.isPending}
          error={change.error}
          onSave={(about) => change.mutate(about, { onSuccess: close })}
          onClose={close}
        />
      )}
      <ConfirmDialog
        opened={asked === 'switch'}
        title={`${verb} ${workflow.name}?`}
        verb={verb}
        order={change}
        onClose={close}
        onConfirm={() => change.mutate({ enabled: !enabled }, { onSuccess: close })}
      >
        {enabled
          ? 'API calls, schedules and events can no longer start it. Workflow runs in progress continue.'
          : 'API calls, schedules and events can start it again. Times and events missed meanwhile are not caught up.'}
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === 'delete'}
        title={`Delete ${workflow.name}?`}
        verb="Delete"
        destructive
        order={remove}
        onClose={close}
        onConfirm={() => remove.mutate()}
      >
        Deletes the workflow with its schedules and webhooks. This cannot be undone. Workflow runs
        in progress continue; execution records stay until their retention period ends.
      </ConfirmDialog>
    </>
  );
}
