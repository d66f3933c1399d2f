import { ActionIcon, Menu } from '@mantine/core';
import { useState } from 'react';
import type { Workflow } from '../../../src/client/index.ts';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { RenameDialog } from '../../components/dialogs/rename-dialog.tsx';
import { useLeave } from '../../components/hooks/use-navigate-from.ts';
import { Icon } from '../../components/icon.tsx';
import { useChangeWorkflow, useDeleteWorkflow } from '../../data/workflows/workflows.ts';
import { may, useMe } from '../../data/workspace/me.ts';

/** What can be done with the workflow as a whole. */
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
  const verb = enabled ? 'Switch off' : 'Switch on';
  return (
    <>
      <Menu>
        <Menu.Target>
          <ActionIcon variant="default" size="input-sm" aria-label="More for this workflow">
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => ask('rename')}>Name and description</Menu.Item>
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
          ? 'Nothing starts a run of it any more: no program, no schedule, no event. Runs that are under way go on to their end.'
          : 'Programs, its schedules and events can start runs of it again. What was missed meanwhile is not made up for.'}
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
        Its schedules and webhooks go with it, and nothing brings it back. Runs that are under way
        go on to their end; the records of their steps stay until retention takes them.
      </ConfirmDialog>
    </>
  );
}
