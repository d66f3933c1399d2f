import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Agent } from '../../../../src/client/index.ts';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { useNavigateFrom } from '../../../components/hooks/use-navigate-from.ts';
import { Card } from '../../../components/layout/card.tsx';
import { useDeleteAgent, useMoveAgent } from '../../../data/agents/agents.ts';
import { actionTexts } from '../lifecycle/lifecycle-actions.ts';
import classes from './settings.module.css';

/** Archives or deletes the agent. */
export function DangerCard({ agent }: { readonly agent: Agent }) {
  const [dialog, setDialog] = useState<'archive' | 'delete' | null>(null);
  const move = useMoveAgent(agent.agentId);
  const navigateFrom = useNavigateFrom(agent.agentId);
  const remove = useDeleteAgent(agent.agentId, () =>
    navigateFrom({ to: '/agents', replace: true }),
  );
  const action = agent.archived ? 'restore' : 'archive';
  const deletable = agent.status === 'Testing' || agent.status === 'Paused';
  const close = () => setDialog(null);
  const openDialog = (name: 'archive' | 'delete') => {
    move.reset();
    remove.reset();
    setDialog(name);
  };
  return (
    <div className={classes.danger}>
      <Card title="Danger zone">
        <div className={classes.action}>
          <div>
            <strong>{actionTexts[action].verb}</strong>
            <p>
              {agent.allowedActions.includes(action)
                ? actionTexts[action].consequence
                : 'A deployed agent cannot be archived. Pause it first.'}
            </p>
          </div>
          <Button
            variant="default"
            disabled={!agent.allowedActions.includes(action)}
            onClick={() => openDialog('archive')}
          >
            {actionTexts[action].verb}
          </Button>
        </div>
        <div className={classes.action}>
          <div>
            <strong>Delete</strong>
            <p>
              {deletable
                ? 'Deletes the agent permanently. Its records stay until their retention period ends.'
                : 'Only agents in Testing or Paused can be deleted.'}
            </p>
          </div>
          <Button color="red.9" disabled={!deletable} onClick={() => openDialog('delete')}>
            Delete
          </Button>
        </div>
      </Card>
      <ConfirmDialog
        opened={dialog === 'archive'}
        title={actionTexts[action].question}
        confirmLabel={actionTexts[action].verb}
        mutation={move}
        onClose={close}
        onConfirm={() => move.mutate(action, { onSuccess: close })}
      >
        {actionTexts[action].consequence}
      </ConfirmDialog>
      <ConfirmDialog
        opened={dialog === 'delete'}
        title={`Delete ${agent.agentName}?`}
        confirmLabel="Delete"
        destructive
        mutation={remove}
        onClose={close}
        onConfirm={() => remove.mutate()}
      >
        Calls will fail with 404, and this cannot be undone. The prompt stays; execution records
        stay until their retention period ends.
      </ConfirmDialog>
    </div>
  );
}
