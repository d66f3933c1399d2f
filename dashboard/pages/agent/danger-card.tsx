import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { Card } from '../../components/card.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { useLeave } from '../../components/hooks/use-navigate-from.ts';
import { useDeleteAgent, useMoveAgent } from '../../data/agents/agents.ts';
import { actionWords } from './lifecycle-actions.ts';
import classes from './settings.module.css';

/** What takes the agent away from people and programs. */
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
                : 'A deployed agent cannot be archived: disable it first.'}
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
                ? 'It is gone for good. Its keys stop for it at once; its records stay until retention takes them.'
                : 'Only an agent in Testing or Paused can be deleted.'}
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
        Every program that calls it is answered 404 from then on, and nothing brings it back. Its
        records stay until retention takes them; its prompt stays.
      </ConfirmDialog>
    </div>
  );
}
