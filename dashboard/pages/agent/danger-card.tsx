import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { Card } from '../../components/card.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { useLeave } from '../../components/hooks/use-navigate-from.ts';
import { useDeleteAgent, useMoveAgent } from '../../data/agents/agents.ts';
import { actionWords } from './lifecycle-actions.ts';
import classes from './settings.module.css';

/** Archives or deletes the agent. */
export function DangerCard({ agent }: { readonly agent: Agent }) {
  const [asked, setAsked] = useState<'archive' | 'delete' | null>(null);
  const move = useMoveAgent(agent.agentId);
  const leave = useLeave(agent.agentId);
  const remove = useDeleteAgent(agent.agentId, () => leave({ to: '/agents', replace: true }));
  const action = agent.archived ? 'restore' : 'archive';
  const deletable = agent.status === 'Testing' || agent.status === 'Paused';
  const close = () => setAsked(null);
  const ask = (what: 'archive' | 'delete') => {
    move.reset();
    remove.reset();
    setAsked(what);
  };
  return (
    <div className={classes.danger}>
      <Card title="Danger zone">
        <div className={classes.deed}>
          <div>
            <strong>{actionWords[action].verb}</strong>
            <p>
              {agent.allowedActions.includes(action)
                ? actionWords[action].consequence
                : 'A deployed agent cannot be archived. Disable it first.'}
            </p>
          </div>
          <Button
            variant="default"
            disabled={!agent.allowedActions.includes(action)}
            onClick={() => ask('archive')}
          >
            {actionWords[action].verb}
          </Button>
        </div>
        <div className={classes.deed}>
          <div>
            <strong>Delete</strong>
            <p>
              {deletable
                ? 'Deletes the agent permanently. Its records stay until their retention period ends.'
                : 'Only agents in Testing or Paused can be deleted.'}
            </p>
          </div>
          <Button color="red.9" disabled={!deletable} onClick={() => ask('delete')}>
            Delete
          </Button>
        </div>
      </Card>
      <ConfirmDialog
        opened={asked === 'archive'}
        title={actionWords[action].question}
        verb={actionWords[action].verb}
        order={move}
        onClose={close}
        onConfirm={() => move.mutate(action, { onSuccess: close })}
      >
        {actionWords[action].consequence}
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === 'delete'}
        title={`Delete ${agent.agentName}?`}
        verb="Delete"
        destructive
        order={remove}
        onClose={close}
        onConfirm={() => remove.mutate()}
      >
        Calls will fail with 404, and this cannot be undone. The prompt stays; execution records
        stay until their retention period ends.
      </ConfirmDialog>
    </div>
  );
}
