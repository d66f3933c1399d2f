import type { Workflow } from '../../../src/client/index.ts';
import { RenameDialog } from '../../components/dialogs/rename-dialog.tsx';
import { useNavigateFrom } from '../../components/hooks/use-navigate-from.ts';
import { changeWorkflow, deleteWorkflow } from '../../data/workflows/workflow-actions.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { ConfirmDialog } from '../../kit/confirm-dialog.tsx';
import { openDialog } from '../../kit/dialog.tsx';
import { withInput } from '../../kit/resource.ts';
import { ActionMenu } from '../../kit/row-menu.tsx';

/** Actions on the whole workflow. */
export function WorkflowActions({ workflow }: { readonly workflow: Workflow }) {
  if (!can(useMe(), 'edit')) return null;
  const { workflowId, enabled } = workflow;
  const change = changeWorkflow(workflowId);
  return (
    <ActionMenu
      label="Workflow actions"
      actions={[
        ['Edit details', () => openDialog(<RenameDialog named={workflow} action={change} />)],
        [verbOf(enabled), () => openDialog(<SwitchDialog workflow={workflow} />)],
        ['Delete', () => openDialog(<DeleteDialog workflow={workflow} />), 'bad'],
      ]}
    />
  );
}

const verbOf = (enabled: boolean) => (enabled ? 'Disable' : 'Enable');

function SwitchDialog({ workflow }: { readonly workflow: Workflow }) {
  const { workflowId, name, enabled } = workflow;
  return (
    <ConfirmDialog
      title={`${verbOf(enabled)} ${name}?`}
      confirm={verbOf(enabled)}
      destructive={false}
      action={withInput(changeWorkflow(workflowId), { enabled: !enabled })}
    >
      {enabled
        ? 'API calls, schedules and events can no longer start it. Workflow runs in progress continue.'
        : 'API calls, schedules and events can start it again. Times and events missed meanwhile are not caught up.'}
    </ConfirmDialog>
  );
}

function DeleteDialog({ workflow: { workflowId, name } }: { readonly workflow: Workflow }) {
  const navigateFrom = useNavigateFrom(workflowId);
  return (
    <ConfirmDialog
      title={`Delete ${name}?`}
      confirm="Delete"
      action={deleteWorkflow(workflowId, () => navigateFrom({ to: '/workflows', replace: true }))}
    >
      Deletes the workflow with its schedules and webhooks. This cannot be undone. Workflow runs in
      progress continue; execution records stay until their retention period ends.
    </ConfirmDialog>
  );
}
